//! The number of points of each strand when only the total is given.

use super::Grown;

/// Minimum number of points on a strand: fewer cannot bend.
const MIN_POINTS: usize = 3;

/// Maximum number of points on a strand.
const MAX_POINTS: usize = 200;

/// Distributes `total` points over strands, so that segments are about equally long. Every strand gets 3 to 200 points
/// (2, if there are not enough); within these limits the sum is exact.
pub(super) fn by_length(grown: &[Grown], total: usize) -> Vec<usize> {
    let min_points = MIN_POINTS.min(total / grown.len().max(1)).max(2);
    let lengths: Vec<f64> = grown
        .iter()
        .map(|g| g.line.windows(2).map(|w| f64::from(w[0].distance(w[1]))).sum())
        .collect();
    let wanted = |length: f64, density: f64| {
        (1.0 + length * density).clamp(min_points as f64, MAX_POINTS as f64)
    };
    // Find the density of points (1/m) at which the sum is right.
    let sum = |density: f64| lengths.iter().map(|&l| wanted(l, density)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if sum(middle) < total as f64 { low = middle } else { high = middle }
    }
    // Round, and carry the remainder of each strand over to the next.
    let mut counts = Vec::with_capacity(lengths.len());
    let (mut asked, mut given) = (0.0f64, 0usize);
    for &length in &lengths {
        asked += wanted(length, high);
        let count =
            ((asked - given as f64).round().max(0.0) as usize).clamp(min_points, MAX_POINTS);
        given += count;
        counts.push(count);
    }
    counts
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    fn strands() -> Vec<Grown> {
        (0..1000)
            .map(|i| {
                let length = 0.02 + 0.10 * (i % 97) as f32 / 97.0;
                Grown { line: vec![Vec3::ZERO, Vec3::Y * length], pinned: 1 }
            })
            .collect()
    }

    #[test]
    fn the_sum_is_right_and_long_strands_get_more() {
        let grown = strands();
        for total in [3000usize, 8517, 20_000, 150_000] {
            let counts = by_length(&grown, total);
            let sum: usize = counts.iter().sum();
            assert!(sum.abs_diff(total) <= 1, "{sum} of {total}");
            assert!(counts.iter().all(|c| (MIN_POINTS..=MAX_POINTS).contains(c)));
            // Strand 0 is the shortest, strand 96 the longest.
            assert!(total == 3000 || counts[96] > counts[0] + 3);
        }
    }

    #[test]
    fn totals_out_of_range_give_the_nearest_possible_counts() {
        let grown = strands();
        assert!(by_length(&grown, 1).iter().all(|&c| c == 2));
        assert!(by_length(&grown, 10_000_000).iter().all(|&c| c == MAX_POINTS));
    }
}
