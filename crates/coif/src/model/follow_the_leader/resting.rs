//! Resting contact with the body, part of the implicit step.
//!
//! Collision on the length sphere (`contact.rs`) moves a point without moving its leader. That is the paper's method and
//! right for an impact, but would drag hair along a shoulder without end, as there is no reaction. So collisions
//! of a point are stored, and from the next step on the contact is part of the pass from tip to root.
//!
//! Model: unilateral contact by the augmented Lagrangian. With `n` the normal, `gap(a)` the distance of the point after
//! a displacement `a` from the tangent plane of the collider where it will be at the end of the step, `p` the contact
//! force of the last step and `c` a stiffness, a step minimises in addition
//!
//! ```text
//! c/2 gap(a)^2 - p gap(a)  +  d/2 |a_t - w_t|^2        then   p <- max(0, p - c gap(a))
//! ```
//!
//! The first two terms hold the point on the plane; a contact whose force would be attractive ends. At rest the force
//! converges, so the gap is exact however soft `c` is. The third is Coulomb friction, `w` the motion of the surface.
//!
//! A sticking contact has `d = c` and a friction force that accumulates in the same way (added to the sum, and updated by
//! `- c slip`): it does not creep. Where that force exceeds [`STATIC`] `mu p`, the point slides: it has `d = mu p / slip`
//! with the slip of the last step (lagged diffusivity), with somewhat more friction below [`SLOW`] (Stribeck's law). It
//! sticks again where the force that would stop it with its whole strand is within Coulomb's law, or where it creeps
//! at a constant or falling speed. Friction grows while the strand rests (`ageing.rs`). All terms are convex, and none does
//! work on a body at rest.
//!
//! Units: masses by the mass of a mean segment, forces times `dt^2` (so metres), as in `articulated/`.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x8, f32x16, mask32x8, mask32x16};
use glam::Vec3;

use super::Pass;
use super::block::Block;
use super::collider::Obstacles;
use super::contact::{level_of, material_velocity, tangent_of};
use crate::environment::FieldObstacle;
use crate::math::lanes::{HALF, VECTOR, Vec3x, Vec3x8, half_row};
use crate::math::symmetric::Symmetric;
use crate::math::{Bits, LANES};

/// Contacts stored per point: a crease has two sides.
const CONTACTS: usize = 2;

/// Numbers stored per contact of a row: collider, force along the normal, friction (zero where it slides).
const REMEMBERED: usize = 5;
pub(super) const MEMORY: usize = REMEMBERED * CONTACTS * LANES;

/// Numbers per contact of a row that the first pass computes for the second: normal, displacement of the surface,
/// distance to be kept from it, stiffness along the normal and along the surface, coefficient of friction, last slip.
const TERMS_PER_CONTACT: usize = 11;
pub(super) const TERMS: usize = TERMS_PER_CONTACT * CONTACTS * LANES;

/// Stands for the first distance field in place of a collider's number; those of further bodies follow.
pub(super) const FIELD: f32 = 1e6;

/// Stiffness of a contact, by the inertia of its whole strand, which may load it: a fifth of a change of force is left
/// to the next step. More amplifies the rounding of positions: 4 times 30 segments times 6e-8 m (a metre from
/// the origin) is a twentieth of the weight of a segment in a step of a 240th of a second.
pub(super) const STIFFNESS: f32 = 4.0;

/// Fraction of the force of a contact that the next step begins with. In a crease narrower than twice [`HOVER`] the
/// distances from both sides cannot be kept, and without decay the forces would diverge. It costs a distance of
/// `0.02 p / c`: 3 um at 240 steps a second where 30 segments load the contact with a hundred times the weight of one.
pub(super) const KEPT: f32 = 0.98;

/// Distance (m) from the surface at which contacts hold points: more than rounding, less than a fibre.
pub(super) const HOVER: f32 = 2e-5;

/// Speed (m/s) at which contacts lift points to [`HOVER`]. In one step it would be a perpetual bounce of 5 mm/s at
/// 240 steps a second.
pub(super) const RISE: f32 = 1e-4;

