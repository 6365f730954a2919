//! Strips over selected polygons of the scalp, in layers: the modelling of `jung2005` 3.
//!
//! All layers have strips at the same places of the scalp, so that every strip lies on the one of the layer below: at
//! every joint it is farther out along the normal of the lower strip.

use glam::Vec3;

use super::{JointFrame, Strips, unit};
use crate::groom::Strands;
use crate::math::{ClosestTriangle, TriangleMesh};
use crate::{Error, Result};

/// Parameters of the strips.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Strips per area in each layer (1/m^2).
    pub density: f32,
    /// Width of a strip (m).
    pub width: f32,
    /// Length of a strip (m); the paper's height.
    pub length: f32,
    /// Segments of a strip.
    pub segments: usize,
    /// Height (m) at which strips that hang lower are cut, by the strip of the first layer; `None` cuts none.
    pub cut: Option<f32>,
    /// Direction of combing, projected on the scalp. Where the scalp faces that direction, hair falls down instead.
    pub tangent: Vec3,
    /// Elevation of strips at their roots: 0 is along the scalp, 1 along its normal.
    pub lift: f32,
    /// Bending of a strip by its weight as it grows (1/m).
    pub weight: f32,
    /// Number of layers.
    pub layers: u32,
    /// Distance between adjacent layers (m).
    pub layer_distance: f32,
    /// Seed of places and of small differences of length.
    pub seed: u64,
}

impl Default for Settings {
    /// A chin-long cut, combed back.
    fn default() -> Self {
        Self {
            density: 1500.0,
            width: 0.022,
            length: 0.20,
            cut: None,
            segments: 13,
            tangent: Vec3::new(0.0, -0.6, -1.0),
            lift: 0.15,
            weight: 24.0,
            layers: 4,
            layer_distance: 0.0025,
            seed: 1,
        }
    }
}

/// Distance of the first layer from the scalp (m): less lets skin show through.
const FIRST_LAYER: f32 = 0.0015;

/// Candidates for each place; the one farthest from the others is taken.
const CANDIDATES: u64 = 12;

/// Largest number of iterations that move a joint away from the body and the strip below.
const ROUNDS: usize = 6;

/// Smallest height of a strip over the one below, as a fraction of the distance of layers.
const OVER: f32 = 0.8;

/// Largest shortening of a strip (fraction).
const SHORTER: f32 = 0.12;

/// Smallest length of a cut strip (fraction).
const MIN_CUT: f32 = 0.3;

/// Largest random shortening of a cut strip (fraction).
const UNEVEN_CUT: f32 = 0.06;

/// Largest number of strips of a groom: more is a mistake in the density.
pub const MAX_STRIPS: usize = 200_000;

impl Settings {
    /// Returns an error for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        let positive = |v: f32| v.is_finite() && v > 0.0;
        let cut = self.cut.unwrap_or(0.0);
        let checks = [
            ("strip density (1/m^2)", self.density, positive(self.density), "a positive number"),
            ("strip width (m)", self.width, positive(self.width), "a positive number"),
            ("strip length (m)", self.length, positive(self.length), "a positive number"),
            ("cut (m)", cut, cut.is_finite(), "a finite number"),
            ("lift", self.lift, (0.0..=1.0).contains(&self.lift), "0 to 1"),
            ("weight (1/m)", self.weight, self.weight.is_finite(), "a finite number"),
            (
                "layer_distance (m)",
                self.layer_distance,
                self.layer_distance.is_finite() && self.layer_distance >= 0.0,
                "0 or more",
            ),
            (
                "tangent",
                self.tangent.length(),
                self.tangent.is_finite() && self.tangent != Vec3::ZERO,
                "a direction",
            ),
            ("segments", self.segments as f32, (1..=200).contains(&self.segments), "1 to 200"),
            ("layers", self.layers as f32, (1..=64).contains(&self.layers), "1 to 64"),
        ];
        for (name, value, fine, expected) in checks {
            if !fine {
                return Err(Error::OutOfRange { name: name.into(), value: value.into(), expected });
            }
        }
        Ok(())
    }

    /// Number of strips over these triangles of a mesh, in all layers.
    pub fn count_over(&self, mesh: &TriangleMesh, polygons: &[u32]) -> f64 {
        let there = polygons.iter().filter(|&&t| (t as usize) < mesh.triangles.len());
        self.places_on(there.map(|&t| area(mesh, t)).sum()) * f64::from(self.layers)
    }

    /// Number of strips of a layer on an area (m^2).
    fn places_on(&self, area: f64) -> f64 {
        (area * f64::from(self.density)).round().max(1.0)
    }
}

