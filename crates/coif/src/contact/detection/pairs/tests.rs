use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::contact::Chains;
use crate::contact::detection::broad_phase::APART;
use crate::contact::detection::found::MAX_FOUND;
use crate::contact::detection::lines::{Line, SLACK};
use crate::contact::detection::segments::closest_points_segment_segment;
use crate::groom::{Fibre, Groom, Strands};
use crate::math::Random;

/// Wavy strands, and the displacements of their points.
fn hair(seed: u32, strands: usize, size: f32) -> (Segments, Vec<Vec3>, Vec<Vec3>) {
    let mut random = Random::new(seed.into(), 0);
    let mut all = Strands::new();
    for s in 0..strands {
        let mut p = random.vector() * size;
        let direction = random.vector();
        // Give one strand in nine long segments, and move one far away.
        let step = if s % 9 == 4 { 0.04 } else { 0.006 };
        if s == 5 {
            p += Vec3::splat(40.0);
        }
        let mut line = vec![p];
        for _ in 0..3 + s % 7 {
            p += (direction + 0.7 * random.vector()).normalize_or(Vec3::X) * step;
            line.push(p);
        }
        all.push(&line);
    }
    let start = all.positions().to_vec();
    let end = start.iter().enumerate().map(|(i, p)| {
        let fast = if i % 50 < 4 { 0.02 } else { 0.001 };
        *p + Vec3::X * 0.1 + random.vector() * fast
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

/// A brute-force broad phase: tests all pairs in double precision, with the search distance scaled by `limit`.
struct BruteForce {
    limit: f64,
}

impl BroadPhase for BruteForce {
    fn search(
        &mut self,
        segments: &Segments,
        motion: &Motion<'_>,
        reach: Reach,
        pairs: &mut PairList,
    ) {
        let points = motion.middle.len();
        let there: Vec<usize> =
            (0..points - 1).filter(|&p| motion.has_segment(segments, p)).collect();
        let mut found = Vec::new();
        for (i, &a) in there.iter().enumerate() {
            for &b in &there[i + 1..] {
                // In the middle of the motion they are within the reach plus half of their relative displacement.
                let (p, q) = (Line::of_segment(motion, a), Line::of_segment(motion, b));
                let displacement = p.displacement.as_dvec3().distance(q.displacement.as_dvec3());
                let near =
                    f64::from(reach.total()) + f64::from(p.pad) + f64::from(q.pad) + displacement;
                let apart = f64::from(distance(motion.middle, a, b));
                if segments.may_collide(a as u32, b as u32, APART) && apart <= near * self.limit {
                    found.push((a as u32, b as u32));
                }
            }
        }
        pairs.fill(points, &mut found);
    }

    fn bytes(&self) -> usize {
        0
    }
}

fn found_by(
    mut pairs: Pairs,
    segments: &Segments,
    start: &[Vec3],
    end: &[Vec3],
    reach: Reach,
) -> Option<BTreeSet<(usize, usize)>> {
    pairs.find(segments, start, end, reach);
    let found = list(&pairs);
    assert_eq!(found.len(), pairs.len());
    (pairs.dropped() == 0).then_some(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Tree and grid find all pairs of brute force, and no others except within the tolerance for rounding.
    #[test]
    fn all_broad_phases_find_the_same_pairs(
        seed in 1u32..1_000_000, strands in 2usize..60, size in 0.005f32..0.05,
        reach in 1e-4f32..0.004, margin in 0.0f32..0.003, moving: bool
    ) {
        let (segments, start, moved) = hair(seed, strands, size);
        let end = if moving { &moved } else { &start };
        let reach = Reach { distance: reach, margin };
        let found = |pairs| found_by(pairs, &segments, &start, end, reach);
        let brute = |limit| found(Pairs::with(Box::new(BruteForce { limit }))).expect("all");
        let (required, allowed) = (brute(1.0), brute(1.0 + 1.5 * f64::from(SLACK)));
        for &(name, method) in Method::NAMES {
            let Some(found) = found(Pairs::new(method)) else { continue };
            prop_assert!(found.is_superset(&required), "{name} misses {:?}", required.difference(&found));
            prop_assert!(found.is_subset(&allowed), "{name} has {:?}", found.difference(&allowed));
        }
    }

    /// No pair is missing that comes within reach at any time of the motion; without motion there are no far pairs.
    #[test]
    fn no_pair_is_missing_at_any_time_of_the_motion(
        seed in 1u32..1_000_000, strands in 2usize..60, size in 0.005f32..0.05,
        reach in 0.0f32..0.004, margin in 0.0f32..0.003, moving: bool, which in 0..Method::NAMES.len()
    ) {
        let (segments, start, moved) = hair(seed, strands, size);
        let end = if moving { &moved } else { &start };
        let near = Reach { distance: reach, margin };
        let pairs = Pairs::new(Method::NAMES[which].1);
        let found = found_by(pairs, &segments, &start, end, near);
        prop_assume!(found.is_some());
        let found = found.unwrap_or_default();
        for a in (0..start.len()).filter(|&a| segments.starts(a)) {
            for b in (a + 1..start.len()).filter(|&b| segments.starts(b)) {
                let min_distance = (0..=8)
                    .map(|i| {
                        let at = |p: usize| start[p].lerp(end[p], i as f32 / 8.0);
                        let of = |s: usize| [at(s), at(s + 1)];
                        closest_points_segment_segment(of(a), of(b)).distance()
                    })
                    .fold(f32::INFINITY, f32::min);
                let there = found.contains(&(a, b));
                if !segments.may_collide(a as u32, b as u32, APART) {
                    prop_assert!(!there);
                } else if min_distance <= reach {
                    prop_assert!(there, "{a} {b}: {min_distance}");
                } else if !moving && min_distance > (reach + margin) * 1.01 + 1e-6 {
                    prop_assert!(!there, "{a} {b}: {min_distance}");
                }
            }
        }
    }
}

#[test]
fn pairs_are_kept_until_a_point_moves_by_half_the_margin() {
    let (segments, mut position, _) = hair(3, 40, 0.02);
    let reach = Reach { distance: 1e-3, margin: 2e-3 };
    let mut pairs = Pairs::new(Method::Tree);
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
fn points_that_are_not_finite_are_in_no_pair() {
    let (segments, mut position, _) = hair(5, 40, 0.01);
    position[3] = Vec3::NAN;
    position[30].y = f32::INFINITY;
    let reach = Reach { distance: 2e-3, margin: 0.0 };
    for &(_, method) in Method::NAMES {
        let mut pairs = Pairs::new(method);
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
}

/// With all strands in one place, the list is bounded and dropped pairs are reported.
#[test]
fn pairs_of_coinciding_hair_are_bounded_and_reported() {
    let mut all = Strands::new();
    for s in 0..3000 {
        let p = Vec3::splat(s as f32 * 1e-7);
        all.push(&[p, p + Vec3::X * 0.01, p + Vec3::X * 0.02]);
    }
    let groom = Groom::new(all, Fibre::default());
    let segments = Segments::new(&Chains::of_strands(&groom), 1.0);
    let position = groom.strands.positions();
    for &(_, method) in Method::NAMES {
        let mut pairs = Pairs::new(method);
        pairs.find(&segments, position, position, Reach { distance: 1e-3, margin: 0.0 });
        assert!(pairs.dropped() > 0);
        assert!(pairs.len() <= segments.count() * MAX_FOUND);
    }
}

#[test]
fn the_list_does_not_depend_on_threads() {
    let (segments, start, end) = hair(11, 2000, 0.05);
    for &(name, method) in Method::NAMES {
        let run = |threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let mut pairs = Pairs::new(method);
                let reach = Reach { distance: 2e-3, margin: 1e-3 };
                pairs.find(&segments, &start, &end, reach);
                (pairs.list.first.clone(), pairs.list.other.clone())
            })
        };
        let one = run(1);
        assert!(one.1.len() > 1000, "{name}: {}", one.1.len());
        assert!(one == run(2) && one == run(3), "{name}");
    }
}

/// A broad phase whose state is the number of its searches.
#[derive(Default)]
struct Counting(u32);

impl BroadPhase for Counting {
    fn search(&mut self, _: &Segments, motion: &Motion<'_>, _: Reach, pairs: &mut PairList) {
        self.0 += 1;
        pairs.fill(motion.middle.len(), &mut [(0, 4 + self.0)]);
    }

    fn bytes(&self) -> usize {
        4
    }

    fn reset(&mut self) {
        self.0 = 0;
    }

    fn save(&self, out: &mut Vec<u8>) {
        out.extend(self.0.to_le_bytes());
    }

    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (state, rest) = bytes.split_first_chunk()?;
        self.0 = u32::from_le_bytes(*state);
        Some(rest)
    }
}

/// The state of a broad phase is in the checkpoint, and is cleared on reset.
#[test]
fn a_state_is_saved_restored_and_reset() {
    let (segments, position, _) = hair(3, 40, 0.02);
    let reach = Reach { distance: 1e-3, margin: 0.0 };
    let search = |pairs: &mut Pairs| {
        pairs.clear();
        pairs.find(&segments, &position, &position, reach);
        pairs.of(0).to_vec()
    };
    let mut pairs = Pairs::with(Box::new(Counting::default()));
    assert_eq!(search(&mut pairs), [5]);
    assert_eq!(search(&mut pairs), [6]);
    let mut saved = Vec::new();
    pairs.save(&mut saved);
    saved.push(99);
    let mut again = Pairs::with(Box::new(Counting::default()));
    assert_eq!(again.restore(&saved[..2]), None);
    assert_eq!(again.restore(&saved), Some(&[99][..]));
    assert_eq!(search(&mut again), search(&mut pairs));
    again.reset();
    assert_eq!(search(&mut again), [5]);
}
