//! A parameter that changes from root to tip.

use std::fmt;

use glam::Vec3;

use super::f32_text;

/// A piecewise linear function of the place on a strand, constant before the first point and after the last. A single
/// number is a constant ramp.
#[derive(Debug, Clone, PartialEq)]
pub struct Ramp(Points);

#[derive(Debug, Clone, PartialEq)]
enum Points {
    Constant(f32),
    /// Places, increasing from 0 (root) to 1 (tip), with their values; at least two.
    Varying(Vec<[f32; 2]>),
}

impl From<f32> for Ramp {
    fn from(value: f32) -> Self {
        Self(Points::Constant(value))
    }
}

impl Ramp {
    /// Largest number of points of a ramp.
    pub const MAX_POINTS: usize = 64;

    /// A ramp through points, each a place from 0 at the root to 1 at the tip, and a value. `None` if places do not
    /// increase, or if there are none or too many. Equal values make a constant.
    pub fn new(points: &[[f32; 2]]) -> Option<Self> {
        let fine = points.iter().all(|[place, _]| (0.0..=1.0).contains(place))
            && points.windows(2).all(|pair| pair[0][0] < pair[1][0])
            && points.len() <= Self::MAX_POINTS;
        let [_, first] = *points.first().filter(|_| fine)?;
        if points.iter().all(|[_, value]| *value == first) {
            return Some(first.into());
        }
        Some(Self(Points::Varying(points.to_vec())))
    }

    /// The value of a constant ramp.
    pub fn constant(&self) -> Option<f32> {
        match self.0 {
            Points::Constant(value) => Some(value),
            Points::Varying(_) => None,
        }
    }

    /// The values at its points.
    pub fn values(&self) -> impl Iterator<Item = f32> + '_ {
        let (constant, points): (_, &[[f32; 2]]) = match &self.0 {
            Points::Constant(value) => (Some(*value), &[]),
            Points::Varying(points) => (None, points),
        };
        constant.into_iter().chain(points.iter().map(|[_, value]| *value))
    }

    /// The value at a place from 0 (root) to 1 (tip).
    pub fn at(&self, place: f32) -> f32 {
        let points = match &self.0 {
            Points::Constant(value) => return *value,
            Points::Varying(points) => points,
        };
        let after = points.partition_point(|[p, _]| *p <= place);
        match (after.checked_sub(1).map(|i| points[i]), points.get(after).copied()) {
            (Some([a, from]), Some([b, to])) => from + (to - from) * ((place - a) / (b - a)),
            (Some([_, value]), None) | (None, Some([_, value])) => value,
            (None, None) => 0.0,
        }
    }

    /// The value at each point of a strand, by arc length.
    pub fn along(&self, line: &[Vec3]) -> Vec<f32> {
        let mut values = Vec::with_capacity(line.len());
        self.extend_along(line, &mut values);
        values
    }

    /// Appends the value at each point of a strand, by arc length.
    pub(crate) fn extend_along(&self, line: &[Vec3], values: &mut Vec<f32>) {
        let (first, mut over) = (values.len(), 0.0);
        for (i, p) in line.iter().enumerate() {
            over += if i > 0 { p.distance(line[i - 1]) } else { 0.0 };
            values.push(over);
        }
        for s in &mut values[first..] {
            *s = self.at(if over > 0.0 { *s / over } else { 0.0 });
        }
    }
}

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Points::Constant(value) => f.write_str(&f32_text(*value)),
            Points::Varying(points) => {
                let point = |[place, value]: &[f32; 2]| {
                    format!("[{}, {}]", f32_text(*place), f32_text(*value))
                };
                write!(f, "[{}]", points.iter().map(point).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_linear_between_its_points_and_constant_beyond() {
        let ramp = Ramp::new(&[[0.2, 1.0], [0.6, 3.0], [0.8, 0.0]]).unwrap();
        for (place, value) in
            [(0.0, 1.0), (0.2, 1.0), (0.4, 2.0), (0.6, 3.0), (0.7, 1.5), (0.8, 0.0), (1.0, 0.0)]
        {
            assert!((ramp.at(place) - value).abs() < 1e-6, "{place}: {}", ramp.at(place));
        }
        assert_eq!(ramp.to_string(), "[[0.2, 1], [0.6, 3], [0.8, 0]]");
        // By arc length, not by index.
        let line = [Vec3::ZERO, Vec3::X * 0.1, Vec3::X * 0.5];
        assert_eq!(ramp.along(&line), [ramp.at(0.0), ramp.at(0.2), ramp.at(1.0)]);
    }

    #[test]
    fn equal_values_are_a_constant_and_wrong_places_none() {
        assert_eq!(Ramp::new(&[[0.0, 2.0], [1.0, 2.0]]), Some(2.0.into()));
        assert_eq!(Ramp::new(&[[0.5, 2.0]]).and_then(|r| r.constant()), Some(2.0));
        let wrong: [&[[f32; 2]]; 5] = [
            &[],
            &[[0.0, 1.0], [0.0, 2.0]],
            &[[0.5, 1.0], [0.2, 2.0]],
            &[[0.0, 1.0], [1.1, 2.0]],
            &[[f32::NAN, 1.0], [1.0, 2.0]],
        ];
        for points in wrong {
            assert_eq!(Ramp::new(points), None, "{points:?}");
        }
    }
}
