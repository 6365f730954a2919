//! Lays a hair mesh out for its steps: conditions, masses, matrix, and constants of each vertex by its rest shape.

use glam::{Vec3, Vec3A};

use super::check;
use super::dynamics::MeshDynamics;
use super::elements::{Elements, along_columns};
use super::hold::{hold_columns, hold_stiffness};
use super::minimise::Minimiser;
use super::obstacles::Obstacles;
use super::report::MeshTimes;
use super::restoring_spring::{Obstructed, columns_alone, shortest_edges};
use super::self_contact::SelfContact;
use super::settings::Settings;
use crate::Result;
use crate::groom::hair_mesh::{Exposure, HairMesh, Topology};
use crate::limits::MAX_STRAND_LENGTHS;
use crate::math::RigidTransform;
use crate::math::sparse::modified_conjugate_gradient::{Constraint, Scratch};
use crate::math::sparse::{BlockGaussSeidel, CoarseLevel, ColumnScratch};
use crate::params::Ramp;

impl MeshDynamics {
    /// Lays out a mesh; its rest shape is balanced against `gravity` (m/s^2).
    pub fn new(mesh: &HairMesh, settings: &Settings, gravity: Vec3) -> Result<Self> {
        check(mesh, settings, gravity)?;
        let topology = mesh.topology();
        let (mut elements, matrix) = Elements::new(mesh, &topology, settings);
        let n = mesh.vertex_count();
        let starts = mesh.columns.first_points().to_vec();
        let gravity = if settings.hold_shape { gravity } else { Vec3::ZERO };
        let hold = hold_columns(mesh, &mut elements, gravity);
        let rest: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
        let reach =
            (0..mesh.column_count()).map(|c| MAX_STRAND_LENGTHS * mesh.columns.length(c)).collect();
        let varying = |ramp: &Ramp| match ramp.constant() {
            Some(_) => Vec::new(),
            None => along_columns(mesh, ramp),
        };
        let (drag, friction) = (varying(&settings.damping), varying(&settings.friction));
        let mut constraint = vec![Constraint::Free; n];
        starts[..starts.len() - 1]
            .iter()
            .for_each(|&root| constraint[root as usize] = Constraint::Pinned);
        let zero = vec![Vec3A::ZERO; n];
        let columns = mesh.column_count();
        let open = vec![false; elements.stitches.len()];
        let projected = vec![Vec3A::ZERO; matrix.place_count()];
        let preconditioner = BlockGaussSeidel::new(&matrix, &starts);
        let components = preconditioner.component_count();
        let mut dynamics = Self {
            allowed_energy: vec![0.0; components],
            error_energy: vec![0.0; components],
            column_scratch: ColumnScratch::new(&preconditioner, n),
            preconditioner,
            coarse: CoarseLevel::new(&matrix, &starts),
            minimiser: Minimiser::new(mesh, &topology),
            clearance: clearance(&rest, &topology),
            shortest: shortest_edges(&rest, &topology),
            alone: columns_alone(mesh),
            self_contact: SelfContact::new(mesh, &topology),
            exposure: topology.exposure,
            settings: settings.clone(),
            elements,
            matrix,
            starts,
            hold_stiffness: hold_stiffness(mesh, &hold),
            hold,
            held_gravity: gravity.into(),
            drag,
            friction,
            reach,
            x: rest.clone(),
            v: zero.clone(),
            change: zero.clone(),
            collision: vec![None; n],
            stuck: vec![0.0; n],
            idle: vec![0.0; n],
            is_stuck: vec![false; n],
            as_at_rest: vec![false; columns],
            obstructed: Obstructed::new(mesh),
            open,
            depth: vec![0.0; n],
            depth_is_known: false,
            roots: vec![RigidTransform::IDENTITY; columns],
            roots_before: vec![RigidTransform::IDENTITY; columns],
            below: vec![[Vec3A::ZERO; 2]; columns],
            rhs: zero.clone(),
            constraint,
            before: rest.clone(),
            moved: zero.clone(),
            zero,
            rest,
            scratch: Scratch::new(n),
            projected,
            projected_diagonal: vec![Vec3A::ZERO; n],
            obstacles: Obstacles::default(),
            times: MeshTimes::default(),
        };
        dynamics.set_tolerance();
        Ok(dynamics)
    }

    /// Sets the tolerance of a solve, as an error of velocities.
    fn set_tolerance(&mut self) {
        let tolerance = f64::from(self.settings.tolerance);
        self.error_energy.fill(0.0);
        for column in 0..self.roots.len() {
            let unknowns = self.preconditioner.unknowns(column);
            let mass = unknowns.map(|v| f64::from(self.elements.mass[v])).sum::<f64>();
            let component = self.preconditioner.component(column);
            self.error_energy[component] += mass * tolerance * tolerance;
        }
        self.allowed_energy.copy_from_slice(&self.error_energy);
    }

    /// Applies other valid settings, if they leave the elements and the constants of vertices by their place unchanged.
    pub(super) fn change(&mut self, settings: &Settings) -> bool {
        let alike = |a: &Ramp, b: &Ramp| a == b || a.constant().and(b.constant()).is_some();
        let Settings { bulk_density, along_modulus, across_modulus, shear_modulus, .. } = *settings;
        let Settings { bulk_modulus, bending, hold_shape, seam_strength, seam_gap, .. } = *settings;
        let now = &self.settings;
        let same = now.stiffness == settings.stiffness
            && (now.bulk_density, now.bulk_modulus) == (bulk_density, bulk_modulus)
            && (now.along_modulus, now.across_modulus) == (along_modulus, across_modulus)
            && (now.shear_modulus, now.bending) == (shear_modulus, bending)
            && (now.seam_strength, now.seam_gap) == (seam_strength, seam_gap)
            && now.hold_shape == hold_shape
            && alike(&now.damping, &settings.damping)
            && alike(&now.friction, &settings.friction);
        if same {
            self.settings.clone_from(settings);
            self.set_tolerance();
        }
        same
    }
}

/// Fraction of the path to the outside that a vertex inside keeps when the body pushes it.
const KEPT_INSIDE: f32 = 0.3;

/// Clearance of each vertex from a surface (m): outer ones have none, inner ones in proportion to their depth
/// in the hair.
fn clearance(rest: &[Vec3A], topology: &Topology) -> Vec<f32> {
    let outer = |v: usize| topology.exposure[v] == Exposure::External;
    let mut path: Vec<f32> =
        (0..rest.len()).map(|v| if outer(v) { 0.0 } else { f32::INFINITY }).collect();
    // Shortest paths along edges: a mesh is only a few edges thick.
    let edges = || topology.across.iter().chain(&topology.along);
    let mut changed = true;
    while changed {
        changed = false;
        for &[a, b] in edges() {
            let (a, b) = (a as usize, b as usize);
            let length = rest[a].distance(rest[b]);
            for (near, far) in [(a, b), (b, a)] {
                if path[near] + length < path[far] {
                    path[far] = path[near] + length;
                    changed = true;
                }
            }
        }
    }
    path.iter().map(|w| if w.is_finite() { KEPT_INSIDE * w } else { 0.0 }).collect()
}
