//! The contacts of a scene, by name.

use super::strand_contact::{self, AfterStep, StrandContact};
use super::volume::{self, Volume};
use super::{Access, Acts, Chains, Contact, HairContact};
use crate::{Error, Result};

/// A contact's name and parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContactSettings {
    /// `volume`: friction and repulsion on a grid.
    Volume(volume::Settings),
    /// `strands`: stiction, repulsion and collision of single hairs.
    Strands(strand_contact::Settings),
}

impl From<volume::Settings> for ContactSettings {
    fn from(settings: volume::Settings) -> Self {
        Self::Volume(settings)
    }
}

impl From<strand_contact::Settings> for ContactSettings {
    fn from(settings: strand_contact::Settings) -> Self {
        Self::Strands(settings)
    }
}

impl ContactSettings {
    /// The names of all contacts.
    pub const NAMES: &'static [&'static str] = &[volume::NAME, strand_contact::NAME];

    /// Name of this contact in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Volume(_) => volume::NAME,
            Self::Strands(_) => strand_contact::NAME,
        }
    }

    /// A contact with its default parameters, by name.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            volume::NAME => Ok(Self::Volume(Default::default())),
            strand_contact::NAME => Ok(Self::Strands(Default::default())),
            _ => Err(Error::UnknownName {
                kind: "contact",
                name: name.into(),
                expected: Self::NAMES.join(", "),
            }),
        }
    }

    /// When it acts on hair with this access; `None` if it cannot act.
    pub fn acts(&self, access: Access) -> Option<Acts> {
        let after = access.after_step.then_some(Acts::AfterStep);
        match self {
            Self::Volume(_) => after,
            Self::Strands(_) if access.within_step => Some(Acts::WithinStep),
            Self::Strands(_) => after,
        }
    }

    /// Mass of the hair relative to dry hair, for the model: wet hair is heavier.
    pub fn mass_scale(&self) -> f32 {
        match self {
            Self::Volume(_) => 1.0,
            Self::Strands(settings) => settings.mass_scale,
        }
    }

    /// Builds it for these chains, to act after each step.
    pub(super) fn after_step(&self, chains: Chains) -> Result<Box<dyn Contact>> {
        Ok(match self {
            Self::Volume(settings) => Box::new(Volume::new(settings)?),
            Self::Strands(settings) => Box::new(AfterStep::new(chains, settings)?),
        })
    }

    /// Builds it for these chains, to act within each step. `None` if it cannot.
    pub(super) fn within_step(&self, chains: &Chains) -> Result<Option<Box<dyn HairContact>>> {
        Ok(match self {
            Self::Volume(_) => None,
            Self::Strands(settings) => Some(Box::new(StrandContact::new(chains, settings)?)),
        })
    }
}
