//! Models of hair motion: one folder per published method.
//!
//! A model owns its state and advances it in an [`Environment`]. Strands are read from it, or grown on its primitives.

pub mod cantilever;
mod capabilities;
mod chains;
pub mod explicit_spring;
pub mod follow_the_leader;
pub mod hair_mesh;
pub mod mass_spring;
pub mod position_based;
mod quarantine;
mod sample_rows;
mod strand_lanes;

use glam::Vec3;

pub use self::capabilities::{Capabilities, Primitive};
pub use self::strand_lanes::StrandLanes;
pub use crate::environment::{Environment, FieldMotion, FieldObstacle, PinTarget, Pins};

use crate::contact::{Lender, Report};
use crate::groom::strips::{StripPose, Strips};
use crate::groom::{Groom, HairMesh};
use crate::math::{RigidTransform, SolveReport};
use crate::model::cantilever::StripLanes;
use crate::params::Parameters;
use crate::{Error, Result};

/// Outcome of a step: what was quarantined, left inside, skipped or not solved.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepReport {
    /// Strands that became non-finite and were reset to their rest shape, and those whose root had no finite pose and
    /// kept the last one.
    pub quarantined: Vec<u32>,
    /// Particles left inside the body: no position outside was found at the length of the segment, which has priority.
    pub unresolved: u64,
    /// Points that were inside of the body at the start, and are pushed out gradually.
    pub began_inside: u64,
    /// Their largest depth at the start (m).
    pub began_inside_depth: f32,
    /// Time (s) that was not simulated because a frame was longer than the [cap on
    /// catch-up](crate::simulation::Simulation::set_max_catch_up): hair was carried along with the body over it.
    pub skipped: f64,
    /// Points that were pinned in the last step.
    pub pins: PinReport,
    /// Tips that the model itself held in the last step (`ends = both` of `follow-the-leader`).
    pub ends: PinReport,
    /// Substeps that the last step was cut into, by a model that chooses them.
    pub substeps: u32,
    /// How the last step's systems were solved, by a model that iterates.
    pub solve: SolveReport,
    /// What the contacts of hair with hair did in the last step.
    pub contact: Report,
}

/// Outcome of pins in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PinReport {
    /// Points that are pinned.
    pub count: u32,
    /// Those whose pin is farther from the root, or from the previous pin, than the strand between them is long: they are
    /// held as near to the pin as the length allows. Does not count a strand that is too short only because it lies
    /// round a body.
    pub out_of_reach: u32,
    /// Largest distance of a pinned point from its pin (m).
    pub farthest: f32,
    /// The strand of that point.
    pub strand: u32,
}

impl PinReport {
    /// Adds a point of a strand that is `distance` (m) from its pin, out of reach if that exceeds `tolerance` (m).
    pub(crate) fn add(&mut self, strand: u32, distance: f32, tolerance: f32) {
        self.count += 1;
        if distance > tolerance {
            self.out_of_reach += 1;
            if distance > self.farthest {
                (self.farthest, self.strand) = (distance, strand);
            }
        }
    }

    /// Adds the points of another report.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.out_of_reach += other.out_of_reach;
        if other.farthest > self.farthest {
            (self.farthest, self.strand) = (other.farthest, other.strand);
        }
    }
}

/// A model of how hair moves.
pub trait Model: Send {
    /// Its name in scene files.
    fn name(&self) -> &'static str;
    /// Its capabilities.
    fn capabilities(&self) -> Capabilities;
    /// Advances the state by `env.dt`.
    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport);
    /// Advances the state by several steps, with the same result as calls of [`step`](Self::step). A model whose
    /// primitives are independent can advance each by all steps while it is in the cache (temporal blocking).
    fn steps(&mut self, steps: &[Environment<'_>], report: &mut StepReport) {
        steps.iter().for_each(|env| self.step(env, report));
    }
    /// Resets the hair to its rest shape, at rest relative to the poses, one per primitive.
    fn reset(&mut self, world_from_rest: &[RigidTransform]);
    /// Carries the hair along with a jump of the body from one pose to another, without velocity
    /// from the jump itself.
    fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]);
    /// Writes the positions of the points of the primitives that it moves: of strands in the groom's order, joints of
    /// strips, or vertices of a hair mesh, column after column.
    fn positions(&self, out: &mut [Vec3]);
    /// Writes the velocities of those points.
    fn velocities(&self, out: &mut [Vec3]);
    /// Its points in its own layout, if it holds strands in lanes: a frame that ends between two steps is read from them.
    fn strand_lanes(&self) -> Option<StrandLanes<'_>> {
        None
    }
    /// Its hair for contacts, if its [capabilities](Capabilities::contact) allow any.
    fn lender(&mut self) -> Option<&mut dyn Lender> {
        None
    }
    /// The primitives that carry the strands, if it [moves](Capabilities::moves) primitives other than strands.
    fn carrier(&self) -> Option<Carrier<'_>> {
        None
    }
    /// Applies other parameters in place, without allocation, if possible; `false` if the model has to be rebuilt.
    /// `groom` is the one that it was built for. On error nothing has changed.
    fn change(&mut self, _settings: &ModelSettings, _groom: &Groom) -> Result<bool> {
        Ok(false)
    }
    /// Drops all state that is stored by collider number, because colliders have been renumbered.
    fn renumber_colliders(&mut self) {}
    /// Appends everything that a step changes, for a checkpoint.
    fn save(&self, out: &mut Vec<u8>);
    /// Restores what [`Model::save`] wrote; the body has the pose of that time. On error nothing has
    /// changed.
    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()>;
}

