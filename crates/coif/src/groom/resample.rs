use glam::Vec3;

use super::{Groom, Strands};
use crate::{Error, Result};

impl Groom {
    /// The same groom with `points` points on every strand, at equal arc length.
    ///
    /// New points lie on the original polyline, with the same root and tip, so a strand never
    /// gets longer. Attributes are interpolated; embedded points cover the same length.
    pub fn resampled(&self, points: usize) -> Result<Groom> {
        if points < 2 {
            let value = points as f64;
            return Err(Error::OutOfRange {
                name: "points per strand".into(),
                value,
                expected: "2 or more",
            });
        }
        let total = points * self.strands.strand_count();
        let mut out = Groom {
            strands: Strands::with_capacity(self.strands.strand_count(), total),
            radius: Vec::with_capacity(total),
            color: self.color.as_ref().map(|_| Vec::with_capacity(total)),
            transparency: self.transparency.as_ref().map(|_| Vec::with_capacity(total)),
            embedded: Vec::with_capacity(self.strands.strand_count()),
            roots: self.roots.clone(),
            fibre: self.fibre,
            strips: self.strips.clone(),
            hair_mesh: self.hair_mesh.clone(),
        };
        let mut line = Vec::with_capacity(points);
        for s in 0..self.strands.strand_count() {
            let source = self.strands.strand(s);
            if source.len() < 2 {
                return Err(Error::ShortStrand { strand: s, points: source.len() });
            }
            let first = self.strands.points_of(s).start;
            line.clear();
            let mut embedded = 1;
            for place in places_at_equal_arc_length(source, points) {
                let (i, f) = (first + place.segment, place.fraction);
                line.push(mix(self.strands.positions(), i, f));
                out.radius.push(mix(&self.radius, i, f));
                if let (Some(to), Some(from)) = (&mut out.color, &self.color) {
                    to.push(mix(from, i, f));
                }
                if let (Some(to), Some(from)) = (&mut out.transparency, &self.transparency) {
                    to.push(mix(from, i, f));
                }
                let along = place.segment as f32 + f;
                if along > 0.0 && along <= (self.embedded[s] - 1) as f32 + 1e-4 {
                    embedded += 1;
                }
            }
            out.strands.push(&line);
            out.embedded.push(embedded.min(points as u32 - 1));
        }
        Ok(out)
    }
}

/// A place on a polyline: a segment and a fraction of it (0..1).
struct Place {
    segment: usize,
    fraction: f32,
}

fn places_at_equal_arc_length(line: &[Vec3], points: usize) -> impl Iterator<Item = Place> {
    let lengths: Vec<f64> = line.windows(2).map(|w| f64::from(w[0].distance(w[1]))).collect();
    let total: f64 = lengths.iter().sum();
    let (mut segment, mut passed) = (0, 0.0);
    (0..points).map(move |i| {
        if i + 1 == points {
            return Place { segment: lengths.len() - 1, fraction: 1.0 };
        }
        let target = total * i as f64 / (points - 1) as f64;
        while segment + 1 < lengths.len() && passed + lengths[segment] < target {
            passed += lengths[segment];
            segment += 1;
        }
        let fraction =
            if lengths[segment] > 0.0 { (target - passed) / lengths[segment] } else { 0.0 };
        Place { segment, fraction: fraction.clamp(0.0, 1.0) as f32 }
    })
}

fn mix<T>(values: &[T], i: usize, f: f32) -> T
where
    T: Copy + std::ops::Mul<f32, Output = T> + std::ops::Add<Output = T>,
{
    if f == 0.0 {
        values[i]
    } else if f == 1.0 {
        values[i + 1]
    } else {
        values[i] * (1.0 - f) + values[i + 1] * f
    }
}

#[cfg(test)]
mod tests {
    use super::super::Fibre;
    use super::*;

    fn corner() -> Groom {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::X, Vec3::new(1.0, 3.0, 0.0)]);
        let mut groom = Groom::new(strands, Fibre::default());
        groom.radius = vec![1.0, 2.0, 5.0];
        groom
    }

    #[test]
    fn points_lie_at_equal_arc_length() {
        let out = corner().resampled(5).unwrap();
        let expected = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::new(1.0, 2.0, 0.0),
            Vec3::new(1.0, 3.0, 0.0),
        ];
        for (p, e) in out.strands.strand(0).iter().zip(expected) {
            assert!(p.distance(e) < 1e-6, "{p} {e}");
        }
        for (r, e) in out.radius.iter().zip([1.0, 2.0, 3.0, 4.0, 5.0]) {
            assert!((r - e).abs() < 1e-5);
        }
    }

    #[test]
    fn ends_are_kept_for_any_count() {
        for points in [2, 3, 17, 200] {
            let out = corner().resampled(points).unwrap();
            let strand = out.strands.strand(0);
            assert_eq!(strand.len(), points);
            assert_eq!(strand[0], Vec3::ZERO);
            assert_eq!(strand[points - 1], Vec3::new(1.0, 3.0, 0.0));
        }
        assert!(corner().resampled(1).is_err());
    }

    #[test]
    fn embedded_points_cover_the_same_length() {
        let mut groom = corner();
        groom.embedded = vec![2];
        assert_eq!(groom.resampled(5).unwrap().embedded, vec![2]);
        assert_eq!(groom.resampled(9).unwrap().embedded, vec![3]);
        assert_eq!(groom.resampled(2).unwrap().embedded, vec![1]);
    }
}
