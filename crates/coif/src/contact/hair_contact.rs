//! Contact of hair on hair as a trait object, for a model that couples strands.

use glam::Vec3;

use super::strand_contact::Report;
use super::{ContactForce, ContactSpring};

/// Contact of hair on hair within a step of a model that solves for all strands together.
///
/// Contact enters a substep (`selle2008` section 4) in the order of the methods here. All arrays hold
/// the points of the hair in world space, in the order of [`HairContact::arrange`], including points that are embedded in
/// the scalp; changes of those are ignored. For the same bits on any number of threads,
/// results must not depend on the distribution of work.
pub trait HairContact: Send {
    /// Sets the order of the points: the new number i is the old number `order[i]`. Points of a
    /// strand stay together, from root to tip. Called once, before any other method; the initial order is
    /// that of the chains.
    fn arrange(&mut self, order: &[u32]);

    /// Finds the pairs of segments that are near each other, and makes and breaks the springs between
    /// them (`selle2008` 5.2). Called at the start of a substep of `dt` seconds.
    fn find(&mut self, position: &[Vec3], velocity: &[Vec3], dt: f32);

    /// The current springs. They enter both velocity solves (steps 1 and 7), at different positions, where a model with a
    /// particle per point linearises them from rest length and segments, which [`ContactForce`] does not contain.
    fn springs(&self) -> &[ContactSpring];

    /// Appends the same springs as forces with their stiffness at places on the chains: for a model whose unknowns are
    /// not the points, and that maps arc lengths to its unknowns. No built-in model uses it.
    fn forces(&self, position: &[Vec3], velocity: &[Vec3], out: &mut Vec<ContactForce>);

    /// Changes the velocities (m/s) so that near hairs do not approach each other (steps 3 and 9) in `dt` seconds from
    /// `position`.
    fn repel(&mut self, position: &[Vec3], velocity: &mut [Vec3], dt: f32);

    /// Changes the positions `end` (m) after `dt` seconds, and the velocities (m/s), so that no hair passes through
    /// another between `start` and `end` (step 6).
    fn collide(&mut self, start: &[Vec3], end: &mut [Vec3], velocity: &mut [Vec3], dt: f32);

    /// Changes the positions `end` again, after the strain limit has moved the points `moved` from the result of
    /// [`HairContact::collide`]. Velocities do not change.
    fn collide_again(&mut self, start: &[Vec3], end: &mut [Vec3], moved: &[bool], dt: f32);

    /// Report of the last call.
    fn report(&self) -> Report {
        Report::default()
    }

    /// Clears all pairs and springs, after a jump of the hair.
    fn reset(&mut self);

    /// Appends the state, for a checkpoint.
    fn save(&self, out: &mut Vec<u8>);

    /// Restores what [`HairContact::save`] wrote; returns the bytes that follow it, or `None` if
    /// these are not its bytes.
    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]>;
}
