use std::ops::Range;

use glam::Vec3;

/// Polylines of any number of points, stored one after the other, root to tip.
///
/// Strand `s` owns the points `first_point[s]..first_point[s + 1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Strands {
    first_point: Vec<u32>,
    positions: Vec<Vec3>,
}

impl Default for Strands {
    fn default() -> Self {
        Self { first_point: vec![0], positions: Vec::new() }
    }
}

impl Strands {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty list with capacity for this many strands and points.
    pub fn with_capacity(strands: usize, points: usize) -> Self {
        let mut first_point = Vec::with_capacity(strands + 1);
        first_point.push(0);
        Self { first_point, positions: Vec::with_capacity(points) }
    }

    /// Splits `positions` into strands of the given point counts. `None` if their sum is not the number of positions, or
    /// does not fit in 32 bits.
    pub fn from_counts(
        counts: impl IntoIterator<Item = usize>,
        positions: Vec<Vec3>,
    ) -> Option<Self> {
        let mut first_point = vec![0u32];
        let mut sum = 0usize;
        for count in counts {
            sum = sum.checked_add(count)?;
            first_point.push(u32::try_from(sum).ok()?);
        }
        (sum == positions.len()).then_some(Self { first_point, positions })
    }

    /// Appends one strand.
    pub fn push(&mut self, points: &[Vec3]) {
        self.positions.extend_from_slice(points);
        self.first_point.push(self.positions.len() as u32);
    }

    /// Number of strands.
    pub fn strand_count(&self) -> usize {
        self.first_point.len() - 1
    }

    /// Number of points of all strands.
    pub fn point_count(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no strand.
    pub fn is_empty(&self) -> bool {
        self.strand_count() == 0
    }

    /// The indices of a strand's points.
    pub fn points_of(&self, strand: usize) -> Range<usize> {
        self.first_point[strand] as usize..self.first_point[strand + 1] as usize
    }

    /// A strand's points, root to tip.
    pub fn strand(&self, strand: usize) -> &[Vec3] {
        &self.positions[self.points_of(strand)]
    }

    /// A strand's points, root to tip, mutable.
    pub fn strand_mut(&mut self, strand: usize) -> &mut [Vec3] {
        let points = self.points_of(strand);
        &mut self.positions[points]
    }

    /// All strands in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Vec3]> + '_ {
        (0..self.strand_count()).map(|s| self.strand(s))
    }

    /// All points in order.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// All points in order, mutable.
    pub fn positions_mut(&mut self) -> &mut [Vec3] {
        &mut self.positions
    }

    /// The first point index of each strand, and the total at the end.
    pub fn first_points(&self) -> &[u32] {
        &self.first_point
    }

    /// Length of a strand along its segments (m).
    pub fn length(&self, strand: usize) -> f32 {
        self.strand(strand).windows(2).map(|w| w[0].distance(w[1])).sum()
    }

    /// Smallest and largest coordinates (m), or `None` without points.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }

    /// The strand of a point index, and the index of the point in that strand.
    pub fn locate(&self, point: usize) -> (usize, usize) {
        let strand = self.first_point.partition_point(|&f| f as usize <= point) - 1;
        (strand, point - self.first_point[strand] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Strands {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::X, Vec3::X * 3.0]);
        strands.push(&[Vec3::Y, Vec3::Y * 2.0]);
        strands
    }

    #[test]
    fn strands_keep_their_points() {
        let strands = two();
        assert_eq!(strands.strand_count(), 2);
        assert_eq!(strands.strand(1), &[Vec3::Y, Vec3::Y * 2.0]);
        assert_eq!(strands.length(0), 3.0);
        assert_eq!(strands.locate(2), (0, 2));
        assert_eq!(strands.locate(3), (1, 0));
        assert_eq!(strands.bounds(), Some((Vec3::ZERO, Vec3::new(3.0, 2.0, 0.0))));
    }

    #[test]
    fn counts_must_add_up() {
        let positions = two().positions().to_vec();
        assert_eq!(Strands::from_counts([3, 2], positions.clone()), Some(two()));
        assert_eq!(Strands::from_counts([3, 3], positions.clone()), None);
        assert_eq!(Strands::from_counts([usize::MAX, 2], positions), None);
    }
}