/// Slip speed (m/s) up to which friction is regularised: proportional to the slip.
pub(super) const CREEP: f32 = 1e-3;

/// Slip speed (m/s) below which a sticking contact goes on sticking: contact forces scatter from step to step.
pub(super) const STILL: f32 = 1e-4;

/// Growth of a slip from one step to the next that counts as none: rounding of positions, relative to slips of some um.
pub(super) const STEADY: f32 = 1.02;

/// Speed (m/s) below which friction rises towards that of rest (Stribeck's law).
pub(super) const SLOW: f32 = 0.01;

/// Ratio of friction to its Coulomb limit beyond which the step is solved again: without that, sticking transmits
/// any force in the step in which it breaks loose, and sliding uses the slip of the step before.
pub(super) const EXCESS: f32 = 2.0;

/// Relative increase of friction at zero speed over that of fast sliding.
pub(super) const SLOW_FRICTION: f32 = 0.25;

/// Static friction relative to that of fast sliding. It exceeds that at the lowest speed (contacts age),
/// so that hair at rest stays, instead of creeping at the limit between the two.
pub(super) const STATIC: f32 = 1.5;

/// A row of points, before the step.
#[derive(Clone, Copy)]
pub(super) struct Points<S: Simd> {
    /// Positions (m).
    pub(super) x: Vec3x<S>,
    /// Displacements by the scalp's motion (m).
    pub(super) shift: Vec3x<S>,
    /// Displacements by their velocity (m).
    pub(super) drift: Vec3x<S>,
    /// Estimated displacements in the step: by velocity, or of an earlier solve (m).
    pub(super) displacement: Vec3x<S>,
    /// Their own mass.
    pub(super) mass: f32x16<S>,
    /// Inertia of all that may load them.
    pub(super) inertia: f32x16<S>,
}

/// Contributions of contacts to the inertia and the right-hand side of a row.
pub(super) struct ContactTermsLanes<S: Simd> {
    pub(super) inertia: Symmetric<S>,
    pub(super) rhs: Vec3x<S>,
}

/// Surfaces below some lanes at the end of the step.
struct Surface<S: Simd> {
    normal: Vec3x8<S>,
    /// Distance of the points, moved along with the surface (m).
    distance: f32x8<S>,
    /// Displacement of the surface in the step (m).
    moves: Vec3x8<S>,
    friction: f32x8<S>,
}

/// Whether a row has any stored contact.
#[inline(always)]
pub(super) fn any<S: Simd>(simd: S, memory: &[f32; MEMORY]) -> bool {
    let [first, second] = forces(memory).map(|row| f32x16::from_slice(simd, row));
    first.max(second).simd_gt(0.0).any_true()
}

/// The forces of a row's stored contacts.
#[inline(always)]
pub(super) fn forces(memory: &[f32; MEMORY]) -> [&[f32; LANES]; CONTACTS] {
    let rows = memory.as_chunks::<LANES>().0;
    [&rows[1], &rows[REMEMBERED + 1]]
}

