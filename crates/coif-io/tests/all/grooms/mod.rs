//! Small grooms that the tests write and read back.

#![allow(clippy::unwrap_used)]

use coif::groom::{Fibre, Groom, Strands};
use glam::Vec3;

/// Curved strands of 2 to 6 points with every attribute, about 30 cm across.
pub(crate) fn full_groom(count: usize) -> Groom {
    let mut strands = Strands::new();
    for s in 0..count {
        let root = Vec3::new(s as f32 * 0.1 / count as f32, 1.6, 0.03);
        let points: Vec<Vec3> = (0..2 + s % 5)
            .map(|i| {
                let t = i as f32 * 0.07 + 1.0 / 3.0;
                root + Vec3::new((t * 9.1).sin() * 0.02, -t, (t * 5.3).cos() * 0.02)
            })
            .collect();
        strands.push(&points);
    }
    let mut groom = Groom::new(strands, Fibre { radius: 35e-6, ..Fibre::default() });
    let points = groom.strands.point_count();
    let wave = |i: usize| (i as f32 * 0.7).sin().abs();
    groom.radius = (0..points).map(|i| 20e-6 + 30e-6 * wave(i)).collect();
    groom.transparency = Some((0..points).map(wave).collect());
    groom.color = Some((0..points).map(|i| Vec3::new(wave(i), wave(i + 1), wave(i + 2))).collect());
    groom
}

/// Strands of equal length without attributes.
pub(crate) fn plain_groom(strands: usize, points: usize) -> Groom {
    let all = (0..strands)
        .flat_map(|s| {
            (0..points).map(move |i| {
                let (s, t) = (s as f32 / strands as f32, i as f32 / points as f32);
                Vec3::new(s.sin() * 0.1, 1.7 - t * 0.3, s.cos() * 0.1 + t * t * 0.05)
            })
        })
        .collect();
    let strands = Strands::from_counts(std::iter::repeat_n(points, strands), all).unwrap();
    Groom::new(strands, Fibre::default())
}
