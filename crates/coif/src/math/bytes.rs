//! Numbers as bytes, little-endian: the format of checkpoints.

/// Appends a 32-bit integer.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a 64-bit integer.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a double-precision number.
pub fn put_f64(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends single-precision numbers.
pub fn put_floats(out: &mut Vec<u8>, values: impl IntoIterator<Item = f32>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// Decodes single-precision numbers; an incomplete last one is ignored.
pub(crate) fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b))
}

/// Reads from the front of a slice. Where too few bytes are left, methods return `None` and consume nothing.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(
    /// The unread bytes.
    pub &'a [u8],
);

impl<'a> Reader<'a> {
    /// `count` bytes.
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

    /// A 32-bit integer.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A 64-bit integer.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A single-precision number.
    pub fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    /// A double-precision number.
    pub fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// `count` single-precision numbers.
    pub fn floats(&mut self, count: usize) -> Option<impl Iterator<Item = f32> + use<'a>> {
        self.take(count.checked_mul(4)?).map(floats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_are_read_back_and_nothing_beyond_the_end() {
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
