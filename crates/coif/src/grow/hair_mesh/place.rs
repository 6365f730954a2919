//! The place of a point of hair in a hair mesh: coordinates between the columns of a bundle, and an offset
//! beside that; and the root of a strand. One at a time, for binding and as the plain version: `curve.rs`
//! has the same in lanes, to the last bit.

use glam::{Vec2, Vec3, Vec3A};

use super::lay::Moving;
use crate::groom::HairMesh;
use crate::groom::hair_mesh::{Bundle, Found, Frame, polygon};
use crate::math::hermite::hermite;

/// Lengths (m), and products of lengths, below this have no direction: far below any segment.
pub(super) const NOTHING: f32 = 1e-20;

/// The prism of a bundle in one of its layers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Cell {
    /// The columns' vertices on the level below; the first again where a triangle has no fourth.
    pub(super) lower: [u32; 4],
    /// That level.
    pub(super) level: f32,
    /// Three or four.
    pub(super) corners: u32,
}

impl Cell {
    pub(super) fn new(mesh: &HairMesh, found: &Found) -> Self {
        let bundle = &mesh.bundles[found.bundle as usize];
        let level = level(mesh, found);
        let lower = columns_on(mesh, bundle, level);
        Self { lower, level: level as f32, corners: bundle.corners() as u32 }
    }
}

/// The vertices of a bundle's columns on a level; the first again where a triangle has no fourth.
pub(super) fn columns_on(mesh: &HairMesh, bundle: &Bundle, level: u32) -> [u32; 4] {
    let mut vertices = [mesh.vertex(bundle.columns()[0], level); 4];
    for (v, &c) in vertices.iter_mut().zip(bundle.columns()) {
        *v = mesh.vertex(c, level);
    }
    vertices
}

/// The level below a place.
pub(super) fn level(mesh: &HairMesh, found: &Found) -> u32 {
    (found.along.floor() as u32).min(mesh.bundles[found.bundle as usize].layers - 1)
}

/// The place of a point: between two levels of up to four columns, with an offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    /// The columns' vertices on the level below it; the first again where a triangle has no fourth.
    lower: [u32; 4],
    /// The columns' weights; they add up to 1.
    weights: [f32; 4],
    /// Fraction of the distance to the next level, 0..1.
    fraction: f32,
    /// From there to the point, in the frame there (m): along, across, and at right angles to both.
    offset: [f32; 3],
}

impl Place {
    /// In a cell, at these coordinates in its polygon, so many layers from the root, with an offset (m).
    pub(super) fn new(cell: &Cell, at: Vec2, along: f32, offset: [f32; 3]) -> Self {
        Self {
            lower: cell.lower,
            weights: polygon::weights(cell.corners as usize, at),
            fraction: along - cell.level,
            offset,
        }
    }

    /// A place without an offset.
    pub(super) fn inside(mesh: &HairMesh, found: &Found) -> Self {
        Self::new(&Cell::new(mesh, found), found.at, found.along, [0.0; 3])
    }

    /// The vertices of the columns around it on the level below.
    pub(super) fn vertices(&self) -> [u32; 4] {
        self.lower
    }

    /// From the place to the point `p` (m), with the frames at rest: along, across, and at right angles.
    pub(super) fn offset_of(&self, rest: &[Frame], p: Vec3) -> [f32; 3] {
        let blend = blend(rest, self);
        let away = Vec3A::from(p) - blend.position;
        axes(&blend).map(|axis| axis.dot(away))
    }

    /// Position of the point (m).
    #[inline]
    pub(super) fn position(&self, frames: &[Frame]) -> Vec3A {
        let now = blend(frames, self);
        beside(&now, &Scales::new(&now), self.offset)
    }

    /// Position and velocity of the point.
    #[inline]
    pub(super) fn moving(&self, frames: &[Frame], rates: &[Frame]) -> Moving {
        let (now, rate) = (blend(frames, self), blend(rates, self));
        let scales = Scales::new(&now);
        let [t, n, b] = axis_rates(&now, &rate, &scales);
        let [x, y, z] = self.offset;
        let velocity = rate.position + t * x + n * y + b * z;
        Moving { at: beside(&now, &scales, self.offset), velocity }
    }
}

