//! Broad phase along chains that are placed row by row, root to tip: an obstacle that is far from all points of a row is
//! not tested again before the links since then are long enough to reach it.

/// Most obstacles with an entry; further ones are tested at every row.
const MAX_ENTRIES: usize = 48;

/// Part of the remaining length of the chains that an obstacle is skipped for if it is farther away than that.
const NEXT_TEST: f32 = 0.25;

/// Rounding of positions (m) along a whole chain, generously, up to a hundred metres from the origin.
const ROUNDING: f32 = 1e-4;

/// The lengths of the chains at which obstacles have to be tested again. Conservative: no result depends on it.
///
/// Model: consecutive points of a chain are no farther apart than their link is long, wherever obstacles push them.
pub struct ChainCulling {
    /// Per obstacle, and the least of all: length (m) from which on it may be reached.
    due: [f32; MAX_ENTRIES],
    next: f32,
    /// Length of the chains up to this row, of the longest of its links, and up to the last row (m).
    travelled: f32,
    link: f32,
    total: f32,
}

impl ChainCulling {
    /// At the roots of chains of this length (m): the sum over rows of the longest link.
    #[inline]
    pub fn new(total: f32) -> Self {
        Self { due: [0.0; MAX_ENTRIES], next: 0.0, travelled: 0.0, link: 0.0, total }
    }

    /// Goes to the next row, whose longest link is this long (m).
    #[inline(always)]
    pub fn advance(&mut self, link: f32) {
        self.travelled += link;
        self.link = link;
    }

    /// Whether an obstacle has to be tested in this row.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.next <= self.travelled
    }

    /// Starts a round of tests.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.next = f32::INFINITY;
    }

    /// Whether the obstacle `k` has to be tested in this row.
    #[inline(always)]
    pub fn is_due_for(&mut self, k: usize) -> bool {
        let due = self.due.get(k).copied().unwrap_or(0.0);
        let is_due = due <= self.travelled;
        if !is_due {
            self.next = self.next.min(due);
        }
        is_due
    }

    /// Keeps an obstacle for the next row.
    #[inline(always)]
    pub fn keep(&mut self) {
        self.next = self.travelled;
    }

    /// The distances (m) from all points of this row from which on an obstacle is skipped: for all of the rest of the
    /// chains, and for a part of it.
    #[inline(always)]
    pub fn distances(&self) -> [f32; 2] {
        let rest = self.total - self.travelled;
        // The tested point and the final one are both within a link of the point before.
        let slack = 2.0 * self.link + ROUNDING;
        [rest + slack, rest * NEXT_TEST + slack]
    }

    /// Skips the obstacle `k` for as long as it cannot be reached: `is_beyond` tells whether it is beyond these
    /// [`distances`](Self::distances).
    #[inline(always)]
    pub fn skip(&mut self, k: usize, is_beyond: [bool; 2]) {
        let due = match is_beyond {
            [true, _] => f32::INFINITY,
            [_, true] => self.travelled + (self.total - self.travelled) * NEXT_TEST,
            _ => self.travelled,
        };
        if let Some(entry) = self.due.get_mut(k) {
            *entry = due;
            self.next = self.next.min(due);
        } else {
            self.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain that goes straight to an obstacle: it is tested in the row in which it is reached, and seldom before.
    #[test]
    fn an_obstacle_is_tested_before_it_is_reached() {
        for away in [0.0, 0.05, 0.3, 0.8, 1.5] {
            let mut culling = ChainCulling::new(1.0);
            let mut tested = 0;
            for row in 0..=100 {
                let distance = away - 0.01 * row as f32;
                if row > 0 {
                    culling.advance(0.01);
                }
                let mut is_tested = false;
                if culling.is_due() {
                    culling.begin();
                    is_tested = culling.is_due_for(0);
                    if is_tested && distance > 0.0 {
                        culling.skip(0, culling.distances().map(|reach| distance > reach));
                    } else if is_tested {
                        culling.keep();
                    }
                }
                tested += usize::from(is_tested);
                assert!(is_tested || distance > 0.0, "{away} m away, row {row}");
            }
            assert_eq!(tested == 1, away == 1.5, "{tested}");
            assert!(away != 0.8 || tested < 60, "{tested}");
        }
        // Those without an entry are tested in every row.
        let mut culling = ChainCulling::new(1.0);
        culling.begin();
        culling.skip(MAX_ENTRIES, [true; 2]);
        culling.advance(0.01);
        assert!(culling.is_due() && culling.is_due_for(MAX_ENTRIES));
    }
}
