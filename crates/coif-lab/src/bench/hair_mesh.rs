//! `hair-mesh`: whole steps of a hair mesh, one per frame at 30 frames a second, on a head that shakes and nods. The
//! reference is the textbook version of forces and solve alone, through the same motion.
//!
//! The first rows have the sizes of `wu2016`; the others increase the number of vertices at the same length of hair.
//! The paper's own figure is 16 microseconds per vertex and step on one core of 2011.

use std::collections::BTreeMap;
use std::sync::Arc;

use coif::groom::HairMesh;
use coif::grow::BodyShapes;
use coif::grow::hair_mesh::Binding;
use coif::grow::hair_mesh::plain::PlainBinding;
use coif::model::hair_mesh::plain::PlainMesh;
use coif::model::hair_mesh::{HairMeshModel, MeshDynamics, MeshTimes, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::{World, hash_positions};
use coif::with_threads;
use coif_scene::Built;
use glam::{Quat, Vec3};

use super::timing::{MEASURED, Pieces, WARM_UP};
use super::{Benchmark, Detail, Row, Setting, bandwidth, seconds};
use crate::Error;
use crate::shaken_mesh::{MOTIONS, STEP, ShakenMesh};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "hair-mesh",
    about: "Hair meshes: 215 to 50,000 vertices on a shaken head, one step a frame",
    run,
};

/// Steps of warm-up, and measured steps.
const STEPS: [usize; 2] = [(WARM_UP * FPS).ceil() as usize, (MEASURED * FPS) as usize];
/// Steps and frames per second.
const FPS: f64 = 30.0;

/// Number of vertices below which the textbook version is measured over the whole motion.
const SMALL: usize = 3000;
/// Number of measured steps of the textbook version for larger meshes, for which it is slow.
const FEW: usize = 2;

/// The sizes of the paper: row, scene, resolution.
const SIZES: [(&str, &str, &str); 5] = [
    ("short-215", "hair-mesh-short", "low"),
    ("shoulder-361", "hair-mesh-shoulder", "low"),
    ("long-361", "hair-mesh-long", "low"),
    ("shoulder-2250", "hair-mesh-shoulder", "high"),
    ("long-2305", "hair-mesh-long", "high"),
];

/// A box of hair behind the head: row, root polygons, layers.
const GROWTH: [(&str, [usize; 2], usize); 3] =
    [("grown-5k", [19, 16], 14), ("grown-15k", [30, 24], 19), ("grown-50k", [46, 44], 23)];

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    let mut first: Option<f64> = None;
    for (name, mesh) in meshes(setting)? {
        let (row, times, iterations) = with_threads(1, || measure(name, &mesh))??;
        let base = *first.get_or_insert(row.ns_per_particle_step);
        let total = times.forces + times.solve + times.collision + times.minimise + times.rest;
        let fractions = BTreeMap::from([
            ("forces", times.forces / total),
            ("solve", times.solve / total),
            ("collision", times.collision / total),
            ("minimisation", times.minimise / total),
            ("rest", times.rest / total),
        ]);
        let detail = Detail {
            seconds_per_frame: row.ms_per_frame * 1e-3,
            fractions,
            substeps_per_frame: 1,
            max_iterations: iterations,
            peak_memory_bytes: None,
            pairs_per_particle: None,
            growth: Some(row.ns_per_particle_step / base),
        };
        rows.push(Row { detail: Some(detail), ..row });
    }
    if setting.wants(STRANDS) {
        rows.push(with_threads(1, || strands(setting))??);
    }
    if setting.wants(STRANDS_ON_BODY) {
        rows.push(with_threads(1, || strands_on_body(setting))??);
    }
    Ok(rows)
}

/// The rows of placing strands along a mesh: alone, and outside of the body as in a simulation.
const STRANDS: &str = "strands-10k";
const STRANDS_ON_BODY: &str = "strands-10k-body";

/// The reference of these rows.
const ONE_BY_ONE: &str = "the same point by point, without lanes";

