use super::*;
use crate::groom::hair_mesh::HairMesh;
use crate::math::RigidTransform;
use crate::simulation::Wind;
use glam::*;

fn run(settings: &Settings, mesh: &HairMesh, frames: usize, calm: usize, speed: f32, collapse: bool, verbose: bool) -> MeshMeasure {
    // Hang it down.
    let down = RigidTransform::about(Vec3::ZERO, Quat::from_rotation_x(std::f32::consts::PI));
    let mut mesh = mesh.clone();
    for p in mesh.columns.positions_mut() { *p = down.point(*p); }
    let mut d = MeshDynamics::new(&mesh, settings, vec3(0.0, -9.81, 0.0)).unwrap();
    let wind = Wind::default();
    let h = 1.0 / 30.0;
    let columns = mesh.column_count();
    if collapse { d.collapse(); }
    let mut it = (0, 0);
    for f in 0..frames + calm {
        let t = (f + 1).min(frames) as f32 * h * speed;
        let a = if collapse || f >= frames { 0.0 } else { 0.8 * (1.0 - (t * 6.0).cos()) };
        let pose = RigidTransform { rotation: Quat::from_rotation_z(a * 0.5) * Quat::from_rotation_y(a), translation: vec3(0.05 * a, 0.05 * a, 0.0) };
        let env = MeshEnvironment { time: f as f64 * h as f64, dt: h, gravity: vec3(0.0, -9.81, 0.0), wind: &wind, colliders: &[], field: None };
        let mut broken = vec![false; columns];
        let r = d.step(&env, &vec![pose; columns], &mut broken);
        it.0 += r.solve.iterations;
        it.1 = it.1.max(r.solve.iterations);
        if verbose && (f % 10 == 0 || f + 1 == frames + calm || f + 1 == frames) {
            println!("{f}: it {} res {:.1e} broken {} {:?}", r.solve.iterations, r.solve.residual, r.broken, d.measure());
        }
    }
    println!("mean it {:.1} max {}  {:?}", it.0 as f32 / (frames + calm) as f32, it.1, d.measure());
    let tm = d.times();
    let per = |t: f64| t * 1e9 / (frames + calm) as f64 / mesh.vertex_count() as f64;
    println!("ns per vertex: forces {:.0} solve {:.0} collision {:.0} minimise {:.0} rest {:.0}", per(tm.forces), per(tm.solve), per(tm.collision), per(tm.minimise), per(tm.rest));
    d.measure()
}

#[test]
fn behaves() {
    for tolerance in [1e-4] {
    let s = Settings { tolerance, ..Settings::default() };
    println!("==== tolerance {tolerance}");
    for (cells, layers) in [([5, 4], 11), ([14, 10], 13)] {
        let mesh = HairMesh::block(cells, layers, vec3(0.25, 0.4, 0.2), false);
        println!("== {} vertices", mesh.vertex_count());
        println!("1x"); run(&s, &mesh, 60, 90, 1.0, false, false);
        println!("10x"); run(&s, &mesh, 60, 90, 10.0, false, false);
        println!("collapse"); run(&s, &mesh, 0, 90, 0.0, true, false);
    }
    }
}
