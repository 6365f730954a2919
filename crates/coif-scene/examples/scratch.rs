use coif::body::{MovingCollider, Shape};
use coif::math::RigidTransform;
use coif::model::follow_the_leader::{FollowTheLeader, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::{Wind, World, hash_positions};
use coif_scene::{Scene, build, builtin};
use glam::{Quat, Vec3};
const ELLIPSOIDS: [(Vec3, Vec3); 4] = [
    (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.075, 0.105, 0.092)),
    (Vec3::new(0.0, -0.13, -0.02), Vec3::new(0.055, 0.09, 0.058)),
    (Vec3::new(0.09, -0.25, -0.03), Vec3::new(0.12, 0.06, 0.075)),
    (Vec3::new(-0.09, -0.25, -0.03), Vec3::new(0.12, 0.06, 0.075)),
];
fn pose(time: f64) -> RigidTransform {
    let angle = 0.6 * (time * 2.0 * std::f64::consts::TAU).sin();
    RigidTransform::about(Vec3::ZERO, Quat::from_rotation_y(angle as f32))
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let kind = args[1].as_str(); // four none far style
    let strands: usize = args[2].parse().unwrap();
    let pieces: usize = args[3].parse().unwrap();
    let sets = [
        format!("groom.strands={strands}"),
        "groom.points=30".into(),
        "body.resolution=0.006".into(),
    ];
    let built = build(
        &Scene::from_toml(builtin::text("shake").unwrap(), "shake", &sets).unwrap(),
        std::path::Path::new("."),
    )
    .unwrap();
    let groom = &built.groom;
    let particles = groom.strands.point_count();
    let world = World::default();
    let (dt, gravity) = (world.dt(), world.gravity);
    let settings = if kind == "style" {
        Settings::default()
    } else {
        Settings { bend_limit: 0.5, damping: 4.0, ..Settings::limp() }
    };
    let mut lanes = FollowTheLeader::new(groom, &settings, dt, gravity).unwrap();
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    let wind = Wind::default();
    for piece in 0..pieces {
        let mut spent = 0.0;
        for i in 0..4 {
            let index = piece * 4 + i;
            let (start, end) =
                (pose(index as f64 * dt as f64), pose((index + 1) as f64 * dt as f64));
            let moving = |shape, friction, place: RigidTransform| MovingCollider {
                shape,
                friction,
                start: start * place,
                end: end * place,
            };
            let place = |translation| RigidTransform { rotation: Quat::IDENTITY, translation };
            let colliders: Vec<_> = match kind {
                "none" => vec![],
                "far" => ELLIPSOIDS
                    .iter()
                    .map(|&(c, radii)| {
                        moving(Shape::Ellipsoid { radii }, 0.3, place(c + Vec3::Z * 3.0))
                    })
                    .collect(),
                "style" => built
                    .body
                    .colliders()
                    .iter()
                    .map(|c| moving(c.shape, c.friction, c.world_from_shape))
                    .collect(),
                _ => ELLIPSOIDS
                    .iter()
                    .map(|&(c, radii)| moving(Shape::Ellipsoid { radii }, 0.3, place(c)))
                    .collect(),
            };
            let roots = vec![end; groom.strands.strand_count()];
            let env = Environment {
                time: (index + 1) as f64 * dt as f64,
                dt,
                gravity,
                wind: &wind,
                world_from_rest: &roots,
                colliders: &colliders,
                field: None,
            };
            let t = std::time::Instant::now();
            lanes.step(&env, &mut StepReport::default());
            spent += t.elapsed().as_secs_f64();
        }
        if piece > 0 {
            best = f64::min(best, spent);
            total += spent;
        }
    }
    let mut positions = vec![Vec3::ZERO; particles];
    lanes.positions(&mut positions);
    println!(
        "{kind}: best {:.2} ns mean {:.2} ns, hash {:016x}",
        best * 1e9 / (4 * particles) as f64,
        total * 1e9 / (4 * particles * (pieces - 1)) as f64,
        hash_positions(&positions)
    );
}
