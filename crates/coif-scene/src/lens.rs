//! A finer mesh where a figure needs it: the solid is meshed in a space that magnifies
//! one place (a face), and the vertices are mapped back.

use coif::body::TriangleMesh;
use glam::Vec3;

use crate::implicit::Implicit;
use crate::surface_nets;

/// A ball that is meshed finer than the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lens {
    /// Its middle (m).
    pub centre: Vec3,
    /// Its radius (m).
    pub radius: f32,
    /// How many times finer; at least 1.
    pub power: f32,
}

impl Lens {
    /// Maps the enlarged space to the real one. No two points move apart.
    fn real(&self, q: Vec3) -> Vec3 {
        let offset = q - self.centre;
        let far = offset.length();
        let edge = self.radius * self.power;
        let near = if far < edge { far / self.power } else { self.radius + far - edge };
        self.centre + offset * if far > 0.0 { near / far } else { 0.0 }
    }

    /// Maps the real space to the enlarged one.
    fn enlarged(&self, p: Vec3) -> Vec3 {
        let offset = p - self.centre;
        let near = offset.length();
        let edge = self.radius * self.power;
        let far = if near < self.radius { near * self.power } else { edge + near - self.radius };
        self.centre + offset * if near > 0.0 { far / near } else { 0.0 }
    }
}

struct Enlarged<'a, S: ?Sized> {
    solid: &'a S,
    lens: Lens,
}

impl<S: Implicit + ?Sized> Implicit for Enlarged<'_, S> {
    fn value(&self, q: Vec3) -> f32 {
        self.solid.value(self.lens.real(q))
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        // The lens moves everything outwards from its middle, at most by this much.
        let (lo, hi) = self.solid.bounds();
        let push = self.lens.radius * (self.lens.power - 1.0);
        let (lo_far, hi_far) = (lo - Vec3::splat(push), hi + Vec3::splat(push));
        // Sample the box to remove most of the empty margin.
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        const N: usize = 24;
        for i in 0..=N {
            for j in 0..=N {
                for k in 0..=N {
                    let t = Vec3::new(i as f32, j as f32, k as f32) / N as f32;
                    let q = self.lens.enlarged(lo + (hi - lo) * t);
                    (low, high) = (low.min(q), high.max(q));
                }
            }
        }
        let margin = (hi - lo) * (self.lens.power / N as f32);
        ((low - margin).max(lo_far), (high + margin).min(hi_far))
    }
}

/// Meshes `solid` with triangles of about `cell` metres, finer in the lens.
pub(crate) fn mesh<S: Implicit + ?Sized>(solid: &S, lens: Lens, cell: f32) -> TriangleMesh {
    let mut mesh = surface_nets::mesh(&Enlarged { solid, lens }, cell);
    for p in &mut mesh.positions {
        *p = lens.real(*p);
        // Vertices are on the surface where the scale is constant; project those at the edge of the lens.
        for _ in 0..2 {
            *p -= solid.normal(*p) * solid.value(*p).clamp(-0.3 * cell, 0.3 * cell);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_nets::tests::Ball;

    #[test]
    fn there_and_back_is_the_same_place() {
        let lens = Lens { centre: Vec3::new(0.1, 0.2, 0.0), radius: 0.05, power: 3.0 };
        for i in 0..100 {
            let t = i as f32;
            let p = Vec3::new(t.sin(), (1.7 * t).cos(), (0.3 * t).sin()) * 0.3;
            assert!(lens.real(lens.enlarged(p)).distance(p) < 1e-6);
        }
    }

    #[test]
    fn the_mesh_is_closed_on_the_surface_and_finer_in_the_lens() {
        let lens = Lens { centre: Vec3::Z * 0.1, radius: 0.05, power: 3.0 };
        let mesh = mesh(&Ball, lens, 0.02);
        assert!(mesh.validate().is_ok());
        let edges = mesh.triangles.len() * 3 / 2;
        assert_eq!(mesh.positions.len() + mesh.triangles.len() - edges, 2);
        assert!(mesh.positions.iter().all(|p| (p.length() - 0.1).abs() < 3e-4));
        let longest = |inside: bool| {
            (0..mesh.triangles.len())
                .map(|t| mesh.corners(t))
                .filter(|c| (c[0].distance(lens.centre) < 0.04) == inside)
                .map(|[a, b, _]| a.distance(b))
                .fold(0.0, f32::max)
        };
        assert!(longest(true) < 0.55 * longest(false), "{} {}", longest(true), longest(false));
    }
}
