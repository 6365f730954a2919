//! The check of all groom writers: grooms that no reader would accept are refused.

use std::path::Path;

use coif::groom::Groom;
use glam::Vec3;

use crate::{Error, Result};

/// Refuses what would make a file unreadable, before anything is written.
pub(crate) fn check_writable(file: &Path, groom: &Groom, positions: &[Vec3]) -> Result<()> {
    let (strands, points) = (groom.strands.strand_count(), groom.strands.point_count());
    if strands == 0 {
        return Err(Error::refused(file, "the groom is empty, there is nothing to write"));
    }
    if u32::try_from(points).is_err() || u32::try_from(strands).is_err() {
        return Err(Error::refused(
            file,
            format!("{points} points are too many: at most {} can be written", u32::MAX),
        )
        .with_hint("split the groom into several files"));
    }
    let sizes = [
        ("positions", positions.len()),
        ("radii", groom.radius.len()),
        ("colours", groom.color.as_ref().map_or(points, Vec::len)),
        ("transparencies", groom.transparency.as_ref().map_or(points, Vec::len)),
    ];
    for (what, found) in sizes {
        if found != points {
            return Err(Error::refused(file, format!("{found} {what} for {points} points")));
        }
    }
    if let Some(strand) = groom.strands.iter().position(|s| s.len() < 2) {
        let reason = format!("strand {strand} has fewer than 2 points");
        return Err(Error::refused(file, reason).with_hint("drop the strand first"));
    }
    let named = |point: Option<usize>, what: &str| match point {
        Some(point) => {
            let (strand, point) = groom.strands.locate(point);
            let reason = format!("strand {strand}, point {point}: {what} is not a finite number");
            Err(Error::refused(file, reason))
        }
        None => Ok(()),
    };
    named(positions.iter().position(|p| !p.is_finite()), "position")?;
    // Files store diameters, so twice the radius has to be finite.
    named(groom.radius.iter().position(|r| !(r * 2.0).is_finite() || *r < 0.0), "radius")?;
    let color = groom.color.as_deref().unwrap_or_default();
    named(color.iter().position(|c| !c.is_finite()), "colour")?;
    let transparency = groom.transparency.as_deref().unwrap_or_default();
    named(transparency.iter().position(|t| !t.is_finite()), "transparency")
}
