//! Transmittance of each light: a deep shadow map or a deep opacity map of the hair, a depth map of the body.

mod deep;
mod depth;
mod hair_grid;
mod opacity;
#[cfg(test)]
mod tests;

use glam::Vec3;
use rayon::prelude::*;

use crate::hair::StrandRef;
use crate::{HairShadows, HairView, Light, Settings, SurfaceView};
use deep::DeepMap;
use depth::DepthMap;
use opacity::OpacityMap;

pub(crate) use deep::SplatMemory;

/// The axes of light space: two across the light, and depth away from it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LightAxes {
    across: Vec3,
    along: Vec3,
    toward: Vec3,
}

impl LightAxes {
    fn new(toward: Vec3) -> Self {
        let (across, along) = toward.any_orthonormal_pair();
        Self { across, along, toward }
    }

    /// A point in light space: two coordinates across, then depth (m).
    fn light_from_world(&self, p: Vec3) -> Vec3 {
        Vec3::new(p.dot(self.across), p.dot(self.along), -p.dot(self.toward))
    }

    fn bounds(&self, points: impl Iterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
        let mut bounds: Option<(Vec3, Vec3)> = None;
        for p in points.filter(|p| p.is_finite()) {
            let q = self.light_from_world(p);
            let (lo, hi) = bounds.unwrap_or((q, q));
            bounds = Some((lo.min(q), hi.max(q)));
        }
        bounds
    }
}

/// Rounds a cell size up to one of a few sizes per octave, so that maps keep their grid from frame to frame and shadows
/// do not shimmer while the bounds vary.
fn step_up(size: f32) -> f32 {
    const STEPS_PER_OCTAVE: f32 = 6.0;
    ((size.max(1e-9).log2() * STEPS_PER_OCTAVE).ceil() / STEPS_PER_OCTAVE).exp2()
}

/// Attenuation of one light by hair.
#[derive(Debug, PartialEq)]
enum HairMap {
    Shadow(DeepMap),
    Opacity(OpacityMap),
}

impl HairMap {
    /// A map of this kind, in the memory of the last one if that has the same kind.
    fn of_kind(kind: HairShadows, last: Option<Self>) -> Self {
        match (kind, last) {
            (HairShadows::DeepShadow, Some(map @ Self::Shadow(_))) => map,
            (HairShadows::DeepOpacity, Some(map @ Self::Opacity(_))) => map,
            (HairShadows::DeepShadow, _) => Self::Shadow(DeepMap::default()),
            (HairShadows::DeepOpacity, _) => Self::Opacity(OpacityMap::default()),
        }
    }

    /// Fits the map to the hair and fills it; `None` without hair.
    fn rebuild(
        self,
        axes: LightAxes,
        hair: &[HairView<'_>],
        order: &[StrandRef],
        settings: &Settings,
        memory: &mut SplatMemory,
    ) -> Option<Self> {
        match self {
            Self::Shadow(map) => map.rebuild(axes, hair, order, settings, memory).map(Self::Shadow),
            Self::Opacity(map) => map.rebuild(axes, hair, order, settings).map(Self::Opacity),
        }
    }

    fn optical_depth(&self, p: Vec3, lift: f32) -> f32 {
        match self {
            Self::Shadow(map) => map.optical_depth(p, lift),
            Self::Opacity(map) => map.optical_depth(p, lift),
        }
    }

    fn is_near_hair(&self, p: Vec3) -> bool {
        match self {
            Self::Shadow(map) => map.is_near_hair(p),
            Self::Opacity(map) => map.is_near_hair(p),
        }
    }

    fn texel(&self) -> f32 {
        match self {
            Self::Shadow(map) => map.texel(),
            Self::Opacity(map) => map.texel(),
        }
    }
}

/// One light with its shadow maps.
#[derive(Debug, Default)]
pub(crate) struct LitBy {
    pub(crate) toward: Vec3,
    pub(crate) color: Vec3,
    hair: Option<HairMap>,
    body: Option<DepthMap>,
}

impl LitBy {
    /// Optical depth of the hair between a point and the light; `lift` moves the point towards
    /// the light (in depth cells of the map).
    pub(crate) fn optical_depth(&self, p: Vec3, lift: f32) -> f32 {
        self.hair.as_ref().map_or(0.0, |map| map.optical_depth(p, lift))
    }

    /// Optical depth of the hair above a point on the body, blurred over a few texels of its surface, since skin would
    /// show the raster of the map.
    pub(crate) fn optical_depth_soft(&self, p: Vec3, normal: Vec3) -> f32 {
        let Some(map) = &self.hair else { return 0.0 };
        if !map.is_near_hair(p) {
            return 0.0;
        }
        let reach = 1.6 * map.texel();
        let (u, v) = normal.any_orthonormal_pair();
        let ring =
            [(1.0, 0.0), (0.5, 0.87), (-0.5, 0.87), (-1.0, 0.0), (-0.5, -0.87), (0.5, -0.87)];
        let around = ring.map(|(a, b)| map.optical_depth(p + (u * a + v * b) * reach, 0.0));
        (2.0 * map.optical_depth(p, 0.0) + around.iter().sum::<f32>()) * 0.125
    }

    /// Fraction of the light that reaches a point on a hair past the body.
    pub(crate) fn body_visibility(&self, p: Vec3) -> f32 {
        self.body.as_ref().map_or(1.0, |map| map.visibility_quick(p))
    }

    /// Fraction of the light that reaches a point on the body's own surface.
    pub(crate) fn body_visibility_soft(&self, p: Vec3, normal: Vec3) -> f32 {
        self.body.as_ref().map_or(1.0, |map| map.visibility_soft(p, normal))
    }
}

/// All lights of a frame. Maps keep their memory from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    pub(crate) lights: Vec<LitBy>,
}

impl Shadows {
    pub(crate) fn build(
        &mut self,
        lights: &[Light],
        hair: &[HairView<'_>],
        order: &[StrandRef],
        surfaces: &[SurfaceView<'_>],
        settings: &Settings,
        memory: &mut SplatMemory,
    ) {
        self.lights.resize_with(lights.len(), LitBy::default);
        for (lit, light) in self.lights.iter_mut().zip(lights) {
            lit.toward = light.direction.normalize_or(Vec3::Y);
            lit.color = light.color;
            if !light.casts_shadow {
                (lit.hair, lit.body) = (None, None);
                continue;
            }
            let axes = LightAxes::new(lit.toward);
            let map = HairMap::of_kind(settings.hair_shadows, lit.hair.take());
            lit.hair = map.rebuild(axes, hair, order, settings, memory);
        }
        self.lights.par_iter_mut().zip(lights).filter(|(_, light)| light.casts_shadow).for_each(
            |(lit, _)| {
                let map = lit.body.take().unwrap_or_default();
                lit.body = map.rebuild(LightAxes::new(lit.toward), surfaces, settings);
            },
        );
    }
}
