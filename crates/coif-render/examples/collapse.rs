//! Bodies that collapse without springs and recover: `selle2008` figure 4.
//!
//! First a solid torus of tetrahedra, then a dome, a thin shell of triangles. Springs are off while they fall; flat on
//! the floor all tetrahedra have no volume. Then the stiffness of all springs rises, and altitude springs restore the
//! bodies. At half of real speed.
//!
//! `cargo run --release -p coif-render --example collapse -- OUTDIR [KIND]`
//! KIND is png (`torus_0000.png` and so on, 90 pictures each) or a film: mp4, gif or apng.

use std::path::PathBuf;

use coif::groom::Strands;
use coif::model::mass_spring::tetrahedra::TetrahedralBody;
use coif_render::{
    Camera, Film, Frame, HairLook, HairView, Light, Renderer, Settings, SurfaceView,
};
use glam::{DVec3, Vec3};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
/// Pictures of each body, and the first one with springs.
const FRAMES: usize = 90;
const STIFF_FROM: usize = 28;
/// Final stiffness of all springs (N/m), and the number of pictures over which it rises.
const STIFFNESS: f64 = 300.0;
const RAISED_IN: f64 = 45.0;
/// Steps per picture and their length (s).
const STEPS: usize = 2;
const DT: f64 = 1.0 / 120.0;
/// Initial height of the bodies above the floor (m).
const DROP: f64 = 0.1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: collapse OUTDIR [KIND]")?);
    let kind = arguments.next().unwrap_or_else(|| "png".into());
    std::fs::create_dir_all(&folder)?;
    let mut renderer =
        Renderer::new(Settings { body_shadow_resolution: 1536, ..Settings::sized(480, 360) })?;
    for (name, mut body, color) in [
        ("torus", torus(), Vec3::new(0.10, 0.27, 0.48)),
        ("shell", dome(), Vec3::new(0.55, 0.20, 0.06)),
    ] {
        let number = if kind == "png" { "_%04d" } else { "" };
        let mut film = Film::create(folder.join(format!("{name}{number}.{kind}")), 30.0)?;
        for frame in 0..FRAMES {
            film.push(&draw(&mut renderer, &body, color)?)?;
            let on = (frame as f64 - STIFF_FROM as f64).clamp(0.0, RAISED_IN) / RAISED_IN;
            (body.stiffness, body.damping) = (STIFFNESS * on * on, 0.1);
            (0..STEPS).for_each(|_| body.step(DT, GRAVITY));
        }
        film.finish()?;
    }
    Ok(())
}

/// A picture of a body on the floor, with the edges of its triangles as thin strands.
fn draw(
    renderer: &mut Renderer,
    body: &TetrahedralBody,
    color: Vec3,
) -> coif_render::Result<coif_render::Image> {
    let camera = Camera::look_at(Vec3::new(0.0, 1.05, 1.75), Vec3::new(0.0, 0.10, 0.0));
    let (mut positions, mut normals, mut edges) = (Vec::new(), Vec::new(), Strands::new());
    for corners in body.surface() {
        let [a, b, c] = corners.map(|p| body.position[p as usize].as_vec3());
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        // A shell is seen from both sides, and a solid may be inside out for a while.
        let facing = if normal.dot(camera.position - a) < 0.0 { -normal } else { normal };
        positions.extend([a, b, c]);
        normals.extend([facing; 3]);
        edges.push(&[a, b, c, a].map(|p| p + (camera.position - p).normalize_or_zero() * 0.003));
    }
    let triangles: Vec<[u32; 3]> =
        (0..body.surface().len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let colors = vec![color; positions.len()];
    let floor = [(-1.7, -2.6), (-1.7, 0.8), (1.7, 0.8), (1.7, -2.6)];
    let floor = floor.map(|(x, z)| Vec3::new(x, -0.004, z));
    let lights = Light::three_point(&camera);
    renderer.render(&Frame {
        hair: &[HairView::new(&edges, &vec![5e-4; edges.point_count()])],
        surfaces: &[
            SurfaceView {
                positions: &positions,
                normals: &normals,
                triangles: &triangles,
                color: Some(&colors),
            },
            SurfaceView {
                positions: &floor,
                normals: &[Vec3::Y; 4],
                triangles: &[[0, 1, 2], [0, 2, 3]],
                color: Some(&[Vec3::splat(0.22); 4]),
            },
        ],
        camera,
        lights: &lights,
        look: &HairLook::named("black").unwrap_or_default(),
    })
}

/// A ring of boxes, each cut into six tetrahedra.
fn torus() -> TetrahedralBody {
    let (around, across) = (28u32, 3u32);
    let side = across + 1;
    let mut position = Vec::new();
    for i in 0..around {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(around);
        for (j, k) in (0..side * side).map(|c| (c / side, c % side)) {
            // Map the square to a disc.
            let [u, v] = [j, k].map(|n| 2.0 * f64::from(n) / f64::from(across) - 1.0);
            let (x, y) = (u * (1.0 - 0.5 * v * v).sqrt(), v * (1.0 - 0.5 * u * u).sqrt());
            let r = 0.33 + 0.12 * x;
            position.push(DVec3::new(r * angle.cos(), DROP + 0.12 * (y + 1.0), r * angle.sin()));
        }
    }
    let at = |i: u32, j: u32, k: u32| (i % around) * side * side + j * side + k;
    let mut tetrahedra = Vec::new();
    for i in 0..around {
        for (j, k) in (0..across * across).map(|c| (c / across, c % across)) {
            let corner = |c: u32| at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1));
            for [b, c] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
                tetrahedra.push([corner(0), corner(b), corner(c), corner(7)]);
            }
        }
    }
    TetrahedralBody::solid(position, &tetrahedra, 0.002)
}

/// A hemisphere, open below.
fn dome() -> TetrahedralBody {
    let (rows, columns) = (8u32, 24u32);
    let mut position = vec![DVec3::Y * (DROP + 0.4)];
    for (i, j) in (0..rows * columns).map(|c| (1 + c / columns, c % columns)) {
        let a = std::f64::consts::FRAC_PI_2 * f64::from(i) / f64::from(rows);
        let b = std::f64::consts::TAU * f64::from(j) / f64::from(columns);
        let p = DVec3::new(a.sin() * b.cos(), a.cos(), a.sin() * b.sin()) * 0.4;
        position.push(p + DVec3::Y * DROP);
    }
    let at = |i: u32, j: u32| 1 + (i - 1) * columns + j % columns;
    let mut triangles = Vec::new();
    for j in 0..columns {
        triangles.push([0, at(1, j + 1), at(1, j)]);
        for i in 1..rows {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            triangles.push([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
        }
    }
    TetrahedralBody::shell(position, &triangles, 0.002)
}
