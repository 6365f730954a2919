//! Memory aligned to cache lines, and prefetching.

use std::ops::{Deref, DerefMut};

use fearless_simd::{Level, Simd};

/// Floats in a cache line of 64 bytes.
const LINE: usize = 16;

/// A slice of numbers that starts at a cache line, so that no row of sixteen straddles two lines.
#[derive(Debug, Default)]
pub(crate) struct LineAligned {
    memory: Vec<f32>,
    first: usize,
    len: usize,
}

impl LineAligned {
    pub(crate) fn zeros(len: usize) -> Self {
        let memory = vec![0.0; len + LINE - 1];
        // Leave it unaligned where `align_offset` fails: that is only slower.
        let first = memory.as_ptr().align_offset(LINE * size_of::<f32>());
        let first = if first < LINE { first } else { 0 };
        Self { memory, first, len }
    }
}

impl Deref for LineAligned {
    type Target = [f32];

    #[inline(always)]
    fn deref(&self) -> &[f32] {
        &self.memory[self.first..self.first + self.len]
    }
}

impl DerefMut for LineAligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.first..self.first + self.len]
    }
}

/// Prefetches the cache lines of a row. A hint without effect on results; does nothing on targets other than x86-64.
#[inline(always)]
pub(crate) fn prefetch<S: Simd>(simd: S, row: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = simd.level().as_sse2() {
        for line in row.chunks(LINE) {
            fetch_line(sse2, line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (simd, row);
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn fetch_line(sse2: Sse2, line: &[f32]) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast());
    }
);

/// Prefetches all cache lines of an item.
#[inline]
pub(crate) fn prefetch_whole<T>(level: Level, item: &T) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = level.as_sse2() {
        let start = std::ptr::from_ref(item).cast::<i8>();
        for byte in (0..size_of::<T>()).step_by(LINE * size_of::<f32>()) {
            fetch_item(sse2, start.wrapping_add(byte));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (level, item);
}

/// Prefetches the first cache line of an item of a slice.
#[inline(always)]
pub(crate) fn prefetch_item<T>(level: Level, items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(sse2), Some(item)) = (level.as_sse2(), items.get(index)) {
        fetch_item(sse2, std::ptr::from_ref(item).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (level, items, index);
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline]
    fn fetch_item(sse2: Sse2, item: *const i8) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item);
    }
);

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;

    #[test]
    fn numbers_start_at_a_cache_line() {
        for len in [0, 1, 16, 1000] {
            let mut numbers = LineAligned::zeros(len);
            assert_eq!(numbers.len(), len);
            assert_eq!(numbers.as_ptr() as usize % 64, 0);
            numbers.fill(1.0);
            dispatch!(Level::new(), simd => prefetch(simd, &numbers));
            prefetch_item(Level::new(), &[1.0], len);
            assert_eq!(numbers.iter().sum::<f32>(), len as f32);
        }
    }
}
