//! Forces that hold the rest shape of a hair mesh under gravity, and restore it.

use glam::{Vec3, Vec3A};

use super::elements::Elements;
use crate::groom::hair_mesh::HairMesh;
use crate::model::chains::hold_groom;

/// Largest stretch of an edge under the weight of a groom in equilibrium, as a fraction of its length.
const MAX_HELD_STRETCH: f32 = 0.1;

/// Finds what holds the rest shape under gravity: tension where hair hangs, with edges shortened by
/// its stretch, and an acceleration in the root's frame for the rest.
pub(super) fn hold_columns(mesh: &HairMesh, elements: &mut Elements, gravity: Vec3) -> Vec<Vec3A> {
    let mut hold = vec![Vec3A::ZERO; mesh.vertex_count()];
    for column in 0..mesh.column_count() {
        let first = mesh.columns.points_of(column).start;
        let line = mesh.columns.strand(column);
        let edge_before: Vec<Option<usize>> = (0..line.len())
            .map(|i| {
                let pair = [(first + i).checked_sub(1)? as u32, (first + i) as u32];
                elements.edges.binary_search_by_key(&pair, |e| e.vertices).ok()
            })
            .collect();
        let max_tension = |i: usize| {
            edge_before[i].map_or(0.0, |e| {
                MAX_HELD_STRETCH * elements.edges[e].stiffness * elements.edges[e].inverse_rest
            })
        };
        let solved = hold_groom(line, 1, |i| elements.mass[first + i], max_tension, gravity);
        for i in 1..line.len() {
            hold[first + i] = solved.acceleration[i].into();
            if let Some(e) = edge_before[i] {
                let edge = &mut elements.edges[e];
                edge.offset = solved.tension[i] / (edge.stiffness * edge.inverse_rest);
            }
        }
    }
    hold
}

/// Stiffness per mass (1/s^2) of the springs that hold vertices against gravity.
///
/// Model: a force that is constant in the frame of the root holds a vertex but does not bring it back: hair that is
/// held up would behave as if weightless and hardly return. So the force is that of a spring, `a / s` per mass for the
/// acceleration a that holds a vertex and its arc length s from the root along the hair. That is what gravity does to
/// hair that hangs, `g / s` for small displacements: hair that is held up returns as fast as hair that hangs.
pub(super) fn hold_stiffness(mesh: &HairMesh, hold: &[Vec3A]) -> Vec<f32> {
    let mut stiffness = vec![0.0; hold.len()];
    for column in 0..mesh.column_count() {
        let mut along = 0.0;
        for v in mesh.columns.points_of(column).skip(1) {
            along += mesh.positions()[v].distance(mesh.positions()[v - 1]);
            stiffness[v] = hold[v].length() / along;
        }
    }
    stiffness
}
