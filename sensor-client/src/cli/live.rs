//! What is said on stderr while a command runs.

use std::{
    io::{self, IsTerminal, Write},
    mem,
};

use unicode_width::UnicodeWidthChar;

/// Tells how things stand: on a terminal one line that is drawn over, elsewhere one line per change.
/// What it can't write it drops; the exit code is what counts.
pub struct Live<W: Write> {
    out: W,
    width: Option<fn() -> usize>,
    state: String,
    drawn: bool,
}

impl Live<io::Stderr> {
    /// On this process's stderr.
    pub fn stderr() -> Self {
        let width: fn() -> usize = || {
            terminal_size::terminal_size_of(io::stderr())
                .map_or(80, |(terminal_size::Width(width), _)| width.into())
        };
        Self::new(io::stderr(), io::stderr().is_terminal().then_some(width))
    }
}

impl<W: Write> Live<W> {
    /// `width` measures the terminal; `None` where there is none.
    pub fn new(out: W, width: Option<fn() -> usize>) -> Self {
        Self { out, width, state: String::new(), drawn: false }
    }

    /// How things stand now.
    pub fn state(&mut self, state: &str) {
        let state = plain(state);
        match self.width {
            Some(_) => {
                self.state = state;
                self.draw();
            }
            None if state == self.state => {}
            None => {
                writeln!(self.out, "{state}").ok();
                self.state = state;
            }
        }
    }

    /// Something that happened: a line that stays.
    pub fn happened(&mut self, what: &str) {
        let what = plain(what);
        self.clear();
        writeln!(self.out, "{what}").ok();
        self.draw();
    }

    /// Takes the live line away, so that something else can be printed.
    pub fn finish(&mut self) {
        self.clear();
        self.state = String::new();
    }

    fn draw(&mut self) {
        if let (Some(width), false) = (self.width, self.state.is_empty()) {
            let line = cut(&self.state, width());
            write!(self.out, "\r{line}\x1b[K").ok();
            self.out.flush().ok();
            self.drawn = true;
        }
    }

    fn clear(&mut self) {
        if mem::take(&mut self.drawn) {
            write!(self.out, "\r\x1b[K").ok();
            self.out.flush().ok();
        }
    }
}

impl<W: Write> Drop for Live<W> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The text without characters that would steer a terminal.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => plain.push(' '),
            // Controls, and what turns the direction of the text around.
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                plain.extend(c.escape_unicode());
            }
            c => plain.push(c),
        }
    }
    plain
}

/// As [`plain`], with its lines kept.
pub fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// The text cut so that the cursor stays in the line.
fn cut(text: &str, width: usize) -> String {
    let room = width.saturating_sub(1);
    let wide = |c: char| c.width().unwrap_or(0);
    if text.chars().map(wide).sum::<usize>() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let mut kept: String = text
        .chars()
        .take_while(|c| {
            used += wide(*c);
            used <= room
        })
        .collect();
    if room > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(width: Option<fn() -> usize>, say: impl FnOnce(&mut Live<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        say(&mut Live::new(&mut out, width));
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn elsewhere_each_change_is_a_line() {
        let text = said(None, |live| {
            live.state("needs 7");
            live.state("needs 7");
            live.happened("lost");
            live.state("needs 7");
            live.state("needs 8");
        });
        assert_eq!(text, "needs 7\nlost\nneeds 8\n");
    }

    #[test]
    fn on_a_terminal_one_line_is_drawn_over_and_taken_away() {
        let text = said(Some(|| 10), |live| {
            live.state("needs 7");
            live.happened("lost");
            live.state("needs snapshot 8");
        });
        assert_eq!(text, "\rneeds 7\x1b[K\r\x1b[Klost\n\rneeds 7\x1b[K\rneeds sn…\x1b[K\r\x1b[K");
    }

    #[test]
    fn cutting_counts_columns() {
        assert_eq!(cut("中文表", 6), "中文…");
        assert_eq!(cut("中文表", 7), "中文表");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("abc", 2), "…");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb c\\u{202e}d");
        assert_eq!(plain_lines("a\n\tb"), "a\n\\u{9}b");
    }
}
