//! Repulsion of hairs that are too near (`selle2008` 5.3).
//!
//! Two segments nearer than a thickness get impulses that stop their approach, a spring force, and friction. Pairs
//! with a stiction spring are left out: the spring repels as well.

use fearless_simd::dispatch;
use glam::Vec3;

use super::impulses::{Impulses, Link, Lists, across, with_friction};
use super::spring::ContactSpring;
use super::stiction::Stiction;
use crate::Result;
use crate::contact::detection::culling::keep_near;
use crate::contact::detection::pairs::{BATCH, Move, Pairs};
use crate::contact::detection::segments::{Segments, closest_points_segment_segment};
use crate::math::group::make_room;
use crate::params::parameters;

/// Damping of the springs between hairs in contact over their stiffness (s): it stops snapping hair
/// without oscillation. With none they oscillate; with a hundredth
/// of a second, stiff ones are too ill-conditioned for the solver.
const DAMPING_TIME: f32 = 4e-3;

parameters! {
    /// Parameters of repulsion. The defaults are for human hair.
    pub struct Settings of "repulsion" {
        /// Distance below which two hairs repel each other.
        ///
        /// Somewhat more than the hair's diameter, so that most contacts are soft and few are left to
        /// [`edge_collision`](super::edge_collision).
        thickness: f32 = 0.2e-3, "m", 1e-6..=0.1;
        /// Force per depth.
        stiffness: f32 = 0.02, "N/m", 0.0..=1000.0;
        /// Largest fraction of the depth that a substep corrects: more makes hair bounce.
        fraction as "share": f32 = 0.1, "", 0.0..=1.0;
        /// Coulomb friction between hairs: about 0.2 along the scales, 0.4 against them.
        friction: f32 = 0.3, "", 0.0..=10.0;
        /// Iterations over all pairs per substep.
        rounds: u32 = 4, "", 1..=100;
        /// Whether model mass-spring solves for hairs in contact, so that hair resists hair that
        /// winds around it: for a few hairs.
        ///
        /// Contact forces propagate along all of the hair within a substep then, which costs iterations.
        firm: bool = false;
    }
}

/// Repulsion between hairs, with its memory.
#[derive(Debug, Default)]
pub(crate) struct Repulsion {
    settings: Settings,
    found: Lists<RepulsionContact>,
    links: Vec<Link>,
    contacts: Vec<RepulsionContact>,
    impulses: Impulses,
    /// Displacements of segments since the last update of the pairs; empty if there are none.
    moves: Vec<Move>,
    contact_springs: Lists<ContactSpring>,
}

/// Two segments that are too near.
#[derive(Debug, Clone, Copy)]
struct RepulsionContact {
    link: Link,
    /// Unit normal from the second to the first.
    normal: Vec3,
    /// Smallest relative speed along the normal after the impulses (m/s).
    target: f32,
}

impl Repulsion {
    /// Checks the parameters.
    pub(crate) fn new(settings: &Settings) -> Result<Self> {
        settings.validate()?;
        Ok(Self { settings: settings.clone(), ..Self::default() })
    }

    /// Number of pairs that were too near in the last step.
    pub(crate) fn contact_count(&self) -> usize {
        self.links.len()
    }

    /// Whether the model solves for hairs in contact.
    pub(in crate::contact) fn is_firm(&self) -> bool {
        self.settings.firm
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let contacts = self.contacts.capacity() * size_of::<RepulsionContact>();
        contacts
            + 16 * (self.links.capacity() + self.moves.capacity())
            + self.found.bytes()
            + self.impulses.bytes()
            + self.contact_springs.bytes()
    }

    /// Adds a spring for every pair that would come nearer than the thickness within `dt` seconds at
    /// the current velocities.
    ///
    /// Model: a spring between the current closest points, with the thickness as rest length, for one substep. It has no
    /// friction, so that hair slides.
    pub(in crate::contact) fn add_contact_springs(
        &mut self,
        pairs: &Pairs,
        stiction: Option<&Stiction>,
        position: &[Vec3],
        velocity: &[Vec3],
        dt: f32,
        springs: &mut Vec<ContactSpring>,
    ) {
        let Settings { thickness, stiffness, .. } = self.settings;
        self.contact_springs.fill(pairs.points(), |range, list| {
            for a in range {
                for &b in pairs.of(a) {
                    let of = |s: usize| [position[s], position[s + 1]];
                    let closest = closest_points_segment_segment(of(a), of(b as usize));
                    let link = Link { a: a as u32, b, at: [closest.s, closest.t] };
                    let Some(normal) = closest.apart.try_normalize() else { continue };
                    let rate = link.difference(velocity).dot(normal);
                    let in_contact = closest.distance() + dt * rate.min(0.0) < thickness;
                    if in_contact && !stiction.is_some_and(|stiction| stiction.holds(a as u32, b)) {
                        list.push(ContactSpring {
                            segments: [link.a, b],
                            at: link.at,
                            rest: thickness,
                            stiffness,
                            damping: stiffness * DAMPING_TIME,
                        });
                    }
                }
            }
        });
        make_room(springs, springs.len() + self.contact_springs.len());
        springs.extend(self.contact_springs.iter());
    }

