//! Inversion of the map of a hair mesh at rest: the bundle and coordinates of the points of a strand.

use glam::{Mat3A, Vec2, Vec3, Vec3A};

use super::frames::Frame;
use super::polygon;
use crate::groom::HairMesh;
use crate::math::ClosestTriangle;
use crate::math::hermite::{hermite, hermite_rates};

/// The vertices around a place, with their weights.
pub(crate) type Around = [(u32, f32); 8];

/// Largest number of Gauss-Newton iterations: three or four usually suffice.
const MAX_ITERATIONS: usize = 16;

/// Largest step in a coordinate that counts as converged (fractions of a polygon or of a layer).
const STILL: f32 = 1e-5;

/// Mean distance (m) of a strand from its bundle above which other bundles are tried.
const FAR: f32 = 1e-3;

/// Ratio of the distances from another bundle and from a strand's own below which the other is preferred.
const BETTER: f32 = 0.8;

/// Largest distance of a strand's root from the middle of another bundle that is tried, relative to the distance of the
/// farthest corner from that middle.
const BESIDE: f32 = 1.5;

/// A place in a bundle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) bundle: u32,
    /// Coordinates in the polygon.
    pub(crate) at: Vec2,
    /// Coordinate along the bundle in layers, 0 at the root.
    pub(crate) along: f32,
}

/// Search for places in the rest shape.
pub(crate) struct Search<'a> {
    pub(crate) mesh: &'a HairMesh,
    /// The frames of the mesh at rest.
    pub(crate) frames: &'a [Frame],
    /// The root polygons as triangles.
    pub(crate) roots: ClosestTriangle<'a>,
    /// The bundle of each of these triangles.
    pub(crate) bundle_of: &'a [u32],
}

/// The position of a place (m), and its derivatives by the three coordinates (m).
#[derive(Clone, Copy)]
struct Sample {
    position: Vec3A,
    rates: Mat3A,
}

impl Sample {
    fn distance(&self, p: Vec3) -> f32 {
        self.position.distance(p.into())
    }
}

