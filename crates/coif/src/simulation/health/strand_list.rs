//! A few strand numbers and how many there are in all, without memory of its own.

/// How many numbers are kept: enough to find a pattern, few enough for a line of text.
const FIRST: usize = 5;

/// The number of strands with some property, and the first few of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StrandList {
    /// How many strands there are.
    pub count: usize,
    first: [u32; FIRST],
}

impl StrandList {
    /// The numbers of the first few, ascending.
    pub fn first(&self) -> &[u32] {
        &self.first[..self.count.min(FIRST)]
    }

    /// Appends a strand with a higher number.
    pub(super) fn push(&mut self, strand: usize) {
        if let Some(place) = self.first.get_mut(self.count) {
            *place = strand as u32;
        }
        self.count += 1;
    }

    /// Appends strands with higher numbers.
    pub(super) fn add(&mut self, next: &Self) {
        let kept = self.count.min(FIRST);
        for (place, &strand) in self.first[kept..].iter_mut().zip(next.first()) {
            *place = strand;
        }
        self.count += next.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merged lists of chunks equal the list of the whole, for any chunks.
    #[test]
    fn the_first_ones_are_kept_in_order() {
        for (total, cut) in [(0, 0), (3, 1), (5, 5), (9, 2), (9, 4), (9, 7), (9, 0)] {
            let (mut low, mut high) = (StrandList::default(), StrandList::default());
            (0..cut).for_each(|s| low.push(10 * s));
            (cut..total).for_each(|s| high.push(10 * s));
            low.add(&high);
            assert_eq!(low.count, total);
            let expected: Vec<u32> = (0..total.min(FIRST) as u32).map(|s| 10 * s).collect();
            assert_eq!(low.first(), expected, "{total} cut at {cut}");
        }
    }
}
