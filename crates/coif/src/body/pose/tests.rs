use super::*;
use crate::body::TriangleMesh;

fn body(bones: usize) -> Body {
    let positions = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, 2.0, 3.0)];
    let mesh = TriangleMesh { positions, triangles: vec![[0, 1, 2], [1, 2, 3]] };
    let last = (bones - 1) as u16;
    let weights = vec![[(0, 0.4), (last, 0.6), (0, 0.0), (0, 0.0)]; 4];
    let collider = Collider::new(Shape::Sphere { radius: 0.1 }, Vec3::X, Quat::IDENTITY, bones - 1);
    let body = Body::driven(mesh, weights, bones).expect("a valid body");
    body.with_colliders(vec![collider]).expect("a valid collider")
}

fn at(keys: &PoseKeys, body: &Body) -> Vec<Vec3> {
    let mut out = Vec::new();
    keys.vertices(body, 0..body.rest().positions.len(), &mut out);
    out
}

/// A head that moves on a parabola and turns evenly is interpolated exactly between frames of different lengths.
#[test]
fn a_parabola_and_an_even_turn_are_reproduced_between_uneven_frames() {
    let body = body(1);
    let middle = Vec3::new(0.5, 0.75, 1.0);
    let pose = |t: f64| {
        let rotation = Quat::from_rotation_y(1.5 * t as f32);
        let place = Vec3::new((3.0 * t * t) as f32, t as f32, 0.0);
        WorldTransform { rotation, translation: (place + middle - rotation * middle).as_dvec3() }
    };
    let mut keys = PoseKeys::default();
    let mut push = |t: f64, dt: f32| {
        let pose = Pose::Rigid(pose(t));
        PoseKeys::check(&body, &pose).expect("a finite pose");
        keys.push(&body, &pose, DVec3::ZERO, dt, false);
    };
    push(0.0, 0.1);
    push(0.05, 0.05);
    push(0.25, 0.2);
    for fraction in [0.0, 0.3, 0.7, 1.0] {
        keys.set_fraction(fraction);
        let truth = pose(0.05 + 0.2 * f64::from(fraction));
        for (found, rest) in at(&keys, &body).iter().zip(&body.rest().positions) {
            let off = found.as_dvec3().distance(truth.point(*rest));
            assert!(off < 2e-6, "{off} m at {fraction}");
        }
    }
}

/// The same motion given by rigid transforms, bones and vertices has the same result; the kinds may alternate.
#[test]
fn poses_of_every_kind_agree() {
    let (body, origin) = (body(3), DVec3::new(5.0, -2.0, 1.0));
    let pose = |k: f32| WorldTransform {
        rotation: Quat::from_rotation_z(0.2 * k),
        translation: DVec3::new(f64::from(k), 7.0, 0.1),
    };
    let push = |keys: &mut PoseKeys, kind: PoseKind, k: f32| {
        let bones = [BonePose::from(pose(k)); 3];
        let local = WorldTransform::from_translation(DVec3::X);
        let place = |p: &Vec3| (pose(k).point(*p) - DVec3::X).as_vec3();
        let positions: Vec<Vec3> = body.rest().positions.iter().map(place).collect();
        let pose = match kind {
            PoseKind::Rigid => Pose::Rigid(pose(k)),
            PoseKind::Bones => Pose::Bones(&bones),
            PoseKind::Vertices => Pose::Vertices { positions: &positions, world_from_mesh: local },
        };
        keys.push(&body, &pose, origin, 0.01, false);
    };
    use PoseKind::{Bones, Rigid, Vertices};
    let orders = [
        [Rigid, Rigid, Rigid],
        [Bones, Bones, Bones],
        [Vertices, Vertices, Vertices],
        [Rigid, Bones, Vertices],
        [Vertices, Bones, Rigid],
        [Bones, Vertices, Bones],
    ];
    for order in orders {
        let mut keys = PoseKeys::default();
        order.iter().zip([0.0, 0.4, 1.0]).for_each(|(kind, k)| push(&mut keys, *kind, k));
        for (fraction, k) in [(0.0, 0.4), (1.0, 1.0)] {
            keys.set_fraction(fraction);
            let truth = pose(k);
            let relative = |p: Vec3| (truth.point(p) - origin).as_vec3();
            for (found, rest) in at(&keys, &body).iter().zip(&body.rest().positions) {
                assert!(found.distance(relative(*rest)) < 2e-6, "{order:?}");
            }
            let (shape, found) = keys.collider(0, &body.colliders()[0]);
            assert_eq!(shape, Shape::Sphere { radius: 0.1 });
            assert!(found.translation.distance(relative(Vec3::X)) < 3e-6, "{order:?}");
            assert!(found.rotation.dot(truth.rotation).abs() > 1.0 - 1e-5, "{order:?}");
        }
    }
}