/// Bytes per point that placing strands has to move: a place of six numbers and a length are read, with two bytes for
/// the index, and a position is written.
///
/// The arithmetic is the higher limit: about 320 sums and products and seven roots and quotients. A core with four
/// units of eight lanes at 3.5 GHz takes about 3 ns for them.
const LAID_BYTES: f64 = 42.0;

/// Steps before strands are placed beside the body, so that hair has swung into contact.
const SWUNG: usize = 12;

/// A built-in scene with 10,000 strands.
fn many_strands() -> Result<Built, Error> {
    Ok(crate::built_in("hair-mesh-shoulder", &["groom.strands=10000".into()])?.1)
}

/// Places 10,000 strands along a mesh that has moved, each segment with its length. The reference does the same without
/// lanes, point by point.
fn strands(setting: &Setting) -> Result<Row, Error> {
    let groom = many_strands()?.groom;
    let mesh = groom.hair_mesh.clone().unwrap_or_default();
    let mut binding = Binding::new(&mesh, &groom.strands)?;
    let plain = PlainBinding::new(&binding);
    // Bend the mesh sideways, so that it is stretched on one side and compressed on the other.
    let sway = |p: &Vec3| Quat::from_rotation_z(2.0 * (0.1 - p.y).max(0.0)) * *p;
    let moved: Vec<Vec3> = mesh.positions().iter().map(sway).collect();
    let still = vec![Vec3::ZERO; moved.len()];
    let n = groom.strands.point_count();
    let mut out = vec![Vec3::ZERO; n];
    let mut pieces = Pieces::default();
    for _ in 0..=setting.repetitions() {
        let one_by_one = seconds(|| {
            binding.update(&moved, &still);
            plain.positions(&binding, &mut out);
        });
        let laid = seconds(|| {
            binding.update(&moved, &still);
            binding.positions(&mut out);
        });
        pieces.add(laid, Some(one_by_one));
    }
    let moved = Moved { strands: groom.strands.strand_count(), particles: n, bytes: LAID_BYTES };
    row(STRANDS, &moved, &pieces, ONE_BY_ONE, &out)
}

