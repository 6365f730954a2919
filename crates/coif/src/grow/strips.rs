//! From simulated strips to what is drawn: quads with their second edge, normals and texture
//! coordinates, and strands inside for close-ups, which a [`StripBinding`] carries along.
//!
//! It comes after the step: nothing here feeds back into the motion.

mod binding;
mod hung_lanes;
mod joints;
mod lanes;
mod turn_out;

pub use self::binding::StripBinding;
pub(super) use self::joints::Joints;

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::groom::strips::{JointFrame, StripPose, Strips, at_equal_arc_length, unit};
use crate::groom::validate::MIN_SEGMENT;
use crate::groom::{Fibre, Groom, Strands};
use crate::{Error, Result};

/// Joints that one task treats.
const PIECE: usize = 4096;

/// Strips as a mesh of triangles. Vertex `2 j` is joint `j`, vertex `2 j + 1` lies on the second edge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StripMesh {
    /// Vertices (m).
    pub positions: Vec<Vec3>,
    /// Unit normals, out of the strips.
    pub normals: Vec<Vec3>,
    /// Unit vectors along the strips.
    pub tangents: Vec<Vec3>,
    /// Unit vectors across the strips.
    pub binormals: Vec<Vec3>,
    /// Texture coordinates: across, and from root to tip.
    pub coordinates: Vec<Vec2>,
    /// Two triangles per quad, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    scratch: lanes::Scratch,
}

