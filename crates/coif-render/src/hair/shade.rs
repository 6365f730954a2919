//! Light on a fibre.
//!
//! Model: Kajiya-Kay diffuse (the sine between fibre and light) as the light scattered many times, and three lobes
//! around the cone of reflection: off the surface (white, shifted to the root), through and back (coloured, shifted to
//! the tip), straight through (coloured, from behind).
//! Source: `selle2008` 6 (Kajiya-Kay), `jung2005` 5.2 (two shifted highlights with noise).
//! Symbols: `sin_i`, `sin_r` sine of the inclination of light and eye against the plane across the fibre; `phi` angle
//! between both around the fibre.
//! Deviations: lobes are bells in the sum of the sines, which needs no inverse trigonometry.

use glam::{Vec3, Vec4};

use crate::hash::{hash, signed_unit};
use crate::look::{HairLook, luminance};
use crate::shadow::{LitBy, Shadows};

/// Attenuation of ambient light per unit of optical depth.
const AMBIENT_EXTINCTION: f32 = 0.16;
/// Ambient openness towards a light that the body hides.
const BEHIND_BODY: f32 = 0.25;
/// Transmittance below which a light is skipped.
const MIN_TRANSMITTANCE: f32 = 1.5e-3;
/// Shadow bias of a hair against its own shadow (depth cells of the map).
const LIFT: f32 = 0.6;

/// Variation between strands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StrandJitter {
    tint: Vec3,
    sharpness: f32,
    shift: f32,
    gloss: f32,
}

impl StrandJitter {
    pub(crate) fn new(seed: u32, variation: f32) -> Self {
        let key = hash(seed ^ 0xc01f);
        // Most strands are slightly darker, a few much lighter.
        let level = signed_unit(key, 0) + signed_unit(key, 1);
        let brightness = (variation * (1.1 * level - 0.1)).exp();
        let warmth = variation * 0.22 * signed_unit(key, 2);
        Self {
            tint: Vec3::new(1.0 + warmth, 1.0, 1.0 - warmth) * brightness,
            sharpness: 1.0 / (1.0 + 0.8 * variation.min(1.0) * signed_unit(key, 3)),
            shift: 0.09 * variation * signed_unit(key, 4),
            gloss: glint(1.0 + 1.6 * variation * signed_unit(key, 5)),
        }
    }
}

/// Gloss of a strand: a few are far brighter than most, with a mean near one.
fn glint(x: f32) -> f32 {
    let x = x.max(0.15);
    0.45 * x + 0.5 * x * x * x
}

/// Lights points on hair.
#[derive(Debug)]
pub(crate) struct HairShader<'a> {
    look: &'a HairLook,
    shadows: &'a Shadows,
    /// Extinction of scattered light in red, green and blue, and of highlights.
    extinction: Vec4,
    /// Inverse widths of the three lobes, times the square root of a half.
    sharpness: Vec4,
    /// Centres of the lobes (sum of sines).
    middle: Vec4,
    sky: Vec3,
    ground: Vec3,
}

/// Fast approximation of `exp(-x)` for x from 0 on; the absolute error is below 0.004.
fn exp_neg(x: Vec4) -> Vec4 {
    let y = x * 0.0625;
    let mut base = (Vec4::ONE + y + y * y * 0.5).recip();
    base *= base;
    base *= base;
    base *= base;
    base * base
}

fn root_color(c: Vec3) -> Vec3 {
    Vec3::new(c.x.max(0.0).sqrt(), c.y.max(0.0).sqrt(), c.z.max(0.0).sqrt())
}

impl<'a> HairShader<'a> {
    pub(crate) fn new(look: &'a HairLook, shadows: &'a Shadows) -> Self {
        let extinction = look.extinction();
        let sharp = |width: f32| std::f32::consts::FRAC_1_SQRT_2 / width.max(0.01);
        let mean = shadows.lights.iter().map(|l| l.color).sum::<Vec3>() * 0.22;
        Self {
            look,
            shadows,
            extinction: extinction
                .extend(luminance(extinction) * 0.35 + 0.10 * look.shadow_density.max(0.0)),
            sharpness: Vec4::new(
                sharp(look.primary_width),
                sharp(look.secondary_width),
                sharp(look.secondary_width * 1.6),
                0.0,
            ),
            middle: Vec4::new(look.primary_shift, -look.secondary_shift, 0.0, 0.0),
            sky: mean * Vec3::new(0.96, 1.0, 1.06),
            ground: mean * Vec3::new(0.62, 0.58, 0.54),
        }
    }

    pub(crate) fn look(&self) -> &HairLook {
        self.look
    }

