//! Where the time of a step goes, as the contact between hairs sees it.
//!
//! The model asks contact at fixed places of a part of a step, so that these places divide the part:
//! find pairs, (forces and factors), springs, (solve), repel, (move and touch the body), collide, (forces
//! and factors), springs, (solve), repel.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use coif::contact::{ContactSpring, HairContact, StrandContact};
use glam::Vec3;

/// The pieces of a step, in the order of the paper's table 2.
pub(super) const PIECES: [&str; 6] = ["solve", "forces", "body", "stiction", "collision", "rest"];

#[derive(Clone, Copy)]
enum Piece {
    /// Velocities from factors and from the springs between hairs.
    Solve,
    /// Springs of the hair itself: forces, matrix and its factor.
    Forces,
    /// Positions, and contact with the body.
    Body,
    /// Pairs of hairs, and the springs between them.
    Stiction,
    /// Repulsion and collision between hairs.
    Collision,
    /// What is before and after, and between parts.
    Rest,
}

/// Time spent per piece (s).
#[derive(Clone)]
pub(super) struct Clock(Arc<Mutex<(Instant, [f64; PIECES.len()])>>);

impl Clock {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new((Instant::now(), [0.0; PIECES.len()]))))
    }

    /// Books the time since the last call.
    fn book(&self, piece: Piece) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        state.1[piece as usize] += now.duration_since(state.0).as_secs_f64();
        state.0 = now;
    }

    /// Time spent while `work` ran, by piece (s).
    pub(super) fn measure(&self, work: impl FnOnce()) -> [f64; PIECES.len()] {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            (Instant::now(), [0.0; PIECES.len()]);
        work();
        self.book(Piece::Rest);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// Contact that looks at the clock.
pub(super) struct Watched {
    pub(super) contact: StrandContact,
    pub(super) clock: Clock,
}

impl HairContact for Watched {
    fn arrange(&mut self, order: &[u32]) {
        self.contact.arrange(order);
    }

    fn find(&mut self, position: &[Vec3], velocity: &[Vec3], dt: f32) {
        self.clock.book(Piece::Rest);
        self.contact.find(position, velocity, dt);
        self.clock.book(Piece::Stiction);
    }

    fn springs(&self) -> &[ContactSpring] {
        self.clock.book(Piece::Forces);
        self.contact.springs()
    }

    fn repel(&mut self, position: &[Vec3], velocity: &mut [Vec3], dt: f32) {
        self.clock.book(Piece::Solve);
        self.contact.repel(position, velocity, dt);
        self.clock.book(Piece::Collision);
    }

    fn collide(&mut self, start: &[Vec3], end: &mut [Vec3], velocity: &mut [Vec3], dt: f32) {
        self.clock.book(Piece::Body);
        self.contact.collide(start, end, velocity, dt);
        self.clock.book(Piece::Collision);
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
