//! A head of long, slightly wavy hair grown on an ellipsoid, for look development.
//!
//! `cargo run --release --example hair_ball -- OUT.png [COLOR] [STRANDS] [SHOT] [WIDTH] [HEIGHT]`
//! SHOT is one of head, back, close, macro, far. If OUT is a film, the camera turns around the head.

use coif::body::TriangleMesh;
use coif::groom::Strands;
use coif::math::Random;
use coif_render::{
    Camera, Film, Frame, HairLook, HairView, Light, Renderer, Settings, SurfaceView,
};
use glam::{Vec2, Vec3};

const HEAD: Vec3 = Vec3::new(0.076, 0.112, 0.095);
const POINTS: usize = 32;
/// Strands in a wisp.
const WISP: usize = 24;
/// Position of the parting (fraction of the head's half width).
const PARTING: f32 = 0.22;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |i: usize, default: &str| arguments.get(i).cloned().unwrap_or_else(|| default.to_string());
    let out = argument(0, "hair_ball.png");
    let color = argument(1, "brown");
    let count: usize = argument(2, "80000").parse()?;
    let shot = argument(3, "head");
    let (width, height): (usize, usize) =
        (argument(4, "1280").parse()?, argument(5, "720").parse()?);

    let look = HairLook::named(&color).ok_or("no such colour: use one of HairLook::names()")?;
    let strands = grow(count);
    let radius = vec![38e-6; strands.point_count()];
    let TriangleMesh { positions, triangles } = TriangleMesh::ellipsoid(HEAD, 64, 96);
    let normals: Vec<Vec3> = positions.iter().map(|p| (p / (HEAD * HEAD)).normalize()).collect();
    let (lo, hi) = strands.bounds().ok_or("no strands")?;
    let aspect = width as f32 / height as f32;
    let view = Vec3::new(-0.45, -0.08, -1.0);
    let framed = Camera::frame(lo, hi, view, aspect);
    let toward =
        |target: Vec3, distance: f32| Camera::look_at(target - view.normalize() * distance, target);
    let camera = match shot.as_str() {
        "back" => Camera::frame(lo, hi, Vec3::new(0.5, -0.15, 1.0), aspect),
        "close" => toward(Vec3::new(0.05, 0.0, 0.08), 0.35),
        "macro" => toward(Vec3::new(0.06, -0.02, 0.08), 0.1),
        "far" => toward(Vec3::new(0.0, -0.1, 0.0), 4.0),
        _ => framed,
    };
    let mut renderer = Renderer::new(Settings::sized(width, height))?;
    let lights = Light::three_point(&camera);
    let surface = SurfaceView {
        positions: &positions,
        normals: &normals,
        triangles: &triangles,
        color: None,
    };
    let frame = Frame {
        hair: &[HairView::new(&strands, &radius)],
        surfaces: &[surface],
        camera,
        lights: &lights,
        look: &look,
    };
    if Film::is_film(&out) {
        let mut film = Film::create(&out, 30.0)?;
        for i in 0..120 {
            let angle = std::f32::consts::TAU * i as f32 / 120.0;
            let view = Vec3::new(angle.sin(), -0.1, -angle.cos());
            let camera = Camera::look_at(framed.target - view * 1.1, framed.target);
            let lights = Light::three_point_world();
            film.push(&renderer.render(&Frame { camera, lights: &lights, ..frame })?)?;
        }
        return Ok(film.finish()?);
    }
    renderer.render(&frame)?.write_png(&out)?;
    for _ in 0..2 {
        renderer.render(&frame)?;
        println!("{:?}", renderer.stats());
    }
    Ok(())
}

/// A number in 0..1 that depends on the strand and a stream.
fn random(strand: usize, stream: u32) -> f32 {
    Random::new(strand as u64, stream.into()).unit()
}

/// A root direction on the scalp: not in the face, not below the ears.
fn root_direction(strand: usize) -> Vec3 {
    for attempt in 0..64 {
        let y = 1.0 - 1.5 * random(strand, attempt * 2 + 100);
        let angle = std::f32::consts::TAU * random(strand, attempt * 2 + 101);
        let r = (1.0 - y * y).max(0.0).sqrt();
        let d = Vec3::new(r * angle.sin(), y, r * angle.cos());
        // The hairline rises from the nape to the forehead.
        if d.y > -0.35 + 0.95 * ((d.z + 0.15) / 0.8).clamp(0.0, 1.0) {
            return d;
        }
    }
    Vec3::Y
}