/// Area of a triangle (m^2).
fn area(mesh: &TriangleMesh, triangle: u32) -> f64 {
    let [a, b, c] = mesh.corners(triangle as usize);
    f64::from((b - a).cross(c - a).length()) * 0.5
}

/// Distance from a body (m), negative inside, and the unit vector away from it.
pub type Distance<'a> = &'a dyn Fn(Vec3) -> (f32, Vec3);

/// Grows strips on some triangles of a mesh, outside of the whole mesh. They have no strands;
/// `grow::strips::fill` adds some.
pub fn over_polygons(mesh: &TriangleMesh, polygons: &[u32], settings: &Settings) -> Result<Strips> {
    mesh.validate()?;
    let search = ClosestTriangle::new(mesh).ok_or(Error::NoTriangles)?;
    let distance = |p: Vec3| {
        let hit = search.closest(p);
        let out = mesh.triangle_frame(hit.triangle) * Vec3::Y;
        let offset = p - hit.point;
        let side = if offset.dot(out) < 0.0 { -1.0 } else { 1.0 };
        (offset.length() * side, (offset * side).try_normalize().unwrap_or(out))
    };
    around_body(mesh, polygons, settings, &distance)
}

/// Grows strips on some triangles of a mesh, outside of a body that is given by its distance function.
pub fn around_body(
    mesh: &TriangleMesh,
    polygons: &[u32],
    settings: &Settings,
    distance: Distance<'_>,
) -> Result<Strips> {
    settings.validate()?;
    if let Some(&triangle) = polygons.iter().find(|&&t| t as usize >= mesh.triangles.len()) {
        return Err(Error::OutOfRange {
            name: "scalp polygon".into(),
            value: triangle.into(),
            expected: "a triangle of the mesh",
        });
    }
    // Choose places, and the length and binormal of their strips.
    let mut strips = Strips::default();
    let places = places(mesh, polygons, settings)?;
    strips.edges = Strands::with_capacity(
        places.len() * settings.layers as usize,
        places.len() * settings.layers as usize * (settings.segments + 1),
    );
    let columns: Vec<Column> = (0..places.len())
        .map(|i| {
            let length = settings.length * (1.0 - SHORTER * unit(settings.seed ^ 0x1e46, i as u64));
            let mut column = Column::new(places[i], length, settings, distance);
            if let Some(height) = settings.cut {
                let uneven = 1.0 - UNEVEN_CUT * unit(settings.seed ^ 0xc07, i as u64);
                column.cut(height, uneven, settings, distance);
            }
            column
        })
        .collect();
    // Grow the layers from the scalp outward, each over the one below.
    let mut frames = Vec::new();
    for layer in 0..settings.layers {
        for (i, column) in columns.iter().enumerate() {
            let below = (layer > 0).then(|| strips.count() - columns.len());
            if let Some(below) = below {
                strips.rest_frames(below, &mut frames);
            }
            let below = below.map(|s| (strips.edges.strand(s), &frames[..]));
            let edge = column.grow(layer, below, settings, distance);
            let growth = (edge[1] - edge[0]).normalize_or(column.normal);
            strips.virtual_point.push(edge[0] - growth * edge[0].distance(edge[1]));
            strips.edges.push(&edge);
            strips.binormal.push(column.binormal);
            strips.width.push(settings.width);
            strips.layer.push(layer);
            let name = (layer as usize * columns.len() + i) as u32;
            strips.below.push(name.checked_sub(columns.len() as u32).unwrap_or(Strips::NONE));
        }
    }
    Ok(strips)
}

/// A lower strip: its joints and the frames there.
type Lower<'a> = (&'a [Vec3], &'a [JointFrame]);

