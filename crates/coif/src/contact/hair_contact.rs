//! Contact of hair on hair as a trait object, for a model that couples strands.

use glam::Vec3;

use super::strand_contact::Report;
use super::{ContactForce, ContactSpring};

/// Contact of hair on hair within a step of a model that solves for all strands together.
///
/// `selle2008` section 4: contact enters one substep in these places, in the order of the methods here. All arrays hold
/// the points of the hair in the world, in the order of [`HairContact::arrange`]; points that are embedded in
/// the scalp are among them, and changes of those are ignored. For the same bits on any number of threads,
/// results must not depend on how work is distributed.
pub trait HairContact: Send {
    /// Sets the order of the points: number i becomes what was number `order[i]`. Points of a
    /// strand stay together, from root to tip. Called once, before all else; until then the order is
    /// that of the chains.
    fn arrange(&mut self, order: &[u32]);

    /// Finds the pairs of segments that are near each other, and makes and breaks the springs between
    /// them (`selle2008` 5.2). Called at the start of a substep of `dt` seconds.
    fn find(&mut self, position: &[Vec3], velocity: &[Vec3], dt: f32);

    /// The present springs. They enter both velocity solves (steps 1 and 7), at different positions: a model of points
    /// linearises them anew from rest length and segment, which a force at an arc length does not contain, and without a look-up.
    fn springs(&self) -> &[ContactSpring];

    /// Appends the same springs as forces, with their stiffness, at places on the chains: for a model whose unknowns are
    /// not the points, and that maps arc lengths to its own. No built-in model does.
    fn forces(&self, position: &[Vec3], velocity: &[Vec3], out: &mut Vec<ContactForce>);

    /// Changes the velocities (m/s) so that hairs do not come nearer (steps 3 and 9). The hair is at
    /// `position` and will go on for `dt` seconds.
    fn repel(&mut self, position: &[Vec3], velocity: &mut [Vec3], dt: f32);

    /// Changes where hair goes in `dt` seconds, and its velocity (m/s), so that no hair passes through
    /// another between `start` and `end` (step 6).
    fn collide(&mut self, start: &[Vec3], end: &mut [Vec3], velocity: &mut [Vec3], dt: f32);

    /// Changes where hair goes once more, after the strain limit has moved the points `moved` from where
    /// [`HairContact::collide`] left them. Velocities do not change.
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
