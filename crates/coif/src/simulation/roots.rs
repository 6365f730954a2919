//! Root bindings: each strand, strip or column of a hair mesh moves rigidly with the triangle that it grows on.
//!
//! Eight roots at a time, one per lane. A triangle without an area has no frame of its own to
//! compute in lanes; its strands are done one by one. So are those on a triangle with corners that are
//! not finite: they keep their last pose, and are *invalid*.

use fearless_simd::{Level, Select, Simd, SimdBase, SimdFloat, SimdMask, dispatch, f32x8};
use glam::{Affine3A, Quat, Vec3};
use rayon::prelude::*;

use crate::body::{Body, BodyPose};
use crate::groom::RootBinding;
use crate::math::lanes::{HALF, Vec3x8};
use crate::math::{RigidTransform, triangle_frame};
use crate::{Error, Result};

/// Groups of lanes per task.
const GROUPS: usize = 64;

/// Sine of the angle between a triangle's first two edges below which it has no area.
const FLAT: f32 = 1e-6;

/// Poses of roots on a body: a rigid transform from the rest shape for each, from the triangle that it is bound
/// to. A simulation has them for its model; callers that step a model by hand can use them too.
pub struct Roots {
    /// The vertices under the roots, each once.
    vertices: Vec<usize>,
    groups: Vec<Group>,
    positions: Vec<Vec3>,
    bones: Vec<Affine3A>,
    world_from_rest: Vec<RigidTransform>,
    /// Per group: a bit for every lane whose root is invalid.
    invalid: Vec<u8>,
    /// The same for another pose: scratch.
    other_invalid: Vec<u8>,
    level: Level,
}

/// Roots that are invalid, and the poses that they keep.
pub(super) type InvalidRoots = Vec<(usize, RigidTransform)>;

/// The bindings of the strands of eight lanes.
struct Group {
    /// Places in `vertices` of the triangles' corners.
    corners: [[u32; 3]; HALF],
    /// Weights of the corners.
    weights: [[f32; HALF]; 3],
    /// Triangle from world in the rest shape.
    triangle_from_rest: [[f32; HALF]; 4],
    /// The place on the triangle in the rest shape (m).
    place: [[f32; HALF]; 3],
}

impl Group {
    /// Lanes without a strand are bound to the first vertex.
    const EMPTY: Self = Self {
        corners: [[0; 3]; HALF],
        weights: [[0.0; HALF]; 3],
        triangle_from_rest: [[0.0; HALF]; 4],
        place: [[0.0; HALF]; 3],
    };
}

impl Roots {
    /// Roots that are bound to the body's triangles.
    pub fn new(bindings: &[RootBinding], body: &Body) -> Result<Self> {
        let mesh = body.rest();
        let mut known = vec![u32::MAX; mesh.positions.len()];
        let mut vertices = Vec::new();
        let mut groups = Vec::with_capacity(bindings.len().div_ceil(HALF));
        for (s, root) in bindings.iter().enumerate() {
            let triangle =
                *mesh.triangles.get(root.triangle as usize).ok_or(Error::OutOfRange {
                    name: "triangle of a root".into(),
                    value: root.triangle.into(),
                    expected: "a triangle of the body",
                })?;
            if s % HALF == 0 {
                groups.push(Group::EMPTY);
            }
            let (group, lane) = (&mut groups[s / HALF], s % HALF);
            group.corners[lane] = triangle.map(|v| {
                let v = v as usize;
                if known[v] == u32::MAX {
                    known[v] = vertices.len() as u32;
                    vertices.push(v);
                }
                known[v]
            });
            let place = on_triangle(mesh.corners(root.triangle as usize), root.barycentric);
            let turn = root.rest_frame.conjugate().to_array();
            for i in 0..3 {
                group.weights[i][lane] = root.barycentric[i];
                group.place[i][lane] = place[i];
            }
            for i in 0..4 {
                group.triangle_from_rest[i][lane] = turn[i];
            }
        }
        Ok(Self {
            vertices,
            invalid: vec![0; groups.len()],
            other_invalid: Vec::new(),
            groups,
            positions: Vec::new(),
            bones: Vec::new(),
            world_from_rest: vec![RigidTransform::IDENTITY; bindings.len()],
            level: Level::new(),
        })
    }

    /// Poses all roots by the body's own animation at `time` (s).
    pub fn follow(&mut self, body: &Body, time: f64) {
        self.follow_pose(body, BodyPose::At(time));
    }

