//! Pictures and films of hair, on the CPU.
//!
//! ```text
//!  lights ─► shadow maps ─► body ─► strokes ─► tiles ─► Image ─► PNG
//!            hair, body     drawn   lit and    sorted,        └► Film
//!                                   listed     composited
//! ```
//!
//! Every strand is drawn at its true width: a fibre thinner than a pixel covers a fraction of it, so hair looks soft
//! from a distance and does not flicker when it moves. The same frame gives the same bytes for any number of threads
//! and any order of strands.
//!
//! ```
//! use coif_render::{Camera, Frame, HairLook, HairView, Light, Renderer, Settings};
//! use coif::groom::Strands;
//! use glam::Vec3;
//!
//! let mut strands = Strands::new();
//! strands.push(&[Vec3::ZERO, Vec3::new(0.0, -0.1, 0.01), Vec3::new(0.0, -0.2, 0.0)]);
//! let radius = vec![40e-6; strands.point_count()];
//! let (lo, hi) = strands.bounds().unwrap_or_default();
//! let camera = Camera::frame(lo, hi, Vec3::NEG_Z, 16.0 / 9.0);
//! let mut renderer = Renderer::new(Settings::sized(320, 180))?;
//! let image = renderer.render(&Frame {
//!     hair: &[HairView::new(&strands, &radius)],
//!     surfaces: &[],
//!     camera,
//!     lights: &Light::three_point(&camera),
//!     look: &HairLook::default(),
//! })?;
//! assert_eq!(image.rgb8.len(), 320 * 180 * 3);
//! # Ok::<(), coif_render::Error>(())
//! ```

mod backdrop;
mod camera;
mod error;
mod film;
mod hair;
mod hash;
mod image;
mod light;
mod look;
mod renderer;
mod shadow;
#[cfg(feature = "scene")]
pub mod studio;
mod surface;
mod tiles;

pub use backdrop::Backdrop;
pub use camera::Camera;
pub use error::Error;
pub use film::Film;
pub use image::Image;
pub use light::Light;
pub use look::HairLook;
pub use renderer::{Frame, HairShadows, HairView, RenderStats, Renderer, Settings, SurfaceView};

/// The result of the functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
