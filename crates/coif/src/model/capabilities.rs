//! What a model can do, as data.

use super::ModelSettings;
use crate::contact::{Access, Acts, ContactSettings};

/// What a model moves; strands are grown from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// The strands themselves, a particle per point.
    Strand,
    /// Strips that carry strands.
    Strip,
    /// A hair mesh that strands are bound to.
    HairMesh,
}

/// What a model can do besides moving hair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capabilities {
    /// What it moves.
    pub moves: Primitive,
    /// How contact reaches its hair.
    pub contact: Access,
    /// Whether it divides a step into substeps and samples the body's surface in between. The
    /// [`FieldObstacle`](super::FieldObstacle) it sees has a motion then, which costs memory for a second field.
    pub splits_steps: bool,
    /// The longest step (s) that it is meant for. A simulation with longer ones divides them, with the body's
    /// pose at the end of each.
    pub longest_step: f32,
    /// Preferred number of steps per call of [`Model::steps`](super::Model::steps), where nothing happens between them.
    pub steps_at_once: usize,
    /// Whether it takes [pins](super::Environment::pins), and if so how many points at the root the scalp carries at
    /// least.
    pub pins: Option<usize>,
}

impl Capabilities {
    /// A model with a particle per point of each strand that takes a step of any length at once.
    pub const STRANDS: Self = Self {
        moves: Primitive::Strand,
        contact: Access::AFTER_STEP,
        splits_steps: false,
        longest_step: f32::INFINITY,
        steps_at_once: 1,
        pins: None,
    };
}

impl ModelSettings {
    /// The names of the models that take pins.
    pub fn taking_pins() -> Vec<&'static str> {
        let models = Self::NAMES.iter().filter_map(|name| Self::by_name(name).ok());
        models
            .filter(|model| model.capabilities().pins.is_some())
            .map(|model| model.name())
            .collect()
    }

    /// The names of the models that take a contact, and when it acts on their hair: a row of the table of models and
    /// contacts.
    pub fn taking(contact: &ContactSettings) -> Vec<(&'static str, Acts)> {
        let models = Self::NAMES.iter().filter_map(|name| Self::by_name(name).ok());
        let acts = |model: Self| Some((model.name(), contact.acts(model.capabilities().contact)?));
        models.filter_map(acts).collect()
    }
}
