//! The springs between hairs as a matrix: `C = sum c g g^T`, one row of g per spring.
//!
//! Threads share springs, then points, and never a result.

use glam::Vec3;
use rayon::prelude::*;

use crate::contact::ContactSpring;
use crate::math::group::{Keyed, group};

/// Points or springs that one task takes at least.
const LEAST: usize = 1024;

/// What a point may do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Freedom {
    /// Nothing: its velocity is given.
    #[default]
    Held,
    /// It moves across this direction only: it lies on the body.
    Across(Vec3),
    /// It moves.
    Free,
}

/// A point as the springs see it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointState {
    pub(super) position: Vec3,
    pub(super) velocity: Vec3,
    pub(super) freedom: Freedom,
}

/// A spring with its direction frozen: its rate is `sum g_i . v_i`.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    points: [u32; 4],
    /// Weight times direction, without what a point may not do; nothing if it has no direction.
    g: [Vec3; 4],
    /// What it adds to the matrix per `g g^T`.
    coefficient: f32,
    /// Impulse (N s) with which it pulls.
    pull: f32,
}

/// The springs, and the points that they tie.
#[derive(Debug, Default)]
pub(super) struct Net {
    links: Vec<Link>,
    /// Per point: where its ends of springs begin; then the ends, each four times the spring's number
    /// plus which of its points it is.
    first: Vec<u32>,
    ends: Vec<u32>,
    /// Per end: the spring's g there.
    end_g: Vec<Vec3>,
    states: Vec<PointState>,
    value: Vec<Vec3>,
    rate: Vec<f32>,
    sum: Vec<Vec3>,
}

impl Net {
    pub(super) fn new(points: usize) -> Self {
        Self {
            first: vec![0; points + 1],
            states: vec![PointState::default(); points],
            value: vec![Vec3::ZERO; points],
            sum: vec![Vec3::ZERO; points],
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Forgets the springs.
    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    /// What the last product is at each point.
    pub(super) fn sums(&self) -> &[Vec3] {
        &self.sum
    }

    /// Takes over which points the springs tie: lists the ends of springs at every point, in the order
    /// of the springs. A spring between points that are not there is tied to nothing.
    pub(super) fn tie(&mut self, springs: &[ContactSpring]) {
        let ends = Tied { springs, points: self.sum.len() as u32 };
        let count = ends.count();
        group(&ends, self.sum.len(), count, &mut self.first, &mut self.ends);
        self.end_g.resize(self.ends.len(), Vec3::ZERO);
        self.rate.resize(springs.len(), 0.0);
    }

    /// Takes over where the points are.
    pub(super) fn see(&mut self, state: impl Fn(usize) -> PointState + Sync) {
        let states = self.states.par_iter_mut().enumerate().with_min_len(LEAST);
        states.for_each(|(i, to)| *to = state(i));
    }

    /// Freezes the directions of the springs that have been tied; `share` is the time over which they
    /// pull (s, scaled), `look_ahead` that by which they look ahead (s).
    ///
    /// Source: `selle2008` 4.1.
    pub(super) fn freeze(&mut self, springs: &[ContactSpring], share: f32, look_ahead: f32) {
        self.links.resize(springs.len(), Link::default());
        let states = &self.states;
        let links = self.links.par_iter_mut().zip(springs).with_min_len(LEAST);
        links.for_each(|(link, spring)| {
            *link = frozen(spring, states, share, look_ahead).unwrap_or_default();
        });
        let (links, ends) = (&self.links, &self.ends);
        self.end_g.par_iter_mut().zip(ends).with_min_len(LEAST).for_each(|(g, &end)| {
            *g = links[end as usize / 4].g[end as usize % 4];
        });
    }

    /// Multiplies with all springs what `value` gives for each point; the sums are the product.
    pub(super) fn multiply(&mut self, value: impl Fn(usize) -> Vec3 + Sync) {
        let values = self.value.par_iter_mut().enumerate().with_min_len(LEAST);
        values.for_each(|(i, to)| *to = value(i));
        let value = &self.value;
        self.rate.par_iter_mut().zip(&self.links).with_min_len(LEAST).for_each(|(rate, link)| {
            *rate = 0.0;
            if link.coefficient != 0.0 {
                let part = |i: usize| link.g[i].dot(value[link.points[i] as usize]);
                *rate = link.coefficient * (part(0) + part(1) + part(2) + part(3));
            }
        });
        self.sum_up();
    }

    /// The sums are what the springs pull.
    pub(super) fn pull(&mut self) {
        let links = self.rate.par_iter_mut().zip(&self.links).with_min_len(LEAST);
        links.for_each(|(rate, link)| *rate = link.pull);
        self.sum_up();
    }

    /// Adds up what the springs at every point give.
    fn sum_up(&mut self) {
        let (ends, end_g, rate) = (&self.ends, &self.end_g, &self.rate);
        let points = self.sum.par_iter_mut().zip(self.first.par_windows(2)).with_min_len(LEAST);
        points.for_each(|(sum, range)| {
            *sum = Vec3::ZERO;
            for end in range[0] as usize..range[1] as usize {
                *sum += end_g[end] * rate[ends[end] as usize / 4];
            }
        });
    }
}

/// The ends of springs by the points that they tie.
struct Tied<'a> {
    springs: &'a [ContactSpring],
    points: u32,
}

impl Tied<'_> {
    fn count(&self) -> usize {
        let mut count = 0;
        self.each(|_, _| count += 1);
        count
    }
}

impl Keyed for Tied<'_> {
    fn each(&self, mut take: impl FnMut(u32, u32)) {
        let ends = self.springs.iter().flat_map(|s| s.points).enumerate();
        for (end, point) in ends.filter(|&(_, point)| point < self.points) {
            take(point, end as u32);
        }
    }
}

/// A spring with its direction frozen; `None` if it has none.
fn frozen(
    spring: &ContactSpring,
    states: &[PointState],
    share: f32,
    look_ahead: f32,
) -> Option<Link> {
    let [a, b, c, d] = spring.points.map(|p| states.get(p as usize));
    let states = [a?, b?, c?, d?];
    let (mut way, mut velocity) = (Vec3::ZERO, Vec3::ZERO);
    for i in 0..4 {
        way += states[i].position * spring.weights[i];
        velocity += states[i].velocity * spring.weights[i];
    }
    let length = way.length();
    let direction = way.try_normalize()?;
    let rate = velocity.dot(direction);
    let lag = look_ahead * spring.stiffness + spring.damping;
    let pull = share * (spring.stiffness * (length - spring.rest) + lag * rate);
    let g = std::array::from_fn(|i| {
        let g = direction * spring.weights[i];
        match states[i].freedom {
            Freedom::Held => Vec3::ZERO,
            Freedom::Across(normal) => g - normal * g.dot(normal),
            Freedom::Free => g,
        }
    });
    let all_finite = pull.is_finite() && direction.is_finite();
    all_finite.then_some(Link { points: spring.points, g, coefficient: share * lag, pull })
}
