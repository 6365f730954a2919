//! Hair as strips: each wisp is a band of quads in one of several layers over the scalp.
//!
//! A strip is a chain of joints, which is its first edge, and a width; the second edge is offset from
//! it along the binormal. A *virtual point* below the scalp, behind the anchor, gives the
//! direction of growth (`jung2005` 4.1). Strips are made from scalp polygons ([`scalp`]) or from the
//! strands of any groom ([`wisps`]); `locate.rs` binds strands to them. `model::cantilever` moves
//! strips; `grow::strips` moves strands with them and makes quads of strips.

mod frame;
mod locate;
mod order;
pub mod scalp;
pub mod texture;
pub mod wisps;

use glam::Vec3;

pub use self::frame::JointFrame;
pub(crate) use self::frame::SMALLEST_TURN;
use super::Strands;
use crate::math::random::{GOLDEN, mix_bits, unit_from_bits};
use crate::{Error, Result};

/// Wisps as bands of quads, in their rest shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Strips {
    /// First edges, anchor to tip: the joints.
    pub edges: Strands,
    /// Per strip: the virtual point behind the anchor, below the scalp (m).
    pub virtual_point: Vec<Vec3>,
    /// Per strip: direction from the anchor to the second edge; a unit vector.
    pub binormal: Vec<Vec3>,
    /// Per strip: distance of the second edge (m).
    pub width: Vec<f32>,
    /// Per strip: its layer; 0 is next to the scalp.
    pub layer: Vec<u32>,
    /// Per strip: the strip that it lies on, which its joints do not penetrate, joint by joint;
    /// [`Strips::NONE`] if there is no such strip. Empty if no strip lies on another.
    pub below: Vec<u32>,
    /// Per strand of the groom: its strip.
    pub strip_of_strand: Vec<u32>,
}

/// Positions and frames of all joints of strips at one time, in the order of [`Strips::edges`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StripPose {
    /// The joints: the first edges (m).
    pub position: Vec<Vec3>,
    /// Unit vectors along the strips.
    pub tangent: Vec<Vec3>,
    /// Unit vectors across the strips.
    pub binormal: Vec<Vec3>,
}

impl Strips {
    /// Value of [`below`](Self::below) for a strip that lies on no other.
    pub const NONE: u32 = u32::MAX;

    /// Number of strips.
    pub fn count(&self) -> usize {
        self.edges.strand_count()
    }

    /// Number of layers.
    pub fn layers(&self) -> u32 {
        self.layer.iter().max().map_or(0, |top| top + 1)
    }

    /// The strip that a strip lies on.
    pub fn lies_on(&self, strip: usize) -> Option<usize> {
        self.below.get(strip).filter(|&&below| below != Self::NONE).map(|&below| below as usize)
    }

    /// Stacks of strips that lie on each other, lowest first; every strip is in one column. Columns are in the
    /// order of their lowest strips.
    pub fn columns(&self) -> Vec<Vec<usize>> {
        let mut columns: Vec<Vec<usize>> = Vec::new();
        let mut column_of = vec![0; self.count()];
        for s in 0..self.count() {
            match self.lies_on(s) {
                Some(below) => column_of[s] = column_of[below],
                None => {
                    column_of[s] = columns.len();
                    columns.push(Vec::new());
                }
            }
            columns[column_of[s]].push(s);
        }
        columns
    }

    /// A selection of the strips, in the given order, without strands. A strip whose lower one is left out lies
    /// on the next one below that.
    pub fn pick(&self, strips: &[usize]) -> Self {
        let mut edges = Strands::new();
        strips.iter().for_each(|&s| edges.push(self.edges.strand(s)));
        let mut new_name = vec![Self::NONE; self.count()];
        let mut taken = vec![false; strips.len()];
        let mut below = Vec::with_capacity(if self.below.is_empty() { 0 } else { strips.len() });
        if !self.below.is_empty() {
            for (name, &s) in strips.iter().enumerate() {
                let mut at = self.lies_on(s);
                while let Some(lower) = at
                    && new_name[lower] == Self::NONE
                {
                    at = self.lies_on(lower);
                }
                // Let at most one strip lie on another, also where a strip is picked twice.
                let lower = at.map(|s| new_name[s]).filter(|&s| !taken[s as usize]);
                lower.iter().for_each(|&s| taken[s as usize] = true);
                below.push(lower.unwrap_or(Self::NONE));
                new_name[s] = name as u32;
            }
        }
        Self {
            edges,
            virtual_point: strips.iter().map(|&s| self.virtual_point[s]).collect(),
            binormal: strips.iter().map(|&s| self.binormal[s]).collect(),
            width: strips.iter().map(|&s| self.width[s]).collect(),
            layer: strips.iter().map(|&s| self.layer[s]).collect(),
            below,
            ..Self::default()
        }
    }

