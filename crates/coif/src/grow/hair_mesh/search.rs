//! Finds the places of a strand's points in a hair mesh at rest.

use glam::{Mat3, Vec2, Vec3};

use super::binding::{hermite, hermite_rates};
use super::frames::Frame;
use super::polygon;
use crate::body::ClosestTriangle;
use crate::groom::HairMesh;

/// The vertices around a place, with their weights.
pub(crate) type Around = [(u32, f32); 8];

/// Rounds of looking for a place: three or four are the rule.
const ROUNDS: usize = 16;

/// A step in a coordinate below this is no step (parts of a polygon or of a layer).
const STILL: f32 = 1e-5;

/// Mean distance (m) of a strand from its bundle above which others are tried.
const FAR: f32 = 1e-3;

/// How near to its middle the root of a strand has to be for a bundle to be tried, in distances of its corners.
const BESIDE: f32 = 1.5;

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
    /// The places of a strand's points, all in one bundle, each as near to its point as the bundle allows.
    ///
    /// The bundle is that where the strand has its root, or one beside it if the strand leaves the first one and
    /// lies better in the other: hairs that grow at a parting.
    pub(super) fn strand(&self, line: &[Vec3], out: &mut Vec<Found>) {
        out.clear();
        let Some(&root) = line.first() else { return };
        let own = self.bundle_of[self.roots.closest(root).triangle];
        let mut best = self.places(own, line, out);
        let mut other = Vec::new();
        if best > FAR * line.len() as f32 {
            for bundle in 0..self.mesh.bundles.len() as u32 {
                if bundle != own && self.is_beside(bundle, root) {
                    let apart = self.places(bundle, line, &mut other);
                    if apart < 0.8 * best {
                        best = apart;
                        std::mem::swap(out, &mut other);
                    }
                }
            }
        }
    }

    /// Whether a root is about as near to a bundle's middle as its corners are.
    fn is_beside(&self, bundle: u32, root: Vec3) -> bool {
        let b = &self.mesh.bundles[bundle as usize];
        let corners = || b.columns().iter().map(|&c| self.mesh.columns.strand(c as usize)[0]);
        let middle = corners().sum::<Vec3>() / b.corners() as f32;
        let reach = corners().map(|c| c.distance(middle)).fold(0.0, f32::max);
        root.distance(middle) < BESIDE * reach
    }

    /// The places of a strand's points in a bundle, and how far they are from the points, in sum (m).
    fn places(&self, bundle: u32, line: &[Vec3], out: &mut Vec<Found>) -> f32 {
        out.clear();
        let b = &self.mesh.bundles[bundle as usize];
        let mut corners = [Vec3::ZERO; 4];
        for (corner, &c) in corners.iter_mut().zip(b.columns()) {
            *corner = self.mesh.columns.strand(c as usize)[0];
        }
        let at = polygon::locate(&corners[..b.corners()], line[0]);
        let mut last = Found { bundle, at, along: 0.0 };
        out.push(last);
        let mut apart = self.sample(&last).position.distance(line[0]);
        for pair in line.windows(2) {
            // Start one segment farther along than the point before.
            let pace = self.sample(&last).rates.z_axis.length().max(f32::MIN_POSITIVE);
            let along = last.along + pair[0].distance(pair[1]) / pace;
            let start = Found { along: along.min(b.layers as f32), ..last };
            last = self.nearest(start, pair[1]);
            apart += self.sample(&last).position.distance(pair[1]);
            out.push(last);
        }
        apart
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

    /// The place nearest to a point in its bundle and in those of `near`, and how far it is (m); looks no farther
    /// once that is below `enough`.
    pub(super) fn nearest_of(
        &self,
        found: &Found,
        p: Vec3,
        near: &[u32],
        enough: f32,
    ) -> (Found, f32) {
        let mut best = (*found, self.sample(found).position.distance(p));
        for &bundle in near {
            if best.1 <= enough {
                break;
            }
            let b = &self.mesh.bundles[bundle as usize];
            let along = found.along.min(b.layers as f32);
            let start = Found { bundle, at: polygon::middle(b.corners()), along };
            let place = self.nearest(start, p);
            let distance = self.sample(&place).position.distance(p);
            if distance < best.1 {
                best = (place, distance);
            }
        }
        best
    }

    /// The vertices that a place lies between, with their weights, and its position.
    pub(super) fn vertices(&self, found: &Found) -> (Around, Vec3) {
        let b = &self.mesh.bundles[found.bundle as usize];
        let level = (found.along.floor() as u32).min(b.layers - 1);
        let s = found.along - level as f32;
        let w = polygon::weights(b.corners(), found.at);
        let mut all = [(0, 0.0); 8];
        for (i, &c) in b.columns().iter().enumerate() {
            let v = self.mesh.vertex(c, level);
            (all[2 * i], all[2 * i + 1]) = ((v, w[i] * (1.0 - s)), (v + 1, w[i] * s));
        }
        (all, self.sample(found).position)
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
