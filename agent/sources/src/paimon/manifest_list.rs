//! Whether a manifest list is empty. It is an Avro object container; only its framing is read here,
//! so neither its schema nor its compression matters.

const MAGIC: &[u8] = b"Obj\x01";
const SYNC_BYTES: usize = 16;

/// Whether the container holds no record; `None` when it is not understood. Takes any bytes.
pub fn is_empty(bytes: &[u8]) -> Option<bool> {
    let mut rest = Bytes(bytes);
    if rest.take(MAGIC.len())? != MAGIC {
        return None;
    }
    rest.skip_metadata()?;
    let sync = rest.take(SYNC_BYTES)?;
    while !rest.0.is_empty() {
        let records = rest.long()?;
        if records != 0 {
            return (records > 0).then_some(false);
        }
        rest.sized()?;
        if rest.take(SYNC_BYTES)? != sync {
            return None;
        }
    }
    Some(true)
}

/// What is left to read. Every step takes at least a byte or ends in `None`, so all of it ends.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Avro's long: zigzag, least significant seven bits first.
    fn long(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        None
    }

    /// A length and as many bytes.
    fn sized(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.long()?).ok()?;
        self.take(count)
    }

    /// The header's map of bytes: blocks of entries, a negative count with its size behind it, until
    /// a block of none.
    fn skip_metadata(&mut self) -> Option<()> {
        loop {
            let count = self.long()?;
            if count == 0 {
                return Some(());
            }
            if count < 0 {
                self.sized()?;
                continue;
            }
            for _ in 0..count {
                self.sized()?;
                self.sized()?;
            }
        }
    }
}

/// A container as writers make it, with blocks of so many records.
#[cfg(test)]
pub fn container(blocks: &[i64]) -> Vec<u8> {
    fn long(value: i64, out: &mut Vec<u8>) {
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    let mut out = MAGIC.to_vec();
    long(2, &mut out);
    for text in ["avro.codec", "zstandard", "avro.schema", &"s".repeat(600)] {
        long(text.len() as i64, &mut out);
        out.extend(text.bytes());
    }
    long(0, &mut out);
    out.extend([7; SYNC_BYTES]);
    for &records in blocks {
        long(records, &mut out);
        long(3, &mut out);
        out.extend(*b"abc");
        out.extend([7; SYNC_BYTES]);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_decide() {
        assert_eq!(is_empty(&container(&[])), Some(true));
        assert_eq!(is_empty(&container(&[0, 0])), Some(true));
        assert_eq!(is_empty(&container(&[1])), Some(false));
        assert_eq!(is_empty(&container(&[0, 1 << 40])), Some(false));
        assert_eq!(is_empty(&container(&[-1])), None);
        assert_eq!(is_empty(b""), None);
        assert_eq!(is_empty(b"PAR1"), None);
    }

    #[test]
    fn a_metadata_block_may_carry_its_size() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 8]); // -1 entry of 4 bytes: a key and a value of one byte each
        bytes.extend([2, b'k', 2, b'v', 0]);
        bytes.extend([9; SYNC_BYTES]);
        assert_eq!(is_empty(&bytes), Some(true));
    }

    #[test]
    fn a_cut_container_is_not_understood() {
        let whole = container(&[0]);
        let header = container(&[]).len();
        for length in 0..whole.len() {
            let expected = (length == header).then_some(true);
            assert_eq!(is_empty(&whole[..length]), expected, "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            is_empty(&bytes);
            is_empty(&[MAGIC, &bytes].concat());
            let mut damaged = container(&[0, 2]);
            let length = damaged.len();
            for (at, byte) in bytes.iter().enumerate().take(4) {
                damaged[(at * 251 + usize::from(*byte) * 7) % length] = *byte;
            }
            is_empty(&damaged);
        }
    }
}