/// The primitives that carry the strands, if a model does not move strands themselves. `grow` binds the strands to them.
pub enum Carrier<'a> {
    /// Strips.
    Strips(&'a dyn MovesStrips),
    /// A hair mesh in its rest shape; [`Model::positions`] has its current vertices.
    HairMesh(&'a HairMesh),
}

impl Carrier<'_> {
    /// Root positions of the primitives in the rest shape (m). Roots are bound to the closest triangles of the body; poses
    /// of roots have the same order.
    pub fn root_places(&self) -> Vec<Vec3> {
        let lines = match self {
            Self::Strips(model) => &model.strips().edges,
            Self::HairMesh(mesh) => &mesh.columns,
        };
        lines.iter().map(|line| line[0]).collect()
    }
}

/// Access to a model that moves strips.
pub trait MovesStrips {
    /// The strips in their rest shape.
    fn strips(&self) -> &Strips;
    /// Writes the current positions of their joints.
    fn pose(&self, out: &mut StripPose);
    /// Their current state in the layout of the model: for `grow::strips`.
    fn lanes(&self) -> StripLanes<'_>;
}

/// Declares [`ModelSettings`] from variants and the modules that have their `NAME`, `Settings` and `CAPABILITIES`.
macro_rules! models {
    ($($(#[$doc:meta])+ $Variant:ident: $module:ident,)+) => {
        /// A model's name and parameters.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum ModelSettings {
            $($(#[$doc])+ $Variant($module::Settings),)+
        }

        impl ModelSettings {
            /// The names of all models.
            pub const NAMES: &'static [&'static str] = &[$($module::NAME),+];

            /// Read access to its parameters by name.
            pub fn params(&self) -> &dyn Parameters {
                match self {
                    $(Self::$Variant(settings) => settings,)+
                }
            }

            /// Write access to its parameters by name.
            pub fn params_mut(&mut self) -> &mut dyn Parameters {
                match self {
                    $(Self::$Variant(settings) => settings,)+
                }
            }

            /// The capabilities of the model, before it is built.
            pub fn capabilities(&self) -> Capabilities {
                match self {
                    $(Self::$Variant(_) => $module::CAPABILITIES,)+
                }
            }

            /// A model with its default parameters, by name.
            pub fn by_name(name: &str) -> Result<Self> {
                match name {
                    $($module::NAME => Ok(Self::$Variant(Default::default())),)+
                    _ => Err(Error::UnknownName {
                        kind: "model",
                        name: name.into(),
                        expected: Self::NAMES.join(", "),
                    }),
                }
            }
        }
    };
}

models! {
    /// `follow-the-leader`
    FollowTheLeader: follow_the_leader,
    /// `position-based`
    PositionBased: position_based,
    /// `explicit-spring`
    ExplicitSpring: explicit_spring,
    /// `mass-spring`
    MassSpring: mass_spring,
    /// `cantilever`
    Cantilever: cantilever,
    /// `hair-mesh`
    HairMesh: hair_mesh,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self::FollowTheLeader(follow_the_leader::Settings::default())
    }
}

impl ModelSettings {
    /// Name of this model in scene files.
    pub fn name(&self) -> &'static str {
        self.params().of()
    }

    /// Builds the model for a groom that has been validated. Steps will have the length `dt` (s);
    /// `gravity` (m/s^2) is what the rest shape is balanced against.
    pub fn build(&self, groom: &Groom, dt: f32, gravity: Vec3) -> Result<Box<dyn Model>> {
        match self {
            Self::FollowTheLeader(settings) => {
                Ok(Box::new(follow_the_leader::FollowTheLeader::new(groom, settings, dt, gravity)?))
            }
            Self::PositionBased(settings) => {
                Ok(Box::new(position_based::PositionBased::new(groom, settings, dt, gravity)?))
            }
            Self::ExplicitSpring(settings) => {
                Ok(Box::new(explicit_spring::ExplicitSpring::new(groom, settings, dt, gravity)?))
            }
            Self::MassSpring(settings) => {
                Ok(Box::new(mass_spring::MassSpring::new(groom, settings, gravity)?))
            }
            Self::Cantilever(settings) => {
                let mut model = cantilever::Cantilever::new(groom, settings)?;
                model.hold_against(gravity);
                Ok(Box::new(model))
            }
            Self::HairMesh(settings) => {
                Ok(Box::new(hair_mesh::HairMeshModel::new(groom, settings, gravity)?))
            }
        }
    }
}