/// Adds a row's stored contacts to the pass from tip to root.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn add_contact_terms<S: Simd>(
    simd: S,
    block: &Block,
    i: usize,
    memory: &mut [f32; MEMORY],
    terms: &mut [f32; TERMS],
    points: &Points<S>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
) -> ContactTermsLanes<S> {
    simd.vectorize(
        #[inline(always)]
        || add_contact_terms_in_lanes(simd, block, i, memory, terms, points, pass, obstacles),
    )
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn add_contact_terms_in_lanes<S: Simd>(
    simd: S,
    block: &Block,
    i: usize,
    memory: &mut [f32; MEMORY],
    terms: &mut [f32; TERMS],
    points: &Points<S>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
) -> ContactTermsLanes<S> {
    let zero = f32x8::splat(simd, 0.0);
    let mut sums = [[zero; 9]; 2];
    let (x, shift, drift) = (points.x.halves(), points.shift.halves(), points.drift.halves());
    let displacement = points.displacement.halves();
    let inertia = <[_; 2]>::from(simd.split_f32x16(points.inertia));
    let mass = <[_; 2]>::from(simd.split_f32x16(points.mass));
    let (memory, terms) = (memory.as_chunks_mut::<HALF>().0, terms.as_chunks_mut::<HALF>().0);
    for half in 0..2 {
        let exists = f32x8::splat(simd, i as f32).simd_le(half_row(simd, &block.last, half));
        let mut allowed = zero;
        if block.began_inside && pass.still_inside > 0.0 {
            let row = &block.depth.as_chunks::<LANES>().0[i];
            allowed = half_row(simd, row, half) * pass.still_inside;
        }
        for k in 0..CONTACTS {
            let row = |j: usize| 2 * (REMEMBERED * k + j) + half;
            let number = |j: usize| f32x8::from_slice(simd, &memory[row(j)]);
            let (id, force) = (number(0), number(1));
            let active = force.simd_gt(0.0) & exists;
            if !active.any_true() {
                continue;
            }
            let friction = Vec3x8 { x: number(2), y: number(3), z: number(4) };
            let mut surface = surfaces(simd, id, active, x[half], pass, obstacles);
            let aged = half_row(simd, &block.ages.settled, half) + 1.0;
            surface.friction *= block.friction(simd, i, half, pass.tie.friction) * aged;
            let n = surface.normal;
            let gap = surface.distance + allowed;
            // Drop contacts that points leave farther than the force could bring them back.
            let out = (drift[half] - surface.moves).dot(n);
            let stays = ((gap + out - HOVER) * mass[half]).simd_lt(force);
            let active = active & stays;
            let force = active.select(force, zero);
            force.store_slice(&mut memory[row(1)]);
            // Hold the points on the plane, and stick or brake them along it.
            let stiffness = active.select(inertia[half] * STIFFNESS, zero);
            let slides = friction.dot(friction).simd_le(0.0);
            let slip = displacement[half] - surface.moves;
            let slip = slip - n * slip.dot(n);
            let slip = slip.length().max(f32x8::splat(simd, CREEP * pass.dt));
            let by = slip * (1.0 / (SLOW * pass.dt));
            let more = f32x8::splat(simd, SLOW_FRICTION) / (by * by + 1.0) + 1.0;
            let along =
                slides.select((surface.friction * more * force / slip).min(stiffness), stiffness);
            let target = surface.moves - shift[half];
            let height = (gap.max(zero) + RISE * pass.dt).min(f32x8::splat(simd, HOVER));
            let offset = n.dot(target) - gap + height;
            let grip = target * along + friction;
            let rhs = grip + n * (stiffness * offset + force - n.dot(grip));
            let outer = n * (stiffness - along);
            let added = [
                outer.x * n.x + along,
                outer.y * n.y + along,
                outer.z * n.z + along,
                outer.x * n.y,
                outer.x * n.z,
                outer.y * n.z,
                rhs.x,
                rhs.y,
                rhs.z,
            ];
            for (sum, add) in sums[half].iter_mut().zip(added) {
                *sum += active.select(add, zero);
            }
            let t = target;
            let left =
                [n.x, n.y, n.z, t.x, t.y, t.z, offset, stiffness, along, surface.friction, slip];
            for (j, value) in left.into_iter().enumerate() {
                value.store_slice(&mut terms[2 * (TERMS_PER_CONTACT * k + j) + half]);
            }
        }
    }
    let whole = |j: usize| simd.combine_f32x8(sums[0][j], sums[1][j]);
    ContactTermsLanes {
        inertia: Symmetric {
            xx: whole(0),
            yy: whole(1),
            zz: whole(2),
            xy: whole(3),
            xz: whole(4),
            yz: whole(5),
        },
        rhs: Vec3x { x: whole(6), y: whole(7), z: whole(8) },
    }
}

/// The surfaces with the numbers `id` below the active lanes.
#[inline(always)]
fn surfaces<S: Simd>(
    simd: S,
    id: f32x8<S>,
    active: mask32x8<S>,
    x: Vec3x8<S>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
) -> Surface<S> {
    let (zero, none) = (f32x8::splat(simd, 0.0), Vec3x8::splat(simd, Vec3::ZERO));
    let mut found = Surface {
        normal: Vec3x8::splat(simd, Vec3::Y),
        distance: zero,
        moves: none,
        friction: zero,
    };
    let mut left = active.to_bitmask() as u32;
    // One collider after the other: neighbouring lanes mostly lie on the same.
    while let Some(lane) = Bits(left.into()).next() {
        let which = id[lane];
        let same = id.simd_eq(which) & active;
        left &= !(same.to_bitmask() as u32 | 1 << lane);
        let collider = obstacles.colliders.get(which as usize);
        let (n, distance, moves, friction) = if let Some(c) = collider.filter(|_| which < FIELD) {
            // Two evaluations, so that a rotation of the collider is exact to second order.
            let moves = material_velocity(simd, c, x) * f32x8::splat(simd, pass.dt);
            let moves = material_velocity(simd, c, x + moves) * f32x8::splat(simd, pass.dt);
            let (s, level2) = level_of(simd, c, x + moves);
            let (n, distance) = tangent_of(simd, c, s, level2);
            (n, distance, moves, c.friction)
        } else if let Some(field) = field_of(obstacles, which) {
            let mut moves = none;
            for lane in Bits(same.to_bitmask()) {
                moves.set_lane(lane, field.field.velocity_at(x.lane(lane)) * pass.dt);
            }
            let asked = same.to_bitmask() as u32;
            let (distance, slope) = field.field.slopes(simd, x + moves, asked);
            let size = slope.length().max(f32x8::splat(simd, 0.1));
            (slope * (f32x8::splat(simd, 1.0) / size), distance - field.skin, moves, field.friction)
        } else {
            // Its collider has been removed: treat it as far away.
            (none, f32x8::splat(simd, 1.0), none, 0.0)
        };
        found.normal = n.or(same, found.normal);
        found.distance = same.select(distance, found.distance);
        found.moves = moves.or(same, found.moves);
        found.friction = same.select(f32x8::splat(simd, friction), found.friction);
    }
    found
}

/// The distance field with a number from [`FIELD`] on.
#[inline(always)]
fn field_of<'a>(obstacles: &Obstacles<'a>, number: f32) -> Option<FieldObstacle<'a>> {
    // A collider that has been removed has a smaller number.
    obstacles.field?.get((number - FIELD).max(0.0) as usize)
}

