//! Some strands of a groom for a preview, evenly over the scalp, and how much wider pictures draw them.

use coif::groom::Groom;
use coif::math::{Random, morton_code};
use glam::Vec3;

/// Largest radius (m) of a widened strand: wider ones look like ribbons.
const MAX_RADIUS: f32 = 0.5e-3;

/// The indices of `count` strands, ascending: one of every run of neighbours.
///
/// Model: roots in the order of a space-filling curve are cut into `count` runs of equal length, and one strand is taken
/// of each at random (stratified sampling), so that the density of the groom is kept everywhere.
pub(crate) fn chosen(groom: &Groom, count: usize, seed: u64) -> Vec<usize> {
    let strands = groom.strands.strand_count();
    let roots: Vec<Vec3> =
        groom.strands.iter().map(|s| s.first().copied().unwrap_or_default()).collect();
    let lo = roots.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let hi = roots.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    // Use cubes, so that runs are as wide as they are long.
    let hi = lo + Vec3::splat((hi - lo).max_element());
    let mut order: Vec<usize> = (0..strands).collect();
    order.sort_by_key(|&s| (morton_code(roots[s], lo, hi), s));
    let mut random = Random::new(seed, 0x7417_0000);
    let start = |run: usize| run * strands / count;
    let mut chosen: Vec<usize> = (0..count.min(strands))
        .map(|run| {
            let (first, end) = (start(run), start(run + 1));
            let at = first + (random.unit() * (end - first) as f32) as usize;
            order[at.min(end - 1)]
        })
        .collect();
    chosen.sort_unstable();
    chosen
}

/// By how much strands are drawn wider so that `few` cover as much as `all`, and whether that was limited.
///
/// Model: at random places opaque strands cover a fraction of the picture that depends on their number times their width
/// only, so the width grows in proportion as the number of strands falls.
pub(crate) fn widening(all: &Groom, few: &Groom) -> (f32, bool) {
    // Areas of all strands seen from the side.
    let area = |groom: &Groom| {
        let of = |s: usize| {
            let points = groom.strands.points_of(s);
            let radii = &groom.radius[points.clone()];
            let mean = radii.iter().map(|&r| f64::from(r)).sum::<f64>() / radii.len().max(1) as f64;
            mean * f64::from(groom.strands.length(s))
        };
        (0..groom.strands.strand_count()).map(of).sum::<f64>()
    };
    let factor = (area(all) / area(few)) as f32;
    let widest = few.radius.iter().copied().fold(0.0, f32::max);
    let limit = (MAX_RADIUS / widest).max(1.0);
    match factor.is_finite() && limit.is_finite() {
        true => (factor.clamp(1.0, limit), factor > limit),
        false => (1.0, false),
    }
}

#[cfg(test)]
mod tests {
    use coif::groom::{Fibre, Strands};

    use super::*;

    /// Strands on a square of a metre, four times as dense where x is below one half.
    fn square() -> Groom {
        let mut strands = Strands::new();
        let mut random = Random::new(3, 3);
        for s in 0..5000 {
            let x = if s % 5 < 4 { 0.5 * random.unit() } else { 0.5 + 0.5 * random.unit() };
            let root = Vec3::new(x, 0.0, random.unit());
            strands.push(&[root, root + Vec3::Y * 0.1]);
        }
        Groom::new(strands, Fibre::default())
    }

    #[test]
    fn the_chosen_are_even_and_depend_on_the_seed_only() {
        let groom = square();
        for count in [1, 10, 500, 4999, 5000] {
            let chosen = chosen(&groom, count, 1);
            assert_eq!(chosen.len(), count);
            assert!(chosen.windows(2).all(|w| w[0] < w[1]), "ascending and all different");
        }
        let first = chosen(&groom, 500, 1);
        assert_eq!(first, chosen(&groom, 500, 1));
        assert_ne!(first, chosen(&groom, 500, 2));
        // A tenth of the strands of every sixteenth of the square. Only runs across its border count for another: a few of the
        // ten to fifty. Independent choices would have a standard deviation of up to 6.7 strands in each of sixteen.
        let of = |strands: &[usize], i: i32, j: i32| {
            let root = |s: &&usize| groom.strands.strand(**s)[0];
            let within = |p: Vec3| ((p.x * 4.0) as i32, (p.z * 4.0) as i32) == (i, j);
            strands.iter().filter(|s| within(root(s))).count() as f32
        };
        let all: Vec<usize> = (0..5000).collect();
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let (few, many) = (of(&first, i, j), of(&all, i, j));
            assert!((few - 0.1 * many).abs() <= 4.0, "{i} {j}: {few} of {many}");
        }
    }

    #[test]
    fn width_makes_up_for_number_up_to_a_limit() {
        let groom = square();
        let (factor, limited) = widening(&groom, &groom.picked(&chosen(&groom, 500, 1)));
        assert!((factor - 10.0).abs() < 1e-3 && !limited, "{factor}");
        let (factor, limited) = widening(&groom, &groom.picked(&chosen(&groom, 5, 1)));
        assert!((factor * groom.radius[0] - MAX_RADIUS).abs() < 1e-6 && limited, "{factor}");
        assert_eq!(widening(&groom, &groom), (1.0, false));
    }
}
