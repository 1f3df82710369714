//! Figures from samples, and how they are shown.

use std::io::{self, Write};

/// Samples in milliseconds.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn push(&mut self, milliseconds: f64) {
        self.0.push(milliseconds);
    }

    pub fn extend(&mut self, milliseconds: impl IntoIterator<Item = f64>) {
        self.0.extend(milliseconds);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest sample that at least this share of all do not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    /// One line: `what: n, p50, p99, max`.
    pub fn show(&self, what: &str) {
        say(&format!(
            "  {what:<44} n {:>6}   p50 {:>9.2} ms   p99 {:>9.2} ms   max {:>9.2} ms",
            self.len(),
            self.percentile(0.5),
            self.percentile(0.99),
            self.percentile(1.0),
        ));
    }
}

/// A figure beside its aim.
pub fn judge(what: &str, read: f64, aim: f64, unit: &str) {
    let verdict = if read <= aim { "met" } else { "MISSED" };
    say(&format!("  {what}: {read:.2} {unit}, aim <= {aim:.2} {unit}: {verdict}"));
}

/// A line of the report.
pub fn say(text: &str) {
    // Whoever closed the output does not want to read on.
    let _ = writeln!(io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn percentiles_are_samples() {
        let samples = Samples((1..=200).rev().map(f64::from).collect());
        // 99 % of 200 samples are 198 of them.
        assert_eq!((samples.percentile(0.5), samples.percentile(0.99)), (100.0, 198.0));
        assert_eq!(samples.percentile(1.0), 200.0);
    }
}
