//! The checksum of zip files: CRC-32 with the polynomial of IEEE 802.3, eight bytes at a time.

/// The checksum of the bytes so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Crc32(u32);

/// Remainders of each byte followed by 0 to 7 zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            // The reversed polynomial, applied if the lowest bit is set.
            rest = if rest & 1 == 1 { rest >> 1 ^ 0xedb8_8320 } else { rest >> 1 };
            bit += 1;
        }
        tables[0][byte] = rest;
        byte += 1;
    }
    let mut after = 1;
    while after < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[after - 1][byte];
            tables[after][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        after += 1;
    }
    tables
}

impl Crc32 {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let mut sum = !self.0;
        let (eights, rest) = bytes.as_chunks::<8>();
        for eight in eights {
            let word = u64::from_le_bytes(*eight) ^ u64::from(sum);
            sum = 0;
            for (i, byte) in word.to_le_bytes().into_iter().enumerate() {
                sum ^= TABLES[7 - i][usize::from(byte)];
            }
        }
        for &byte in rest {
            sum = sum >> 8 ^ TABLES[0][usize::from(sum as u8 ^ byte)];
        }
        self.0 = !sum;
    }

    pub(crate) fn finish(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the standard, and the same sum however the bytes are split.
    #[test]
    fn the_sum_is_that_of_the_standard() {
        let text = b"123456789";
        for split in 0..=text.len() {
            let mut sum = Crc32::default();
            sum.update(&text[..split]);
            sum.update(&text[split..]);
            assert_eq!(sum.finish(), 0xcbf4_3926, "split at {split}");
        }
        assert_eq!(Crc32::default().finish(), 0);
    }
}
