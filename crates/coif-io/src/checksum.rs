//! A checksum of the bytes of a file, computed while it is written.

use std::io::{self, Write};

/// Mixes eight bytes at a time. Every step is invertible, so that a change of a single word always changes the result.
/// Not cryptographic.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    sum: u64,
    /// Bytes of an incomplete word, `length % 8` of them.
    word: [u8; 8],
    length: u64,
}

impl Checksum {
    /// The checksum of no bytes; different seeds give different sums.
    pub(crate) fn new(seed: u64) -> Self {
        Self { sum: mix(0, seed), word: [0; 8], length: 0 }
    }

    /// Adds bytes; how they are split into calls makes no difference.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        let filled = (self.length % 8) as usize;
        self.length += bytes.len() as u64;
        if filled > 0 {
            let (head, tail) = bytes.split_at(bytes.len().min(8 - filled));
            self.word[filled..filled + head.len()].copy_from_slice(head);
            if filled + head.len() < 8 {
                return;
            }
            self.sum = mix(self.sum, u64::from_le_bytes(self.word));
            bytes = tail;
        }
        let (words, rest) = bytes.as_chunks::<8>();
        self.sum = words.iter().fold(self.sum, |sum, &word| mix(sum, u64::from_le_bytes(word)));
        self.word[..rest.len()].copy_from_slice(rest);
    }

    /// The checksum of all bytes and of their number.
    pub(crate) fn finish(mut self) -> u64 {
        self.word[(self.length % 8) as usize..].fill(0);
        mix(mix(self.sum, u64::from_le_bytes(self.word)), self.length)
    }
}

fn mix(sum: u64, word: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    (sum ^ word).wrapping_mul(ODD).rotate_left(29)
}

/// A writer that computes the checksum of the bytes written through it.
pub(crate) struct Summed<W> {
    pub(crate) out: W,
    pub(crate) sum: Checksum,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.sum.update(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(seed: u64, pieces: &[&[u8]]) -> u64 {
        let mut sum = Checksum::new(seed);
        pieces.iter().for_each(|piece| sum.update(piece));
        sum.finish()
    }

    #[test]
    fn every_bit_changes_the_sum_and_splitting_does_not() {
        let bytes: Vec<u8> = (0..37).map(|i| i * 7 + 1).collect();
        let whole = sum_of(3, &[&bytes]);
        for cut in 0..bytes.len() {
            for end in cut..bytes.len() {
                let pieces = [&bytes[..cut], &bytes[cut..end], &bytes[end..]];
                assert_eq!(sum_of(3, &pieces), whole, "cut at {cut} and {end}");
            }
        }
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(sum_of(3, &[&other]), whole, "bit {bit}");
        }
        assert_ne!(sum_of(4, &[&bytes]), whole);
        // Zeros at the end are not padding.
        assert_ne!(sum_of(3, &[&[1, 0]]), sum_of(3, &[&[1]]));
    }
}
