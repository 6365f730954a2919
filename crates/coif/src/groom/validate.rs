use glam::Vec3;

use super::{Fibre, Groom};
use crate::limits::MAX_GROOM_COORDINATE;
use crate::{Error, Result};

impl Groom {
    /// Returns an error for the first problem that prevents simulation: no strands, a strand without
    /// a segment, coinciding neighbours, a value that is not finite, an attribute of the wrong size.
    pub fn validate(&self) -> Result<()> {
        // Accept any positive radius: one from a file in another unit gives a warning of the reader.
        let radius = self.fibre.radius;
        if !(radius.is_finite() && radius > 0.0) {
            let (name, expected) = ("fibre radius (m)".into(), "a positive number");
            return Err(Error::OutOfRange { name, value: radius.into(), expected });
        }
        Fibre { radius: Fibre::default().radius, ..self.fibre }.validate()?;
        if self.strands.is_empty() {
            return Err(Error::EmptyGroom);
        }
        let (points, strands) = (self.strands.point_count(), self.strands.strand_count());
        let sizes = [
            ("radius per point", self.radius.len(), points),
            ("colour per point", self.color.as_ref().map_or(points, Vec::len), points),
            ("transparency per point", self.transparency.as_ref().map_or(points, Vec::len), points),
            ("embedded points per strand", self.embedded.len(), strands),
            (
                "root bindings per strand",
                if self.roots.is_empty() { strands } else { self.roots.len() },
                strands,
            ),
        ];
        for (what, found, expected) in sizes {
            if found != expected {
                return Err(Error::WrongCount { what, found, expected });
            }
        }
        if let Some(strips) = &self.strips {
            strips.validate(strands)?;
        }
        for (s, strand) in self.strands.iter().enumerate() {
            if strand.len() < 2 {
                return Err(Error::ShortStrand { strand: s, points: strand.len() });
            }
            self.validate_values(s)?;
            if let Some(p) = strand.windows(2).position(|w| w[0].distance(w[1]) < MIN_SEGMENT) {
                return Err(Error::ZeroSegment { strand: s, point: p });
            }
        }
        Ok(())
    }

    fn validate_values(&self, strand: usize) -> Result<()> {
        let points = self.strands.points_of(strand);
        let not_finite = |point, what| Error::NotFinite { strand, point, what };
        for (i, p) in points.clone().enumerate() {
            if !self.strands.positions()[p].is_finite() {
                return Err(not_finite(i, "position"));
            }
            let distance = self.strands.positions()[p].abs().max_element();
            if distance > MAX_GROOM_COORDINATE {
                return Err(Error::TooFar {
                    strand,
                    point: i,
                    distance,
                    limit: MAX_GROOM_COORDINATE,
                });
            }
            if !(self.radius[p].is_finite() && self.radius[p] >= 0.0) {
                return Err(not_finite(i, "radius"));
            }
            if self.color.as_ref().is_some_and(|c| !c[p].is_finite()) {
                return Err(not_finite(i, "colour"));
            }
            if self.transparency.as_ref().is_some_and(|t| !t[p].is_finite()) {
                return Err(not_finite(i, "transparency"));
            }
        }
        Ok(())
    }

    /// Drops repeated points, then strands with fewer than two points left, which [`Groom::validate`] would reject.
    /// Returns the numbers of points and strands dropped.
    pub fn drop_degenerate(&mut self) -> (usize, usize) {
        let mut kept = Vec::with_capacity(self.strands.point_count());
        let mut counts = Vec::new();
        let mut kept_strands = Vec::new();
        for s in 0..self.strands.strand_count() {
            let start = kept.len();
            for p in self.strands.points_of(s) {
                let here: Vec3 = self.strands.positions()[p];
                let last = kept[start..].last().map(|&q: &usize| self.strands.positions()[q]);
                if last.is_none_or(|last| last.distance(here) >= MIN_SEGMENT) {
                    kept.push(p);
                }
            }
            if kept.len() - start >= 2 {
                counts.push(kept.len() - start);
                kept_strands.push(s);
            } else {
                kept.truncate(start);
            }
        }
        let dropped = (
            self.strands.point_count() - kept.len(),
            self.strands.strand_count() - kept_strands.len(),
        );
        if dropped != (0, 0) {
            self.radius = pick(&self.radius, &kept);
            self.transparency = self.transparency.as_deref().map(|t| pick(t, &kept));
            self.color = self.color.as_deref().map(|c| pick(c, &kept));
            self.embedded = kept_strands
                .iter()
                .zip(&counts)
                .map(|(&s, &n)| self.embedded[s].min(n as u32 - 1).max(1))
                .collect();
            if !self.roots.is_empty() {
                self.roots = kept_strands.iter().map(|&s| self.roots[s]).collect();
            }
            // Drop the strips if strands are dropped: they refer to strands by index.
            self.strips = self.strips.take().filter(|_| dropped.1 == 0);
            let positions = kept.iter().map(|&p| self.strands.positions()[p]).collect();
            self.strands = super::Strands::from_counts(counts, positions).unwrap_or_default();
        }
        dropped
    }
}

fn pick<T: Copy>(values: &[T], kept: &[usize]) -> Vec<T> {
    kept.iter().map(|&i| values[i]).collect()
}

/// Shortest segment with a defined direction in single precision (m): a tenth of a micrometre,
/// far below the radius of any fibre.
pub(crate) const MIN_SEGMENT: f32 = 1e-7;

#[cfg(test)]
mod tests {
    use super::super::{Fibre, Strands};
    use super::*;

    fn groom(strands: &[&[Vec3]]) -> Groom {
        let mut all = Strands::new();
        for s in strands {
            all.push(s);
        }
        Groom::new(all, Fibre::default())
    }

    #[test]
    fn errors_name_strand_and_point() {
        let good: &[Vec3] = &[Vec3::ZERO, Vec3::X];
        assert_eq!(groom(&[good]).validate(), Ok(()));
        assert_eq!(groom(&[]).validate(), Err(Error::EmptyGroom));
        assert_eq!(
            groom(&[good, &[Vec3::ZERO]]).validate(),
            Err(Error::ShortStrand { strand: 1, points: 1 })
        );
        assert_eq!(
            groom(&[good, &[Vec3::ZERO, Vec3::X, Vec3::NAN]]).validate(),
            Err(Error::NotFinite { strand: 1, point: 2, what: "position" })
        );
        assert_eq!(
            groom(&[&[Vec3::ZERO, Vec3::X, Vec3::X]]).validate(),
            Err(Error::ZeroSegment { strand: 0, point: 1 })
        );
        assert!(matches!(
            groom(&[good, &[Vec3::ZERO, Vec3::X * 1e30]]).validate(),
            Err(Error::TooFar { strand: 1, point: 1, .. })
        ));
        let mut wrong = groom(&[good]);
        wrong.radius.push(1.0);
        assert!(matches!(wrong.validate(), Err(Error::WrongCount { found: 3, expected: 2, .. })));
    }

    #[test]
    fn degenerate_points_and_strands_are_dropped_and_counted() {
        let mut g = groom(&[
            &[Vec3::ZERO, Vec3::ZERO, Vec3::X],
            &[Vec3::Y, Vec3::Y],
            &[Vec3::ZERO, Vec3::Z],
        ]);
        g.radius[3] = 7.0;
        assert_eq!(g.drop_degenerate(), (3, 1));
        assert_eq!(g.validate(), Ok(()));
        assert_eq!(g.strands.strand_count(), 2);
        assert!(!g.radius.contains(&7.0));
        assert_eq!(g.drop_degenerate(), (0, 0));
    }
}