/// Restitution for the points of a row that have newly collided in the step: they leave the surface at `restitution` of
/// their approach speed. `before` are their velocities at the start of the step, `x` their positions then.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn rebound<S: Simd>(
    simd: S,
    memory: &[f32; MEMORY],
    x: Vec3x<S>,
    before: Vec3x<S>,
    velocity: &mut [f32; VECTOR],
    free: mask32x16<S>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
) {
    simd.vectorize(
        #[inline(always)]
        || rebound_in_lanes(simd, memory, x, before, velocity, free, pass, obstacles),
    );
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn rebound_in_lanes<S: Simd>(
    simd: S,
    memory: &[f32; MEMORY],
    x: Vec3x<S>,
    before: Vec3x<S>,
    velocity: &mut [f32; VECTOR],
    free: mask32x16<S>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
) {
    let (x, before) = (x.halves(), before.halves());
    let free = free.to_bitmask();
    let memory = memory.as_chunks::<HALF>().0;
    let zero = f32x8::splat(simd, 0.0);
    for half in 0..2 {
        let free = mask32x8::from_bitmask(simd, free >> (half * HALF) & 0xff);
        for k in 0..CONTACTS {
            let number =
                |j: usize| f32x8::from_slice(simd, &memory[2 * (REMEMBERED * k + j) + half]);
            let id = number(0);
            let active = number(1).simd_gt(0.0) & free;
            if !active.any_true() {
                continue;
            }
            let surface = surfaces(simd, id, active, x[half], pass, obstacles);
            let (n, moves) = (surface.normal, surface.moves * f32x8::splat(simd, 1.0 / pass.dt));
            let mut fraction = f32x8::splat(simd, pass.restitution);
            for (k, field) in obstacles.field.into_iter().flat_map(FieldObstacle::all).enumerate() {
                let more = fraction.max(f32x8::splat(simd, field.restitution));
                fraction = id.simd_eq(FIELD + k as f32).select(more, fraction);
            }
            let approach = (n.dot(moves - before[half])).max(zero);
            let now = Vec3x8::of_row(simd, velocity, half);
            let faster = (approach * fraction - n.dot(now - moves)).max(zero);
            let rebounds = active & (approach * fraction).simd_gt(0.0);
            (now + n * rebounds.select(faster, zero)).to_row(velocity, half);
        }
    }
}

/// Squared displacement of the surfaces under a row of points relative to the scalp in the step (m^2).
#[inline(always)]
pub(super) fn surface_motion2<S: Simd>(
    simd: S,
    memory: &[f32; MEMORY],
    terms: &[f32; TERMS],
) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let mut farthest2 = zero;
    let terms = terms.as_chunks::<LANES>().0.as_chunks::<TERMS_PER_CONTACT>().0;
    for (force, terms) in forces(memory).into_iter().zip(terms) {
        let active = f32x16::from_slice(simd, force).simd_gt(0.0);
        let (x, y) = (f32x16::from_slice(simd, &terms[3]), f32x16::from_slice(simd, &terms[4]));
        let z = f32x16::from_slice(simd, &terms[5]);
        farthest2 = farthest2.max(active.select(x * x + y * y + z * z, zero));
    }
    farthest2
}

