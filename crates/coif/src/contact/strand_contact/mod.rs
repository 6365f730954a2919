//! Contact between single hairs: stiction, repulsion and collision over the same pairs.
//!
//! A model that solves for all strands together calls it within its step, as [`HairContact`]; for other models,
//! [`StrandContact::apply`] changes the velocities once per step.

mod after_step;

use glam::Vec3;

pub(super) use self::after_step::AfterStep;

use crate::contact::detection::broad_phase::{self, Reach};
use crate::contact::detection::pairs::Pairs;
use crate::contact::detection::segments::Segments;
use crate::contact::response::edge_collision::{self, EdgeCollision, Trajectory};
use crate::contact::response::repulsion::{self, Repulsion};
use crate::contact::response::stiction::{self, MAX_SPRINGS, Motion, Scratch, Stiction};
use crate::contact::{Chains, ContactForce, ContactSpring, HairContact};
use crate::math::group::make_room;
use crate::{Error, Result};

/// Name of this contact in scene files.
pub const NAME: &str = "strands";

/// Iterations of springs in [`StrandContact::apply`].
const PULLS: u32 = 8;

/// Largest margin, as a fraction of the contact distance: with more, most tested pairs of dense hair would be
/// too far apart.
const MAX_MARGIN: f32 = 0.33;

/// Parameters of the contact.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Hairs stick to each other.
    pub stiction: Option<stiction::Settings>,
    /// Hairs push each other away.
    pub repulsion: Option<repulsion::Settings>,
    /// Hairs do not pass through each other.
    pub collision: Option<edge_collision::Settings>,
    /// Detection of pairs of segments that are near each other.
    pub detection: broad_phase::Settings,
    /// Mass of the hair relative to dry hair: wet hair is heavier.
    pub mass_scale: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stiction: Some(stiction::Settings::default()),
            repulsion: Some(repulsion::Settings::default()),
            collision: Some(edge_collision::Settings::default()),
            ..Self::NONE
        }
    }
}

impl Settings {
    /// No contact between hairs.
    pub const NONE: Self = Self {
        stiction: None,
        repulsion: None,
        collision: None,
        detection: broad_phase::Settings { method: broad_phase::Method::Tree, margin: 0.2e-3 },
        mass_scale: 1.0,
    };

    /// Hair from dry (0) to dripping (1): heavier, with more, stiffer and longer springs that pull it
    /// into clumps (`selle2008` 5.2). Other values are clamped.
    ///
    /// Figures: dripping hair carries about its own weight of water; a bridge of water between two
    /// hairs pulls with some tens of micronewtons (surface tension 0.07 N/m along a hair's circumference of
    /// 0.25 mm), ten times the force of a spring between dry hairs here.
    pub fn wet(wetness: f32) -> Self {
        let wetness = if wetness.is_nan() { 0.0 } else { wetness.clamp(0.0, 1.0) };
        let dry = stiction::Settings::default();
        let grow = |factor: f32| 1.0 + (factor - 1.0) * wetness;
        let springs = dry.springs as f32 * grow(MAX_SPRINGS as f32 / dry.springs as f32);
        let stiction = stiction::Settings {
            make: dry.make * grow(2.0),
            break_: dry.break_ * grow(2.5),
            rest: dry.rest * grow(0.3),
            springs: (springs.round() as u32).min(MAX_SPRINGS),
            stiffness: dry.stiffness * grow(4.0),
            damping: dry.damping * grow(6.0),
        };
        Self { stiction: Some(stiction), mass_scale: grow(2.0), ..Self::default() }
    }

    /// Returns an error for the first value that is out of range.
    pub fn validate(&self) -> Result<()> {
        self.stiction.as_ref().map_or(Ok(()), stiction::Settings::validate)?;
        self.repulsion.as_ref().map_or(Ok(()), repulsion::Settings::validate)?;
        self.collision.as_ref().map_or(Ok(()), edge_collision::Settings::validate)?;
        self.detection.validate()?;
        if !(0.01..=100.0).contains(&self.mass_scale) {
            let (name, value) = ("contact mass_scale".into(), self.mass_scale.into());
            return Err(Error::OutOfRange { name, value, expected: "0.01 to 100" });
        }
        Ok(())
    }
}

/// Report of the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Pairs of segments that are near each other.
    pub pairs: u64,
    /// Stiction springs.
    pub springs: u64,
    /// Springs made in the last step, and broken.
    pub changed: (u64, u64),
    /// Pairs nearer than the thickness.
    pub contacts: u64,
    /// Pairs that would have passed through each other, and those that remain.
    pub collision: edge_collision::Report,
    /// Pairs left out because hair is too dense for all of them.
    pub dropped_pairs: u64,
    /// Maxima over all substeps since the start or a reset.
    pub worst: Worst,
}

