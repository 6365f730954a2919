//! Joints of strips at the drawn time: extrapolated from the last step, sixteen strips at a time.

use std::ops::Range;

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x16};
use glam::Vec3;

use crate::environment::Onward;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x, lane, set_lane};

/// Strips per task.
const STRIPS: usize = 64;

/// The joints of some strips: positions (m), frames, and velocities (m/s).
pub(in crate::grow) struct Joints<'a> {
    pub(in crate::grow) position: &'a mut [Vec3],
    pub(in crate::grow) tangent: &'a mut [Vec3],
    pub(in crate::grow) binormal: &'a mut [Vec3],
    pub(in crate::grow) velocity: &'a [Vec3],
}

impl Joints<'_> {
    /// Carries them onward with the scalp's current frames. `first` is the first joint of every strip, and the total;
    /// these are the joints of `strips`.
    pub(in crate::grow) fn go_on(
        mut self,
        strips: Range<usize>,
        first: &[u32],
        onward: &Onward<'_>,
        level: Level,
    ) {
        if strips.len() <= STRIPS {
            let begins = first[strips.start];
            for from in strips.clone().step_by(LANES) {
                let some = from..(from + LANES).min(strips.end);
                dispatch!(level, simd => go_on_lanes(simd, &mut self, some, begins, first, onward));
            }
            return;
        }
        let Self { position, tangent, binormal, velocity } = self;
        let middle = strips.start + strips.len() / 2;
        let at = (first[middle] - first[strips.start]) as usize;
        let (x, more_x) = position.split_at_mut(at);
        let (t, more_t) = tangent.split_at_mut(at);
        let (b, more_b) = binormal.split_at_mut(at);
        let (v, more_v) = velocity.split_at(at);
        let one = Joints { position: x, tangent: t, binormal: b, velocity: v };
        let other =
            Joints { position: more_x, tangent: more_t, binormal: more_b, velocity: more_v };
        rayon::join(
            || one.go_on(strips.start..middle, first, onward, level),
            || other.go_on(middle..strips.end, first, onward, level),
        );
    }
}

/// Carries the joints of at most sixteen strips onward. `begins` is the number of the first of `joints`.
///
/// Model: joints are extrapolated one by one ([`Onward`]), then segments get their lengths back, root to tip, and frames
/// turn with them.
#[inline(always)]
fn go_on_lanes<S: Simd>(
    simd: S,
    joints: &mut Joints<'_>,
    strips: Range<usize>,
    begins: u32,
    first: &[u32],
    onward: &Onward<'_>,
) {
    let strip = |l: usize| (strips.start + l).min(strips.end - 1);
    let lines: [u32; LANES] = std::array::from_fn(|l| strip(l) as u32);
    let mut of: [Range<usize>; LANES] = std::array::from_fn(|l| {
        let [from, to] = [0, 1].map(|k| (first[strip(l) + k] - begins) as usize);
        from..to
    });
    of[strips.len()..].fill(0..0);
    let rows = of.iter().map(Range::len).max().unwrap_or(0);
    let beside_scalp = onward.beside_scalps(simd, &lines);
    let zero = Vec3x::splat(simd, Vec3::ZERO);
    let (mut inner, mut there) = (zero, zero);
    let [mut x, mut v, mut t, mut b] = [[0.0; VECTOR]; 4];
    for row in 0..rows {
        for (l, of) in of.iter().enumerate().filter(|(_, of)| row < of.len()) {
            let j = of.start + row;
            set_lane(&mut x, 0, l, joints.position[j]);
            set_lane(&mut v, 0, l, joints.velocity[j]);
            set_lane(&mut t, 0, l, joints.tangent[j]);
            set_lane(&mut b, 0, l, joints.binormal[j]);
        }
        let (here, velocity) = (Vec3x::of_row(simd, &x), Vec3x::of_row(simd, &v));
        let (tangent, binormal) = (Vec3x::of_row(simd, &t), Vec3x::of_row(simd, &b));
        let free = beside_scalp.point(here, velocity);
        if row == 0 {
            there = free;
        } else {
            let along = unit_or(simd, free - there, tangent);
            there += along * (here - inner).length();
            along.to_row(&mut t);
            unit_or(simd, binormal - along * along.dot(binormal), binormal).to_row(&mut b);
        }
        inner = here;
        there.to_row(&mut x);
        for (l, of) in of.iter().enumerate().filter(|(_, of)| row < of.len()) {
            let j = of.start + row;
            joints.position[j] = lane(&x, 0, l);
            joints.tangent[j] = lane(&t, 0, l);
            joints.binormal[j] = lane(&b, 0, l);
        }
    }
}

