//! Altitude springs (`selle2008` 3.1): one spring across a tetrahedron that keeps it from collapsing
//! and restores it if it is inverted.
//!
//! Pure functions of four points. The versions for sixteen strands at a time are in `assemble.rs`.

use glam::DVec3;

/// Number of altitudes of a tetrahedron: four from a point to the opposite face, three between
/// opposite edges.
pub const CANDIDATES: usize = 7;

/// Sine of the angle between two edges below which they count as parallel.
const PARALLEL: f64 = 1e-5;

/// Length of an edge, as a fraction of the longest, below which it counts as collapsed.
const COLLAPSED: f64 = 1e-6;

/// An altitude: the shortest vector between a point and a face, or between two edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Altitude {
    /// Which: 0 to 3 from that point to its opposite face, 4 to 6 between the edge from point 0 to
    /// point 1 to 3 and the opposite edge.
    pub candidate: usize,
    /// Weights of the four points: the vector of the altitude is their weighted sum. They are positive at one end,
    /// with sum 1, and negative at the other, with sum -1.
    pub weights: [f64; 4],
    /// Unit vector along the altitude.
    pub direction: DVec3,
    /// Signed length (m): negative if the tetrahedron is left-handed.
    pub length: f64,
}

/// Six times the signed volume of a tetrahedron (m^3): positive if the last three points run
/// counter-clockwise, seen from the first.
pub fn six_volume(x: [DVec3; 4]) -> f64 {
    (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0]))
}

/// Six times the volume times the gradient of each point's barycentric coordinate: a normal of
/// the opposite face with twice its area as length (m^2).
fn face_vectors(x: [DVec3; 4]) -> [DVec3; 4] {
    let [a, b, c] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let (g1, g2, g3) = (b.cross(c), c.cross(a), a.cross(b));
    [-(g1 + g2 + g3), g1, g2, g3]
}

/// The vectors `u x v` of all seven altitudes: of the base faces, and of the pairs of edges.
fn base_vectors(g: [DVec3; 4]) -> [DVec3; CANDIDATES] {
    [g[0], g[1], g[2], g[3], g[0] + g[1], g[0] + g[2], g[0] + g[3]]
}

/// Lengths of all seven altitudes (m), signed. Altitudes over a base that has almost no area are
/// limited to the size of the tetrahedron.
pub fn altitude_lengths(x: [DVec3; 4]) -> [f64; CANDIDATES] {
    let six_volume = six_volume(x);
    let longest = longest_edge(x);
    base_vectors(face_vectors(x)).map(|base| {
        let area = base.length();
        if area > 0.0 { (six_volume / area).clamp(-longest, longest) } else { 0.0 }
    })
}

/// The shortest altitude, or `None` if an edge of its base has collapsed, which edge springs restore.
///
/// Model: with the face vectors `g_i` and any of the seven base vectors `C = u x v`, the weights
/// `w_i = g_i . C / |C|^2` give `sum w_i x_i = 6 V C / |C|^2`: a vector along `C` of length `6 V / |C|`.
/// The largest `|C|` gives the shortest altitude, whose weights all have the right sign: if
/// `g_i . g_a > 0` for a face, then `|g_a + g_i| > |g_a|` would be larger, and likewise for edges. So
/// no weight exceeds 1, and forces are bounded.
/// Source: `selle2008` 3.1.
/// Symbols: x_i points (m), V volume (m^3), u, v edges of the base (m).
/// Deviations: for collinear points, the two edges are those that overlap in the middle of the line.
pub fn min_altitude(x: [DVec3; 4]) -> Option<Altitude> {
    let g = face_vectors(x);
    let bases = base_vectors(g);
    let mut candidate = 0;
    for i in 1..CANDIDATES {
        if bases[i].length_squared() > bases[candidate].length_squared() {
            candidate = i;
        }
    }
    let base = bases[candidate];
    let longest = longest_edge(x);
    if !(longest > 0.0 && longest.is_finite()) {
        return None;
    }
    // Measure the sine between the two longest edges of the base.
    let sine = base.length() / (longest * longest);
    if sine < PARALLEL {
        return altitude_on_a_line(x, longest);
    }
    let area = base.length();
    let direction = base / area;
    let weights = g.map(|g| g.dot(direction) / area);
    Some(Altitude { candidate, weights, direction, length: six_volume(x) / area })
}