/// Updates the forces of a row with [contact terms](add_contact_terms), after it has been displaced by `a`. Returns a
/// bit for each lane whose friction exceeded its limit by far ([`EXCESS`]): there the step has to be solved
/// again.
#[inline(always)]
pub(super) fn update<S: Simd>(
    simd: S,
    memory: &mut [f32; MEMORY],
    terms: &[f32; TERMS],
    a: Vec3x<S>,
    dt: f32,
) -> u32 {
    let mut excess = 0;
    let (memory, terms) = (memory.as_chunks_mut::<LANES>().0, terms.as_chunks::<LANES>().0);
    let zero = f32x16::splat(simd, 0.0);
    for (memory, terms) in memory
        .as_chunks_mut::<REMEMBERED>()
        .0
        .iter_mut()
        .zip(terms.as_chunks::<TERMS_PER_CONTACT>().0)
    {
        let before = f32x16::from_slice(simd, &memory[1]);
        let active = before.simd_gt(0.0);
        if !active.any_true() {
            continue;
        }
        let number = |j: usize| f32x16::from_slice(simd, &terms[j]);
        let n = Vec3x { x: number(0), y: number(1), z: number(2) };
        let target = Vec3x { x: number(3), y: number(4), z: number(5) };
        let (offset, stiffness, along, friction) = (number(6), number(7), number(8), number(9));
        let force = active.select((before + stiffness * (offset - n.dot(a))).max(zero), zero);
        (force * KEPT).store_slice(&mut memory[1]);
        let slip = a - target;
        let slip = slip - n * n.dot(slip);
        let grip = {
            let number = |j: usize| f32x16::from_slice(simd, &memory[j]);
            Vec3x { x: number(2), y: number(3), z: number(4) }
        };
        let slid = grip.dot(grip).simd_le(0.0);
        // Stick where the force that holds the point, or would stop it with all of its strand, is within Coulomb's law.
        let grip = grip - n * n.dot(grip) - slip * along;
        let stop = slid.select(stiffness * (1.0 / STIFFNESS), zero);
        let trial = grip - slip * stop;
        let max_friction = friction * force;
        let by = slip.dot(slip) * (1.0 / (SLOW * dt * SLOW * dt));
        let slow = f32x16::splat(simd, SLOW_FRICTION) / (by + 1.0) + 1.0;
        let max_friction = max_friction * slid.select(slow, f32x16::splat(simd, STATIC));
        let creeps = slip.dot(slip).simd_lt(CREEP * CREEP * dt * dt) | along.simd_ge(stiffness);
        let before = number(10) * STEADY;
        let steady = slip.dot(slip).simd_le(before * before);
        let size2 = grip.dot(grip);
        // A sticking contact with negligible slip goes on sticking, with friction limited by Coulomb's law.
        let still = slip.dot(slip).simd_lt(STILL * STILL * dt * dt) & !slid;
        let sticks = trial.dot(trial).simd_le(max_friction * max_friction)
            | (creeps & steady & size2.simd_le(max_friction * max_friction))
            | still;
        let size = grip.length().max(f32x16::splat(simd, f32::MIN_POSITIVE));
        let grip = grip * (max_friction / size).min(f32x16::splat(simd, 1.0));
        let grip = grip.or(sticks & active, Vec3x::splat(simd, Vec3::ZERO));
        grip.x.store_slice(&mut memory[2]);
        grip.y.store_slice(&mut memory[3]);
        grip.z.store_slice(&mut memory[4]);
        excess |= (size.simd_gt(max_friction * EXCESS + SLOW * dt) & active).to_bitmask() as u32;
    }
    excess
}

