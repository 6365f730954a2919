//! The root of a free strand (`ends = free`): the last unknown of the pass from tip to root, and the first point of the
//! pass from root to tip.
//!
//! Model: with `W` and `w` the condensed inertia and right-hand side of all that hangs on the root ([`Beyond`] in
//! `tip_to_root.rs`), and its own mass and terms added, the root's displacement solves `W a = w`: three equations.
//! It has no length sphere: it is pushed out of the body along the normal, and its contacts are stored as
//! those of other points.
//!
//! [`Beyond`]: super::tip_to_root

use fearless_simd::{Simd, SimdBase, f32x16};
use glam::Vec3;

use super::{Affine, Before, Fixed, SCRATCH};
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x, lane, set_lane};
use crate::math::symmetric::Symmetric;
use crate::model::follow_the_leader::Pass;
use crate::model::follow_the_leader::block::{Block, FIXED, Outcome};
use crate::model::follow_the_leader::collider::Obstacles;
use crate::model::follow_the_leader::point_contact::leave_body;
use crate::model::follow_the_leader::resting::{self, MEMORY, Points, TERMS};

/// All that hangs on a free root, with the turns eliminated.
pub(super) struct FreeRoot<S: Simd> {
    pub(super) before: Before<S>,
    pub(super) inertia: Symmetric<S>,
    pub(super) push: Vec3x<S>,
}

impl<S: Simd> FreeRoot<S> {
    /// Adds the root's own terms as for other points, and solves for its displacement.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn displacement(
        self,
        simd: S,
        block: &Block,
        found: Option<&[[f32; VECTOR]]>,
        memory: &mut [f32; MEMORY],
        terms: &mut [f32; TERMS],
        pass: &Pass,
        obstacles: &Obstacles<'_>,
    ) -> Vec3x<S> {
        simd.vectorize(
            #[inline(always)]
            || self.displacement_in_lanes(simd, block, found, memory, terms, pass, obstacles),
        )
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn displacement_in_lanes(
        self,
        simd: S,
        block: &Block,
        found: Option<&[[f32; VECTOR]]>,
        memory: &mut [f32; MEMORY],
        terms: &mut [f32; TERMS],
        pass: &Pass,
        obstacles: &Obstacles<'_>,
    ) -> Vec3x<S> {
        let splat = |v: f32| f32x16::splat(simd, v);
        let root = Affine::load(simd, &block.root);
        let row = Fixed(&block.fixed.as_chunks::<FIXED>().0[0]);
        let mass = row.mass(simd);
        let ties = block.ties(0).map(|ties| (ties.spring(simd), ties.damper(simd)));
        let (spring, damper) = ties.unwrap_or((splat(pass.tie.spring), splat(pass.tie.damper)));
        let fall = Vec3x::splat(simd, pass.gravity * (pass.dt * pass.dt));
        let Before { x, shift, drift } = self.before;
        let mut rhs = (drift + fall - shift) * mass
            + root.direction(row.goal(simd))
            + (root.added - x - shift) * (mass * spring)
            + self.push;
        let mut inertia = self.inertia.plus_diagonal(mass * (spring + damper + 1.0));
        if resting::any(simd, memory) {
            let displacement = found.map_or(drift, |found| Vec3x::of_row(simd, &found[0]) - x);
            let last = f32x16::from_slice(simd, &block.last);
            let points = Points { x, shift, drift, displacement, mass, inertia: last + 1.0 };
            let from_contacts =
                resting::add_contact_terms(simd, block, 0, memory, terms, &points, pass, obstacles);
            inertia = inertia.plus(&from_contacts.inertia);
            rhs += from_contacts.rhs;
        }
        inertia.solve(rhs)
    }

    /// Stores the displacement for the second pass.
    #[inline(always)]
    pub(super) fn store(a: Vec3x<S>, row: &mut [f32; SCRATCH]) {
        let row = row.as_chunks_mut::<LANES>().0;
        a.x.store_slice(&mut row[0]);
        a.y.store_slice(&mut row[1]);
        a.z.store_slice(&mut row[2]);
    }
}

/// A free root at the end of the step.
pub(super) struct PlacedRoot<S: Simd> {
    pub(super) place: Vec3x<S>,
    /// Displacement from where the strand's rigid motion takes it (m).
    pub(super) displaced: Vec3x<S>,
    /// The part of it by pushes of contact, which adds no velocity (m).
    pub(super) pushed: Vec3x<S>,
    /// Velocity that contact removes (m/s).
    pub(super) brake: Vec3x<S>,
    solved: Vec3x<S>,
    moved: Vec3x<S>,
}

impl<S: Simd> PlacedRoot<S> {
    /// At the solution of the first pass.
    #[inline(always)]
    pub(super) fn new(simd: S, x: Vec3x<S>, shift: Vec3x<S>, scratch: &[f32; SCRATCH]) -> Self {
        let n = |k: usize| f32x16::from_slice(simd, &scratch.as_chunks::<LANES>().0[k]);
        let a = Vec3x { x: n(0), y: n(1), z: n(2) };
        let none = Vec3x::splat(simd, Vec3::ZERO);
        let moved = shift + a;
        Self { place: x + moved, displaced: a, pushed: none, brake: none, solved: a, moved }
    }

    /// Updates its resting contacts, and pushes it out of the body.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn collide(
        &mut self,
        simd: S,
        block: &Block,
        memory: &mut [f32; MEMORY],
        terms: &[f32; TERMS],
        pass: &Pass,
        obstacles: &Obstacles<'_>,
        outcome: &mut Outcome,
    ) {
        if resting::any(simd, memory) {
            outcome.impact |= resting::update(simd, memory, terms, self.solved, pass.dt);
        }
        if obstacles.colliders.is_empty() && obstacles.field.is_none() {
            return;
        }
        let [mut place, mut moved, mut brake] = [[0.0; VECTOR]; 3];
        self.place.to_row(&mut place);
        self.moved.to_row(&mut moved);
        let mut pushed = [0.0; VECTOR];
        let masses = &block.fixed.as_chunks::<LANES>().0[6];
        for l in 0..LANES {
            let p = lane(&place, 0, l);
            if !p.is_finite() {
                continue;
            }
            let allowed = if block.began_inside { block.depth[l] * pass.still_inside } else { 0.0 };
            let Some(hit) = leave_body(p, allowed, obstacles) else { continue };
            outcome.unresolved += u32::from(!hit.is_out);
            let push = hit.place - p;
            let force = masses[l] * push.length();
            outcome.impact |= u32::from(resting::remember(memory, l, hit.what, force)) << l;
            // Remove the velocity into the surface.
            let v = lane(&moved, 0, l) / pass.dt - hit.velocity;
            let into = v.dot(hit.normal).min(0.0);
            set_lane(&mut pushed, 0, l, push);
            set_lane(&mut brake, 0, l, hit.normal * into);
        }
        self.pushed = Vec3x::of_row(simd, &pushed);
        self.brake = Vec3x::of_row(simd, &brake);
        self.place += self.pushed;
        self.displaced += self.pushed;
    }
}
