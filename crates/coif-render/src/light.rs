//! Directional lights.

use glam::Vec3;

use crate::Camera;

/// A directional light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// Direction towards the light (need not have unit length).
    pub direction: Vec3,
    /// Linear colour times intensity.
    pub color: Vec3,
    /// Whether hair and body occlude it.
    pub casts_shadow: bool,
}

impl Light {
    /// Key, fill and rim light of a portrait studio, placed around the camera's view.
    pub fn three_point(camera: &Camera) -> [Light; 3] {
        let forward = camera.forward();
        let right = forward.cross(camera.up).normalize_or(Vec3::X);
        Self::rig(-forward, right, right.cross(forward))
    }

    /// The same three lights fixed in the world, for a subject that faces +z while the camera
    /// moves around it.
    pub fn three_point_world() -> [Light; 3] {
        Self::rig(Vec3::Z, Vec3::X, Vec3::Y)
    }

    fn rig(front: Vec3, right: Vec3, up: Vec3) -> [Light; 3] {
        [
            Light {
                direction: (front * 0.75 - right * 0.75 + up * 0.85).normalize_or(Vec3::Y),
                color: Vec3::new(1.0, 0.955, 0.90) * 2.5,
                casts_shadow: true,
            },
            Light {
                direction: (front * 0.8 + right * 0.9 + up * 0.15).normalize_or(Vec3::Y),
                color: Vec3::new(0.90, 0.95, 1.0) * 0.70,
                casts_shadow: true,
            },
            Light {
                direction: (front * -0.85 + right * 0.55 + up * 0.75).normalize_or(Vec3::Y),
                color: Vec3::new(0.95, 0.97, 1.0) * 2.2,
                casts_shadow: true,
            },
        ]
    }
}
