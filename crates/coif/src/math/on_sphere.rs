//! Points on a sphere outside of obstacles: collision-free ends of a segment of fixed length around its first point.

use glam::Vec3;

/// A half-space that excludes an obstacle: `normal . x >= offset`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HalfSpace {
    pub(crate) normal: Vec3,
    pub(crate) offset: f32,
}

/// Sines and cosines of the circles of [`search_around`]: 30 to 150 degrees from the wanted direction.
const RINGS: [(f32, f32); 5] =
    [(0.5, 0.866_025_4), (0.866_025_4, 0.5), (1.0, 0.0), (0.866_025_4, -0.5), (0.5, -0.866_025_4)];

/// Number of directions per circle.
const STEPS_AROUND: usize = 8;

/// Sines and cosines of the directions on a circle, in half steps.
const AROUND: [(f32, f32); 16] = {
    let (a, b, c) = (0.382_683_43, std::f32::consts::FRAC_1_SQRT_2, 0.923_879_5);
    [
        (0.0, 1.0),
        (a, c),
        (b, b),
        (c, a),
        (1.0, 0.0),
        (c, -a),
        (b, -b),
        (a, -c),
        (0.0, -1.0),
        (-a, -c),
        (-b, -b),
        (-c, -a),
        (-1.0, 0.0),
        (-c, a),
        (-b, b),
        (-a, c),
    ]
};

/// The point of the sphere nearest to `candidate` that is in all half-spaces, otherwise the one that violates them
/// least. `None` without half-spaces.
pub(crate) fn nearest_allowed(
    planes: impl Iterator<Item = HalfSpace> + Clone,
    parent: Vec3,
    length: f32,
    candidate: Vec3,
) -> Option<Vec3> {
    let cost = |p: Vec3| {
        let worst = planes.clone().map(|h| h.offset - h.normal.dot(p)).fold(0.0f32, f32::max);
        let forbidden = if worst > 1e-6 { 1e3 + worst * 1e6 } else { 0.0 };
        forbidden + p.distance(candidate)
    };
    let mut best: Option<(Vec3, f32)> = None;
    let mut consider = |p: Vec3| {
        let cost = cost(p);
        if best.is_none_or(|(_, min_cost)| cost < min_cost) {
            best = Some((p, cost));
        }
    };
    for (i, a) in planes.clone().enumerate() {
        consider(nearest_on_circle(parent, length, candidate, &a));
        for b in planes.clone().take(i) {
            intersect_circles(parent, length, &a, &b).into_iter().flatten().for_each(&mut consider);
        }
    }
    best.map(|(p, _)| p)
}

/// The point of the sphere nearest to `p` on the boundary of a half-space; if the two do not intersect, the point of the
/// sphere closest to the boundary.
fn nearest_on_circle(parent: Vec3, length: f32, p: Vec3, h: &HalfSpace) -> Vec3 {
    let lift = ((h.offset - h.normal.dot(parent)) / length).clamp(-1.0, 1.0);
    let along = (p - parent) / length;
    let tangent = (along - h.normal * along.dot(h.normal))
        .try_normalize()
        .unwrap_or_else(|| h.normal.any_orthonormal_vector());
    parent + (h.normal * lift + tangent * (1.0 - lift * lift).max(0.0).sqrt()) * length
}

/// The two points of the sphere on both boundary planes, if there are any.
fn intersect_circles(parent: Vec3, length: f32, a: &HalfSpace, b: &HalfSpace) -> Option<[Vec3; 2]> {
    let (ha, hb) =
        ((a.offset - a.normal.dot(parent)) / length, (b.offset - b.normal.dot(parent)) / length);
    let c = a.normal.dot(b.normal);
    let det = 1.0 - c * c;
    if det < 1e-6 {
        return None;
    }
    let base = a.normal * ((ha - c * hb) / det) + b.normal * ((hb - c * ha) / det);
    let rest = 1.0 - base.length_squared();
    if rest < 0.0 {
        return None;
    }
    let side = a.normal.cross(b.normal).normalize_or_zero() * rest.sqrt();
    Some([side, -side].map(|s| parent + (base + s).normalize_or(a.normal) * length))
}

/// Of a few dozen directions, the one nearest to `along` whose point on the sphere is outside of all obstacles; if there
/// is none, the one with the smallest depth. Returns it with its depth (m). `out` is tested first.
pub(crate) fn search_around(
    parent: Vec3,
    length: f32,
    along: Vec3,
    out: Vec3,
    depth: impl Fn(Vec3) -> f32,
) -> (Vec3, f32) {
    let side = along.any_orthonormal_vector();
    let other = along.cross(side);
    let mut best = (along, depth(parent + along * length), 0.0f32);
    let mut consider = |direction: Vec3| {
        let deep = depth(parent + direction * length).max(0.0);
        let turn = direction.distance_squared(along);
        if deep < best.1 || (deep == 0.0 && best.1 == 0.0 && turn < best.2) {
            best = (direction, deep, turn);
        }
        best.1 <= 0.0
    };
    consider(out);
    // Test circles of increasing angle around the wanted direction, until one has a direction without collision.
    for (ring, &(sin, cos)) in RINGS.iter().enumerate() {
        let mut found = false;
        for step in 0..STEPS_AROUND {
            // Offset every second circle by half a step.
            let (s, c) = AROUND[(2 * step + ring % 2) % AROUND.len()];
            found = consider(along * cos + (side * c + other * s) * sin);
        }
        if found {
            break;
        }
    }
    (best.0, best.1)
}