    /// Poses all roots by the pose of the body.
    pub(super) fn follow_pose(&mut self, body: &Body, pose: BodyPose<'_>) {
        self.positions.clear();
        let vertices = self.vertices.iter().copied();
        body.vertices_in(pose, vertices, &mut self.bones, &mut self.positions);
        self.turn();
    }

    /// Writes the poses of the roots in another pose of the body, without a change to them. An invalid one keeps the pose that
    /// it has in `out`.
    pub(super) fn pose_into(
        &mut self,
        body: &Body,
        pose: BodyPose<'_>,
        out: &mut Vec<RigidTransform>,
    ) {
        out.resize(self.world_from_rest.len(), RigidTransform::IDENTITY);
        std::mem::swap(&mut self.world_from_rest, out);
        self.other_invalid.resize(self.invalid.len(), 0);
        std::mem::swap(&mut self.invalid, &mut self.other_invalid);
        self.follow_pose(body, pose);
        std::mem::swap(&mut self.invalid, &mut self.other_invalid);
        std::mem::swap(&mut self.world_from_rest, out);
    }

    /// Poses all roots from the vertices of the posed body (m).
    ///
    /// # Panics
    /// If there are fewer vertices than the body has.
    pub fn follow_vertices(&mut self, vertices: &[Vec3]) {
        self.positions.clear();
        self.positions.extend(self.vertices.iter().map(|&v| vertices[v]));
        self.turn();
    }

    fn turn(&mut self) {
        let (positions, level) = (&self.positions, self.level);
        let strands = self.world_from_rest.par_chunks_mut(GROUPS * HALF);
        let invalid = self.invalid.par_chunks_mut(GROUPS);
        strands.zip(invalid).zip(self.groups.par_chunks(GROUPS)).for_each(
            |((out, invalid), groups)| {
                dispatch!(level, simd => turn_groups(simd, groups, positions, out, invalid));
            },
        );
    }

    /// Rigid transforms of the roots from the rest shape; always finite.
    pub fn world_from_rest(&self) -> &[RigidTransform] {
        &self.world_from_rest
    }

    /// Sets the poses of all roots.
    pub(super) fn set_world_from_rest(&mut self, poses: Vec<RigidTransform>) {
        self.world_from_rest = poses;
    }

    /// The roots that are invalid: the pose of their triangle is not finite.
    pub(super) fn invalid(&self) -> InvalidRoots {
        let all = self.world_from_rest.iter().copied().enumerate();
        all.filter(|(root, _)| self.is_invalid(*root)).collect()
    }

    /// Restores the poses of invalid roots.
    pub(super) fn place_invalid(&mut self, invalid: &InvalidRoots) {
        for &(root, pose) in invalid {
            if self.is_invalid(root) {
                self.world_from_rest[root] = pose;
            }
        }
    }

    /// Moves all roots by `by` (m), for an origin that has moved by its negative.
    pub(super) fn shift(&mut self, by: Vec3) {
        self.world_from_rest.iter_mut().for_each(|pose| pose.translation += by);
    }

    /// Number of roots.
    pub(super) fn len(&self) -> usize {
        self.world_from_rest.len()
    }

    /// Whether any root is invalid.
    pub(super) fn any_invalid(&self) -> bool {
        self.invalid.iter().any(|lanes| *lanes != 0)
    }

    /// Whether a root has no finite pose, and keeps its last one.
    pub fn is_invalid(&self, root: usize) -> bool {
        self.invalid[root / HALF] >> (root % HALF) & 1 == 1
    }
}

#[inline(always)]
fn turn_groups<S: Simd>(
    simd: S,
    groups: &[Group],
    positions: &[Vec3],
    out: &mut [RigidTransform],
    invalid: &mut [u8],
) {
    for g in 0..groups.len() {
        let first = g * HALF;
        let last = (first + HALF).min(out.len());
        invalid[g] = turn_group(simd, &groups[g], positions, &mut out[first..last]);
    }
}

