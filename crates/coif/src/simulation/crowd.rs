//! Characters stepped together on all cores: a task per character; those at rest sleep.

use rayon::prelude::*;

use super::Simulation;
use crate::body::{Pose, PoseKeys};
use crate::{Error, Result};

/// Many simulations that are driven frame by frame.
#[derive(Default)]
pub struct Crowd {
    characters: Vec<Simulation>,
}

impl Crowd {
    /// Characters that [sleep](Simulation::set_sleep) when nothing moves.
    pub fn new(mut characters: Vec<Simulation>) -> Self {
        characters.iter_mut().for_each(|character| character.set_sleep(true));
        Self { characters }
    }

    /// Advances all characters to the end of a frame of `dt` (s), at which they are in these poses, one each: as
    /// [`Simulation::drive`], with the same bits. On error nothing has changed.
    pub fn drive(&mut self, poses: &[Pose<'_>], dt: f64) -> Result<()> {
        let (found, expected) = (poses.len(), self.characters.len());
        if found != expected {
            return Err(Error::WrongCount { what: "poses of a crowd", found, expected });
        }
        for (index, (character, pose)) in self.characters.iter().zip(poses).enumerate() {
            let named = |error| Error::Character { index, error: Box::new(error) };
            PoseKeys::check(character.body(), pose).map_err(named)?;
        }
        let pairs = self.characters.par_iter_mut().zip(poses);
        pairs.try_for_each(|(character, pose)| character.drive(*pose, dt))
    }

    /// The characters, in their order.
    pub fn characters(&self) -> &[Simulation] {
        &self.characters
    }

    /// The characters, to be changed or read.
    pub fn characters_mut(&mut self) -> &mut [Simulation] {
        &mut self.characters
    }

    /// How many are awake.
    pub fn awake(&self) -> usize {
        self.characters.iter().filter(|character| !character.is_asleep()).count()
    }
}