/// Unit vectors, or others where there is no direction.
#[inline(always)]
fn unit_or<S: Simd>(simd: S, v: Vec3x<S>, other: Vec3x<S>) -> Vec3x<S> {
    let inverse = f32x16::splat(simd, 1.0) / v.length();
    let fine = inverse.simd_gt(0.0) & inverse.simd_lt(f32::INFINITY);
    (v * inverse).or(fine, other)
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::math::RigidTransform;

    /// Strips of different lengths that swing on a moving scalp: joint by joint the same, to rounding, with any
    /// instructions to the bit, and every segment keeps its length.
    #[test]
    fn lanes_carry_joints_as_one_by_one() {
        let counts: Vec<usize> = (0..150).map(|s| 2 + s * 5 % 13).collect();
        let mut first = vec![0u32];
        counts.iter().for_each(|n| first.push(first[first.len() - 1] + *n as u32));
        let wave = |i: usize, k: f32| ((i as f32) * k).sin();
        let some = |i: usize, k: f32| Vec3::new(wave(i, k), wave(i, 1.3 * k), wave(i, 1.7 * k));
        let (mut x, mut t, mut b, mut v) = (vec![], vec![], vec![], vec![]);
        for (s, &count) in counts.iter().enumerate() {
            for i in 0..count {
                let n = first[s] as usize + i;
                x.push(some(s, 0.9) * 0.1 + some(n, 0.2) * 0.01 + Vec3::NEG_Y * (0.02 * i as f32));
                t.push(some(n + 1, 0.5).normalize());
                b.push(t[n].any_orthonormal_vector());
                v.push(some(n, 0.8));
            }
        }
        let pose = |s: usize, angle: f32| RigidTransform {
            rotation: Quat::from_rotation_y(angle + 0.1 * s as f32),
            translation: some(s, 0.3) * 0.2,
        };
        let (before, now): (Vec<_>, Vec<_>) =
            (0..counts.len()).map(|s| (pose(s, 0.2), pose(s, 0.22))).unzip();
        let onward = Onward {
            before: &before,
            now: &now,
            strands_now: &now,
            strands_drawn: &now,
            dt: 1.0 / 240.0,
            ahead: 1.0 / 500.0,
        };
        let carried = |level: Level| {
            let (mut x, mut t, mut b) = (x.clone(), t.clone(), b.clone());
            let all = Joints { position: &mut x, tangent: &mut t, binormal: &mut b, velocity: &v };
            all.go_on(0..counts.len(), &first, &onward, level);
            [x, t, b]
        };
        let found = carried(Level::new());
        assert_eq!(found, carried(Level::baseline()));
        for s in 0..counts.len() {
            let goes_on = onward.beside_scalp(s);
            let mut there = Vec3::ZERO;
            for j in first[s] as usize..first[s + 1] as usize {
                let free = goes_on(x[j], v[j]);
                let (mut along, mut across) = (t[j], b[j]);
                if j == first[s] as usize {
                    there = free;
                } else {
                    let length = x[j].distance(x[j - 1]);
                    along = (free - there).normalize();
                    across = (b[j] - along * along.dot(b[j])).normalize();
                    there += along * length;
                    let laid = found[0][j].distance(found[0][j - 1]);
                    assert!((laid - length).abs() < 1e-6, "{laid} {length}");
                }
                // Rounding of positions of half a metre, divided by a step, adds up along a strip.
                assert!(found[0][j].distance(there) < 1e-5, "{} {there}", found[0][j]);
                assert!(found[1][j].distance(along) < 1e-3 && found[2][j].distance(across) < 1e-3);
            }
        }
    }
}