/// The blend of frames at a place.
struct Blend {
    position: Vec3A,
    along: Vec3A,
    across: Vec3A,
}

/// Position and frame at a place.
///
/// Model: cubic Hermite between the levels for the position; the directions go from one level's to the
/// next with the weights of its first and third term, so that they are smooth as well.
#[inline]
fn blend(frames: &[Frame], place: &Place) -> Blend {
    let (v, w) = (place.lower[0] as usize, place.weights[0]);
    let mut lower = weighted(&frames[v], w);
    let mut upper = weighted(&frames[v + 1], w);
    for i in 1..4 {
        let (v, w) = (place.lower[i] as usize, place.weights[i]);
        let (a, b) = (weighted(&frames[v], w), weighted(&frames[v + 1], w));
        lower.position += a.position;
        lower.along += a.along;
        lower.across += a.across;
        upper.position += b.position;
        upper.along += b.along;
        upper.across += b.across;
    }
    let [h00, h10, h01, h11] = hermite(place.fraction);
    Blend {
        position: lower.position * h00
            + lower.along * h10
            + upper.position * h01
            + upper.along * h11,
        along: lower.along * h00 + upper.along * h01,
        across: lower.across * h00 + upper.across * h01,
    }
}

/// The contribution of one vertex.
#[inline]
fn weighted(frame: &Frame, w: f32) -> Frame {
    Frame { position: frame.position * w, along: frame.along * w, across: frame.across * w }
}

/// Where a place without offset is (m), and the axes of its frame.
pub(super) fn line_point(mesh: &HairMesh, frames: &[Frame], found: &Found) -> (Vec3, [Vec3; 3]) {
    let blend = blend(frames, &Place::inside(mesh, found));
    (blend.position.into(), axes(&blend).map(Vec3::from))
}

/// Scales and products that make unit axes of the directions of a blend: along, across, and at right angles to both.
struct Scales {
    /// The direction across, less what it has along, times `aa`.
    n: Vec3A,
    /// Products of the directions: along with along, across with along.
    aa: f32,
    ac: f32,
    /// One over the sizes of `along`, of `n`, and of both. All zero where the mesh has collapsed.
    shrink: f32,
    narrow: f32,
    both: f32,
}

impl Scales {
    /// Model: Gram-Schmidt, scaled so that one quotient does for all three axes.
    #[inline]
    fn new(blend: &Blend) -> Self {
        let (aa, ac) = (blend.along.length_squared(), blend.across.dot(blend.along));
        let n = blend.across * aa - blend.along * ac;
        let (size, width) = (aa.sqrt(), n.length());
        let both = 1.0 / (size * width).max(NOTHING);
        Self { n, aa, ac, shrink: width * both, narrow: size * both, both }
    }
}

/// The point with an offset from a blend (m).
#[inline]
fn beside(blend: &Blend, scales: &Scales, [x, y, z]: [f32; 3]) -> Vec3A {
    blend.position
        + blend.along * (scales.shrink * x)
        + scales.n * (scales.narrow * y)
        + blend.along.cross(scales.n) * (scales.both * z)
}

/// Three unit axes at right angles: along, across, and their product. Zero where the mesh has collapsed
/// to a point or a line.
fn axes(blend: &Blend) -> [Vec3A; 3] {
    let scales = Scales::new(blend);
    let (t, n) = (blend.along * scales.shrink, scales.n * scales.narrow);
    [t, n, blend.along.cross(scales.n) * scales.both]
}

/// Rate of change of the axes of [`axes`].
#[inline]
fn axis_rates(now: &Blend, rate: &Blend, scales: &Scales) -> [Vec3A; 3] {
    let (t, n) = (now.along * scales.shrink, scales.n * scales.narrow);
    let dt = (rate.along - t * t.dot(rate.along)) * scales.shrink;
    let scale = scales.ac * scales.shrink;
    let dn = rate.across - dt * scale - t * (rate.across.dot(t) + now.across.dot(dt));
    let dn = (dn - n * n.dot(dn)) * (scales.aa * scales.narrow);
    [dt, dn, dt.cross(n) + t.cross(dn)]
}