/// Turns the strands of a group with their triangles' frames about the place where they are bound. Gives a bit for
/// every lane that is invalid.
#[inline(always)]
fn turn_group<S: Simd>(
    simd: S,
    group: &Group,
    positions: &[Vec3],
    out: &mut [RigidTransform],
) -> u8 {
    let mut corner = [[0.0; HALF]; 9];
    for lane in 0..HALF {
        for c in 0..3 {
            let p = positions[group.corners[lane][c] as usize];
            corner[3 * c][lane] = p.x;
            corner[3 * c + 1][lane] = p.y;
            corner[3 * c + 2][lane] = p.z;
        }
    }
    let (a, b, c) = (load(simd, &corner, 0), load(simd, &corner, 3), load(simd, &corner, 6));

    // The frame has x along the first edge, y out of the surface.
    let (edge, side) = (b - a, c - a);
    let normal = edge.cross(side);
    let (edge2, area2) = (edge.dot(edge), normal.dot(normal));
    let flat = area2.simd_gt(edge2 * side.dot(side) * (FLAT * FLAT));
    let tiny = f32x8::splat(simd, f32::MIN_POSITIVE);
    let one = f32x8::splat(simd, 1.0);
    let x = edge * (one / edge2.max(tiny).sqrt());
    let y = normal * (one / area2.max(tiny).sqrt());
    let rotation = times(quaternion(x, y, x.cross(y)), {
        let q = &group.triangle_from_rest;
        [
            f32x8::from_slice(simd, &q[0]),
            f32x8::from_slice(simd, &q[1]),
            f32x8::from_slice(simd, &q[2]),
            f32x8::from_slice(simd, &q[3]),
        ]
    });
    let [i, j, k, w] = rotation;
    let scale = one / (i * i + j * j + k * k + w * w).max(tiny).sqrt();
    let (v, w) = (Vec3x8 { x: i, y: j, z: k } * scale, w * scale);

    // Rotate by v + w: p + 2 (w (v x p) + v x (v x p)).
    let rest = load(simd, &group.place, 0);
    let across = v.cross(rest);
    let turned = rest + (across * w + v.cross(across)) * f32x8::splat(simd, 2.0);
    let place = a * f32x8::from_slice(simd, &group.weights[0])
        + b * f32x8::from_slice(simd, &group.weights[1])
        + c * f32x8::from_slice(simd, &group.weights[2]);
    let translation = place - turned;
    // A triangle with a corner that is not finite is not proper either: no comparison with NaN holds,
    // and of infinite edges both sides are infinite.
    let proper = flat.to_bitmask();
    let mut invalid = 0;
    for lane in 0..out.len() {
        if proper >> lane & 1 == 1 {
            out[lane] = RigidTransform {
                rotation: Quat::from_xyzw(v.x[lane], v.y[lane], v.z[lane], w[lane]),
                translation: translation.lane(lane),
            };
            continue;
        }
        let pose = turn_one(group, lane, positions);
        if pose.is_finite() {
            out[lane] = pose;
        } else {
            invalid |= 1 << lane;
        }
    }
    invalid
}

/// Turns the strand of one lane, for any triangle.
#[cold]
#[inline(never)]
fn turn_one(group: &Group, lane: usize, positions: &[Vec3]) -> RigidTransform {
    let triangle = group.corners[lane].map(|v| positions[v as usize]);
    let [x, y, z, w] = group.triangle_from_rest.map(|q| q[lane]);
    let rotation = (triangle_frame(triangle) * Quat::from_xyzw(x, y, z, w)).normalize();
    let rest = Vec3::from(group.place.map(|p| p[lane]));
    let place = on_triangle(triangle, group.weights.map(|w| w[lane]));
    RigidTransform { rotation, translation: place - rotation * rest }
}

#[inline(always)]
fn load<S: Simd>(simd: S, rows: &[[f32; HALF]], first: usize) -> Vec3x8<S> {
    Vec3x8 {
        x: f32x8::from_slice(simd, &rows[first]),
        y: f32x8::from_slice(simd, &rows[first + 1]),
        z: f32x8::from_slice(simd, &rows[first + 2]),
    }
}