/// Maxima over many substeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worst {
    /// Pairs that still passed through each other after the last round.
    pub crossings_left: u64,
    /// Pairs left out because hair was too dense for all of them.
    pub dropped_pairs: u64,
}

/// Contact between single hairs.
pub struct StrandContact {
    segments: Segments,
    reach: Reach,
    pairs: Pairs,
    stiction: Option<Stiction>,
    repulsion: Option<Repulsion>,
    collision: Option<EdgeCollision>,
    scratch: Scratch,
    ahead: Vec<Vec3>,
    /// Stiction springs followed by springs of repulsion, if the model solves for hairs in contact; else empty.
    with_repulsion: Vec<ContactSpring>,
    /// Maxima over all substeps before this one.
    worst: Worst,
}

impl StrandContact {
    /// Contact between these chains.
    pub fn new(chains: &Chains, settings: &Settings) -> Result<Self> {
        settings.validate()?;
        let make = settings.stiction.as_ref().map_or(0.0, |s| s.make);
        let thickness = settings.repulsion.as_ref().map_or(0.0, |r| r.thickness);
        let distance = make.max(thickness).max(1e-5);
        // Use a larger margin with contact springs: hair that snaps back must not reach hair outside of its pairs.
        let is_firm = settings.repulsion.as_ref().is_some_and(|r| r.firm);
        let margin = if is_firm {
            settings.detection.margin.max(2.0 * thickness)
        } else {
            settings.detection.margin.min(MAX_MARGIN * distance)
        };
        Ok(Self {
            segments: Segments::new(chains, settings.mass_scale),
            reach: Reach { distance, margin },
            pairs: Pairs::new(settings.detection.method),
            stiction: settings.stiction.as_ref().map(Stiction::new).transpose()?,
            repulsion: settings.repulsion.as_ref().map(Repulsion::new).transpose()?,
            collision: settings.collision.as_ref().map(EdgeCollision::new).transpose()?,
            scratch: Scratch::default(),
            ahead: Vec::new(),
            with_repulsion: Vec::new(),
            worst: Worst::default(),
        })
    }

    /// Report of the last step.
    pub fn report(&self) -> Report {
        let collision =
            self.collision.as_ref().map_or(edge_collision::Report::default(), |c| *c.report());
        let dropped_pairs = self.pairs.dropped();
        Report {
            pairs: self.pairs.len() as u64,
            springs: self.stiction.as_ref().map_or(0, |s| s.springs().len() as u64),
            changed: self.stiction.as_ref().map_or((0, 0), Stiction::changes),
            contacts: self.repulsion.as_ref().map_or(0, |r| r.contact_count() as u64),
            collision,
            dropped_pairs,
            worst: Worst {
                crossings_left: self.worst.crossings_left.max(collision.left),
                dropped_pairs: self.worst.dropped_pairs.max(dropped_pairs),
            },
        }
    }

    /// The pairs of segments that are near each other.
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The segments of the hair.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.stiction.as_ref().map_or(0, Stiction::bytes)
            + self.repulsion.as_ref().map_or(0, Repulsion::bytes)
            + self.collision.as_ref().map_or(0, EdgeCollision::bytes)
            + 12 * self.ahead.capacity()
            + 8 * self.segments.points()
    }

    /// Applies contact over `dt` seconds to the velocities of hair at
    /// `position`: springs, then repulsion, then collision on the predicted path.
    pub fn apply(&mut self, position: &[Vec3], velocity: &mut [Vec3], dt: f32) {
        if !self.fits(&[position.len(), velocity.len()], dt) {
            return;
        }
        self.find(position, velocity, dt);
        if let Some(stiction) = &self.stiction {
            let motion = Motion { position, dt };
            stiction.pull(&self.segments, &motion, PULLS, &mut self.scratch, velocity);
        }
        self.repel(position, velocity, dt);
        let mut end = std::mem::take(&mut self.ahead);
        end.clear();
        end.extend(position.iter().zip(&*velocity).map(|(x, v)| *x + *v * dt));
        self.collide(position, &mut end, velocity, dt);
        self.ahead = end;
    }

    /// Finds pairs if [`find`](HairContact::find) has not been called. Otherwise keeps its pairs, which
    /// were predicted with the velocities of that call: pairs that faster motion within the substep adds are found in
    /// the next substep, because a search costs more than all other work here.
    fn find_once(&mut self, position: &[Vec3]) {
        if self.pairs.points() != self.segments.points() {
            self.pairs.find(&self.segments, position, position, self.reach);
        }
    }

    /// Whether arrays have a value per point, and the length of the step is positive and finite.
    fn fits(&self, lengths: &[usize], dt: f32) -> bool {
        lengths.iter().all(|&n| n == self.segments.points()) && dt > 0.0 && dt.is_finite()
    }
}

