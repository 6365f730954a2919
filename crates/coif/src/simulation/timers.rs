use std::time::{Duration, Instant};

/// The stages of a step, in their order. One name each, used by the timers, the docs and `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Pose the colliders, and build the distance field of the body.
    Body,
    /// Let the roots follow the body.
    Roots,
    /// Move the hair.
    Model,
    /// Contact of hair on hair.
    Contact,
    /// Place every strand, once per frame that is read.
    Grow,
    /// Measure the health of the frame.
    Health,
}

impl Stage {
    /// All stages in their order.
    pub const ALL: [Stage; 6] =
        [Stage::Body, Stage::Roots, Stage::Model, Stage::Contact, Stage::Grow, Stage::Health];

    /// The stage's name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Body => "body",
            Stage::Roots => "roots",
            Stage::Model => "model",
            Stage::Contact => "contact",
            Stage::Grow => "grow",
            Stage::Health => "health",
        }
    }
}

/// Time spent in each stage since the start.
#[derive(Debug, Clone, Default)]
pub struct Timers {
    spent: [Duration; Stage::ALL.len()],
}

impl Timers {
    /// Runs `work` and adds its time to `stage`.
    pub fn measure<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.spent[stage as usize] += start.elapsed();
        result
    }

    /// Time spent in a stage.
    pub fn spent(&self, stage: Stage) -> Duration {
        self.spent[stage as usize]
    }
}