impl Search<'_> {
    /// The places of a strand's points, all in one bundle, each the nearest in the bundle to its point.
    ///
    /// The bundle is that with the strand's root, or a nearby one if the strand leaves the first one and
    /// fits the other better, as hairs next to a parting do.
    pub(crate) fn strand(&self, line: &[Vec3], out: &mut Vec<Found>) {
        out.clear();
        let Some(&root) = line.first() else { return };
        let own = self.bundle_of[self.roots.closest(root).triangle];
        let mut best = self.places(own, line, f32::INFINITY, out);
        let mut other = Vec::new();
        if best > FAR * line.len() as f32 {
            for bundle in 0..self.mesh.bundles.len() as u32 {
                if bundle != own && self.is_beside(bundle, root) {
                    let enough = BETTER * best;
                    let apart = self.places(bundle, line, enough, &mut other);
                    if apart < enough {
                        best = apart;
                        std::mem::swap(out, &mut other);
                    }
                }
            }
        }
    }

    /// Whether a root is about as near to the middle of a bundle's root polygon as its corners are.
    fn is_beside(&self, bundle: u32, root: Vec3) -> bool {
        let b = &self.mesh.bundles[bundle as usize];
        let corners = || b.columns().iter().map(|&c| self.mesh.columns.strand(c as usize)[0]);
        let middle = corners().sum::<Vec3>() / b.corners() as f32;
        let reach = corners().map(|c| c.distance(middle)).fold(0.0, f32::max);
        root.distance(middle) < BESIDE * reach
    }

    /// Finds the places of a strand's points in a bundle, and returns the sum of their distances (m); stops
    /// once that exceeds `enough`.
    fn places(&self, bundle: u32, line: &[Vec3], enough: f32, out: &mut Vec<Found>) -> f32 {
        out.clear();
        let b = &self.mesh.bundles[bundle as usize];
        let mut corners = [Vec3::ZERO; 4];
        for (corner, &c) in corners.iter_mut().zip(b.columns()) {
            *corner = self.mesh.columns.strand(c as usize)[0];
        }
        let at = polygon::locate(&corners[..b.corners()], line[0]);
        let mut last = Found { bundle, at, along: 0.0 };
        out.push(last);
        let mut sample = self.sample(&last);
        let mut apart = sample.distance(line[0]);
        for pair in line.windows(2) {
            if apart >= enough {
                break;
            }
            // Start one segment farther along than the previous point.
            let pace = sample.rates.z_axis.length().max(f32::MIN_POSITIVE);
            let along = last.along + pair[0].distance(pair[1]) / pace;
            let start = Found { along: along.min(b.layers as f32), ..last };
            (last, sample) = self.nearest(start, pair[1]);
            apart += sample.distance(pair[1]);
            out.push(last);
        }
        apart
    }

    /// The place in a bundle that is nearest to `p`, searched from `start`.
    ///
    /// Model: Gauss-Newton with coordinates clamped to the bundle. Returns the best of all iterates.
    fn nearest(&self, start: Found, p: Vec3) -> (Found, Sample) {
        let b = &self.mesh.bundles[start.bundle as usize];
        let sample = self.sample(&start);
        let mut best = (sample.position.distance_squared(p.into()), start, sample);
        let (mut here, mut sample) = (start, sample);
        for _ in 0..MAX_ITERATIONS {
            let j = sample.rates;
            let normal = j.transpose() * j;
            let trace = normal.x_axis.x + normal.y_axis.y + normal.z_axis.z;
            let damped = normal + Mat3A::from_diagonal(Vec3::splat(1e-6 * trace + 1e-30));
            let mut step = damped.inverse() * (j.transpose() * (Vec3A::from(p) - sample.position));
            if !step.is_finite() {
                break;
            }
            // Limit steps to half a polygon or a layer.
            step = step.clamp(Vec3A::new(-0.5, -0.5, -1.0), Vec3A::new(0.5, 0.5, 1.0));
            let at = polygon::clamped(b.corners(), here.at + Vec2::new(step.x, step.y));
            let along = (here.along + step.z).clamp(0.0, b.layers as f32);
            let moved = at.distance(here.at).max((along - here.along).abs());
            here = Found { at, along, ..here };
            sample = self.sample(&here);
            let distance = sample.position.distance_squared(p.into());
            if distance < best.0 {
                best = (distance, here, sample);
            }
            if moved < STILL {
                break;
            }
        }
        (best.1, best.2)
    }

    /// The place nearest to a point in its bundle and in the bundles `near`, and its distance (m); stops
    /// once that is not above `enough`.
    pub(crate) fn nearest_of(
        &self,
        found: &Found,
        p: Vec3,
        near: &[u32],
        enough: f32,
    ) -> (Found, f32) {
        let mut best = (*found, self.sample(found).distance(p));
        for &bundle in near {
            if best.1 <= enough {
                break;
            }
            let b = &self.mesh.bundles[bundle as usize];
            let along = found.along.min(b.layers as f32);
            let start = Found { bundle, at: polygon::middle(b.corners()), along };
            let (place, sample) = self.nearest(start, p);
            let distance = sample.distance(p);
            if distance < best.1 {
                best = (place, distance);
            }
        }
        best
    }

    /// The vertices around a place, with their weights, and its position.
    pub(crate) fn vertices(&self, found: &Found) -> (Around, Vec3) {
        let b = &self.mesh.bundles[found.bundle as usize];
        let level = (found.along.floor() as u32).min(b.layers - 1);
        let s = found.along - level as f32;
        let w = polygon::weights(b.corners(), found.at);
        let mut all = [(0, 0.0); 8];
        for (i, &c) in b.columns().iter().enumerate() {
            let v = self.mesh.vertex(c, level);
            (all[2 * i], all[2 * i + 1]) = ((v, w[i] * (1.0 - s)), (v + 1, w[i] * s));
        }
        (all, self.sample(found).position.into())
    }

    #[inline]
    fn sample(&self, found: &Found) -> Sample {
        let b = &self.mesh.bundles[found.bundle as usize];
        let level = (found.along as u32).min(b.layers - 1);
        let s = found.along - level as f32;
        let ([h00, h10, h01, h11], [d00, d10, d01, d11]) = (hermite(s), hermite_rates(s));
        let w = polygon::weights(b.corners(), found.at);
        let [wu, wv] = polygon::weight_rates(b.corners(), found.at);
        let [mut position, mut by_u, mut by_v, mut by_along] = [Vec3A::ZERO; 4];
        for (i, &c) in b.columns().iter().enumerate() {
            let v = self.mesh.vertex(c, level) as usize;
            let (lower, upper) = (&self.frames[v], &self.frames[v + 1]);
            let x =
                lower.position * h00 + lower.along * h10 + upper.position * h01 + upper.along * h11;
            let rate =
                lower.position * d00 + lower.along * d10 + upper.position * d01 + upper.along * d11;
            position += x * w[i];
            by_u += x * wu[i];
            by_v += x * wv[i];
            by_along += rate * w[i];
        }
        Sample { position, rates: Mat3A::from_cols(by_u, by_v, by_along) }
    }
}