/// [`strands`] on a shaken head, outside of the shapes of the body, as in a simulation.
fn strands_on_body(setting: &Setting) -> Result<Row, Error> {
    let Built { groom, body, .. } = many_strands()?;
    let mesh = groom.hair_mesh.clone().unwrap_or_default();
    let columns = mesh.column_count();
    let shaken = ShakenMesh { mesh, colliders: body.colliders().to_vec() };
    let (world, strands) = (World::default(), groom.strands.strand_count());
    let mut model = HairMeshModel::new(&groom, &Settings::default(), world.gravity)?;
    let mut body_shapes = BodyShapes::default();
    for i in 0..SWUNG {
        let time = |step: usize| Some(step as f32 * STEP);
        let step = shaken.step(&MOTIONS[0], time(i), time(i + 1));
        let env = Environment {
            time: f64::from(STEP) * (i + 1) as f64,
            dt: STEP,
            gravity: world.gravity,
            wind: &world.wind,
            world_from_rest: &vec![step.pose; columns],
            colliders: &step.colliders,
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        model.step(&env, &mut StepReport::default());
        body_shapes.pose(&step.colliders, STEP);
    }
    let mut binding = Binding::new(model.mesh(), &groom.strands)?;
    let vertices = vec![Vec3::ZERO; model.mesh().vertex_count()];
    let (mut positions, mut velocities) = (vertices.clone(), vertices);
    model.positions(&mut positions);
    model.velocities(&mut velocities);
    binding.update(&positions, &velocities);
    let plain = PlainBinding::new(&binding);
    let n = groom.strands.point_count();
    let mut out = vec![Vec3::ZERO; n];
    let mut pieces = Pieces::default();
    for _ in 0..=setting.repetitions() {
        let around = body_shapes.and(None);
        let one_by_one = seconds(|| plain.positions_outside(&binding, &around, &mut out));
        let laid = seconds(|| binding.positions_outside(&around, &mut out));
        pieces.add(laid, Some(one_by_one));
    }
    let moved = Moved { strands, particles: n, bytes: LAID_BYTES };
    row(STRANDS_ON_BODY, &moved, &pieces, ONE_BY_ONE, &out)
}

/// Amount of hair, and the bytes that have to move per particle and step.
struct Moved {
    strands: usize,
    particles: usize,
    bytes: f64,
}

/// A row on one thread, from the times of the steps.
fn row(
    name: &str,
    moved: &Moved,
    pieces: &Pieces,
    reference: &'static str,
    positions: &[Vec3],
) -> Result<Row, Error> {
    let hair = [moved.strands, moved.particles];
    let memory_limit_ns = Some(moved.bytes / bandwidth::measure(1)? * 1e9);
    let row = pieces.row(name, hair, 1, reference, hash_positions(positions));
    Ok(Row { memory_limit_ns, ..row })
}

/// The meshes to measure, smallest first.
fn meshes(setting: &Setting) -> Result<Vec<(&'static str, ShakenMesh)>, Error> {
    let mut all = Vec::new();
    for (name, scene, resolution) in SIZES {
        if setting.wants(name) {
            all.push((name, ShakenMesh::built_in(scene, resolution, false)?));
        }
    }
    for (name, cells, layers) in GROWTH {
        if !setting.quick && setting.wants(name) {
            let bust = ShakenMesh::built_in("hair-mesh-short", "low", false)?;
            all.push((name, ShakenMesh { mesh: Arc::new(block(cells, layers)), ..bust }));
        }
    }
    Ok(all)
}

/// A box of hair from the back of the head down to the shoulders.
fn block(cells: [usize; 2], layers: usize) -> HairMesh {
    let mut mesh = HairMesh::block(cells, layers, Vec3::new(0.2, 0.35, 0.12), false);
    for p in mesh.columns.positions_mut() {
        *p = Quat::from_rotation_x(std::f32::consts::PI) * *p + Vec3::new(0.0, 0.05, -0.16);
    }
    mesh
}

fn measure(name: &str, shaken: &ShakenMesh) -> Result<(Row, MeshTimes, u32), Error> {
    let gravity = World::default().gravity;
    let settings = Settings::default();
    let mesh = &*shaken.mesh;
    let mut hair = MeshDynamics::new(mesh, &settings, gravity)?;
    let mut plain = PlainMesh::new(mesh, &settings, gravity)?;
    let (n, columns) = (mesh.vertex_count(), mesh.column_count());
    let mut broken = vec![false; columns];
    let (mut pieces, mut iterations) = (Pieces::default(), 0);
    let plain_steps = STEPS[0] + if n < SMALL { STEPS[1] } else { FEW };
    for i in 0..STEPS[0] + STEPS[1] {
        let time = |step: usize| Some(step as f32 * STEP);
        let step = shaken.step(&MOTIONS[0], time(i), time(i + 1));
        let mut solved = 0;
        let fast = seconds(|| solved = step.advance(&mut hair, &mut broken).solve.iterations);
        let slow = (i < plain_steps).then(|| {
            seconds(|| {
                plain.step(STEP, gravity, step.pose);
            })
        });
        if i >= STEPS[0] {
            pieces.add(fast, slow);
            iterations += solved;
        }
    }
    let positions: Vec<Vec3> = hair.positions().iter().map(|&p| p.into()).collect();
    // Bytes that the iterations move, and those of summing, packing and factoring the matrix.
    let mean = f64::from(iterations) / STEPS[1] as f64;
    let bytes = hair.iteration_bytes() as f64 * mean + 3.0 * hair.matrix_bytes() as f64;
    let moved = Moved { strands: 0, particles: n, bytes: bytes / n as f64 };
    let reference = "textbook: sparse matrix, conjugate gradient, no contact";
    let row = row(name, &moved, &pieces, reference, &positions)?;
    Ok((row, *hair.times(), mean.round() as u32))
}
