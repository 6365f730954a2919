use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::contact::Chains;
use crate::contact::detection::segments::closest_points_segment_segment;
use crate::groom::{Fibre, Groom, Strands};

/// Strands that wander, and where their points go.
fn hair(seed: u32, strands: usize, size: f32) -> (Segments, Vec<Vec3>, Vec<Vec3>) {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut all = Strands::new();
    for s in 0..strands {
        let mut vector = || Vec3::new(random(), random(), random());
        let mut p = vector() * size;
        let direction = vector();
        // One strand in nine has long segments, one flies far away.
        let step = if s % 9 == 4 { 0.04 } else { 0.006 };
        if s == 5 {
            p += Vec3::splat(40.0);
        }
        let mut line = vec![p];
        for _ in 0..3 + s % 7 {
            p += (direction + 0.7 * vector()).normalize_or(Vec3::X) * step;
            line.push(p);
        }
        all.push(&line);
    }
    let start = all.positions().to_vec();
    let end = start.iter().enumerate().map(|(i, p)| {
        let fast = if i % 50 < 4 { 0.02 } else { 0.001 };
        *p + Vec3::X * 0.1 + Vec3::new(random(), random(), random()) * fast
    });
    let end = end.collect();
    (Segments::new(&Chains::of_strands(&Groom::new(all, Fibre::default())), 1.0), start, end)
}

fn distance(position: &[Vec3], a: usize, b: usize) -> f32 {
    let of = |s: usize| [position[s], position[s + 1]];
    closest_points_segment_segment(of(a), of(b)).distance()
}

fn list(pairs: &Pairs) -> BTreeSet<(usize, usize)> {
    (0..pairs.points()).flat_map(|a| pairs.of(a).iter().map(move |&b| (a, b as usize))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// The pairs are those that brute force finds: none is missing at any time of the motion, and
    /// none is there that is far.
    #[test]
    fn pairs_are_those_of_brute_force(
        seed in 1u32..1_000_000, strands in 2usize..60, size in 0.005f32..0.05,
        reach in 0.0f32..0.004, margin in 0.0f32..0.003, moving: bool
    ) {
        let (segments, start, moved) = hair(seed, strands, size);
        let end = if moving { &moved } else { &start };
        let mut pairs = Pairs::default();
        pairs.find(&segments, &start, end, Reach { distance: reach, margin });
        let found = list(&pairs);
        prop_assert_eq!(found.len(), pairs.len());
        prop_assume!(pairs.dropped() == 0);
        for a in (0..start.len()).filter(|&a| segments.starts(a)) {
            for b in (a + 1..start.len()).filter(|&b| segments.starts(b)) {
                let least = (0..=8)
                    .map(|i| {
                        let at = |p: usize| start[p].lerp(end[p], i as f32 / 8.0);
                        let of = |s: usize| [at(s), at(s + 1)];
                        closest_points_segment_segment(of(a), of(b)).distance()
                    })
                    .fold(f32::INFINITY, f32::min);
                let there = found.contains(&(a, b));
                if !segments.may_touch(a as u32, b as u32, APART) {
                    prop_assert!(!there);
                } else if least <= reach {
                    prop_assert!(there, "{a} {b}: {least}");
                } else if !moving && least > (reach + margin) * 1.01 + 1e-6 {
                    prop_assert!(!there, "{a} {b}: {least}");
                }
            }
        }
    }
}

#[test]
fn pairs_are_kept_until_something_moves_by_the_margin() {
    let (segments, mut position, _) = hair(3, 40, 0.02);
    let reach = Reach { distance: 1e-3, margin: 2e-3 };
    let mut pairs = Pairs::default();
    pairs.find(&segments, &position, &position, reach);
    // Hair that moves as a whole keeps its pairs.
    position.iter_mut().for_each(|p| *p += Vec3::Y);
    pairs.find(&segments, &position, &position, reach);
    assert_eq!(pairs.searches(), 1);
    position[7] += Vec3::X * 0.5e-3;
    pairs.find(&segments, &position, &position, reach);
    assert_eq!(pairs.searches(), 1);
    position[7] += Vec3::X * 1e-3;
    pairs.find(&segments, &position, &position, reach);
    assert_eq!(pairs.searches(), 2);
    assert!(!pairs.is_empty());
}

#[test]
fn what_is_not_a_number_is_in_no_pair() {
    let (segments, mut position, _) = hair(5, 40, 0.01);
    position[3] = Vec3::NAN;
    position[30].y = f32::INFINITY;
    let reach = Reach { distance: 2e-3, margin: 0.0 };
    let mut pairs = Pairs::default();
    pairs.find(&segments, &position, &position, reach);
    let found = list(&pairs);
    assert!(!found.is_empty());
    for (a, b) in found {
        for bad in [2, 3, 29, 30] {
            assert!(a != bad && b != bad, "{a} {b}");
        }
        assert!(distance(&position, a, b) <= 2.1e-3);
    }
}

/// All strands in one place: the search ends soon and says what it left out.
#[test]
fn a_heap_of_hair_is_bounded_and_reported() {
    let mut all = Strands::new();
    for s in 0..3000 {
        let p = Vec3::splat(s as f32 * 1e-7);
        all.push(&[p, p + Vec3::X * 0.01, p + Vec3::X * 0.02]);
    }
    let groom = Groom::new(all, Fibre::default());
    let segments = Segments::new(&Chains::of_strands(&groom), 1.0);
    let position = groom.strands.positions();
    let mut pairs = Pairs::default();
    pairs.find(&segments, position, position, Reach { distance: 1e-3, margin: 0.0 });
    assert!(pairs.dropped() > 0);
    assert!(pairs.len() <= segments.count() * MAX_FOUND);
}

#[test]
fn the_list_does_not_depend_on_threads() {
    let (segments, start, end) = hair(11, 2000, 0.05);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut pairs = Pairs::default();
            let reach = Reach { distance: 2e-3, margin: 1e-3 };
            pairs.find(&segments, &start, &end, reach);
            (pairs.first.clone(), pairs.other.clone())
        })
    };
    let one = run(1);
    assert!(one.1.len() > 1000, "{}", one.1.len());
    assert!(one == run(2) && one == run(3));
}