/// A bone with scale and shear transforms vertices by its matrix, and colliders grow with it.
#[test]
fn bones_with_scale_carry_vertices_and_scale_colliders() {
    let body = body(1);
    let linear = Mat3::from_rotation_y(0.7)
        * Mat3::from_cols(Vec3::X * 2.0, Vec3::new(0.3, 2.0, 0.0), Vec3::Z * 2.0);
    let bone = BonePose { linear, translation: DVec3::new(1.0, 2.0, 3.0) };
    let mut keys = PoseKeys::default();
    keys.push(&body, &Pose::Bones(&[bone]), DVec3::ZERO, 0.01, true);
    for (found, rest) in at(&keys, &body).iter().zip(&body.rest().positions) {
        assert!(found.distance(linear * *rest + bone.translation.as_vec3()) < 2e-6);
    }
    let (shape, _) = keys.collider(0, &body.colliders()[0]);
    let Shape::Sphere { radius } = shape else { panic!("{shape:?}") };
    assert!((radius / 0.2 - 1.0).abs() < 0.01, "{radius}");
}

/// A body that does not move stays where it is to the bit, whatever the lengths of frames.
#[test]
fn a_still_body_is_still_between_keys() {
    let body = body(2);
    let rotation = Quat::from_rotation_x(0.3);
    let pose = Pose::Rigid(WorldTransform { rotation, translation: DVec3::new(3.3, 1.7, -0.9) });
    let mut keys = PoseKeys::default();
    [0.01, 0.003, 0.02].iter().for_each(|dt| keys.push(&body, &pose, DVec3::ZERO, *dt, false));
    keys.set_fraction(1.0);
    let end = at(&keys, &body);
    for fraction in [0.0, 0.1, 0.37, 0.9] {
        keys.set_fraction(fraction);
        assert_eq!(at(&keys, &body), end);
    }
}

#[test]
fn poses_that_do_not_fit_are_named() {
    let body = body(2);
    let check = |pose: Pose<'_>| PoseKeys::check(&body, &pose).map_err(|e| e.to_string());
    let bone = BonePose::from(WorldTransform::IDENTITY);
    assert!(check(Pose::Bones(&[bone])).is_err_and(|e| e.contains("bones of a pose")));
    let nan = BonePose { translation: DVec3::NAN, ..bone };
    assert!(check(Pose::Bones(&[bone, nan])).is_err_and(|e| e.contains("bone 1")));
    let turnless = WorldTransform { rotation: Quat::from_xyzw(0., 0., 0., 0.), ..nowhere() };
    assert!(check(Pose::Rigid(turnless)).is_err());
    assert!(check(Pose::Rigid(WorldTransform::IDENTITY)).is_ok());
    let vertices = |positions| Pose::Vertices { positions, world_from_mesh: nowhere() };
    assert!(check(vertices(&[Vec3::ZERO; 3])).is_err());
    assert!(check(vertices(&[Vec3::NAN; 4])).is_err_and(|e| e.contains("vertex 0")));
}

fn nowhere() -> WorldTransform {
    WorldTransform::IDENTITY
}
