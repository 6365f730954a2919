use glam::Vec3;

/// The orthonormal frame of a joint of a strip: tangent along it, normal out of it, binormal across it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointFrame {
    /// T: along the strip, towards the tip.
    pub tangent: Vec3,
    /// B: across the strip, from the first edge to the second.
    pub binormal: Vec3,
}

/// Smallest `1 + cos` of the angle between two directions with a defined rotation axis: antiparallel ones have none.
pub(crate) const SMALLEST_TURN: f32 = 1e-4;

impl JointFrame {
    /// The frame along `tangent` whose binormal is nearest to `binormal`.
    pub fn new(tangent: Vec3, binormal: Vec3) -> Self {
        let tangent = tangent.normalize_or(Vec3::NEG_Y);
        let across = binormal - tangent * binormal.dot(tangent);
        let binormal = across.try_normalize().unwrap_or_else(|| tangent.any_orthonormal_vector());
        Self { tangent, binormal }
    }

    /// N: out of the strip.
    ///
    /// Source: `jung2005` 4.3, steps 3 and 4 (iv).
    pub fn normal(&self) -> Vec3 {
        self.tangent.cross(self.binormal)
    }

    /// Transforms from the frame's coordinates (along, out, across) to world coordinates.
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.tangent * local.x + self.normal() * local.y + self.binormal * local.z
    }

    /// Transforms from world coordinates to the frame's.
    pub fn local(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.tangent.dot(v), self.normal().dot(v), self.binormal.dot(v))
    }

    /// Parallel transport: rotated by the smallest rotation that maps its tangent to the unit vector `next`.
    pub fn transported(&self, next: Vec3) -> Self {
        let size = (1.0 + self.tangent.dot(next)).max(SMALLEST_TURN);
        let binormal = self.binormal - (self.tangent + next) * (self.binormal.dot(next) / size);
        Self { tangent: next, binormal }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn transport_is_the_smallest_rotation() {
        let frame = JointFrame::new(Vec3::new(0.3, -1.0, 0.2), Vec3::X);
        let next = Vec3::new(-0.5, -0.4, 0.9).normalize();
        let turned = frame.transported(next);
        let rotation = Quat::from_rotation_arc(frame.tangent, next);
        assert!(turned.binormal.distance(rotation * frame.binormal) < 1e-6);
        assert!(turned.normal().distance(rotation * frame.normal()) < 1e-6);
        let v = Vec3::new(0.1, 0.7, -0.4);
        assert!(turned.point(turned.local(v)).distance(v) < 1e-6);
    }

    #[test]
    fn degenerate_directions_give_an_orthonormal_frame() {
        for (t, b) in [(Vec3::ZERO, Vec3::ZERO), (Vec3::X, Vec3::X)] {
            let frame = JointFrame::new(t, b);
            assert!(frame.tangent.is_normalized() && frame.binormal.is_normalized());
            assert!(frame.transported(-frame.tangent).binormal.is_finite());
        }
    }
}