    /// Linear light towards the eye from a fibre at `p` along the unit `tangent` (root to tip).
    pub(crate) fn shade(
        &self,
        p: Vec3,
        tangent: Vec3,
        to_eye: Vec3,
        color: Vec3,
        jitter: &StrandJitter,
    ) -> Vec3 {
        let look = self.look;
        let color = (color * jitter.tint).clamp(Vec3::ZERO, Vec3::ONE);
        let through_once = root_color(color);
        let sin_r = tangent.dot(to_eye).clamp(-1.0, 1.0);
        let cos_r = (1.0 - sin_r * sin_r).max(1e-4).sqrt();
        let sharpness = self.sharpness * jitter.sharpness;
        let middle = self.middle + Vec4::new(jitter.shift, jitter.shift, 0.0, 0.0);

        let mut sum = Vec3::ZERO;
        let (mut open, mut maps) = (0.0f32, 0.0f32);
        for light in &self.shadows.lights {
            maps += 1.0;
            let body = light.body_visibility(p);
            if body <= 0.0 {
                open += BEHIND_BODY;
                continue;
            }
            let depth = light.optical_depth(p, LIFT);
            open += 1.0 / (1.0 + AMBIENT_EXTINCTION * depth);
            let arriving = light.color * body;
            let remaining = exp_neg(self.extinction * depth);
            if remaining.max_element() < MIN_TRANSMITTANCE {
                continue;
            }
            let (scattered, direct) = (remaining.truncate(), remaining.w);

            let sin_i = tangent.dot(light.toward).clamp(-1.0, 1.0);
            let cos_i = (1.0 - sin_i * sin_i).max(1e-4).sqrt();
            let cos_phi =
                ((light.toward.dot(to_eye) - sin_i * sin_r) / (cos_i * cos_r)).clamp(-1.0, 1.0);
            let half_phi = (0.5 + 0.5 * cos_phi).max(0.0).sqrt();

            // Multiply scattered light: more from the side that faces the eye.
            let diffuse = cos_i * (0.34 + 0.66 * half_phi);
            let mut answer = color * scattered * (look.diffuse * diffuse);

            // Reflection off the surface, shifted towards the root.
            let off = (Vec4::splat(sin_i + sin_r) - middle) * sharpness;
            let lobes = exp_neg(off * off);
            let primary = lobes.x * (0.25 + 0.75 * half_phi) * cos_i;
            let grazing = 1.0 - (0.5 + 0.5 * light.toward.dot(to_eye)).max(0.0).sqrt();
            let fresnel = 0.6 + 1.6 * grazing * grazing * grazing;
            let surface = look.primary * jitter.gloss * primary * fresnel * direct;
            answer += Vec3::splat(0.8 * surface) + through_once * (0.4 * surface);

            // Through the fibre, reflected at its back wall, shifted towards the tip.
            let secondary = lobes.y * half_phi * half_phi * cos_i;
            answer += color
                * through_once
                * scattered
                * (look.secondary * 2.2 * jitter.gloss * secondary);

            // Transmission, from behind.
            let behind = (0.5 - 0.5 * cos_phi).max(0.0);
            let through = lobes.z * behind * behind * behind;
            answer += through_once
                * color.lerp(Vec3::ONE, 0.25)
                * scattered
                * (look.transmission * through * direct);

            sum += arriving * answer;
        }
        // Ambient light, attenuated by the mean depth of hair towards all lights.
        let openness = if maps > 0.0 { open / maps } else { 1.0 };
        let upward = 0.5 + 0.5 * (to_eye - tangent * sin_r).y;
        let ambient = self.ground.lerp(self.sky, upward.clamp(0.0, 1.0));
        sum + color * ambient * (look.ambient * openness * openness * 1.6)
    }

    /// Transmitted fraction of a light at a point on the body below the hair, and the optical depth of that hair.
    pub(crate) fn through_hair(&self, light: &LitBy, p: Vec3, normal: Vec3) -> (Vec3, f32) {
        let depth = light.optical_depth_soft(p, normal);
        (exp_neg(self.extinction * (depth * 1.3)).truncate(), depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_exponential_stays_close_and_in_range() {
        for i in 0..200 {
            let x = i as f32 * 0.05;
            let (found, truth) = (exp_neg(Vec4::splat(x)).y, (-x).exp());
            assert!((found - truth).abs() < 0.004, "{x}: {found} {truth}");
        }
        let far = exp_neg(Vec4::new(1e9, 1e30, 0.0, 1.0));
        assert!(far.is_finite() && far.min_element() >= 0.0);
    }

    #[test]
    fn the_primary_highlight_lies_towards_the_root() {
        let mut look = HairLook::named("black").unwrap();
        (look.diffuse, look.ambient, look.secondary, look.transmission) = (0.0, 0.0, 0.0, 0.0);
        let mut lit = LitBy::default();
        (lit.toward, lit.color) = (Vec3::Z, Vec3::ONE);
        let shadows = Shadows { lights: vec![lit] };
        let shader = HairShader::new(&look, &shadows);
        let jitter = StrandJitter::new(0, 0.0);
        // A fibre that hangs down and bulges towards eye and light: its root end leans forward.
        let at = |lean: f32| {
            let tangent = Vec3::new(0.0, -1.0, lean).normalize();
            shader.shade(Vec3::ZERO, tangent, Vec3::Z, Vec3::splat(0.01), &jitter).x
        };
        assert!(at(0.035) > at(-0.035), "{} {}", at(0.035), at(-0.035));
        assert!(at(0.035) > 4.0 * at(0.6));
    }
}
