//! Pictures of a scene: camera, lights and look as in `[render]`, around hair and body at a given time.

use std::sync::Arc;

use coif::body::{Body, TriangleMesh};
use coif::groom::{Groom, Strands};
use coif_scene::Built;
use coif_scene::file::{
    Background, Camera as CameraChoice, GroomSource, HairColor, HairPreset,
    HairShadows as ShadowChoice, RenderSettings, Scene, Style, View,
};
use glam::{DVec3, Quat, Vec3};

use crate::{
    Backdrop, Camera, Frame, HairLook, HairShadows, HairView, Image, Light, Renderer, Result,
    Settings, SurfaceView,
};

/// Fraction of its bounding box that a head with hair fills: the corners are empty, so the camera can be this much
/// closer.
const FILLED: f32 = 0.88;

/// Albedo of a fibre in a groom from a file, as a fraction of the file's colour. A file has the colour of hair as it is
/// seen, and a lock in the three lights of a studio is this much lighter than its fibres. With 0.4 locks from black to
/// blond have the colour of the file within a CIE76 difference of 14, brown 8; with 1 all are far too light.
const FIBRE_ALBEDO: f32 = 0.4;

/// A renderer with the camera and the look for hair and body.
pub struct Studio {
    renderer: Renderer,
    camera: Camera,
    look: HairLook,
    /// Whether hair keeps the colours of its groom.
    own_colors: bool,
    /// Factor of the colours of the groom, and the colours in the picture if it is not 1.
    albedo: f32,
    colors: Vec<Vec3>,
    /// Factor of the radius of strands.
    hair_width: f32,
    /// The radii in the picture, if the factor is not 1.
    radius: Vec<f32>,
    body: Option<Arc<Body>>,
    surface_colors: Option<Vec<Vec3>>,
}

/// A renderer with the size of the settings. Cheap: fails before anything is simulated.
pub fn renderer(render: &RenderSettings) -> Result<Renderer> {
    Renderer::new(Settings {
        backdrop: backdrop(render.background),
        hair_shadows: match render.shadows {
            ShadowChoice::DeepOpacity => HairShadows::DeepOpacity,
            _ => HairShadows::DeepShadow,
        },
        ..Settings::sized(render.width as usize, render.height as usize)
    })
}

impl Studio {
    /// A studio for a scene.
    pub fn of_scene(renderer: Renderer, built: &Built) -> Self {
        let render = &built.scene.render;
        let is_file = matches!(built.scene.groom, GroomSource::File(_));
        // Coats of built-in animals have the albedo of fibres.
        let albedo = if is_file { FIBRE_ALBEDO } else { 1.0 };
        let look = look(render.hair, &built.groom, albedo);
        let (lo, hi) = built.film_bounds();
        let (middle, half) = ((lo + hi) * 0.5, (hi - lo) * (0.5 * FILLED));
        let bounds = (middle - half, middle + half);
        Self {
            camera: camera(render, bounds, best_view(&built.scene), aspect(&renderer)),
            renderer,
            own_colors: keeps_colors(render.hair),
            albedo,
            colors: Vec::new(),
            hair_width: render.hair_width,
            radius: Vec::new(),
            body: render.body.then(|| built.body.clone()),
            surface_colors: Some(built.surface_colors(look.root_color)),
            look,
        }
    }

    /// A studio for a groom, with a body if there is one.
    pub fn of_groom(
        renderer: Renderer,
        render: &RenderSettings,
        groom: &Groom,
        body: Option<Arc<Body>>,
    ) -> Self {
        // Hair alone fills the picture; a body shows a little more of itself around the hair.
        let (lo, hi) = groom.strands.bounds().unwrap_or_default();
        let more = if body.is_some() { (hi - lo) * 0.12 } else { Vec3::ZERO };
        let bounds = (lo - more, hi + more);
        Self {
            camera: camera(render, bounds, View::ThreeQuarter, aspect(&renderer)),
            renderer,
            look: look(render.hair, groom, FIBRE_ALBEDO),
            albedo: FIBRE_ALBEDO,
            colors: Vec::new(),
            own_colors: keeps_colors(render.hair),
            hair_width: render.hair_width,
            radius: Vec::new(),
            body,
            surface_colors: None,
        }
    }

    /// Draws `strands`, the moved strands of `groom`, at `time` (s) of the body's motion. `turn` (rad) rotates the
    /// camera about the middle of the picture.
    pub fn shoot(
        &mut self,
        groom: &Groom,
        strands: &Strands,
        time: f64,
        turn: f32,
    ) -> Result<Image> {
        let radius = if self.hair_width == 1.0 {
            &groom.radius
        } else {
            self.radius.clear();
            self.radius.extend(groom.radius.iter().map(|r| r * self.hair_width));
            &self.radius
        };
        let mut hair = HairView::new(strands, radius);
        if let Some(colors) = groom.color.as_deref().filter(|_| self.own_colors) {
            self.colors.clear();
            self.colors.extend(colors.iter().map(|c| *c * self.albedo));
            hair.color = Some(&self.colors);
        }
        // Pose the body.
        let surface = self.body.as_ref().map(|body| TriangleMesh {
            positions: body.positions_at(time),
            triangles: body.rest().triangles.clone(),
        });
        let normals = surface.as_ref().map(TriangleMesh::vertex_normals).unwrap_or_default();
        let surfaces: Vec<SurfaceView<'_>> = surface
            .iter()
            .map(|mesh| SurfaceView {
                positions: &mesh.positions,
                normals: &normals,
                triangles: &mesh.triangles,
                color: self.surface_colors.as_deref(),
            })
            .collect();
        let camera = turned(self.camera, turn);
        self.renderer.render(&Frame {
            hair: &[hair],
            surfaces: &surfaces,
            camera,
            lights: &Light::three_point(&camera),
            look: &self.look,
        })
    }
}