    /// The frame at the anchor of a strip: along the direction of growth.
    ///
    /// Source: `jung2005` 4.3 step 3, `T = A - V`.
    pub(crate) fn root_frame(&self, strip: usize) -> JointFrame {
        let anchor = self.edges.strand(strip)[0];
        JointFrame::new(anchor - self.virtual_point[strip], self.binormal[strip])
    }

    /// The frames of a strip's joints in the rest shape: the frame at the anchor, parallel transported from segment
    /// to segment. The tangent of a joint is the direction of the segment that ends there.
    ///
    /// Deviations: the paper has one binormal for the whole strip. Where the strip bends about its binormal
    /// the result is the same; elsewhere one binormal would shear the quads.
    pub fn rest_frames(&self, strip: usize, out: &mut Vec<JointFrame>) {
        let line = self.edges.strand(strip);
        let mut frame = self.root_frame(strip);
        out.clear();
        out.push(frame);
        for pair in line.windows(2) {
            frame = frame.transported((pair[1] - pair[0]).normalize_or(frame.tangent));
            out.push(frame);
        }
    }

    /// The joints in the rest shape.
    pub fn rest_pose(&self) -> StripPose {
        let mut pose =
            StripPose { position: self.edges.positions().to_vec(), ..Default::default() };
        let mut frames = Vec::new();
        for s in 0..self.count() {
            self.rest_frames(s, &mut frames);
            pose.tangent.extend(frames.iter().map(|f| f.tangent));
            pose.binormal.extend(frames.iter().map(|f| f.binormal));
        }
        pose
    }

    /// Returns an error for the first invalid element, for a groom of `strands` strands.
    pub fn validate(&self, strands: usize) -> Result<()> {
        let count = self.count();
        let below = if self.below.is_empty() { count } else { self.below.len() };
        let sizes = [
            ("virtual points per strip", self.virtual_point.len(), count),
            ("binormals per strip", self.binormal.len(), count),
            ("widths per strip", self.width.len(), count),
            ("layers per strip", self.layer.len(), count),
            ("strips per strand", self.strip_of_strand.len(), strands),
            ("strips below per strip", below, count),
        ];
        for (what, found, expected) in sizes {
            if found != expected {
                return Err(Error::WrongCount { what, found, expected });
            }
        }
        let named = self.strip_of_strand.iter().map(|&s| ("strip of a strand", s, count));
        for (name, index, limit) in named {
            if index as usize >= limit {
                let (name, value) = (name.into(), index.into());
                return Err(Error::OutOfRange { name, value, expected: "the index of a strip" });
            }
        }
        let mut taken = vec![false; count];
        for s in 0..count {
            let Some(below) = self.lies_on(s) else { continue };
            if below >= s || std::mem::replace(&mut taken[below], true) {
                return Err(Error::OutOfRange {
                    name: format!("strip below strip {s}"),
                    value: below as f64,
                    expected: "an earlier strip, with no other strip on it",
                });
            }
        }
        for s in 0..count {
            let line = self.edges.strand(s);
            if line.len() < 2 {
                return Err(Error::ShortStrand { strand: s, points: line.len() });
            }
            if let Some(point) = line.iter().position(|p| !p.is_finite()) {
                return Err(Error::NotFinite { strand: s, point, what: "joint of a strip" });
            }
            if let Some(point) = line.windows(2).position(|w| w[0].distance(w[1]) < SHORTEST) {
                return Err(Error::ZeroSegment { strand: s, point });
            }
            let (v, b, w) = (self.virtual_point[s], self.binormal[s], self.width[s]);
            if !(v.is_finite() && b.is_finite() && w.is_finite() && w >= 0.0) {
                return Err(Error::NotFinite { strand: s, point: 0, what: "width of a strip" });
            }
        }
        Ok(())
    }
}

/// Shortest segment of a strip (m): a thousandth of a millimetre; shorter ones have no direction.
pub(crate) const SHORTEST: f32 = 1e-6;

