//! The times of the pieces of a step, measured by a wrapper of the contact between hairs.
//!
//! The model calls contact at fixed places of a substep, which divide it into pieces: find pairs, (forces and factors),
//! springs, (solve), repel, (move and collide with the body), collide, (forces and factors), springs, (solve), repel.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use coif::contact::{ContactForce, ContactSpring, HairContact, StrandContact};
use glam::Vec3;

/// The pieces of a step, in the order of the paper's table 2.
pub(super) const PIECES: [&str; 6] = ["solve", "forces", "body", "stiction", "collision", "rest"];

#[derive(Clone, Copy)]
enum Piece {
    /// Velocities from the factors and from the springs between hairs.
    Solve,
    /// Springs of the hair itself: forces, matrix and its factor.
    Forces,
    /// Positions, and contact with the body.
    Body,
    /// Pairs of hairs, and the springs between them.
    Stiction,
    /// Repulsion and collision between hairs.
    Collision,
    /// Everything before, after and between substeps.
    Rest,
}

/// Time spent per piece (s), and the last report of contact.
#[derive(Clone)]
pub(super) struct Clock(Arc<Mutex<State>>);

struct State {
    last: Instant,
    spent: [f64; PIECES.len()],
    pairs: usize,
}

impl Clock {
    pub(super) fn new() -> Self {
        let state = State { last: Instant::now(), spent: [0.0; PIECES.len()], pairs: 0 };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the time since the last call to a piece.
    fn record(&self, piece: Piece) {
        let mut state = self.state();
        let now = Instant::now();
        state.spent[piece as usize] += now.duration_since(state.last).as_secs_f64();
        state.last = now;
    }

    /// Time spent while `work` ran, by piece (s).
    pub(super) fn measure(&self, work: impl FnOnce()) -> [f64; PIECES.len()] {
        {
            let mut state = self.state();
            (state.last, state.spent) = (Instant::now(), [0.0; PIECES.len()]);
        }
        work();
        self.record(Piece::Rest);
        self.state().spent
    }

    /// Pairs of near segments in the last search of contact.
    pub(super) fn pairs(&self) -> usize {
        self.state().pairs
    }
}

/// Contact with timing of its calls.
pub(super) struct Watched {
    pub(super) contact: StrandContact,
    pub(super) clock: Clock,
}

impl HairContact for Watched {
    fn arrange(&mut self, order: &[u32]) {
        self.contact.arrange(order);
    }

    fn find(&mut self, position: &[Vec3], velocity: &[Vec3], dt: f32) {
        self.clock.record(Piece::Rest);
        self.contact.find(position, velocity, dt);
        self.clock.state().pairs = self.contact.pairs().len();
        self.clock.record(Piece::Stiction);
    }

    fn springs(&self) -> &[ContactSpring] {
        self.clock.record(Piece::Forces);
        self.contact.springs()
    }

    fn forces(&self, position: &[Vec3], velocity: &[Vec3], out: &mut Vec<ContactForce>) {
        self.contact.forces(position, velocity, out);
    }

    fn repel(&mut self, position: &[Vec3], velocity: &mut [Vec3], dt: f32) {
        self.clock.record(Piece::Solve);
        self.contact.repel(position, velocity, dt);
        self.clock.record(Piece::Collision);
    }

    fn collide(&mut self, start: &[Vec3], end: &mut [Vec3], velocity: &mut [Vec3], dt: f32) {
        self.clock.record(Piece::Body);
        self.contact.collide(start, end, velocity, dt);
        self.clock.record(Piece::Collision);
    }

    fn collide_again(&mut self, start: &[Vec3], end: &mut [Vec3], moved: &[bool], dt: f32) {
        self.clock.record(Piece::Body);
        self.contact.collide_again(start, end, moved, dt);
        self.clock.record(Piece::Collision);
    }

    fn reset(&mut self) {
        self.contact.reset();
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.contact.save(out);
    }

    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.contact.restore(bytes)
    }
}