/// The root of a strand: on the root polygon of its bundle, or beside it, and moving with that,
/// whatever the places above do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Root {
    /// Three corners of the polygon.
    pub(super) corners: [u32; 3],
    /// Fractions of the edges to the second and the third corner, and how far it is along the normal (m).
    pub(super) at: [f32; 3],
}

impl Root {
    pub(super) fn new(mesh: &HairMesh, rest: &[Frame], bundle: u32, p: Vec3) -> Self {
        let columns = mesh.bundles[bundle as usize].columns();
        let corners = [0, 1, 2].map(|i| mesh.vertex(columns[i], 0));
        let [u, v, m] = sides(rest, corners);
        let away = Vec3A::from(p) - rest[corners[0] as usize].position;
        let mm = m.length_squared().max(NOTHING * NOTHING);
        let at = [away.cross(v).dot(m) / mm, u.cross(away).dot(m) / mm, away.dot(m) / mm.sqrt()];
        Self { corners, at }
    }

    #[inline]
    pub(super) fn moving(&self, now: &[Frame], rates: &[Frame]) -> Moving {
        let ([u, v, m], [a, b, h]) = (sides(now, self.corners), self.at);
        let [du, dv, _] = sides(rates, self.corners);
        let shrink = 1.0 / m.length().max(NOTHING);
        let normal = m * shrink;
        let dm = du.cross(v) + u.cross(dv);
        let turn = (dm - normal * normal.dot(dm)) * shrink;
        let first = self.corners[0] as usize;
        Moving {
            at: now[first].position + u * a + v * b + normal * h,
            velocity: rates[first].position + du * a + dv * b + turn * h,
        }
    }
}

/// Two sides of a triangle, and their product.
#[inline]
fn sides(frames: &[Frame], corners: [u32; 3]) -> [Vec3A; 3] {
    let [o, a, b] = corners.map(|c| frames[c as usize].position);
    let (u, v) = (a - o, b - o);
    [u, v, u.cross(v)]
}

/// A place on the face between two columns, in a bundle that has both: at `along_edge`, 0..1, on the edge from the
/// first to the second.
#[cfg(test)]
pub(super) fn place_on_edge(
    mesh: &HairMesh,
    bundle: usize,
    columns: [u32; 2],
    along_edge: f32,
    layer: u32,
    fraction: f32,
) -> TestPlace {
    let b = &mesh.bundles[bundle];
    let corner = |c: u32| match (b.corners(), b.columns().iter().position(|&d| d == c)) {
        (_, Some(0)) => Vec2::ZERO,
        (_, Some(1)) => Vec2::X,
        (4, Some(2)) => Vec2::ONE,
        _ => Vec2::Y,
    };
    let at = corner(columns[0]).lerp(corner(columns[1]), along_edge);
    let found = Found { bundle: bundle as u32, at, along: layer as f32 + fraction };
    TestPlace(Place::inside(mesh, &found))
}

/// A place in the middle of a bundle with an offset of its own, which curls.
#[cfg(test)]
pub(super) fn place_inside(mesh: &HairMesh, bundle: usize, along: f32) -> TestPlace {
    let corners = mesh.bundles[bundle].corners();
    let at = polygon::middle(corners) * 0.8;
    let found = Found { bundle: bundle as u32, at, along };
    let offset = [0.001, 0.004 * along.sin(), 0.004 * along.cos()];
    TestPlace(Place { offset, ..Place::inside(mesh, &found) })
}

/// A place for tests.
#[cfg(test)]
pub(super) struct TestPlace(Place);

/// Where a place is, with its offset.
#[cfg(test)]
pub(super) fn point(frames: &[Frame], place: &TestPlace) -> Vec3 {
    place.0.position(frames).into()
}
