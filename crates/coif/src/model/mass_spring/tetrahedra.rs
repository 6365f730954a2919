//! Bodies and shells with altitude springs: the test of `selle2008` 3.1, figure 4.
//!
//! A body has springs along all edges and one altitude spring per tetrahedron. A shell has
//! springs along the edges of its triangles, a bending spring across each inner edge, and the altitude spring of
//! the tetrahedron of the two adjacent triangles. Both recover from a flat state.

use glam::DVec3;

use super::altitude::{CANDIDATES, altitude_lengths};
use super::link::{Constraint, Link, Particles, solve_velocities};

/// A body of particles, edge springs and altitude springs above a floor at y = 0.
#[derive(Debug, Clone)]
pub struct TetrahedralBody {
    /// Positions of the particles (m).
    pub position: Vec<DVec3>,
    /// Their velocities (m/s).
    pub velocity: Vec<DVec3>,
    /// Stiffness (N/m) of every spring.
    pub stiffness: f64,
    /// Internal friction as a time (s).
    pub damping: f64,
    mass: Vec<f64>,
    edges: Vec<([u32; 2], f64)>,
    tetrahedra: Vec<([u32; 4], [f64; CANDIDATES])>,
    surface: Vec<[u32; 3]>,
}

impl TetrahedralBody {
    /// A solid of these tetrahedra, each particle of the mass `mass` (kg).
    pub fn solid(position: Vec<DVec3>, tetrahedra: &[[u32; 4]], mass: f64) -> Self {
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let edges = tetrahedra.iter().flat_map(|t| pairs.map(|[a, b]| [t[a], t[b]])).collect();
        // Collect the surface: faces that belong to only one tetrahedron.
        let turned = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        let mut faces: Vec<([u32; 3], [u32; 3])> = tetrahedra
            .iter()
            .flat_map(|t| turned.map(|f| f.map(|i| t[i])))
            .map(|face| {
                let mut key = face;
                key.sort_unstable();
                (key, face)
            })
            .collect();
        faces.sort_unstable();
        let twice = |i: usize, j: Option<usize>| {
            j.is_some_and(|j| faces.get(j).is_some_and(|f| f.0 == faces[i].0))
        };
        let outer =
            (0..faces.len()).filter(|&i| !twice(i, i.checked_sub(1)) && !twice(i, Some(i + 1)));
        let surface = outer.map(|i| faces[i].1).collect();
        Self::new(position, edges, tetrahedra.to_vec(), surface, mass)
    }

    /// A thin shell of these triangles, each particle of the mass `mass` (kg).
    pub fn shell(position: Vec<DVec3>, triangles: &[[u32; 3]], mass: f64) -> Self {
        let mut sides: Vec<([u32; 2], u32)> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [([a, b], c), ([b, c], a), ([c, a], b)])
            .map(|([a, b], opposite)| ([a.min(b), a.max(b)], opposite))
            .collect();
        sides.sort_unstable();
        let mut edges: Vec<[u32; 2]> = sides.iter().map(|s| s.0).collect();
        let mut tetrahedra = Vec::new();
        for pair in sides.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let ([a, b], c, d) = (pair[0].0, pair[0].1, pair[1].1);
            edges.push([c, d]);
            tetrahedra.push([a, b, c, d]);
        }
        Self::new(position, edges, tetrahedra, triangles.to_vec(), mass)
    }

    fn new(
        position: Vec<DVec3>,
        mut edges: Vec<[u32; 2]>,
        tetrahedra: Vec<[u32; 4]>,
        surface: Vec<[u32; 3]>,
        mass: f64,
    ) -> Self {
        edges.iter_mut().for_each(|e| e.sort_unstable());
        edges.sort_unstable();
        edges.dedup();
        let at = |p: u32| position[p as usize];
        Self {
            edges: edges.into_iter().map(|e| (e, at(e[0]).distance(at(e[1])))).collect(),
            tetrahedra: tetrahedra.into_iter().map(|t| (t, altitude_lengths(t.map(at)))).collect(),
            velocity: vec![DVec3::ZERO; position.len()],
            mass: vec![mass; position.len()],
            position,
            surface,
            stiffness: 0.0,
            damping: 0.0,
        }
    }

    /// The triangles of the surface, for pictures.
    pub fn surface(&self) -> &[[u32; 3]] {
        &self.surface
    }

    /// The tetrahedra, each with its altitudes at rest (m).
    pub fn tetrahedra(&self) -> impl Iterator<Item = ([u32; 4], &[f64; CANDIDATES])> + '_ {
        self.tetrahedra.iter().map(|(points, rest)| (*points, rest))
    }

    fn links(&self) -> Vec<Link> {
        let x = &self.position;
        let edges = self.edges.iter().map(|(e, rest)| Link::between(*e, x, self.stiffness, *rest));
        let across =
            self.tetrahedra.iter().map(|(t, rest)| Link::across(*t, x, self.stiffness, rest));
        edges.chain(across).flatten().collect()
    }

    /// Sum of elastic and kinetic energy (J).
    pub fn energy(&self) -> f64 {
        let motion =
            self.mass.iter().zip(&self.velocity).map(|(m, v)| 0.5 * m * v.length_squared());
        self.links().iter().map(Link::energy).sum::<f64>() + motion.sum::<f64>()
    }

    /// Advances by `dt` seconds (`selle2008` section 4, with backward Euler). Particles that reach the
    /// floor stick to it for the rest of the step.
    pub fn step(&mut self, dt: f64, gravity: DVec3) {
        let force: Vec<DVec3> = self.mass.iter().map(|m| gravity * *m).collect();
        let mut constraint = vec![Constraint::Free; self.mass.len()];
        let mut half = self.velocity.clone();
        self.solve(&mut half, &force, &constraint, [0.5 * dt, dt + self.damping]);
        for (i, v) in half.iter().enumerate() {
            let before = self.position[i];
            let mut after = before + *v * dt;
            if after.y < 0.0 {
                after = DVec3::new(before.x, 0.0, before.z);
                self.velocity[i] = DVec3::ZERO;
                constraint[i] = Constraint::Pinned;
            }
            self.position[i] = after;
        }
        let mut velocity = std::mem::take(&mut self.velocity);
        self.solve(&mut velocity, &force, &constraint, [dt, dt + self.damping]);
        self.velocity = velocity;
    }

    fn solve(
        &self,
        velocity: &mut [DVec3],
        force: &[DVec3],
        constraint: &[Constraint],
        times: [f64; 2],
    ) {
        let (mass, wind) = (&self.mass[..], DVec3::ZERO);
        let drag = &vec![0.0; mass.len()];
        let particles = Particles { mass, constraint, force, drag, wind };
        solve_velocities(&particles, &self.links(), velocity, times, 1e-6);
    }
}
