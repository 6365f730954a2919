//! Hair bound into a hair mesh, and carried along by it.

use std::collections::BTreeMap;

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::frames::{Frame, Frames};
use super::lay::{Chain, Moving};
use super::polygon;
use super::search::{Around, Found, Search};
use crate::body::ClosestTriangle;
use crate::groom::{HairMesh, Strands};
use crate::{Error, Result};

/// Strands that one task binds or carries.
const STRANDS: usize = 64;

/// Lengths below this have no direction (m): far below any segment.
const NOTHING: f32 = 1e-20;

/// Every point of some strands, bound to its place in a hair mesh.
///
/// [`Binding::update`] looks at the vertices once; after it, [`Binding::positions`] may be asked as often
/// as one likes, and velocities as well. Nothing allocates.
#[derive(Debug, Clone)]
pub struct Binding {
    places: Vec<Place>,
    /// Where every strand begins.
    roots: Vec<Root>,
    /// Per point: the length of the segment before it (m); 0 at a root.
    lengths: Vec<f32>,
    /// First point of every strand, and the total.
    first: Vec<u32>,
    frames: Frames,
    now: Vec<Frame>,
    rates: Vec<Frame>,
}

/// What hair must stay out of, where it was carried to.
pub trait Obstacle: Sync {
    /// How deep a point is inside (m).
    fn depth(&self, p: Vec3A) -> f32;
    /// For a link whose end is deeper than `allowed` (m): where it can end instead.
    fn place(&self, link: &Link, allowed: f32) -> Option<Met>;
}

/// A link of a strand that is being laid.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Where it begins (m).
    pub parent: Vec3A,
    /// How long it is (m).
    pub length: f32,
    /// Where it would end (m).
    pub wanted: Vec3A,
}

/// Where a link that met something ends.
#[derive(Debug, Clone, Copy)]
pub struct Met {
    /// m.
    pub at: Vec3A,
    /// Out of what it met, unit length.
    pub normal: Vec3A,
    /// How fast that moves (m/s).
    pub velocity: Vec3A,
}

/// Nothing to stay out of.
struct Nowhere;

impl Obstacle for Nowhere {
    fn depth(&self, _: Vec3A) -> f32 {
        0.0
    }

    fn place(&self, _: &Link, _: f32) -> Option<Met> {
        None
    }
}

/// Where a point is: between two levels of up to four columns, and beside that.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// The columns' vertices on the level below it; the first again where a triangle has no fourth.
    lower: [u32; 4],
    /// The columns' weights; they add up to 1.
    weights: [f32; 4],
    /// How far it is to the next level, 0..1.
    fraction: f32,
    /// From there to the point, in the frame there (m): along, across, and at right angles to both.
    offset: [f32; 3],
}

impl Place {
    const NOWHERE: Self =
        Self { lower: [0; 4], weights: [0.0; 4], fraction: 0.0, offset: [0.0; 3] };

    /// The place that was found for the point `p` (m), with the frames at rest.
    fn new(mesh: &HairMesh, rest: &[Frame], found: &Found, p: Vec3) -> Self {
        let mut place = Self::inside(mesh, found);
        // Express what is left in the frame of the place.
        let blend = blend(rest, &place);
        let away = Vec3A::from(p) - blend.position;
        place.offset = axes(&blend).map(|axis| axis.dot(away));
        place
    }

    /// A place without an offset.
    fn inside(mesh: &HairMesh, found: &Found) -> Self {
        let bundle = &mesh.bundles[found.bundle as usize];
        let level = (found.along.floor() as u32).min(bundle.layers - 1);
        let mut place = Self {
            lower: [mesh.vertex(bundle.columns()[0], level); 4],
            weights: polygon::weights(bundle.corners(), found.at),
            fraction: found.along - level as f32,
            offset: [0.0; 3],
        };
        for (v, &c) in place.lower.iter_mut().zip(bundle.columns()) {
            *v = mesh.vertex(c, level);
        }
        place
    }

    #[inline]
    fn position(&self, frames: &[Frame]) -> Vec3A {
        let blend = blend(frames, self);
        let [t, n, b] = axes(&blend);
        let [x, y, z] = self.offset;
        blend.position + t * x + n * y + b * z
    }

    #[inline]
    fn moving(&self, frames: &[Frame], rates: &[Frame]) -> Moving {
        let (now, rate) = (blend(frames, self), blend(rates, self));
        let [t, n, b] = axis_rates(&now, &rate);
        let [x, y, z] = self.offset;
        Moving { at: self.position(frames), velocity: rate.position + t * x + n * y + b * z }
    }
}