/// Stores a contact of a lane of a row with a collider and a force; returns whether it is new.
pub(super) fn remember(memory: &mut [f32; MEMORY], lane: usize, id: f32, force: f32) -> bool {
    let contacts = memory.as_chunks_mut::<LANES>().0.as_chunks_mut::<REMEMBERED>().0;
    for contact in contacts.iter_mut() {
        if contact[1][lane] > 0.0 && contact[0][lane] == id {
            contact[1][lane] = contact[1][lane].max(force);
            return false;
        }
    }
    let weakest = contacts.iter_mut().min_by(|a, b| a[1][lane].total_cmp(&b[1][lane]));
    for (row, value) in weakest.into_iter().flatten().zip([id, force, 0.0, 0.0, 0.0]) {
        row[lane] = value;
    }
    true
}

/// Copies the stored contacts of a row; without any (`any` is false), clears their forces only.
#[inline(always)]
pub(super) fn copy<S: Simd>(simd: S, to: &mut [f32; MEMORY], from: &[f32; MEMORY], any: bool) {
    if any {
        to.copy_from_slice(from);
        return;
    }
    let none = f32x16::splat(simd, 0.0);
    for contact in to.as_chunks_mut::<LANES>().0.as_chunks_mut::<REMEMBERED>().0 {
        none.store_slice(&mut contact[1]);
    }
}

/// Restores, in the lanes with the bit, the stored contacts at the start of the step, and adds the new ones.
pub(super) fn start_again(found: &mut [f32; MEMORY], start: &[f32; MEMORY], lanes: u32) {
    let number = |memory: &[f32; MEMORY], k: usize, j: usize, lane: usize| {
        memory[(REMEMBERED * k + j) * LANES + lane]
    };
    for lane in Bits(lanes.into()) {
        let new = [0, 1].map(|k| [number(found, k, 0, lane), number(found, k, 1, lane)]);
        // What broke loose in this solve slides from the start of the step.
        let broken = [0, 1].map(|k| {
            new[k][1] > 0.0
                && new[k][0] == number(start, k, 0, lane)
                && (2..REMEMBERED).all(|j| number(found, k, j, lane) == 0.0)
        });
        for k in 0..CONTACTS {
            for j in 0..REMEMBERED {
                let active = number(start, k, 1, lane) > 0.0;
                let mut value = if active { number(start, k, j, lane) } else { 0.0 };
                if j > 1 && broken[k] {
                    value = 0.0;
                }
                found[(REMEMBERED * k + j) * LANES + lane] = value;
            }
        }
        for [id, force] in new.into_iter().filter(|new| new[1] > 0.0) {
            let known =
                |k: usize| number(found, k, 1, lane) > 0.0 && number(found, k, 0, lane) == id;
            if !(0..CONTACTS).any(known) {
                remember(found, lane, id, force);
            }
        }
    }
}

/// Clears the stored contacts of a lane of a row.
pub(super) fn forget(memory: &mut [f32; MEMORY], lane: usize) {
    memory.as_chunks_mut::<LANES>().0.iter_mut().for_each(|row| row[lane] = 0.0);
}