impl HairContact for StrandContact {
    fn report(&self) -> Report {
        self.report()
    }

    fn arrange(&mut self, order: &[u32]) {
        self.segments.arrange(order);
        self.reset();
    }

    fn find(&mut self, position: &[Vec3], velocity: &[Vec3], dt: f32) {
        if !self.fits(&[position.len(), velocity.len()], dt) {
            return;
        }
        self.worst = self.report().worst;
        // Search again where pairs were dropped, so that the choice does not depend on earlier steps.
        if self.pairs.dropped() > 0 {
            self.pairs.clear();
        }
        // Predict the motion, so that the pairs contain those of collision.
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.clear();
        let (step, dt) = (dt, if self.collision.is_some() { dt } else { 0.0 });
        ahead.extend(position.iter().zip(velocity).map(|(x, v)| *x + *v * dt));
        self.pairs.find(&self.segments, position, &ahead, self.reach);
        self.ahead = ahead;
        if let Some(stiction) = &mut self.stiction {
            stiction.update(&self.segments, &self.pairs, position);
        }
        self.with_repulsion.clear();
        if let Some(repulsion) = self.repulsion.as_mut().filter(|r| r.is_firm()) {
            let stiction = self.stiction.as_ref();
            let springs = &mut self.with_repulsion;
            let sticking = stiction.map_or(&[][..], Stiction::springs);
            make_room(springs, sticking.len());
            springs.extend_from_slice(sticking);
            repulsion.add_contact_springs(&self.pairs, stiction, position, velocity, step, springs);
        }
    }

    fn springs(&self) -> &[ContactSpring] {
        if self.with_repulsion.is_empty() {
            self.stiction.as_ref().map_or(&[], Stiction::springs)
        } else {
            &self.with_repulsion
        }
    }

    fn forces(&self, position: &[Vec3], velocity: &[Vec3], out: &mut Vec<ContactForce>) {
        let springs = self.springs().iter();
        out.extend(springs.map(|spring| spring.force(&self.segments, position, velocity)));
    }

    fn repel(&mut self, position: &[Vec3], velocity: &mut [Vec3], dt: f32) {
        if !self.fits(&[position.len(), velocity.len()], dt) {
            return;
        }
        if self.repulsion.is_some() {
            self.find_once(position);
        }
        if let Some(repulsion) = &mut self.repulsion {
            let stiction = self.stiction.as_ref();
            repulsion.repel(&self.segments, &self.pairs, stiction, position, velocity, dt);
        }
    }

    fn collide(&mut self, start: &[Vec3], end: &mut [Vec3], velocity: &mut [Vec3], dt: f32) {
        if !self.fits(&[start.len(), end.len(), velocity.len()], dt) {
            return;
        }
        if self.collision.is_some() {
            self.find_once(start);
        }
        if let Some(collision) = &mut self.collision {
            let trajectory = &mut Trajectory { start, end, velocity, dt };
            collision.collide(&self.segments, &self.pairs, self.stiction.as_ref(), trajectory);
        }
    }

    fn collide_again(&mut self, start: &[Vec3], end: &mut [Vec3], moved: &[bool], dt: f32) {
        if !self.fits(&[start.len(), end.len(), moved.len()], dt) {
            return;
        }
        if let Some(collision) = &mut self.collision {
            // Pass scratch memory as velocities, which are not used.
            let velocity = &mut self.ahead;
            velocity.resize(start.len(), Vec3::ZERO);
            let trajectory = &mut Trajectory { start, end, velocity, dt };
            let (segments, stiction) = (&self.segments, self.stiction.as_ref());
            collision.collide_again(segments, &self.pairs, stiction, trajectory, moved);
        }
    }

    fn reset(&mut self) {
        self.pairs.reset();
        self.worst = Worst::default();
        if let Some(stiction) = &mut self.stiction {
            stiction.clear();
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        if let Some(stiction) = &self.stiction {
            stiction.save(out);
        }
        self.pairs.save(out);
    }

    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = match &mut self.stiction {
            Some(stiction) => stiction.restore(&self.segments, bytes)?,
            None => bytes,
        };
        self.pairs.restore(rest)
    }
}
