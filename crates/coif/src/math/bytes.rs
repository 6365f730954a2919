//! Numbers as bytes, little-endian: the format of checkpoints.

/// Appends a whole number of 32 bits.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a whole number of 64 bits.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a number of double precision.
pub fn put_f64(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends numbers of single precision.
pub fn put_floats(out: &mut Vec<u8>, values: impl IntoIterator<Item = f32>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// The numbers of single precision that some bytes hold; an incomplete last one is ignored.
pub(crate) fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b))
}

/// Reads bytes from the front: `None` where there are too few, and nothing is consumed then.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(
    /// The unread rest.
    pub &'a [u8],
);

impl<'a> Reader<'a> {
    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk()?;
        self.0 = tail;
        Some(*head)
    }

    /// A byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[b]| b)
    }

    /// A whole number of 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A whole number of 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of single precision.
    pub fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    /// A number of double precision.
    pub fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// So many numbers of single precision.
    pub fn floats(&mut self, count: usize) -> Option<impl Iterator<Item = f32> + use<'a>> {
        self.take(count.checked_mul(4)?).map(floats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_no_more() {
        let mut bytes = vec![7];
        put_u32(&mut bytes, 5);
        put_u64(&mut bytes, 6);
        put_f64(&mut bytes, 0.25);
        put_floats(&mut bytes, [1.5, -0.0, f32::NAN]);
        let mut reader = Reader(&bytes);
        assert_eq!(bytes[..9], [7, 5, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!((reader.u8(), reader.u32(), reader.u64()), (Some(7), Some(5), Some(6)));
        assert_eq!(reader.f64(), Some(0.25));
        assert!(reader.floats(4).is_none());
        assert!(reader.floats(usize::MAX).is_none());
        let read: Vec<u32> = reader.floats(2).unwrap().map(f32::to_bits).collect();
        assert_eq!(read, [1.5f32.to_bits(), (-0.0f32).to_bits()]);
        assert!(reader.f32().is_some_and(f32::is_nan));
        assert!(reader.u8().is_none() && reader.0.is_empty());
    }
}
