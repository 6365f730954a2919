//! Errors of drawing and of writing films.

use std::path::PathBuf;

/// Errors when drawing a picture or writing a film.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The picture has no pixels, or too many.
    #[error(
        "picture size {width} x {height} is out of range\nhint: each side must be 1 to {limit} pixels"
    )]
    Size {
        /// Requested width (pixels).
        width: usize,
        /// Requested height (pixels).
        height: usize,
        /// Largest side (pixels).
        limit: usize,
    },
    /// The length of a slice does not match the strands or vertices.
    #[error("{what} has {found} values, expected {expected}")]
    SliceLength {
        /// The name of the slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("surface {surface}, triangle {triangle}: no vertex {vertex}")]
    VertexIndex {
        /// Index of the surface in the frame.
        surface: usize,
        /// Index of the triangle in the surface.
        triangle: usize,
        /// The index out of range.
        vertex: u32,
    },
    /// The camera has no projection: position and target coincide, a value is not finite, or the field of view is not
    /// between 0 and half a turn.
    #[error(
        "the camera is degenerate\nhint: position and target must differ, up must not lie along the view, the field of view must be between 0 and pi"
    )]
    Camera,
    /// The extension of a film is unknown.
    #[error(
        "{path}: not a film that can be written\nhint: use .mp4, .gif, .apng, or a picture sequence such as frame_####.png"
    )]
    FilmKind {
        /// The requested path.
        path: PathBuf,
    },
    /// This build has no encoder for `.mp4`.
    #[error(
        "{path}: this build cannot write .mp4\nhint: use .gif or .apng, or build with the feature `mp4` (needs a C++ compiler)"
    )]
    NoMp4 {
        /// The requested path.
        path: PathBuf,
    },
    /// The picture is larger than this kind of film allows.
    #[error(
        "{path}: {width} x {height} is too large for this kind of film\nhint: at most {limit} pixels a side, or write a picture sequence"
    )]
    FilmSize {
        /// The film.
        path: PathBuf,
        /// Width of the picture (pixels).
        width: usize,
        /// Height of the picture (pixels).
        height: usize,
        /// Largest side (pixels).
        limit: usize,
    },
    /// A picture has another size than the pictures before it.
    #[error(
        "{path}: frame {frame} is {found_width} x {found_height}, the frames before are {width} x {height}"
    )]
    FrameSize {
        /// The film.
        path: PathBuf,
        /// Index of the frame.
        frame: usize,
        /// Its width (pixels).
        found_width: usize,
        /// Its height (pixels).
        found_height: usize,
        /// Width of the film (pixels).
        width: usize,
        /// Height of the film (pixels).
        height: usize,
    },
    /// The frame rate is not a positive number.
    #[error(
        "frame rate {fps} is out of range\nhint: more than 0 and at most 1000 frames per second"
    )]
    FrameRate {
        /// The requested frame rate (1/s).
        fps: f64,
    },
    /// A film was finished without a single picture.
    #[error("{path}: a film needs at least one frame")]
    EmptyFilm {
        /// The film.
        path: PathBuf,
    },
    /// The flag of [`Renderer::stop_when`](crate::Renderer::stop_when) was set.
    #[error("the picture was cancelled")]
    Stopped,
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] coif_io::Error),
    /// An encoder failed.
    #[error("{path}: {message}")]
    Encode {
        /// The file.
        path: PathBuf,
        /// The encoder's error.
        message: String,
    },
}