/// Per bundle those whose roots meet its own or those of a neighbour, in order.
fn neighbourhoods(mesh: &HairMesh) -> Vec<Vec<u32>> {
    let root = |c: u32| mesh.columns.strand(c as usize)[0].to_array().map(f32::to_bits);
    let mut at_root: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
    for (b, bundle) in mesh.bundles.iter().enumerate() {
        bundle.columns().iter().for_each(|&c| at_root.entry(root(c)).or_default().push(b as u32));
    }
    let beside = |b: u32| {
        let columns = mesh.bundles[b as usize].columns().iter();
        columns.flat_map(|&c| at_root.get(&root(c)).into_iter().flatten().copied())
    };
    (0..mesh.bundles.len() as u32)
        .map(|b| {
            let mut near: Vec<u32> = beside(b).flat_map(beside).filter(|&n| n != b).collect();
            near.sort_unstable();
            near.dedup();
            near
        })
        .collect()
}

/// The blend of frames at a place.
struct Blend {
    position: Vec3A,
    along: Vec3A,
    across: Vec3A,
}

/// Where a strand begins: on the root polygon of its bundle, or beside it, and it moves as that does,
/// whatever hair does above.
#[derive(Debug, Clone, Copy, Default)]
struct Root {
    /// Three corners of the polygon.
    corners: [u32; 3],
    /// Shares of the ways to the second and the third corner, and how far it is along the normal (m).
    at: [f32; 3],
}

impl Root {
    fn new(mesh: &HairMesh, rest: &[Frame], bundle: u32, p: Vec3) -> Self {
        let columns = mesh.bundles[bundle as usize].columns();
        let corners = [0, 1, 2].map(|i| mesh.vertex(columns[i], 0));
        let [u, v, m] = sides(rest, corners);
        let away = Vec3A::from(p) - rest[corners[0] as usize].position;
        let mm = m.length_squared().max(NOTHING * NOTHING);
        let at = [away.cross(v).dot(m) / mm, u.cross(away).dot(m) / mm, away.dot(m) / mm.sqrt()];
        Self { corners, at }
    }

