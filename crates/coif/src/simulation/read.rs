//! Positions and velocities in an engine's own memory and layout.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::Simulation;
use crate::{Error, Result};

/// Points per task.
const POINTS: usize = 4096;

/// Where the three numbers of a point go in an array of numbers: point `i` begins at `offset + i * stride`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Numbers from one point to the next: 3 without gaps, 4 with a fourth number that is left alone, or as many as a
    /// vertex of the engine has.
    pub stride: usize,
    /// Numbers before the first point.
    pub offset: usize,
}

impl Layout {
    /// Three numbers per point, nothing in between.
    pub const PACKED: Self = Self { stride: 3, offset: 0 };

    /// Writes points into an array of numbers; what lies between them is left alone.
    fn write(&self, points: &[Vec3], out: &mut [f32]) -> Result<()> {
        if self.stride < 3 {
            return Err(Error::OutOfRange {
                name: "stride of a layout".into(),
                value: self.stride as f64,
                expected: "3 numbers or more",
            });
        }
        let needed = points.len().saturating_sub(1).checked_mul(self.stride);
        let needed = needed.and_then(|n| n.checked_add(self.offset)?.checked_add(3));
        let expected = needed.unwrap_or(usize::MAX);
        if out.len() < expected {
            let (what, found) = ("numbers to write points to", out.len());
            return Err(Error::WrongCount { what, found, expected });
        }
        let rows = out[self.offset..].par_chunks_mut(POINTS * self.stride);
        rows.zip(points.par_chunks(POINTS)).for_each(|(out, points)| {
            for (out, p) in out.chunks_mut(self.stride).zip(points) {
                out[..3].copy_from_slice(&p.to_array());
            }
        });
        Ok(())
    }
}

impl Simulation {
    /// Writes the current positions of all points (m), in the groom's order, in a layout of the caller's.
    pub fn write_positions(&mut self, layout: Layout, out: &mut [f32]) -> Result<()> {
        layout.write(self.grow(), out)
    }

    /// The same with four numbers each, of which the last is `w`.
    pub fn write_positions_vec4(&mut self, w: f32, out: &mut [Vec4]) -> Result<()> {
        let points = self.grow();
        check(out.len(), points.len())?;
        let pieces = out.par_chunks_mut(POINTS).zip(points.par_chunks(POINTS));
        pieces.for_each(|(out, points)| {
            out.iter_mut().zip(points).for_each(|(out, p)| *out = p.extend(w));
        });
        Ok(())
    }

    /// Writes the velocities of all points (m/s), in the groom's order, in a layout of the caller's.
    pub fn write_velocities(&mut self, layout: Layout, out: &mut [f32]) -> Result<()> {
        let mut velocities = std::mem::take(&mut self.read_velocities);
        velocities.resize(self.groom.strands.point_count(), Vec3::ZERO);
        self.velocities(&mut velocities);
        let written = layout.write(&velocities, out);
        self.read_velocities = velocities;
        written
    }
}

fn check(found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::WrongCount { what: "points to write", found, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_land_at_their_stride_and_nothing_else_is_touched() {
        let points: Vec<Vec3> = (0..9000).map(|i| Vec3::new(i as f32, 0.5, -1.0)).collect();
        let layout = Layout { stride: 7, offset: 2 };
        let mut out = vec![9.0; 2 + 7 * 9000];
        layout.write(&points, &mut out).expect("enough room");
        for (i, p) in points.iter().enumerate() {
            let row = &out[2 + 7 * i..][..7];
            assert_eq!(row, [p.x, p.y, p.z, 9.0, 9.0, 9.0, 9.0]);
        }
        assert_eq!(out[..2], [9.0, 9.0]);
        // The last point needs no gap after it.
        assert!(layout.write(&points[..2], &mut [0.0; 12]).is_ok());
        assert!(layout.write(&points[..2], &mut [0.0; 11]).is_err());
        assert!(Layout { stride: 2, offset: 0 }.write(&points, &mut out).is_err());
        let far = Layout { stride: usize::MAX, offset: 5 };
        assert!(far.write(&points, &mut out).is_err());
    }
}
