//! Finds the places of a strand's points in a hair mesh at rest.

use glam::{Mat3, Vec2, Vec3};

use super::binding::{hermite, hermite_rates};
use super::frames::Frame;
use super::polygon;
use crate::body::ClosestTriangle;
use crate::groom::HairMesh;

/// Rounds of looking for a place: three or four are the rule.
const ROUNDS: usize = 16;

/// A step in a coordinate below this is no step (parts of a polygon or of a layer).
const STILL: f32 = 1e-5;

/// A place in a bundle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) bundle: u32,
    /// Coordinates in the polygon.
    pub(super) at: Vec2,
    /// Layers passed, 0 at the root.
    pub(super) along: f32,
}

/// Looks for places in the rest shape.
pub(super) struct Search<'a> {
    pub(super) mesh: &'a HairMesh,
    /// The frames of the mesh at rest.
    pub(super) frames: &'a [Frame],
    /// The root polygons as triangles.
    pub(super) roots: ClosestTriangle<'a>,
    /// The bundle of each of these triangles.
    pub(super) bundle_of: &'a [u32],
}

/// A point of the field of places, and how it changes with the three coordinates (m).
struct Sample {
    position: Vec3,
    rates: Mat3,
}

impl Search<'_> {
    /// The places of a strand's points, all in the bundle where it has its root, each as near to its
    /// point as the bundle allows.
    pub(super) fn strand(&self, line: &[Vec3], out: &mut Vec<Found>) {
        out.clear();
        let Some(&root) = line.first() else { return };
        let bundle = self.bundle_of[self.roots.closest(root).triangle];
        let b = &self.mesh.bundles[bundle as usize];
        let mut corners = [Vec3::ZERO; 4];
        for (corner, &c) in corners.iter_mut().zip(b.columns()) {
            *corner = self.mesh.columns.strand(c as usize)[0];
        }
        let at = polygon::locate(&corners[..b.corners()], root);
        let mut last = Found { bundle, at, along: 0.0 };
        out.push(last);
        for pair in line.windows(2) {
            // Start one segment farther along than the point before.
            let pace = self.sample(&last).rates.z_axis.length().max(f32::MIN_POSITIVE);
            let along = last.along + pair[0].distance(pair[1]) / pace;
            let start = Found { along: along.min(b.layers as f32), ..last };
            last = self.nearest(start, pair[1]);
            out.push(last);
        }
    }

    /// Goes from a place to the one nearest to `p`, within the bundle.
    ///
    /// Model: Gauss-Newton with coordinates clamped to the bundle; where that comes out farther than it
    /// started, the start.
    fn nearest(&self, start: Found, p: Vec3) -> Found {
        let b = &self.mesh.bundles[start.bundle as usize];
        let mut best = (self.sample(&start).position.distance_squared(p), start);
        let mut here = start;
        for _ in 0..ROUNDS {
            let sample = self.sample(&here);
            let distance = sample.position.distance_squared(p);
            if distance < best.0 {
                best = (distance, here);
            }
            let j = sample.rates;
            let normal = j.transpose() * j;
            let trace = normal.x_axis.x + normal.y_axis.y + normal.z_axis.z;
            let damped = normal + Mat3::from_diagonal(Vec3::splat(1e-6 * trace + 1e-30));
            let mut step = damped.inverse() * (j.transpose() * (p - sample.position));
            if !step.is_finite() {
                break;
            }
            // No leap farther than half a polygon or a layer.
            step = step.clamp(Vec3::new(-0.5, -0.5, -1.0), Vec3::new(0.5, 0.5, 1.0));
            let at = polygon::clamped(b.corners(), here.at + step.truncate());
            let along = (here.along + step.z).clamp(0.0, b.layers as f32);
            let moved = at.distance(here.at).max((along - here.along).abs());
            here = Found { at, along, ..here };
            if moved < STILL {
                break;
            }
        }
        let distance = self.sample(&here).position.distance_squared(p);
        if distance < best.0 { here } else { best.1 }
    }

    /// How far a point is from its bundle and from those in `near` (m); looks no farther once that is below
    /// `enough`.
    pub(super) fn distance(&self, found: &Found, p: Vec3, near: &[u32], enough: f32) -> f32 {
        let mut best = self.sample(found).position.distance(p);
        for &bundle in near {
            if best <= enough {
                break;
            }
            let b = &self.mesh.bundles[bundle as usize];
            let along = found.along.min(b.layers as f32);
            let start = Found { bundle, at: polygon::middle(b.corners()), along };
            best = best.min(self.sample(&self.nearest(start, p)).position.distance(p));
        }
        best
    }

    fn sample(&self, found: &Found) -> Sample {
        let b = &self.mesh.bundles[found.bundle as usize];
        let level = (found.along.floor() as u32).min(b.layers - 1);
        let s = found.along - level as f32;
        let (h, dh) = (hermite(s), hermite_rates(s));
        let w = polygon::weights(b.corners(), found.at);
        let [wu, wv] = polygon::weight_rates(b.corners(), found.at);
        let mut sample = Sample { position: Vec3::ZERO, rates: Mat3::ZERO };
        for (i, &c) in b.columns().iter().enumerate() {
            let v = self.mesh.vertex(c, level) as usize;
            let (lower, upper) = (&self.frames[v], &self.frames[v + 1]);
            let curve = |h: [f32; 4]| -> Vec3 {
                (lower.position * h[0]
                    + lower.along * h[1]
                    + upper.position * h[2]
                    + upper.along * h[3])
                    .into()
            };
            let x = curve(h);
            sample.position += x * w[i];
            sample.rates.x_axis += x * wu[i];
            sample.rates.y_axis += x * wv[i];
            sample.rates.z_axis += curve(dh) * w[i];
        }
        sample
    }
}