impl StripMesh {
    /// What does not change with the motion: texture coordinates by arc length, and triangles.
    pub fn new(strips: &Strips) -> Self {
        let joints = strips.edges.point_count();
        let mut mesh = Self {
            positions: vec![Vec3::ZERO; 2 * joints],
            normals: vec![Vec3::ZERO; 2 * joints],
            tangents: vec![Vec3::ZERO; 2 * joints],
            binormals: vec![Vec3::ZERO; 2 * joints],
            coordinates: Vec::with_capacity(2 * joints),
            triangles: Vec::new(),
            scratch: lanes::Scratch::default(),
        };
        for s in 0..strips.count() {
            let line = strips.edges.strand(s);
            let (length, mut so_far) = (strips.edges.length(s), 0.0);
            for (i, p) in line.iter().enumerate() {
                so_far += if i > 0 { p.distance(line[i - 1]) } else { 0.0 };
                let v = (so_far / length).min(1.0);
                mesh.coordinates.extend([Vec2::new(0.0, v), Vec2::new(1.0, v)]);
            }
            let first = 2 * strips.edges.points_of(s).start as u32;
            for i in 0..line.len() as u32 - 1 {
                let [a, b, c, d] = [0, 1, 2, 3].map(|k| first + 2 * i + k);
                mesh.triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
        mesh.follow(strips, &strips.rest_pose());
        mesh
    }

    /// Moves the mesh to where the joints are.
    ///
    /// Source: `jung2005` 4.3: `Q_i = P_i + w B`; `N_i = T_i x B`.
    /// Deviations: the normal at a vertex is the mean of those of the two segments beside it, as smooth
    /// shading wants it; a joint has the frame of the segment that ends there.
    pub fn follow(&mut self, strips: &Strips, pose: &StripPose) {
        let first = strips.edges.first_points();
        let rows = self.positions.par_chunks_mut(2 * PIECE);
        let rows = rows.zip(self.normals.par_chunks_mut(2 * PIECE));
        let rows = rows.zip(self.tangents.par_chunks_mut(2 * PIECE));
        let rows = rows.zip(self.binormals.par_chunks_mut(2 * PIECE));
        rows.enumerate().for_each(|(piece, (((positions, normals), tangents), binormals))| {
            let start = piece * PIECE;
            let mut strip = first.partition_point(|&f| f as usize <= start) - 1;
            for k in 0..positions.len() / 2 {
                let j = start + k;
                while first[strip + 1] as usize <= j {
                    strip += 1;
                }
                let frame =
                    |j: usize| JointFrame { tangent: pose.tangent[j], binormal: pose.binormal[j] };
                let here = frame(j);
                let (begins, ends) =
                    (first[strip] as usize == j, first[strip + 1] as usize == j + 1);
                // The anchor's own frame is the direction of growth: use that of its first segment.
                let next = if ends { here } else { frame(j + 1) };
                let before = if begins { next } else { here };
                let tangent = (before.tangent + next.tangent).normalize_or(here.tangent);
                let normal = (before.normal() + next.normal()).normalize_or(here.normal());
                let p = pose.position[j];
                positions[2 * k] = p;
                positions[2 * k + 1] = p + here.binormal * strips.width[strip];
                normals[2 * k..2 * k + 2].fill(normal);
                tangents[2 * k..2 * k + 2].fill(tangent);
                binormals[2 * k..2 * k + 2].fill(here.binormal);
            }
        });
    }
}

/// How far strands lie out of the plane of their strip, as a fraction of its width: a strip is a flat
/// wisp.
const DEPTH: f32 = 0.10;

/// A groom of strands inside strips that have none: `strands` in all, `points` on each.
///
/// Model: a strand goes along its strip at a place across it, with small deviations to the side and
/// out of the plane; strips get as many as each other, wider ones are not denser. Where there are more strips
/// than strands, some strips have none.
pub fn fill(
    mut strips: Strips,
    strands: usize,
    points: usize,
    fibre: Fibre,
    seed: u64,
) -> Result<Groom> {
    if points < 2 || strips.count() == 0 {
        return Err(if points < 2 {
            let name = "points per strand".into();
            Error::OutOfRange { name, value: points as f64, expected: "2 or more" }
        } else {
            Error::EmptyGroom
        });
    }
    let strands = strands.max(1);
    let mut lines = Strands::with_capacity(strands, strands * points);
    let mut frames = Vec::new();
    let mut sides: [Vec<Vec3>; 3];
    strips.strip_of_strand.clear();
    for s in 0..strips.count() {
        let from = strands * s / strips.count();
        let to = strands * (s + 1) / strips.count();
        if from == to {
            continue;
        }
        strips.rest_frames(s, &mut frames);
        let joints = strips.edges.strand(s);
        let width = strips.width[s];
        // The edge and where one goes across and out from it, at the strand's points.
        let across: Vec<Vec3> =
            joints.iter().zip(&frames).map(|(p, f)| *p + f.binormal * width).collect();
        let out: Vec<Vec3> =
            joints.iter().zip(&frames).map(|(p, f)| *p + f.normal() * width).collect();
        sides = [joints, &across, &out].map(|line| along(joints, line, points));
        for k in from..to {
            let random = |j: u64| unit(seed ^ 0x57a1, 5 * k as u64 + j);
            let place = ((k - from) as f32 + 0.2 + 0.6 * random(0)) / (to - from) as f32;
            let (depth, wander) = (DEPTH * (random(1) - 0.5), 0.16 * (random(2) - 0.5));
            let shorter = 1.0 - 0.12 * random(3) * random(3);
            let line: Vec<Vec3> = (0..points)
                .map(|i| {
                    let t = i as f32 / (points - 1) as f32;
                    let u = place + wander * t * t;
                    let n = depth * (4.0 * t).min(1.0);
                    let [p, q, o] = [0, 1, 2].map(|k| sample(&sides[k], t * shorter));
                    p + (q - p) * u + (o - p) * n
                })
                .collect();
            if line.iter().all(|p| p.distance(line[0]) < MIN_SEGMENT) {
                return Err(Error::ZeroSegment { strand: k, point: 1 });
            }
            lines.push(&line);
            strips.strip_of_strand.push(s as u32);
        }
    }
    let mut groom = Groom::new(lines, fibre);
    // A strand that is too short for its points has fewer.
    groom.drop_degenerate();
    strips.validate(groom.strands.strand_count())?;
    groom.strips = Some(Box::new(strips));
    Ok(groom)
}

/// Points of a line that belongs to the joints, at equal arc length of the joints.
fn along(joints: &[Vec3], line: &[Vec3], points: usize) -> Vec<Vec3> {
    if std::ptr::eq(joints, line) {
        return at_equal_arc_length(joints, points);
    }
    let lengths: Vec<f32> = joints.windows(2).map(|w| w[0].distance(w[1])).collect();
    let total: f32 = lengths.iter().sum();
    let (mut segment, mut before) = (0, 0.0);
    (0..points)
        .map(|i| {
            let target = total * i as f32 / (points - 1) as f32;
            while segment + 1 < lengths.len() && before + lengths[segment] < target {
                before += lengths[segment];
                segment += 1;
            }
            let fraction = ((target - before) / lengths[segment]).clamp(0.0, 1.0);
            line[segment].lerp(line[segment + 1], fraction)
        })
        .collect()
}

/// A place on an evenly sampled line, 0 to 1.
fn sample(line: &[Vec3], t: f32) -> Vec3 {
    let at = t * (line.len() - 1) as f32;
    let i = (at as usize).min(line.len() - 2);
    line[i].lerp(line[i + 1], at - i as f32)
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::environment::Wind;
    use crate::groom::strips::wisps;
    use crate::math::RigidTransform;
    use crate::model::cantilever::{Cantilever, Settings};
    use crate::model::{Environment, Model, StepReport};

    /// A strip that rises from the ground, bends over and hangs.
    fn strip() -> Strips {
        let mut edges = Strands::new();
        let line: Vec<Vec3> = (0..9)
            .map(|i| {
                let t = i as f32 * 0.3;
                Vec3::new(0.0, t.sin(), 1.0 - t.cos()) * 0.1
            })
            .collect();
        edges.push(&line);
        Strips {
            edges,
            virtual_point: vec![Vec3::NEG_Y * 0.03],
            binormal: vec![Vec3::X],
            width: vec![0.02],
            layer: vec![0],
            ..Strips::default()
        }
    }

    #[test]
    fn the_second_edge_is_a_width_away_and_normals_point_out() {
        let strips = strip();
        let mesh = StripMesh::new(&strips);
        assert_eq!(mesh.triangles.len(), 16);
        for j in 0..9 {
            let (p, q) = (mesh.positions[2 * j], mesh.positions[2 * j + 1]);
            assert_eq!(p, strips.edges.positions()[j]);
            assert!((q - p).distance(Vec3::X * 0.02) < 1e-6);
            let (n, t, b) = (mesh.normals[2 * j], mesh.tangents[2 * j], mesh.binormals[2 * j]);
            assert!(n.is_normalized() && n.dot(b).abs() < 1e-5 && n.dot(t).abs() < 1e-5);
        }
        // Every triangle faces the side that its normals point to.
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            assert!((b - a).cross(c - a).dot(mesh.normals[t[0] as usize]) > 0.0);
        }
        assert_eq!(mesh.coordinates[1], Vec2::new(1.0, 0.0));
        assert_eq!(mesh.coordinates[16], Vec2::new(0.0, 1.0));
    }

    /// A model's strips that have moved, of different lengths: lanes give the same mesh as joints in order.
    #[test]
    fn lanes_make_the_same_mesh() {
        let mut strands = Strands::new();
        for s in 0..37 {
            let (x, z) = (0.01 * s as f32, 0.03 * (s % 3) as f32);
            let points = 2 + s % 7;
            let at = |i: usize| Vec3::new(x, 0.02 * i as f32, z + 0.003 * (i * i) as f32);
            strands.push(&(0..points).map(at).collect::<Vec<_>>());
        }
        let groom = Groom::new(strands, Fibre::default());
        let wisps = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
        let settings = Settings { wisps, hold_shape: false, ..Settings::default() };
        let mut model = Cantilever::new(&groom, &settings).unwrap();
        let turned = RigidTransform::about(Vec3::X * 0.2, Quat::from_rotation_z(0.4));
        for i in 0..8 {
            let wind = Wind { velocity: Vec3::new(1.0, 0.0, 2.0), ..Wind::default() };
            let roots = if i < 4 { RigidTransform::IDENTITY } else { turned };
            let env = Environment {
                time: 0.01 * f64::from(i),
                dt: 0.01,
                gravity: Vec3::NEG_Y * 9.81,
                wind: &wind,
                world_from_rest: &vec![roots; 37],
                colliders: &[],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            model.step(&env, &mut StepReport::default());
        }
        let mut pose = StripPose::default();
        model.pose(&mut pose);
        let mut plain = StripMesh::new(model.strips());
        let mut fast = plain.clone();
        plain.follow(model.strips(), &pose);
        assert_ne!(plain, fast);
        fast.follow_lanes(&model.lanes());
        assert_eq!(plain, fast);
    }

    #[test]
    fn strands_lie_inside_their_strip() {
        let groom = fill(strip(), 40, 12, Fibre::default(), 7).unwrap();
        assert_eq!(groom.validate(), Ok(()));
        assert_eq!(groom.strands.strand_count(), 40);
        assert_eq!(groom.strips.as_ref().unwrap().strip_of_strand, [0; 40]);
        for p in groom.strands.positions() {
            // Between the edges (with a little wandering), and close to the plane.
            assert!((-0.003..0.023).contains(&p.x), "{p}");
            let bow = Vec3::new(0.0, p.y, p.z - 0.1).length() - 0.1;
            assert!(bow.abs() < 0.003, "{p}");
        }
        let two = strip().pick(&[0, 0]);
        let few = fill(two.clone(), 1, 5, Fibre::default(), 7).unwrap();
        let strips = few.strips.unwrap();
        assert_eq!((few.strands.strand_count(), strips.count()), (1, 2));
        assert_eq!(strips.strip_of_strand.len(), 1);
        assert!(fill(strip(), 4, 1, Fibre::default(), 7).is_err());
        assert!(fill(Strips::default(), 4, 5, Fibre::default(), 7).is_err());
    }
}
