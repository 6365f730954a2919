//! The motion of frames as arrays: positions, and velocities by differences.

use std::path::Path;

use coif::groom::Groom;
use coif_io::npz::{VelocitySource, Writer};
use glam::Vec3;

use crate::failure::Failure;
use crate::frames::Frames;
use crate::interrupt;
use crate::talk::Talk;

/// Writes the frames `first` to `last` as a `.npz` file; returns the number of points. `resampled` is applied to each
/// groom.
///
/// Velocities are central differences, one-sided at the first and last frame that exist. Three frames are in memory.
pub(crate) fn write(
    path: &Path,
    frames: &mut Frames,
    (first, last): (u64, u64),
    fps: f64,
    talk: &Talk,
    resampled: impl Fn(Groom) -> Result<Groom, Failure>,
) -> Result<usize, Failure> {
    let (earliest, latest) = frames.range()?;
    let mut read = |number: u64| resampled(frames.read(number, talk)?);
    let mut progress = talk.progress("converting", (last - first).saturating_add(1));

    // Start before the first frame, if there is a frame before it.
    let start = if first > earliest { first - 1 } else { first };
    let mut before = read(start)?;
    let mut now = if start < first { read(first)? } else { before.clone() };
    same_strands(path, &before, &now, first)?;
    let (mut before_number, mut now_number) = (start, first);
    let count = last - first + 1;
    let mut file = Writer::create(path, &now, fps, count, VelocitySource::Differences)?;
    let mut velocities = vec![Vec3::ZERO; now.strands.point_count()];
    for number in first..=last {
        if interrupt::requested() {
            return Err(Failure::Interrupted { message: "nothing was written".into() });
        }
        let next = if number < latest { Some(read(number + 1)?) } else { None };
        if let Some(next) = &next {
            same_strands(path, &now, next, number + 1)?;
        }
        // Differences between the neighbours that exist.
        let after_number = if next.is_some() { number + 1 } else { now_number };
        let span = (after_number - before_number) as f64;
        let per_second = if span > 0.0 { (fps / span) as f32 } else { 0.0 };
        let after = next.as_ref().unwrap_or(&now).strands.positions();
        for ((v, a), b) in velocities.iter_mut().zip(after).zip(before.strands.positions()) {
            *v = (*a - *b) * per_second;
        }
        file.push(number, now.strands.positions(), &velocities)?;
        progress.advance();
        if let Some(next) = next {
            (before, now) = (now, next);
            (before_number, now_number) = (number, number + 1);
        }
    }
    drop(progress);
    file.finish()?;
    Ok(velocities.len())
}

/// Refuses frames whose strands differ: an array has one shape.
fn same_strands(path: &Path, one: &Groom, other: &Groom, number: u64) -> Result<(), Failure> {
    if one.strands.first_points() == other.strands.first_points() {
        return Ok(());
    }
    Err(Failure::new(
        format!("{}: frame {number} has other strands than those before", path.display()),
        "all frames need the same number of strands, with the same number of points on each",
    ))
}