fn aspect(renderer: &Renderer) -> f32 {
    renderer.settings().width as f32 / renderer.settings().height as f32
}

/// Rotates a camera about the vertical through its target.
fn turned(camera: Camera, angle: f32) -> Camera {
    if angle == 0.0 {
        return camera;
    }
    let turn = Quat::from_rotation_y(angle);
    let position = camera.target + turn * (camera.position - camera.target);
    Camera { position, up: turn * camera.up, ..camera }
}

/// The view that shows a style best.
fn best_view(scene: &Scene) -> View {
    match &scene.groom {
        GroomSource::Style(style) if style.style == Style::Ponytail => View::Side,
        _ => View::ThreeQuarter,
    }
}

/// The direction of a view of a body that faces +z.
fn direction(view: View, auto: View) -> Vec3 {
    match view {
        View::Front => Vec3::new(0.0, -0.05, -1.0),
        View::Side => Vec3::new(-1.0, -0.05, -0.08),
        View::Back => Vec3::new(0.12, -0.1, 1.0),
        View::Top => Vec3::NEG_Y,
        View::Auto if auto != View::Auto => direction(auto, auto),
        _ => Vec3::new(-0.55, -0.08, -1.0),
    }
}

/// The camera of the settings; unset values are derived from the bounds.
fn camera(render: &RenderSettings, bounds: (Vec3, Vec3), auto: View, aspect: f32) -> Camera {
    let (lo, hi) = bounds;
    let fov = render.fov.to_radians();
    let target = render.camera_target;
    match render.camera {
        CameraChoice::Position(position) => {
            let target = target.unwrap_or((lo + hi) * 0.5);
            let down = (target - position).normalize_or(Vec3::NEG_Z);
            let up = if down.y.abs() > 0.99 { Vec3::NEG_Z } else { Vec3::Y };
            Camera { vertical_fov: fov, up, ..Camera::look_at(position, target) }
        }
        CameraChoice::View(view) => {
            let framed = Camera::frame(lo, hi, direction(view, auto), aspect);
            // Adapt the distance to a field of view other than that of the portrait lens.
            let forward = framed.forward();
            let depth = (hi - lo).dot(forward.abs()) * 0.5;
            let lens = (framed.vertical_fov * 0.5).tan() / (fov * 0.5).tan();
            let distance = framed.position.distance(framed.target);
            let distance = (distance - depth).max(0.0) * lens + depth;
            let target = target.unwrap_or(framed.target);
            Camera { position: target - forward * distance, target, vertical_fov: fov, ..framed }
        }
    }
}

/// The mean colour of the hair of a groom in pictures, linear RGB.
pub fn hair_color(render: &RenderSettings, groom: &Groom) -> Vec3 {
    let look = look(render.hair, groom, 1.0);
    (look.root_color + look.tip_color) * 0.5
}

/// Whether hair keeps the colours of its groom.
fn keeps_colors(color: HairColor) -> bool {
    color == HairColor::Preset(HairPreset::Groom)
}

/// The look for hair of this colour. For a groom with colours of its own it is that of hair of their mean: strength of
/// highlights, and the colour of light that hair lets through.
fn look(color: HairColor, groom: &Groom, albedo: f32) -> HairLook {
    match (color, &groom.color) {
        (HairColor::Preset(HairPreset::Groom), Some(colors)) if !colors.is_empty() => {
            let sum: DVec3 = colors.iter().map(|c| c.as_dvec3()).sum();
            let mean = (sum / colors.len() as f64).as_vec3() * albedo;
            let mean = mean.clamp(Vec3::ZERO, Vec3::ONE);
            HairLook::of_colors(mean, mean)
        }
        (color, _) => named_look(color),
    }
}

fn named_look(color: HairColor) -> HairLook {
    match color {
        HairColor::Preset(preset) => HairLook::named(preset.name()).unwrap_or_default(),
        // Tips are worn and lighter than roots, as in the presets.
        HairColor::Linear(root) => {
            HairLook::of_colors(root, (root * 1.6 + Vec3::splat(0.004)).min(Vec3::ONE))
        }
    }
}

fn backdrop(background: Background) -> Backdrop {
    match background {
        Background::Studio => Backdrop::default(),
        Background::Dark => Backdrop::flat(Vec3::splat(0.006)),
        Background::Light => Backdrop::flat(Vec3::splat(0.82)),
        Background::Color(color) => Backdrop::flat(color),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_sees_the_middle_and_a_lens_keeps_the_framing() {
        let bounds = (Vec3::new(-0.1, -0.2, -0.1), Vec3::new(0.1, 0.2, 0.1));
        for &view in View::ALL {
            let render =
                RenderSettings { camera: CameraChoice::View(view), ..RenderSettings::default() };
            let near = camera(&render, bounds, View::Side, 1.5);
            let far = camera(&RenderSettings { fov: 10.0, ..render }, bounds, View::Side, 1.5);
            for c in [near, far] {
                assert!(c.target.length() < 1e-5 && c.position.is_finite(), "{view:?} {c:?}");
            }
            assert!(far.position.length() > near.position.length() * 2.0, "{view:?}");
        }
    }

    #[test]
    fn a_full_turn_returns_to_the_start() {
        let start = Camera::look_at(Vec3::new(1.0, 0.5, 2.0), Vec3::new(0.0, 0.5, 1.0));
        let half = turned(start, std::f32::consts::PI);
        assert!(half.position.distance(Vec3::new(-1.0, 0.5, 0.0)) < 1e-5, "{half:?}");
        let whole = turned(start, std::f32::consts::TAU);
        assert!(whole.position.distance(start.position) < 1e-5);
    }
}