/// Grows one strand from a root direction: out of the scalp, away from the parting, then down.
fn grow_one(root: Vec3, layer: f32, length: f32, bend: Vec2) -> Vec<Vec3> {
    let normal = (root / HEAD).normalize();
    let side = if root.x > PARTING { 1.0 } else { -1.0 };
    let comb = Vec3::new(side, -0.1, -0.35) + Vec3::new(bend.x, 0.0, bend.y) * 0.25;
    let mut p = root * HEAD;
    let mut direction = (normal * 0.7 + comb * 0.6).normalize();
    let step = length / (POINTS - 1) as f32;
    let mut line = vec![p];
    for i in 1..POINTS {
        let u = i as f32 / (POINTS - 1) as f32;
        let fall = Vec3::new(side * 0.10 + bend.x * 0.12, -1.0, bend.y * 0.12 - 0.05);
        direction = (direction * (1.0 - 0.22) + fall * 0.22 + comb * 0.10 * (1.0 - u)).normalize();
        p += direction * step;
        // Stay outside the head, each strand in its own layer.
        let around = HEAD + Vec3::splat(layer * (3.0 * u).min(1.0) + 0.001);
        let q = p / around;
        if q.length() < 1.0 {
            p = q.normalize() * around;
            direction = (p - line[i - 1]).normalize_or(direction);
            p = line[i - 1] + direction * step;
        }
        line.push(p);
    }
    line
}

/// All strands: in locks, and in thin wisps within the locks; wavy, a little frizzy.
fn grow(count: usize) -> Strands {
    let side = |root: Vec3| root.x > PARTING;
    let locks: Vec<(Vec3, Vec<Vec3>)> = (0..360)
        .map(|g| {
            let root = root_direction(g + 1_000_000);
            let bend = Vec2::new(random(g, 1) - 0.5, random(g, 2) - 0.5);
            let layer = 0.004 + 0.018 * random(g, 3);
            (root, grow_one(root, layer, 0.27 + 0.05 * random(g, 4), bend))
        })
        .collect();
    let mut strands = Strands::with_capacity(count, count * POINTS);
    let mut wisp_line = Vec::new();
    for s in 0..count {
        let wisp = s / WISP;
        if s % WISP == 0 {
            let root = root_direction(wisp);
            let near = |lock: &&(Vec3, Vec<Vec3>)| side(lock.0) == side(root);
            let (lock_root, lock_line) = locks
                .iter()
                .filter(near)
                .min_by(|a, b| a.0.distance(root).total_cmp(&b.0.distance(root)))
                .unwrap_or(&locks[0]);
            let bend = Vec2::new(random(wisp, 5) - 0.5, random(wisp, 6) - 0.5) * 0.5;
            let layer = 0.003 + 0.02 * random(wisp, 7);
            let length = (0.25 + 0.08 * random(wisp, 8)) * (1.0 - 0.5 * random(wisp, 9).powi(6));
            wisp_line = grow_one(root, layer, length, bend);
            let offset = (root - *lock_root) * HEAD;
            let phase = 20.0 * lock_root.x + 1.5 * random(wisp, 13);
            for (i, p) in wisp_line.iter_mut().enumerate() {
                let u = i as f32 / (POINTS - 1) as f32;
                let pull = (0.8 - 0.4 * random(wisp, 11)) * (u * 1.5).min(1.0);
                *p = p.lerp(lock_line[i] + offset * (1.0 - 0.6 * u), pull);
                let angle = phase + std::f32::consts::TAU * 2.6 * u;
                *p += Vec3::new(angle.cos(), 0.0, angle.sin()) * 0.005 * u;
            }
        }
        // Strands of a wisp start apart, come together and spread towards the tip.
        let stray = if random(s, 10) > 0.95 { 3.0 } else { 1.0 };
        let around = |k: u32| random(s, k) + random(s, k + 1) + random(s, k + 2) - 1.5;
        let apart = Vec3::new(around(30), around(33), around(36)) * 0.0055;
        let shorten = 1.0 - 0.25 * random(s, 14) * random(s, 15);
        let line: Vec<Vec3> = (0..POINTS)
            .map(|i| {
                let u = shorten * i as f32 / (POINTS - 1) as f32;
                let at = u * (POINTS - 1) as f32;
                let k = (at as usize).min(POINTS - 2);
                let p = wisp_line[k].lerp(wisp_line[k + 1], at - k as f32);
                let spread = (1.0 - 0.72 * (u * 2.2).min(1.0)) * stray + 0.15 * u;
                let angle = 9.0 * u + 6.3 * random(s, 16);
                let frizz = Vec3::new(angle.cos(), 0.4 * angle.sin(), angle.sin()) * 0.0007 * u;
                let p = p + apart * spread + frizz * stray;
                // Keep it on the head, and rooted on the skin.
                let around = HEAD + Vec3::splat(0.0008);
                let q = p / around;
                if i == 0 || q.length() < 1.0 { q.normalize() * around } else { p }
            })
            .collect();
        strands.push(&line);
    }
    strands
}