    /// Changes velocities so that hairs nearer than the thickness do not approach each other in the next `dt`
    /// seconds.
    ///
    /// Model: along the normal, an inelastic impulse stops the approach; a spring adds the impulse
    /// `dt k depth`, limited so that the pair separates by at most a fraction of the depth in
    /// the step. The friction impulse is at most its coefficient times the normal impulse.
    /// Source: `selle2008` 5.3, after the edge/edge repulsion of Bridson et al. 2002.
    /// Deviations: block Jacobi instead of one pair after the other, see `impulses.rs`; the target speed of a pair
    /// is computed before the first iteration, so that the spring does not act once per iteration.
    pub(crate) fn repel(
        &mut self,
        segments: &Segments,
        pairs: &Pairs,
        stiction: Option<&Stiction>,
        position: &[Vec3],
        velocity: &mut [Vec3],
        dt: f32,
    ) {
        let settings = &self.settings;
        let thickness = settings.thickness;
        let inverse_mass = segments.inverse_mass();
        let motion: &[Vec3] = velocity;
        self.moves.clear();
        self.moves.reserve(segments.points());
        if !pairs.are_for(position) {
            pairs.moves(position, &mut self.moves);
        }
        // Find the pairs in contact, and the target speed of each.
        let moves = &self.moves;
        self.found.fill(pairs.points(), |range, list| {
            // Leave out pairs that are too far apart for the displacements since the last update.
            let near = |a: usize, b: usize, apart: f32| {
                let nearer = moves.get(a).map_or(0.0, |moved| moved.approach(&moves[b]));
                apart - nearer < thickness
            };
            let mut close = [(0, 0); BATCH];
            let mut contact = |a: usize, second: usize| {
                let b = second as u32;
                let of = |s: usize| [position[s], position[s + 1]];
                let (p, q) = (of(a), of(second));
                let closest = closest_points_segment_segment(p, q);
                let depth = thickness - closest.distance();
                // NaN is not near.
                let near = depth > 0.0;
                if !near || stiction.is_some_and(|stiction| stiction.holds(a as u32, b)) {
                    return;
                }
                let normal = closest
                    .apart
                    .try_normalize()
                    .unwrap_or_else(|| across(p[1] - p[0], q[1] - q[0]));
                let link = Link { a: a as u32, b, at: [closest.s, closest.t] };
                let lightness: f32 =
                    link.points().iter().map(|&(p, w)| w * w * inverse_mass[p]).sum();
                if lightness > 0.0 {
                    let speed = link.difference(motion).dot(normal).max(0.0);
                    let pushed = speed + dt * settings.stiffness * depth * lightness;
                    let target = pushed.min((settings.fraction * depth / dt).max(speed));
                    list.push(RepulsionContact { link, normal, target });
                }
            };
            pairs.each_batch(range, &[position, motion], near, |batch| {
                let (kept, level) = (&mut close, pairs.level());
                let count =
                    dispatch!(level, simd => keep_near(simd, batch, position, thickness, kept));
                close[..count].iter().for_each(|&(a, b)| contact(a as usize, b as usize));
            });
        });
        // Collect the contacts of all tasks.
        self.contacts.clear();
        self.links.clear();
        make_room(&mut self.contacts, self.found.len());
        make_room(&mut self.links, self.found.len());
        self.contacts.extend(self.found.iter());
        self.links.extend(self.contacts.iter().map(|contact| contact.link));
        if self.links.is_empty() {
            self.impulses.reserve(segments.points());
            return;
        }
        // Iterate over all pairs.
        self.impulses.prepare(segments, &self.links);
        let friction = settings.friction;
        for _ in 0..settings.rounds {
            let (links, contacts) = (&self.links, &mut self.contacts);
            self.impulses.round(links, contacts, velocity, |_, contact, pair| {
                let missing = contact.target - pair.velocity.dot(contact.normal);
                if missing <= 0.0 {
                    return Vec3::ZERO;
                }
                with_friction(contact.normal, missing / pair.inverse_mass, friction, &pair)
            });
            self.impulses.add_to(segments, links, velocity);
        }
    }
}
