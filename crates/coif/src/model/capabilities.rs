//! The capabilities of a model, as data.

use super::ModelSettings;
use crate::contact::{Access, Acts, ContactSettings};

/// The primitives that a model moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// Strands, with a particle per point.
    Strand,
    /// Strips that carry strands.
    Strip,
    /// A hair mesh that strands are bound to.
    HairMesh,
}

/// The primitives that a model moves, and its optional capabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capabilities {
    /// The primitives that it moves.
    pub moves: Primitive,
    /// The access of contacts to its hair.
    pub contact: Access,
    /// Whether it divides a step into substeps and samples the body's surface between its start and end. Its
    /// [`FieldObstacle`](super::FieldObstacle) has a motion then, which costs memory for a second field.
    pub splits_steps: bool,
    /// The longest step (s) that it supports. A simulation divides longer ones, with the body's pose at the end of each.
    pub longest_step: f32,
    /// Preferred number of steps per call of [`Model::steps`](super::Model::steps), where nothing else runs between them.
    pub steps_at_once: usize,
    /// `None` if it does not take [pins](super::Environment::pins); otherwise the smallest number of embedded points.
    pub pins: Option<usize>,
}

impl Capabilities {
    /// A model with a particle per point of each strand that takes steps of any length.
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

    /// The names of the models that take a contact, and when it acts on their hair: a row of the compatibility table of
    /// models and contacts.
    pub fn taking(contact: &ContactSettings) -> Vec<(&'static str, Acts)> {
        let models = Self::NAMES.iter().filter_map(|name| Self::by_name(name).ok());
        let acts = |model: Self| Some((model.name(), contact.acts(model.capabilities().contact)?));
        models.filter_map(acts).collect()
    }
}
