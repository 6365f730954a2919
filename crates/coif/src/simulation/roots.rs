use glam::{Affine3A, Vec3};
use rayon::prelude::*;

use crate::body::{Body, triangle_frame};
use crate::groom::Groom;
use crate::math::RigidTransform;
use crate::{Error, Result};

/// Carries the roots of all strands along with the body.
pub(super) struct Roots {
    /// The vertices under the roots, each once.
    vertices: Vec<usize>,
    /// Per strand: the three places in `vertices` of its triangle.
    corners: Vec<[u32; 3]>,
    bindings: Vec<crate::groom::RootBinding>,
    rest_points: Vec<Vec3>,
    positions: Vec<Vec3>,
    bones: Vec<Affine3A>,
    world_from_rest: Vec<RigidTransform>,
}

impl Roots {
    pub(super) fn new(groom: &Groom, body: &Body) -> Result<Self> {
        if groom.roots.len() != groom.strands.strand_count() {
            return Err(Error::Unbound);
        }
        let mesh = body.rest();
        let mut place = vec![u32::MAX; mesh.positions.len()];
        let mut vertices = Vec::new();
        let mut corners = Vec::with_capacity(groom.roots.len());
        let mut rest_points = Vec::with_capacity(groom.roots.len());
        for root in &groom.roots {
            let triangle =
                *mesh.triangles.get(root.triangle as usize).ok_or(Error::OutOfRange {
                    name: "triangle of a root".into(),
                    value: root.triangle.into(),
                    expected: "a triangle of the body",
                })?;
            corners.push(triangle.map(|v| {
                let v = v as usize;
                if place[v] == u32::MAX {
                    place[v] = vertices.len() as u32;
                    vertices.push(v);
                }
                place[v]
            }));
            let [a, b, c] = mesh.corners(root.triangle as usize);
            rest_points.push(on_triangle([a, b, c], root.barycentric));
        }
        Ok(Self {
            vertices,
            corners,
            bindings: groom.roots.clone(),
            rest_points,
            positions: Vec::new(),
            bones: Vec::new(),
            world_from_rest: vec![RigidTransform::IDENTITY; groom.roots.len()],
        })
    }

    /// Moves all roots to where the body is at `time` (s).
    pub(super) fn follow(&mut self, body: &Body, time: f64) {
        self.positions.clear();
        let vertices = self.vertices.iter().copied();
        body.vertices_with(vertices, time, &mut self.bones, &mut self.positions);
        self.turn();
    }

    /// Moves all roots along with vertices of the body that are where they belong already.
    pub(super) fn follow_vertices(&mut self, vertices: &[Vec3]) {
        self.positions.clear();
        self.positions.extend(self.vertices.iter().map(|&v| vertices[v]));
        self.turn();
    }

    fn turn(&mut self) {
        let (corners, bindings, rest_points, positions) =
            (&self.corners, &self.bindings, &self.rest_points, &self.positions);
        self.world_from_rest.par_iter_mut().enumerate().for_each(|(s, to)| {
            let triangle = corners[s].map(|v| positions[v as usize]);
            // Turn with the triangle's frame about the place where the root is bound.
            let rotation =
                (triangle_frame(triangle) * bindings[s].rest_frame.conjugate()).normalize();
            let place = on_triangle(triangle, bindings[s].barycentric);
            *to = RigidTransform { rotation, translation: place - rotation * rest_points[s] };
        });
    }

    pub(super) fn world_from_rest(&self) -> &[RigidTransform] {
        &self.world_from_rest
    }
}

fn on_triangle([a, b, c]: [Vec3; 3], w: [f32; 3]) -> Vec3 {
    a * w[0] + b * w[1] + c * w[2]
}
