//! Shading of skin: diffuse light that wraps around the terminator with a warm tint, a soft highlight, and the shadows
//! of hair and body.

use std::ops::{Add, Mul};

use glam::Vec3;

use crate::hair::HairShader;
use crate::shadow::Shadows;

/// Wrap of diffuse light around the terminator, per colour.
const WRAP: Vec3 = Vec3::new(0.30, 0.16, 0.11);
/// Attenuation of ambient light by the hair above, per unit of optical depth.
const AMBIENT_EXTINCTION: f32 = 0.22;

/// A point on the skin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkinPoint {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) color: Vec3,
}

impl Add for SkinPoint {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            position: self.position + other.position,
            normal: self.normal + other.normal,
            color: self.color + other.color,
        }
    }
}

impl Mul<f32> for SkinPoint {
    type Output = Self;
    fn mul(self, by: f32) -> Self {
        Self { position: self.position * by, normal: self.normal * by, color: self.color * by }
    }
}

/// Shades the body.
#[derive(Debug)]
pub(crate) struct SkinShader<'a> {
    pub(crate) shadows: &'a Shadows,
    pub(crate) hair: &'a HairShader<'a>,
    pub(crate) eye: Vec3,
    pub(crate) ambient: Vec3,
}

impl SkinShader<'_> {
    /// Linear light from the skin towards the eye.
    pub(crate) fn shade(&self, at: &SkinPoint) -> Vec3 {
        let to_eye = (self.eye - at.position).normalize_or(Vec3::Z);
        let normal = at.normal.normalize_or(to_eye);
        // Meshes may be wound in either direction: light the visible side.
        let normal = if normal.dot(to_eye) < -0.2 { -normal } else { normal };
        let facing = normal.dot(to_eye).clamp(0.0, 1.0);
        let mut sum = Vec3::ZERO;
        let (mut open, mut maps) = (0.0f32, 0.0f32);
        for light in &self.shadows.lights {
            let (through, depth) =
                self.hair.through_hair(light, at.position + normal * 1e-3, normal);
            open += 1.0 / (1.0 + AMBIENT_EXTINCTION * depth);
            maps += 1.0;
            let cos = normal.dot(light.toward);
            if cos < -WRAP.x {
                continue;
            }
            let lit = light.body_visibility_soft(at.position, normal);
            let arriving = light.color * through * lit;
            let wrapped = ((Vec3::splat(cos) + WRAP) / (Vec3::ONE + WRAP)).max(Vec3::ZERO);
            let diffuse = wrapped * wrapped.lerp(Vec3::ONE, 0.5);
            let halfway = (light.toward + to_eye).normalize_or(normal);
            let sharp = normal.dot(halfway).clamp(0.0, 1.0);
            let fresnel = 0.03 + 0.5 * (1.0 - to_eye.dot(halfway).clamp(0.0, 1.0)).powi(5);
            let gloss = sharp.powi(18) * 1.6 * fresnel * cos.max(0.0);
            sum += arriving * (at.color * diffuse * 0.42 + Vec3::splat(gloss));
        }
        let openness = if maps > 0.0 { open / maps } else { 1.0 };
        let upward = 0.55 + 0.45 * normal.y;
        let rim = 1.0 + 0.25 * (1.0 - facing) * (1.0 - facing);
        sum + at.color * self.ambient * (upward * rim * openness * openness)
    }
}
