//! Pins of a scene: which point of which strand, and which bone of the body.

use coif::math::WorldTransform;
use coif::simulation::{Anchor, Simulation};

use crate::file::{PinSpec, PinTo};
use crate::motion::{CHEST, GROUND, HEAD, NECK};

/// Number of the pose that stands for the ground on a body without bones.
const GROUND_POSE: u32 = u32::MAX;

/// Pins the points of a specification where they are now.
pub(crate) fn tie(simulation: &mut Simulation, pin: &PinSpec) -> coif::Result<()> {
    let bones = simulation.body().bones();
    let bone = match pin.to {
        PinTo::Chest => CHEST,
        PinTo::Neck => NECK,
        PinTo::Head => HEAD,
        PinTo::Ground => GROUND,
    };
    let mut anchor = Anchor::Bone(bone);
    if pin.to == PinTo::Ground && bones.is_none_or(|bones| bone >= bones) {
        simulation.set_pin_pose(GROUND_POSE, WorldTransform::IDENTITY)?;
        anchor = Anchor::Pose(GROUND_POSE);
    }
    let count = simulation.groom().strands.strand_count();
    for strand in pin.strands_of(count).unwrap_or(0..count) {
        let groom = simulation.groom();
        // A strand that does not exist is refused with its number.
        let point = if strand < count {
            let embedded = groom.embedded[strand].max(1) as usize;
            point_at(groom.strands.strand(strand), pin.point).max(embedded)
        } else {
            1
        };
        simulation.pin(strand, point, anchor)?;
    }
    Ok(())
}

/// The point nearest to a fraction of the length.
fn point_at(line: &[glam::Vec3], fraction: f32) -> usize {
    let lengths: Vec<f32> = line.windows(2).map(|w| w[0].distance(w[1])).collect();
    let place = fraction * lengths.iter().sum::<f32>();
    let mut from_root = 0.0;
    for (i, length) in lengths.iter().enumerate() {
        if from_root + 0.5 * length >= place {
            return i;
        }
        from_root += length;
    }
    lengths.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn the_nearest_point_by_length_is_pinned() {
        let line = [0.0, 0.1, 0.2, 0.6, 1.0].map(|y| Vec3::Y * y);
        let points = [0.0, 0.06, 0.3, 0.45, 0.79, 0.81, 1.0].map(|f| point_at(&line, f));
        assert_eq!(points, [0, 1, 2, 3, 3, 4, 4]);
    }
}
