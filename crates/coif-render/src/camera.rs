//! The camera, and the projection onto its pixels.
//!
//! Pixel coordinates start at the upper left corner; the centre of the first pixel is (0.5, 0.5).
//! Depth is the distance along the viewing direction (m), not along the ray.

use glam::Vec3;

use crate::{Error, Result};

/// A pinhole camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Its position (m).
    pub position: Vec3,
    /// Its target (m).
    pub target: Vec3,
    /// Up direction; need not be perpendicular to the view.
    pub up: Vec3,
    /// Angle between the lower and the upper edge of the picture (rad).
    pub vertical_fov: f32,
    /// Distance of the near plane (m, along the view).
    pub near: f32,
}

/// Fraction of the picture left free on each side by [`Camera::frame`].
const MARGIN: f32 = 0.06;

impl Camera {
    /// A portrait lens: 28 degrees from bottom to top.
    pub const PORTRAIT_FOV: f32 = 28.0 * std::f32::consts::PI / 180.0;

    /// A camera at `position` that looks at `target`, upright, with a portrait lens.
    pub fn look_at(position: Vec3, target: Vec3) -> Self {
        Self { position, target, up: Vec3::Y, vertical_fov: Self::PORTRAIT_FOV, near: 0.005 }
    }

    /// A camera that looks along `view` and sees the whole box from `lo` to `hi` with a margin.
    ///
    /// `aspect` is width over height of the picture. A box without extent or a zero direction still gives a usable
    /// camera.
    pub fn frame(lo: Vec3, hi: Vec3, view: Vec3, aspect: f32) -> Self {
        let forward = view.try_normalize().unwrap_or(Vec3::NEG_Z);
        let up = if forward.y.abs() > 0.99 { Vec3::NEG_Z } else { Vec3::Y };
        let right = forward.cross(up).normalize_or(Vec3::X);
        let top = right.cross(forward);
        let centre = (lo + hi) * 0.5;
        let half = ((hi - lo) * 0.5).abs();

        // Move back until all eight corners are inside.
        let tan_y = (Self::PORTRAIT_FOV * 0.5).tan() * (1.0 - 2.0 * MARGIN);
        let tan_x = tan_y * aspect.max(1e-3);
        let mut distance = 0.05f32;
        for corner in 0..8 {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let offset = half * Vec3::new(sign(0), sign(1), sign(2));
            let along = offset.dot(forward);
            distance = distance
                .max(offset.dot(right).abs() / tan_x - along)
                .max(offset.dot(top).abs() / tan_y - along);
        }
        Self { up, ..Self::look_at(centre - forward * distance, centre) }
    }

    /// View direction (unit length).
    pub fn forward(&self) -> Vec3 {
        (self.target - self.position).normalize_or(Vec3::NEG_Z)
    }
}

/// A camera with its projection for one picture size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    /// Pixels per unit of tangent.
    pub(crate) focal: f32,
    centre_x: f32,
    centre_y: f32,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) near: f32,
}

impl View {
    pub(crate) fn new(camera: &Camera, width: usize, height: usize) -> Result<Self> {
        let forward = (camera.target - camera.position).try_normalize().ok_or(Error::Camera)?;
        let right = forward.cross(camera.up).try_normalize().ok_or(Error::Camera)?;
        let usable = camera.position.is_finite()
            && camera.vertical_fov > 1e-4
            && camera.vertical_fov < std::f32::consts::PI - 1e-3
            && camera.near.is_finite();
        if !usable {
            return Err(Error::Camera);
        }
        Ok(Self {
            eye: camera.position,
            right,
            up: right.cross(forward),
            forward,
            focal: 0.5 * height as f32 / (camera.vertical_fov * 0.5).tan(),
            centre_x: 0.5 * width as f32,
            centre_y: 0.5 * height as f32,
            width,
            height,
            near: camera.near.max(1e-4),
        })
    }

    /// Pixel coordinates and depth of a point. Only valid for a depth above zero.
    pub(crate) fn project(&self, point: Vec3) -> Vec3 {
        let p = point - self.eye;
        let z = p.dot(self.forward);
        let scale = self.focal / z;
        Vec3::new(
            self.centre_x + p.dot(self.right) * scale,
            self.centre_y - p.dot(self.up) * scale,
            z,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_contains_the_bounds() {
        let (lo, hi) = (Vec3::new(-0.3, 0.1, -0.2), Vec3::new(0.1, 0.9, 0.4));
        for view in [Vec3::NEG_Z, Vec3::new(1.0, -0.4, 0.3), Vec3::NEG_Y, Vec3::Y, Vec3::ZERO] {
            for (width, height) in [(1280usize, 720usize), (300, 900)] {
                let camera = Camera::frame(lo, hi, view, width as f32 / height as f32);
                let projection = View::new(&camera, width, height).unwrap();
                let mut used = 0.0f32;
                for corner in 0..8 {
                    let pick = |bit: usize| if corner >> bit & 1 == 0 { lo[bit] } else { hi[bit] };
                    let p = projection.project(Vec3::new(pick(0), pick(1), pick(2)));
                    assert!(p.z > 0.0);
                    let x = (p.x / width as f32 - 0.5).abs();
                    let y = (p.y / height as f32 - 0.5).abs();
                    assert!(x < 0.5 - MARGIN + 1e-3 && y < 0.5 - MARGIN + 1e-3, "{x} {y}");
                    used = used.max(x).max(y);
                }
                assert!(used > 0.5 - MARGIN - 1e-2, "the picture is not filled: {used}");
            }
        }
    }

    #[test]
    fn degenerate_cameras_are_refused() {
        let mut camera = Camera::look_at(Vec3::ONE, Vec3::ONE);
        assert!(View::new(&camera, 10, 10).is_err());
        camera.target = Vec3::new(1.0, 5.0, 1.0);
        assert!(View::new(&camera, 10, 10).is_err(), "up lies along the view");
        camera.target = Vec3::splat(f32::NAN);
        assert!(View::new(&camera, 10, 10).is_err());
    }

    #[test]
    fn a_box_without_extent_is_framed() {
        let camera = Camera::frame(Vec3::ONE, Vec3::ONE, Vec3::NEG_Z, 1.0);
        assert!(View::new(&camera, 64, 64).is_ok());
    }
}