/// A pseudo-random number in 0..1 that depends only on a seed and an index.
pub(crate) fn unit(seed: u64, index: u64) -> f32 {
    unit_from_bits(mix_bits(seed ^ index.wrapping_mul(GOLDEN)))
}

/// Points at equal arc length along a line of two points or more, the ends included.
pub fn at_equal_arc_length(line: &[Vec3], count: usize) -> Vec<Vec3> {
    let total: f32 = line.windows(2).map(|w| w[0].distance(w[1])).sum();
    let mut out = Vec::with_capacity(count);
    let (mut segment, mut before) = (0, 0.0f32);
    for j in 0..count {
        let target = total * j as f32 / (count - 1).max(1) as f32;
        let length = |i: usize| line[i].distance(line[i + 1]);
        while segment + 2 < line.len() && before + length(segment) < target {
            before += length(segment);
            segment += 1;
        }
        let fraction = ((target - before) / length(segment).max(SHORTEST)).clamp(0.0, 1.0);
        out.push(line[segment].lerp(line[segment + 1], fraction));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Strips {
        let mut edges = Strands::new();
        edges.push(&[Vec3::ZERO, Vec3::Y * 0.1, Vec3::new(0.1, 0.1, 0.0)]);
        Strips {
            edges,
            virtual_point: vec![Vec3::NEG_Y * 0.1],
            binormal: vec![Vec3::Z],
            width: vec![0.01],
            layer: vec![0],
            strip_of_strand: vec![0, 0],
            ..Strips::default()
        }
    }

    #[test]
    fn a_strip_that_bends_about_its_binormal_keeps_it() {
        let mut frames = Vec::new();
        one().rest_frames(0, &mut frames);
        assert_eq!(frames.len(), 3);
        assert!(frames.iter().all(|f| f.binormal.distance(Vec3::Z) < 1e-6));
        assert!(frames[2].tangent.distance(Vec3::X) < 1e-6);
    }

    #[test]
    fn errors_name_the_invalid_element() {
        assert_eq!(one().validate(2), Ok(()));
        assert!(matches!(one().validate(3), Err(Error::WrongCount { found: 2, expected: 3, .. })));
        let mut wrong = one();
        wrong.strip_of_strand[0] = 7;
        assert!(wrong.validate(2).unwrap_err().to_string().contains("strip of a strand"));
        let mut wrong = one();
        wrong.edges.positions_mut()[2] = Vec3::Y * 0.1;
        assert_eq!(wrong.validate(2), Err(Error::ZeroSegment { strand: 0, point: 1 }));
        let mut wrong = one();
        wrong.width[0] = f32::NAN;
        assert!(wrong.validate(2).is_err());
    }

    #[test]
    fn strips_lie_on_each_other_in_columns() {
        let mut strips = one().pick(&[0, 0, 0, 0, 0]);
        assert_eq!(strips.columns().len(), 5);
        let none = Strips::NONE;
        strips.below = vec![none, none, 0, 1, 2];
        strips.layer = vec![0, 0, 1, 1, 2];
        strips.strip_of_strand = vec![0];
        assert_eq!(strips.validate(1), Ok(()));
        assert_eq!(strips.columns(), [vec![0, 2, 4], vec![1, 3]]);
        // Without the middle one, the topmost lies on the lowest.
        assert_eq!(strips.pick(&[0, 1, 4]).below, [none, none, 0]);
        assert_eq!(strips.pick(&[0, 2, 2]).below, [none, 0, none]);
        for wrong in [[none, none, 0, 0, 2], [none, none, 4, 1, none], [9, none, 0, 1, 2]] {
            strips.below = wrong.to_vec();
            assert!(strips.validate(1).unwrap_err().to_string().contains("below"));
        }
        strips.below = vec![none];
        assert!(strips.validate(1).is_err());
    }

    #[test]
    fn points_are_at_equal_arc_length() {
        let line = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 3.0, 0.0)];
        let points = at_equal_arc_length(&line, 5);
        assert_eq!(points[1], Vec3::X);
        assert_eq!((points[0], points[4]), (line[0], line[2]));
        assert!(points[2].distance(Vec3::new(1.0, 1.0, 0.0)) < 1e-6);
    }

    #[test]
    fn random_numbers_have_the_mean_of_a_uniform_distribution() {
        let mean = (0..1000).map(|i| unit(5, i)).sum::<f32>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.03, "{mean}");
        assert_ne!(unit(5, 1), unit(6, 1));
    }
}