    #[inline]
    fn moving(&self, now: &[Frame], rates: &[Frame]) -> Moving {
        let ([u, v, m], [a, b, h]) = (sides(now, self.corners), self.at);
        let [du, dv, _] = sides(rates, self.corners);
        let size = m.length().max(NOTHING);
        let normal = m / size;
        let dm = du.cross(v) + u.cross(dv);
        let turn = (dm - normal * normal.dot(dm)) / size;
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

impl Binding {
    /// Binds strands into the rest shape of a valid hair mesh. Each strand belongs to the bundle whose
    /// root polygon is nearest to its root, and stays with it; a point that leaves its bundle keeps an
    /// offset from it.
    pub fn new(mesh: &HairMesh, strands: &Strands) -> Result<Self> {
        let frames = Frames::new(mesh);
        let mut now = vec![Frame::default(); mesh.vertex_count()];
        frames.update(mesh.positions(), &mut now);
        let (triangles, bundle_of) = mesh.root_triangles();
        let roots = ClosestTriangle::new(&triangles).ok_or(Error::NoTriangles)?;
        let search = Search { mesh, frames: &now, roots, bundle_of: &bundle_of };
        // Find the places of every strand, then what is left beside them.
        let mut places = vec![Place::NOWHERE; strands.point_count()];
        let mut rest = &mut places[..];
        let mut begins = vec![Root::default(); strands.strand_count()];
        let mut tasks = Vec::with_capacity(strands.strand_count());
        for (line, root) in strands.iter().zip(&mut begins) {
            let (own, others) = rest.split_at_mut(line.len());
            rest = others;
            tasks.push((line, own, root));
        }
        tasks.par_chunks_mut(STRANDS).for_each(|tasks| {
            let mut found = Vec::new();
            for (line, places, root) in tasks {
                search.strand(line, &mut found);
                if let (Some(first), Some(&p)) = (found.first(), line.first()) {
                    **root = Root::new(mesh, &now, first.bundle, p);
                }
                for ((place, found), &p) in places.iter_mut().zip(&found).zip(*line) {
                    *place = Place::new(mesh, &now, found, p);
                }
            }
        });
        let mut lengths = vec![0.0; strands.point_count()];
        for s in 0..strands.strand_count() {
            let points = strands.points_of(s);
            for i in points.start + 1..points.end {
                lengths[i] = strands.positions()[i].distance(strands.positions()[i - 1]);
            }
        }
        let first = strands.first_points().to_vec();
        Ok(Self { places, roots: begins, lengths, first, frames, rates: now.clone(), now })
    }

    /// How far each point of some strands lies outside of a valid hair mesh at rest (m), 0 for those inside:
    /// of the bundle where its strand has its root, and of those up to two farther. Below `enough` (m) it
    /// may be less than that.
    pub fn distances(mesh: &HairMesh, strands: &Strands, enough: f32) -> Result<Vec<f32>> {
        Self::nearest(mesh, strands, enough, |_, _, distance| distance)
    }

    /// For every point that is farther than `enough` (m) from a mesh at rest: the vertices around the place
    /// nearest to it, with their weights, and the way from there to the point.
    pub(crate) fn outside(
        mesh: &HairMesh,
        strands: &Strands,
        enough: f32,
    ) -> Result<Vec<(Around, Vec3)>> {
        let all = Self::nearest(mesh, strands, enough, |search, (found, p), distance| {
            (distance > enough).then(|| {
                let (vertices, place) = search.vertices(&found);
                (vertices, p - place)
            })
        })?;
        Ok(all.into_iter().flatten().collect())
    }

    /// What `see` makes of the place nearest to every point and of its distance (m).
    fn nearest<T: Send>(
        mesh: &HairMesh,
        strands: &Strands,
        enough: f32,
        see: impl Fn(&Search<'_>, (Found, Vec3), f32) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut now = vec![Frame::default(); mesh.vertex_count()];
        Frames::new(mesh).update(mesh.positions(), &mut now);
        let (triangles, bundle_of) = mesh.root_triangles();
        let roots = ClosestTriangle::new(&triangles).ok_or(Error::NoTriangles)?;
        let search = Search { mesh, frames: &now, roots, bundle_of: &bundle_of };
        let near = neighbourhoods(mesh);
        let lines: Vec<&[Vec3]> = strands.iter().collect();
        let found: Vec<Vec<T>> = lines
            .par_iter()
            .map(|line| {
                let mut found = Vec::new();
                search.strand(line, &mut found);
                let seen = |(f, &p): (&Found, &Vec3)| {
                    let near = &near[f.bundle as usize];
                    let (place, distance) = search.nearest_of(f, p, near, enough);
                    see(&search, (place, p), distance)
                };
                found.iter().zip(*line).map(seen).collect()
            })
            .collect();
        Ok(found.into_iter().flatten().collect())
    }

    /// How many points are bound.
    pub fn point_count(&self) -> usize {
        self.places.len()
    }

    /// How far each point is beside its place (m): 0 for one that lies inside its bundle.
    pub fn offsets(&self) -> impl ExactSizeIterator<Item = f32> + '_ {
        self.places.iter().map(|p| Vec3::from(p.offset).length())
    }

    /// Takes the vertices as they are now: positions (m) and velocities (m/s).
    pub fn update(&mut self, vertices: &[Vec3], velocities: &[Vec3]) {
        self.frames.update(vertices, &mut self.now);
        self.frames.update(velocities, &mut self.rates);
    }

    /// Where the points are (m), in the order of the strands, for the vertices of the last
    /// [`Binding::update`]; the rest shape before the first. Segments keep their length.
    pub fn positions(&self, out: &mut [Vec3]) {
        self.positions_outside(&Nowhere, out);
    }

    /// How fast the points move (m/s): the exact rate of [`Binding::positions`].
    pub fn velocities(&self, out: &mut [Vec3]) {
        self.velocities_outside(&Nowhere, out);
    }

    /// [`Binding::positions`] with hair that stays out of something.
    pub fn positions_outside(&self, obstacle: &impl Obstacle, out: &mut [Vec3]) {
        let curve =
            |i: usize| Moving { at: self.places[i].position(&self.now), velocity: Vec3A::ZERO };
        self.lay(0, self.first.len().saturating_sub(1), out, &|s, out| {
            self.lay_strand(s, obstacle, &curve, |i, p| out[i] = p.at.into());
        });
    }

    /// How fast the points of [`Binding::positions_outside`] move (m/s); those that are pushed out not into
    /// what pushes them.
    pub fn velocities_outside(&self, obstacle: &impl Obstacle, out: &mut [Vec3]) {
        let curve = |i: usize| self.places[i].moving(&self.now, &self.rates);
        self.lay(0, self.first.len().saturating_sub(1), out, &|s, out| {
            self.lay_strand(s, obstacle, &curve, |i, p| out[i] = p.velocity.into());
        });
    }

    /// Treats the strands from `from` to `to`, halves of them side by side. Nothing allocates.
    fn lay(
        &self,
        from: usize,
        to: usize,
        out: &mut [Vec3],
        strand: &(impl Fn(usize, &mut [Vec3]) + Sync),
    ) {
        if to - from > STRANDS {
            let middle = (from + to) / 2;
            let (near, far) = out.split_at_mut((self.first[middle] - self.first[from]) as usize);
            rayon::join(
                || self.lay(from, middle, near, strand),
                || self.lay(middle, to, far, strand),
            );
            return;
        }
        let mut rest = out;
        for s in from..to {
            let (own, others) = rest.split_at_mut((self.first[s + 1] - self.first[s]) as usize);
            strand(s, own);
            rest = others;
        }
    }

    /// Lays one strand along the curve of its places, outside of the obstacle.
    #[inline]
    fn lay_strand(
        &self,
        s: usize,
        obstacle: &impl Obstacle,
        curve: &impl Fn(usize) -> Moving,
        mut out: impl FnMut(usize, Moving),
    ) {
        let first = self.first[s] as usize;
        let lengths = &self.lengths[first..self.first[s + 1] as usize];
        if lengths.is_empty() {
            return;
        }
        let root = self.roots[s].moving(&self.now, &self.rates);
        let mut chain = Chain::new(lengths.len(), |i| if i == 0 { root } else { curve(first + i) });
        let mut last = chain.end();
        // Below the skin a strand may be as long as it takes it to get out.
        let mut allowed = obstacle.depth(last.at);
        out(0, last);
        for (i, &length) in lengths.iter().enumerate().skip(1) {
            let mut here = chain.link(length);
            allowed = (allowed - length).max(0.0);
            let link = Link { parent: last.at, length, wanted: here.at };
            if let Some(met) = obstacle.place(&link, allowed) {
                let into = (here.velocity - met.velocity).dot(met.normal).min(0.0);
                here = Moving { at: met.at, velocity: here.velocity - met.normal * into };
                chain.push(here);
            }
            out(i, here);
            last = here;
        }
    }
}

/// Position and frame at a place.
///
/// Model: cubic Hermite between the levels for the position; the directions go from one level's to the
/// next with the weights of its first and third term, so that they are smooth as well.
#[inline]
fn blend(frames: &[Frame], place: &Place) -> Blend {
    let (mut lower, mut upper) = (Frame::default(), Frame::default());
    for (&v, &w) in place.lower.iter().zip(&place.weights) {
        let (a, b) = (&frames[v as usize], &frames[v as usize + 1]);
        lower.position += a.position * w;
        lower.along += a.along * w;
        lower.across += a.across * w;
        upper.position += b.position * w;
        upper.along += b.along * w;
        upper.across += b.across * w;
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

/// Where a place without offset is (m), and the axes of its frame.
pub(super) fn line_point(mesh: &HairMesh, frames: &[Frame], found: &Found) -> (Vec3, [Vec3; 3]) {
    let blend = blend(frames, &Place::inside(mesh, found));
    (blend.position.into(), axes(&blend).map(Vec3::from))
}

/// The cubic Hermite polynomials: value and slope at 0, value and slope at 1.
#[inline]
pub(super) fn hermite(s: f32) -> [f32; 4] {
    let r = 1.0 - s;
    [(1.0 + 2.0 * s) * r * r, s * r * r, s * s * (3.0 - 2.0 * s), -(s * s * r)]
}

/// Derivatives of [`hermite`].
#[inline]
pub(super) fn hermite_rates(s: f32) -> [f32; 4] {
    let r = 1.0 - s;
    [-6.0 * s * r, r * (1.0 - 3.0 * s), 6.0 * s * r, s * (3.0 * s - 2.0)]
}

/// Three unit axes at right angles: along, across, and their product. Zero where the mesh has collapsed
/// to a point.
#[inline]
fn axes(blend: &Blend) -> [Vec3A; 3] {
    let t = blend.along / blend.along.length().max(NOTHING);
    let n = blend.across - t * blend.across.dot(t);
    let n = n / n.length().max(NOTHING);
    [t, n, t.cross(n)]
}

/// How fast the axes of [`axes`] turn.
#[inline]
fn axis_rates(now: &Blend, rate: &Blend) -> [Vec3A; 3] {
    let size = now.along.length().max(NOTHING);
    let t = now.along / size;
    let dt = (rate.along - t * t.dot(rate.along)) / size;
    let n = now.across - t * now.across.dot(t);
    let dn = rate.across - dt * now.across.dot(t) - t * (rate.across.dot(t) + now.across.dot(dt));
    let size = n.length().max(NOTHING);
    let n = n / size;
    let dn = (dn - n * n.dot(dn)) / size;
    [dt, dn, dt.cross(n) + t.cross(dn)]
}

/// A place on the face between two columns, in a bundle that has both: `share` of the way from the first
/// to the second.
#[cfg(test)]
pub(super) fn place_on_edge(
    mesh: &HairMesh,
    bundle: usize,
    columns: [u32; 2],
    share: f32,
    layer: u32,
    fraction: f32,
) -> TestPlace {
    let b = &mesh.bundles[bundle];
    let corner = |c: u32| match (b.corners(), b.columns().iter().position(|&d| d == c)) {
        (_, Some(0)) => glam::Vec2::ZERO,
        (_, Some(1)) => glam::Vec2::X,
        (4, Some(2)) => glam::Vec2::ONE,
        _ => glam::Vec2::Y,
    };
    let at = corner(columns[0]).lerp(corner(columns[1]), share);
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