/// The rotation with these columns as a quaternion (x, y, z, w) of some length.
///
/// Model: with q of length one, 4 q qᵀ has rows that are sums of the matrix's elements, each a multiple
/// of q. The row with the largest diagonal element is the best conditioned.
#[inline(always)]
fn quaternion<S: Simd>(x: Vec3x8<S>, y: Vec3x8<S>, z: Vec3x8<S>) -> [f32x8<S>; 4] {
    let square_w = x.x + y.y + z.z + 1.0;
    let square_x = x.x - y.y - z.z + 1.0;
    let square_y = y.y - x.x - z.z + 1.0;
    let square_z = z.z - x.x - y.y + 1.0;
    let (xy, xz, yz) = (x.y + y.x, x.z + z.x, y.z + z.y);
    let (xw, yw, zw) = (y.z - z.y, z.x - x.z, x.y - y.x);
    let mut largest = square_w;
    let mut row = [xw, yw, zw, square_w];
    for (square, other) in [
        (square_x, [square_x, xy, xz, xw]),
        (square_y, [xy, square_y, yz, yw]),
        (square_z, [xz, yz, square_z, zw]),
    ] {
        let larger = square.simd_gt(largest);
        largest = larger.select(square, largest);
        for i in 0..4 {
            row[i] = larger.select(other[i], row[i]);
        }
    }
    row
}

/// The product of two quaternions (x, y, z, w).
#[inline(always)]
fn times<S: Simd>(a: [f32x8<S>; 4], b: [f32x8<S>; 4]) -> [f32x8<S>; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn on_triangle([a, b, c]: [Vec3; 3], w: [f32; 3]) -> Vec3 {
    a * w[0] + b * w[1] + c * w[2]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math::testing::vec3;

    proptest! {
        /// Lanes turn strands as one by one, also on triangles without an area.
        #[test]
        fn lanes_agree_with_single_strands(
            positions in prop::collection::vec(vec3(1.0), 3 * HALF),
            turns in prop::collection::vec((vec3(1.0), 0.1f32..1.0), HALF),
            flat in 0..HALF,
        ) {
            let mut positions = positions;
            positions[3 * flat + 2] = positions[3 * flat].midpoint(positions[3 * flat + 1]);
            let mut group = Group::EMPTY;
            for lane in 0..HALF {
                let first = 3 * lane as u32;
                group.corners[lane] = [first, first + 1, first + 2];
                let (axis, w) = turns[lane];
                let turn = Quat::from_xyzw(axis.x, axis.y, axis.z, w).normalize().to_array();
                (0..4).for_each(|i| group.triangle_from_rest[i][lane] = turn[i]);
                for i in 0..3 {
                    group.weights[i][lane] = [0.2, 0.3, 0.5][i];
                    group.place[i][lane] = axis[i];
                }
            }
            let mut out = [RigidTransform::IDENTITY; HALF];
            let invalid =
                dispatch!(Level::new(), simd => turn_group(simd, &group, &positions, &mut out));
            prop_assert_eq!(invalid, 0);
            for (lane, found) in out.iter().enumerate() {
                let expected = turn_one(&group, lane, &positions);
                let [a, b, c] = group.corners[lane].map(|v| positions[v as usize]);
                let area = (b - a).cross(c - a).length();
                // Accuracy of a sliver's normal.
                let bound = 1e-5 + 1e-6 / area.max(1e-6);
                prop_assert!(found.rotation.dot(expected.rotation).abs() > 1.0 - bound);
                prop_assert!(found.translation.distance(expected.translation) < 4.0 * bound.sqrt());
            }
        }
    }

    /// Roots on a triangle with any corner that is not finite keep their pose, and the others have the same bits.
    #[test]
    fn roots_on_a_triangle_that_is_nowhere_stay() {
        let corner = |i: usize| Vec3::new((i * i) as f32, (7 * i % 5) as f32, (3 * i % 11) as f32);
        let positions: Vec<Vec3> = (0..3 * HALF).map(corner).collect();
        let mut group = Group::EMPTY;
        for lane in 0..HALF {
            group.corners[lane] = [0, 1, 2].map(|k| (3 * lane + k) as u32);
            group.weights[0][lane] = 1.0;
            group.triangle_from_rest[3][lane] = 1.0;
        }
        let turn = |positions: &[Vec3], out: &mut [RigidTransform]| -> u8 {
            dispatch!(Level::new(), simd => turn_group(simd, &group, positions, out))
        };
        let mut whole = [RigidTransform::IDENTITY; HALF];
        assert_eq!(turn(&positions, &mut whole), 0);
        let before = RigidTransform::from_translation(Vec3::X * 5.0);
        for nowhere in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for vertex in 9..12 {
                for axis in 0..3 {
                    let (mut broken, mut out) = (positions.clone(), [before; HALF]);
                    broken[vertex][axis] = nowhere;
                    assert_eq!(turn(&broken, &mut out), 1 << 3);
                    assert!((0..HALF).all(|l| out[l] == if l == 3 { before } else { whole[l] }));
                }
            }
        }
    }
}