/// The strips of all layers at one place.
struct Column {
    /// Point of the scalp below the anchors of the first edges (m).
    place: Vec3,
    normal: Vec3,
    binormal: Vec3,
    length: f32,
}

impl Column {
    fn new(
        (middle, normal): (Vec3, Vec3),
        length: f32,
        settings: &Settings,
        distance: Distance<'_>,
    ) -> Self {
        let mut column = Self { place: middle, normal, binormal: Vec3::ZERO, length };
        let line = column.grow(0, None, settings, distance);
        let growth = (line[1] - line[0]).normalize_or(normal);
        let lean = (line[line.len() - 1] - line[0]).normalize_or(Vec3::ZERO);
        // Orient the strip flat on the scalp, with its normal outwards. If it grows along the normal of the scalp, use
        // B = T x T_avg, with the mean direction T_avg of the strip (`jung2005` 4.3 step 3).
        let flat = normal.cross(growth);
        let across = if flat.length() > 0.1 { flat } else { growth.cross(lean) };
        column.binormal = across.try_normalize().unwrap_or_else(|| growth.any_orthonormal_vector());
        // Move the place from the middle of the strip to its first edge.
        let beside = middle - column.binormal * (0.5 * settings.width);
        let (away, out) = distance(beside);
        column.place = beside - out * away;
        column
    }

    /// Shortens the strips to the length at which they pass a height (m) downwards, times `fraction`.
    fn cut(&mut self, height: f32, fraction: f32, settings: &Settings, distance: Distance<'_>) {
        let line = self.grow(0, None, settings, distance);
        let step = self.length / settings.segments as f32;
        // Find the last joint that is not below, and interpolate to the height.
        let last = line.iter().rposition(|p| p.y >= height).unwrap_or(0);
        let Some(next) = line.get(last + 1) else { return };
        let falls = (line[last].y - next.y).max(f32::MIN_POSITIVE);
        let beyond = ((line[last].y - height) / falls).clamp(0.0, 1.0);
        let left = (last as f32 + beyond) * step * fraction;
        self.length = left.max(MIN_CUT * self.length);
    }

    /// The joints of the strip of a layer.
    fn grow(
        &self,
        layer: u32,
        below: Option<Lower<'_>>,
        settings: &Settings,
        distance: Distance<'_>,
    ) -> Vec<Vec3> {
        let step = self.length / settings.segments as f32;
        let normal = self.normal;
        let along = combed(settings.tangent, normal);
        let mut direction =
            (along * (1.0 - settings.lift) + normal * settings.lift).normalize_or(normal);
        let height = FIRST_LAYER + settings.layer_distance * layer as f32;
        let mut line = vec![self.place + normal * height];
        for i in 1..=settings.segments {
            // Bend down, keeping the layer's distance from the body and the distance from the layer below.
            direction =
                (direction + Vec3::NEG_Y * (settings.weight * step)).normalize_or(direction);
            let from = line[i - 1];
            for _ in 0..ROUNDS {
                let p = from + direction * step;
                let (away, out) = distance(p);
                let mut lift = out * (height - away).max(0.0);
                if let Some((joints, frames)) = below {
                    let up = frames[i].normal();
                    let over = (p + lift - joints[i]).dot(up);
                    lift += up * (OVER * settings.layer_distance - over).max(0.0);
                }
                if lift == Vec3::ZERO {
                    break;
                }
                direction = (p + lift - from).normalize_or(out);
            }
            line.push(from + direction * step);
        }
        line
    }
}

/// The direction along the scalp in which hair is combed.
///
/// Deviations: with one tangent for all hair (`jung2005` 3), hair would converge at the point of the scalp that faces it,
/// and be combed up below that point. The more the scalp faces the tangent, the more hair is combed down instead.
fn combed(tangent: Vec3, normal: Vec3) -> Vec3 {
    let to = tangent.normalize_or(Vec3::NEG_Y);
    let facing = normal.dot(to).clamp(0.0, 1.0);
    let falls = facing * facing * (3.0 - 2.0 * facing);
    let direction = to.lerp(Vec3::NEG_Y, falls);
    (direction - normal * direction.dot(normal))
        .try_normalize()
        .unwrap_or_else(|| normal.any_orthonormal_vector())
}

