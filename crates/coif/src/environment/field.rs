//! Bodies that hair collides with as distance fields: usually one, the body that it grows on, or several.
//!
//! Models query all of them as one obstacle: the distance is the smallest of all, normal, velocity and friction are those
//! of the nearest surface. With a single field every query is that of this field.

use fearless_simd::{Select, Simd, SimdBase, f32x8};
use glam::Vec3;

use super::SurfaceField;
use crate::body::distance_field::{DistanceField, FieldSample};
use crate::body::level_set_time::LevelSetInTime;
use crate::math::lanes::Vec3x8;

/// A body that hair collides with as a distance field, and more bodies like that.
#[derive(Clone, Copy)]
pub struct FieldObstacle<'a> {
    /// Distance to the surface at the end of the step, and its velocity.
    pub field: &'a DistanceField,
    /// Its motion in the step, for a model that [splits steps](crate::model::Capabilities::splits_steps).
    pub motion: Option<FieldMotion<'a>>,
    /// Coefficient of Coulomb friction.
    pub friction: f32,
    /// Restitution: fraction of the approach speed that is left after an impact.
    pub restitution: f32,
    /// Distance that hair keeps from the surface (m), the same for all bodies.
    pub skin: f32,
    /// Whether it is not the body that the hair grows on.
    pub is_of_another: bool,
    /// Further bodies, which are not the one that the hair grows on.
    pub others: &'a [SurfaceField],
}

/// The motion of a field during a step.
#[derive(Clone, Copy)]
pub struct FieldMotion<'a> {
    /// Distance to the surface at the start of the step. Its velocity, and that of the field at the end,
    /// is the displacement of each point of the surface in this step, over the length of the step.
    pub start: &'a DistanceField,
    /// Speed of the fastest point of the surface (m/s).
    pub fastest: f32,
}

impl<'a> FieldObstacle<'a> {
    /// The body that the hair grows on, alone, at rest and without friction; hair keeps a distance of `skin` (m).
    pub fn new(field: &'a DistanceField, skin: f32) -> Self {
        Self {
            field,
            motion: None,
            friction: 0.0,
            restitution: 0.0,
            skin,
            is_of_another: false,
            others: &[],
        }
    }

    /// The surface of the first body at any time of a step of length `dt` (s), if its motion is known.
    pub fn in_time(&self, dt: f32) -> Option<LevelSetInTime<'a>> {
        self.motion.map(|motion| LevelSetInTime::new(motion.start, self.field, dt))
    }

    /// The first body alone.
    #[inline]
    fn first(&self) -> Self {
        Self { others: &[], ..*self }
    }

    /// The body that the hair grows on, if it is there.
    pub(crate) fn of_own_body(&self) -> Option<Self> {
        (!self.is_of_another).then(|| self.first())
    }

    /// All bodies, each alone.
    pub fn all(&self) -> impl Iterator<Item = FieldObstacle<'a>> + use<'a> {
        std::iter::once(self.first()).chain(self.others.iter().map(SurfaceField::obstacle))
    }

    /// One of the bodies, by its number in [`all`](Self::all).
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<Self> {
        match number.checked_sub(1) {
            None => Some(self.first()),
            Some(other) => self.others.get(other).map(SurfaceField::obstacle),
        }
    }

    /// The body with the nearest surface, or the one that the point is deepest in, and its number.
    #[inline]
    pub(crate) fn nearest(&self, p: Vec3) -> (usize, Self) {
        if self.others.is_empty() { (0, *self) } else { self.nearest_of_several(p) }
    }

    #[cold]
    #[inline(never)]
    fn nearest_of_several(&self, p: Vec3) -> (usize, Self) {
        let (mut number, mut min_distance) = (0, self.field.distance_at(p));
        for (k, other) in self.others.iter().enumerate() {
            let distance = other.field().distance_at(p);
            if distance < min_distance {
                (number, min_distance) = (k + 1, distance);
            }
        }
        (number, self.get(number).unwrap_or(*self))
    }

    /// Distance to the nearest surface (m), negative inside.
    #[inline]
    pub fn distance_at(&self, p: Vec3) -> f32 {
        let first = self.field.distance_at(p);
        if self.others.is_empty() {
            return first;
        }
        self.others.iter().fold(first, |least, other| least.min(other.field().distance_at(p)))
    }

    /// Distance to the nearest surface, its normalised gradient, and velocity.
    #[inline]
    pub fn sample(&self, p: Vec3) -> FieldSample {
        self.nearest(p).1.field.sample(p)
    }

    /// [`distance_at`](Self::distance_at) for the lanes whose bits are set in `asked`, and the gradient of the
    /// interpolant, which is about a unit vector. Other lanes are undefined.
    #[inline(always)]
    pub(crate) fn slopes<S: Simd>(
        &self,
        simd: S,
        p: Vec3x8<S>,
        asked: u32,
    ) -> (f32x8<S>, Vec3x8<S>) {
        let (distance, gradient) = self.field.slopes(simd, p, asked);
        if self.others.is_empty() {
            return (distance, gradient);
        }
        let (distance, gradient, _) = self.nearer_slopes(simd, p, asked, (distance, gradient));
        (distance, gradient)
    }

    /// [`slopes`](Self::slopes), and the number of the nearest body.
    #[inline(always)]
    pub(crate) fn numbered_slopes<S: Simd>(
        &self,
        simd: S,
        p: Vec3x8<S>,
        asked: u32,
    ) -> (f32x8<S>, Vec3x8<S>, f32x8<S>) {
        let (distance, gradient) = self.field.slopes(simd, p, asked);
        if self.others.is_empty() {
            return (distance, gradient, f32x8::splat(simd, 0.0));
        }
        self.nearer_slopes(simd, p, asked, (distance, gradient))
    }

    /// The nearest of the first body and all others, where the result of the first is known.
    #[cold]
    #[inline(never)]
    fn nearer_slopes<S: Simd>(
        &self,
        simd: S,
        p: Vec3x8<S>,
        asked: u32,
        first: (f32x8<S>, Vec3x8<S>),
    ) -> (f32x8<S>, Vec3x8<S>, f32x8<S>) {
        simd.vectorize(
            #[inline(always)]
            || {
                let (mut distance, mut gradient) = first;
                let mut number = f32x8::splat(simd, 0.0);
                for (k, other) in self.others.iter().enumerate() {
                    let (d, g) = other.field().slopes(simd, p, asked);
                    let nearer = d.simd_lt(distance);
                    distance = nearer.select(d, distance);
                    gradient = g.or(nearer, gradient);
                    number = nearer.select(f32x8::splat(simd, k as f32 + 1.0), number);
                }
                (distance, gradient, number)
            },
        )
    }
}