/// For collinear points: an edge/edge altitude perpendicular to the line, between the edges that overlap.
fn altitude_on_a_line(x: [DVec3; 4], longest: f64) -> Option<Altitude> {
    let along = EDGES
        .iter()
        .map(|&[a, b]| x[b] - x[a])
        .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?
        .normalize_or_zero();
    let place = x.map(|p| (p - x[0]).dot(along));
    let mut order = [0, 1, 2, 3];
    order.sort_by(|&a, &b| place[a].total_cmp(&place[b]));
    let [a, b, c, d] = order;
    let middle = 0.5 * (place[b] + place[c]);
    let (first, second) = (place[c] - place[a], place[d] - place[b]);
    if first < COLLAPSED * longest || second < COLLAPSED * longest {
        return None;
    }
    let (s, t) = ((middle - place[a]) / first, (middle - place[b]) / second);
    let mut weights = [0.0; 4];
    (weights[a], weights[c]) = (1.0 - s, s);
    (weights[b], weights[d]) = (t - 1.0, -t);
    // The edge with point 0 counts positive.
    if b == 0 || d == 0 {
        weights = weights.map(|w| -w);
    }
    let partner = if a == 0 || c == 0 { a + c } else { b + d };
    let direction = along.any_orthonormal_vector();
    Some(Altitude { candidate: 3 + partner, weights, direction, length: 0.0 })
}

const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

fn longest_edge(x: [DVec3; 4]) -> f64 {
    EDGES.iter().map(|&[a, b]| x[a].distance(x[b])).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point() -> impl Strategy<Value = DVec3> {
        (-1.0..1.0, -1.0..1.0, -1.0..1.0).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    /// Random tetrahedra, some flattened by a factor, to a plane or to a line, some with coinciding points, some
    /// mirrored.
    fn tetrahedron() -> impl Strategy<Value = [DVec3; 4]> {
        let squeeze = prop_oneof![Just(1.0), Just(1e-3), Just(1e-7), Just(0.0), Just(-1.0)];
        let squeezes = (squeeze.clone(), squeeze.clone(), squeeze);
        let merged = prop_oneof![Just([9, 9]), Just([0, 1]), Just([1, 3]), Just([2, 3])];
        ([point(), point(), point(), point()], squeezes, merged).prop_map(|(mut x, s, merged)| {
            let [from, to] = merged;
            if from < 4 {
                x[to] = x[from];
            }
            x.map(|p| p * DVec3::new(s.0, s.1, s.2))
        })
    }

    /// The indices on the positive side of each candidate.
    fn positive_side(candidate: usize) -> Vec<usize> {
        if candidate < 4 { vec![candidate] } else { vec![0, candidate - 3] }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Weights have the sign of their end and sum to one there for any shape, so that forces are
        /// bounded. The weighted sum of the points is the vector of the altitude.
        #[test]
        fn weights_have_the_sign_of_their_end(x in tetrahedron()) {
            let Some(altitude) = min_altitude(x) else {
                return Ok(());
            };
            prop_assert!(altitude.length.is_finite() && altitude.direction.is_finite());
            prop_assert!((altitude.direction.length() - 1.0).abs() < 1e-9);
            let side = positive_side(altitude.candidate);
            let mut sums = [0.0, 0.0];
            for (i, w) in altitude.weights.into_iter().enumerate() {
                let positive = side.contains(&i);
                prop_assert!(if positive { w > -1e-6 } else { w < 1e-6 }, "{i}: {altitude:?}");
                prop_assert!(w.abs() < 1.0 + 1e-6);
                sums[usize::from(positive)] += w;
            }
            prop_assert!((sums[0] + 1.0).abs() < 1e-6 && (sums[1] - 1.0).abs() < 1e-6, "{altitude:?}");
            let vector: DVec3 = (0..4).map(|i| x[i] * altitude.weights[i]).sum();
            let size = longest_edge(x);
            let truth = altitude.direction * altitude.length;
            prop_assert!(vector.distance(truth) < 1e-5 * size, "{vector} {truth}");
        }

        /// The altitude found is the shortest of all.
        #[test]
        fn the_altitude_is_the_shortest(
            x in [point(), point(), point(), point()]
        ) {
            let altitude = min_altitude(x).expect("points are apart");
            for length in altitude_lengths(x) {
                prop_assert!(altitude.length.abs() <= length.abs() * (1.0 + 1e-9));
                prop_assert!(altitude.length * length >= 0.0);
            }
        }
    }

    #[test]
    fn degenerate_tetrahedra_have_the_springs_of_the_paper() {
        let line = |s: [f64; 4]| s.map(|s| DVec3::new(1.0, 2.0, -1.0) * s);
        // Crossing edges on a line, in three orders.
        for (s, candidate) in
            [([0.0, 2.0, 1.0, 3.0], 4), ([0.0, 1.0, 2.0, 3.0], 5), ([0.0, 1.0, 3.0, 2.0], 6)]
        {
            let found = min_altitude(line(s)).expect("edges overlap");
            assert_eq!(found.candidate, candidate, "{s:?}");
            assert!(found.direction.dot(DVec3::new(1.0, 2.0, -1.0)).abs() < 1e-9);
        }
        assert_eq!(min_altitude(line([1.0; 4])), None);
        assert_eq!(min_altitude(line([0.0, 0.0, 0.0, 1.0])), None);
        // A mirrored tetrahedron has negative altitudes.
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert!(altitude_lengths(x).iter().all(|l| *l > 0.0));
        assert!(altitude_lengths(x.map(|p| -p)).iter().all(|l| *l < 0.0));
    }
}