/// Evenly distributed places on the polygons, with their normals (best-candidate sampling).
fn places(mesh: &TriangleMesh, polygons: &[u32], settings: &Settings) -> Result<Vec<(Vec3, Vec3)>> {
    let mut until = Vec::with_capacity(polygons.len());
    let mut total = 0.0f64;
    for &t in polygons {
        total += area(mesh, t);
        until.push(total);
    }
    let area = total;
    let count = settings.places_on(area);
    if area <= 0.0 || count * f64::from(settings.layers) > MAX_STRIPS as f64 {
        return Err(if area <= 0.0 {
            Error::NoTriangles
        } else {
            Error::OutOfRange {
                name: "number of strips".into(),
                value: count * f64::from(settings.layers),
                expected: "200,000 or fewer: lower the density",
            }
        });
    }
    let normals = mesh.vertex_normals();
    let candidate = |k: u64| {
        let random = |j: u64| unit(settings.seed, 3 * k + j);
        let target = f64::from(random(0)) * area;
        let t = polygons[until.partition_point(|&a| a <= target).min(polygons.len() - 1)] as usize;
        let (mut u, mut v) = (random(1), random(2));
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let [a, b, c] = mesh.corners(t);
        let [na, nb, nc] = mesh.triangles[t].map(|v| normals[v as usize]);
        let w = 1.0 - u - v;
        (a * w + b * u + c * v, (na * w + nb * u + nc * v).normalize_or(Vec3::Y))
    };
    let mut places: Vec<(Vec3, Vec3)> = Vec::with_capacity(count as usize);
    for i in 0..count as u64 {
        let mut best = (f32::NEG_INFINITY, candidate(i * CANDIDATES));
        for k in 0..CANDIDATES {
            let found = candidate(i * CANDIDATES + k);
            let apart = |q: &(Vec3, Vec3)| q.0.distance_squared(found.0);
            let near = places.iter().map(apart).fold(f32::INFINITY, f32::min);
            if near > best.0 {
                best = (near, found);
            }
        }
        places.push(best.1);
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball with a radius of 10 cm: an octahedron, refined three times and projected onto the sphere.
    fn ball() -> TriangleMesh {
        let mut triangles = Vec::new();
        for signs in 0..8 {
            let s = |bit: u32| if signs & (1 << bit) == 0 { 1.0f32 } else { -1.0 };
            let [a, b, c] = [Vec3::X * s(0), Vec3::Y * s(1), Vec3::Z * s(2)];
            let odd = s(0) * s(1) * s(2) < 0.0;
            triangles.push(if odd { [a, c, b] } else { [a, b, c] });
        }
        for _ in 0..3 {
            triangles = triangles
                .iter()
                .flat_map(|&[a, b, c]| {
                    let m = |p: Vec3, q: Vec3| (p + q).normalize();
                    let [ab, bc, ca] = [m(a, b), m(b, c), m(c, a)];
                    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                })
                .collect();
        }
        let positions: Vec<Vec3> = triangles.iter().flatten().map(|p| *p * 0.1).collect();
        let triangles =
            (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        TriangleMesh { positions, triangles }
    }

    fn top(mesh: &TriangleMesh) -> Vec<u32> {
        let upper = |t: &usize| mesh.corners(*t).iter().all(|p| p.y > 0.0);
        (0..mesh.triangles.len()).filter(upper).map(|t| t as u32).collect()
    }

    #[test]
    fn strips_have_the_requested_places_lengths_and_layers() {
        let mesh = ball();
        let settings = Settings { length: 0.15, layers: 3, ..Settings::default() };
        let strips = over_polygons(&mesh, &top(&mesh), &settings).unwrap();
        // 1500 strips per square metre and layer.
        let area = |t: &u32| {
            let [a, b, c] = mesh.corners(*t as usize);
            0.5 * (b - a).cross(c - a).length()
        };
        let expected = top(&mesh).iter().map(area).sum::<f32>() * 1500.0 * 3.0;
        assert!((strips.count() as f32 - expected).abs() < 3.0, "{}", strips.count());
        let columns = strips.count() / 3;
        for s in 0..strips.count() {
            let line = strips.edges.strand(s);
            assert_eq!(line.len(), 14);
            let length = strips.edges.length(s);
            assert!((0.15 * (1.0 - SHORTER) - 1e-4..=0.15 + 1e-4).contains(&length), "{length}");
            assert!(line[0].y > -0.02 && line.iter().all(|p| p.length() > 0.0985), "strip {s}");
            assert_eq!(strips.layer[s] as usize, s / columns);
        }
        // Every joint is over the one below, and farther from the ball in the first half.
        let mut frames = Vec::new();
        for s in 0..strips.count() - columns {
            assert_eq!(strips.lies_on(s + columns), Some(s));
            strips.rest_frames(s, &mut frames);
            let (low, high) = (strips.edges.strand(s), strips.edges.strand(s + columns));
            for i in 0..14 {
                let over = (high[i] - low[i]).dot(frames[i].normal());
                assert!(over > 0.5 * settings.layer_distance, "strip {s}, joint {i}: {over}");
                assert!(i > 7 || high[i].length() > low[i].length(), "strip {s}, joint {i}");
            }
        }
    }

    #[test]
    fn a_cut_shortens_strips_that_hang_lower_and_no_others() {
        let mesh = ball();
        let long = Settings { length: 0.25, ..Settings::default() };
        let cut = Settings { cut: Some(-0.08), ..long.clone() };
        let grow = |settings| over_polygons(&mesh, &top(&mesh), settings).unwrap();
        let (long, cut) = (grow(&long), grow(&cut));
        let (mut ended, mut kept) = (0, 0);
        let columns = long.count() / 4;
        for s in columns..cut.count() {
            // All layers are as long as the first.
            let (own, first) = (cut.edges.length(s), cut.edges.length(s % columns));
            assert!((own / first - 1.0).abs() < 1e-4, "strip {s}: {own} {first}");
        }
        for s in 0..columns {
            let tip = |strips: &Strips| strips.edges.strand(s)[13].y;
            let fraction = cut.edges.length(s) / long.edges.length(s);
            if fraction > 0.999 {
                kept += 1;
                assert!(tip(&long) > -0.09, "strip {s}: {}", tip(&long));
            } else {
                ended += 1;
                assert!(fraction > 0.999 * MIN_CUT && tip(&long) < -0.07, "strip {s}: {fraction}");
                assert!((-0.09..-0.06).contains(&tip(&cut)), "strip {s}: {}", tip(&cut));
            }
        }
        assert!(ended > 20 && kept > 0, "{ended} {kept}");
    }

    #[test]
    fn hair_combed_back_is_directed_down_at_the_back() {
        let back = Vec3::new(0.0, -0.15, -1.0);
        for i in 0..200 {
            // The back half, without the lowest part.
            let (a, y) = (i as f32 * 2.4, 0.99 - 1.29 * i as f32 / 200.0);
            let r = (1.0 - y * y).sqrt();
            let normal = Vec3::new(r * a.sin(), y, r * a.cos());
            if normal.z > 0.0 {
                continue;
            }
            let direction = combed(back, normal);
            assert!(direction.is_normalized() && direction.dot(normal).abs() < 1e-5);
            // Nowhere up, and down where the scalp faces back.
            assert!(direction.y < 0.02, "{normal} {direction}");
            assert!(normal.z > -0.8 || direction.y < -0.6, "{normal} {direction}");
        }
        // Where the tangent is parallel to the normal, any direction is valid.
        assert!(combed(Vec3::Z, Vec3::NEG_Z).is_normalized());
        assert!(combed(Vec3::NEG_Y, Vec3::NEG_Y).is_normalized());
    }

    #[test]
    fn errors_name_the_invalid_setting() {
        let mesh = ball();
        let grow = |settings: &Settings, polygons: &[u32]| {
            over_polygons(&mesh, polygons, settings).unwrap_err().to_string()
        };
        let fine = Settings::default();
        assert!(grow(&Settings { width: -1.0, ..fine.clone() }, &[0]).contains("width"));
        assert!(grow(&Settings { density: 1e12, ..fine.clone() }, &[0]).contains("density"));
        assert!(grow(&fine, &[99_999]).contains("polygon"));
        assert!(!grow(&fine, &[]).is_empty());
    }
}
