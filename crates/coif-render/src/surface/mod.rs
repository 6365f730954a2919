//! The body: triangles with four samples per pixel, smooth normals, and skin shading.

mod raster;
mod shade;

pub(crate) use raster::SurfacePass;
pub(crate) use shade::SkinShader;
