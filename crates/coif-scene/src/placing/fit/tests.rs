use coif::math::Random;

use super::*;
use crate::bust::Bust;
use crate::figure::{self, Figure};

/// The bust and the triangles of its scalp.
fn bust() -> (TriangleMesh, TriangleMesh) {
    let mesh = figure::mesh(&Bust, 0.008);
    let hairy = |t: &u32| mesh.corners(*t as usize).iter().all(|&p| Bust.hair_density(p) > 0.5);
    let scalp: Vec<u32> = (0..mesh.triangles.len() as u32).filter(hairy).collect();
    (mesh.part(&scalp), mesh)
}

/// Points within the triangles of a mesh, where `keep` says so.
fn roots_on(mesh: &TriangleMesh, keep: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let mut random = Random::new(7, 1);
    let mut roots = Vec::new();
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        let (mut u, mut v) = (random.unit(), random.unit());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let p = a + (b - a) * u + (c - a) * v;
        if keep(p) {
            roots.push(p);
        }
    }
    roots
}

fn random_similarity(seed: u64) -> Similarity {
    let mut random = Random::new(seed, 2);
    let mut signed = || f64::from(random.unit()) * 2.0 - 1.0;
    let axis = DVec3::new(signed(), signed(), signed()).normalize_or(DVec3::X);
    Similarity {
        scale: (2.0 * signed()).exp(),
        rotation: DQuat::from_axis_angle(axis, 3.0 * signed()),
        translation: DVec3::new(signed(), signed(), signed()) * 3.0,
    }
}

/// The largest distance (m) of moved roots from their places after the fit.
fn error_of(fit: &Fit, moved: &[Vec3], places: &[Vec3]) -> f32 {
    let away = moved.iter().zip(places).map(|(m, p)| fit.body_from_groom.point(*m).distance(*p));
    away.fold(0.0, f32::max)
}

/// Roots are on the scalp exactly, so that the known similarity is the only one without a residual. Positions are
/// rounded at up to 30 m from the origin: to 2 um, times the scale of the fit of at most e^2.
#[test]
fn a_known_similarity_is_undone() {
    let (scalp, _) = bust();
    let places = roots_on(&scalp, |_| true);
    for seed in 0..6 {
        let moved: Vec<Vec3> = places.iter().map(|&p| random_similarity(seed).point(p)).collect();
        let fit = fit(&moved, &scalp, Target::Scalp, DQuat::IDENTITY).unwrap();
        let error = error_of(&fit, &moved, &places);
        println!("seed {seed}: {error:.1e} m, residual {:.1e} m", fit.mean);
        assert!(error < 1e-4 && fit.worst < 5e-5, "seed {seed}: {error} {fit:?}");
        let scale = fit.body_from_groom.scale * random_similarity(seed).scale;
        assert!((scale - 1.0).abs() < 1e-3, "seed {seed}: {scale}");
    }
}

/// A groom that faces the right way comes back from another place and size, on a head without a scalp as well: only
/// there is the residual zero.
#[test]
fn a_head_without_a_scalp_is_enough_for_a_groom_that_faces_its_way() {
    let (scalp, mesh) = bust();
    let places = roots_on(&scalp, |_| true);
    let head: Vec<u32> = (0..mesh.triangles.len() as u32)
        .filter(|&t| mesh.corners(t as usize).iter().all(|p| p.y > -0.1))
        .collect();
    let tilt = DQuat::from_rotation_y(0.2) * DQuat::from_rotation_x(0.15);
    let moves = Similarity { scale: 2.3, rotation: tilt, translation: DVec3::new(0.3, 1.6, -0.1) };
    let moved: Vec<Vec3> = places.iter().map(|&p| moves.point(p)).collect();
    let fit = fit(&moved, &mesh.part(&head), Target::Surface, DQuat::IDENTITY).unwrap();
    let error = error_of(&fit, &moved, &places);
    println!("{error:.1e} m, residual {:.1e} m", fit.mean);
    assert!(error < 1e-3, "{error} {fit:?}");
}

/// Hair that covers only the back of the scalp lies on the scalp, and not over all of it. Along a part of the scalp it
/// may glide: a centimetre is the width of the hairline.
#[test]
fn hair_on_some_of_the_scalp_is_not_spread_over_all_of_it() {
    let (scalp, _) = bust();
    let places = roots_on(&scalp, |p| p.z < 0.02);
    let moves = Similarity {
        scale: 0.5,
        rotation: DQuat::from_rotation_y(0.1),
        translation: DVec3::new(0.0, 1.0, 0.2),
    };
    let moved: Vec<Vec3> = places.iter().map(|&p| moves.point(p)).collect();
    let fit = fit(&moved, &scalp, Target::Scalp, DQuat::IDENTITY).unwrap();
    let error = error_of(&fit, &moved, &places);
    println!("{error:.1e} m, residual {:.1e} m, {fit:?}", fit.mean);
    assert!(error < 0.01 && fit.mean < 1e-3, "{error} {fit:?}");
}

/// A mirrored groom, one at a point, on a line, in a plane, and a scalp without an area: no panic, and no fit that is not
/// finite.
#[test]
fn mirrored_and_flat_grooms_stay_finite() {
    let (scalp, _) = bust();
    let places = roots_on(&scalp, |_| true);
    let squeezes = [
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::ZERO,
        Vec3::X,
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::splat(1e-9),
        Vec3::splat(1e9),
    ];
    for squeeze in squeezes {
        let squeezed: Vec<Vec3> = places.iter().map(|&p| p * squeeze).collect();
        for target in [Target::Scalp, Target::Surface] {
            if let Some(fit) = fit(&squeezed, &scalp, target, DQuat::IDENTITY) {
                assert!(fit.mean.is_finite() && fit.worst.is_finite(), "{squeeze} {fit:?}");
                assert!(fit.body_from_groom.scale > 0.0, "{squeeze} {fit:?}");
                // A mirrored scalp differs from itself by the asymmetry of its triangulation only.
                assert!(squeeze.x > 0.0 || fit.mean < 2e-3, "{squeeze} {fit:?}");
            }
        }
    }
    assert_eq!(fit(&places[..MIN_ROOTS - 1], &scalp, Target::Scalp, DQuat::IDENTITY), None);
    assert_eq!(fit(&[Vec3::ONE; 50], &scalp, Target::Scalp, DQuat::IDENTITY), None);
    let flat = TriangleMesh { positions: vec![Vec3::ZERO; 3], triangles: vec![[0, 1, 2]] };
    assert_eq!(fit(&places, &flat, Target::Scalp, DQuat::IDENTITY), None);
    assert_eq!(fit(&places, &TriangleMesh::default(), Target::Surface, DQuat::IDENTITY), None);
}
