/// The indices of the bits that are set, ascending.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits(pub(crate) u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lowest = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_those_of_the_set_bits() {
        assert_eq!(Bits(0).count(), 0);
        assert_eq!(Bits(1 << 63 | 0b1010_0001).collect::<Vec<_>>(), [0, 5, 7, 63]);
    }
}
