//! H.264 in an MP4 file, at a quality that shows single hairs, with the index in front of the data so that players can
//! start while the file loads.
//!
//! Pictures of odd width or height gain one column or row, since colour is stored per 2 x 2 pixels.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use coif_io::AtomicFile;
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, Profile, QpRange,
    RateControlMode, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;

use super::mp4_boxes::{Track, write_head};
use crate::{Error, Image, Result};

/// Largest side (pixels); the shorter side is limited further by the encoder.
const LARGEST: usize = 3840;
/// Maximum number of bits for a pixel of a frame; a limit of the encoder.
const BITS_PER_PIXEL: f64 = 1.0;
/// Finest and coarsest quantisation. The encoder stays near the first: below it the file grows
/// without visible gain, from 24 on hair turns soft and the backdrop shows blocks.
const QUANTISERS: (u8, u8) = (17, 18);
/// Time between key frames (s).
const JUMP_SECONDS: f64 = 2.0;

/// An MP4 being written: pictures go to a temporary file, then head and pictures to the film.
pub(crate) struct Mp4 {
    path: PathBuf,
    /// Never committed, so that it is removed when dropped.
    spool: AtomicFile,
    encoder: Option<Encoder>,
    planes: Planes,
    track: Track,
    fps: f64,
}

impl std::fmt::Debug for Mp4 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mp4").field("path", &self.path).field("track", &self.track).finish()
    }
}

impl Mp4 {
    pub(crate) fn create(path: &Path, fps: f64) -> Result<Self> {
        let spool = AtomicFile::create(path)?;
        Ok(Self {
            path: path.into(),
            spool,
            encoder: None,
            planes: Planes::default(),
            track: Track::new(fps),
            fps,
        })
    }

    pub(crate) fn push(&mut self, image: &Image) -> Result<()> {
        let (width, height) = (image.width, image.height);
        if width.max(height) > LARGEST || width.min(height) > 2160 {
            let path = self.path.clone();
            return Err(Error::FilmSize { path, width, height, limit: LARGEST });
        }
        self.planes.fill(image);
        if self.encoder.is_none() {
            self.encoder = Some(self.make_encoder()?);
            (self.track.width, self.track.height) = (self.planes.width, self.planes.height);
        }
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let stream = encoder
            .encode(&self.planes.slices())
            .map_err(|e| Error::Encode { path: self.path.clone(), message: e.to_string() })?
            .to_vec();

        // Put parameter sets into the head of the file, everything else into the picture's sample.
        let (mut size, mut can_jump) = (0u32, false);
        for unit in units(&stream) {
            match unit.first().map(|byte| byte & 0x1f) {
                Some(7) => self.track.sequence_set = unit.to_vec(),
                Some(8) => self.track.picture_set = unit.to_vec(),
                Some(kind) => {
                    can_jump |= kind == 5;
                    let length = unit.len() as u32;
                    let head = self.spool.write_all(&length.to_be_bytes());
                    let written = head.and_then(|()| self.spool.write_all(unit));
                    written.map_err(|e| self.spool.error(e))?;
                    size += 4 + length;
                }
                None => {}
            }
        }
        if size == 0 {
            let message = "the encoder returned no picture".into();
            return Err(Error::Encode { path: self.path.clone(), message });
        }
        self.track.push(size, can_jump);
        Ok(())
    }

    fn make_encoder(&self) -> Result<Encoder> {
        let pixels = (self.planes.width * self.planes.height) as f64;
        let bits = (pixels * self.fps * BITS_PER_PIXEL).clamp(200e3, 200e6);
        let config = EncoderConfig::new()
            .bitrate(BitRate::from_bps(bits as u32))
            .max_frame_rate(FrameRate::from_hz(self.fps as f32))
            .rate_control_mode(RateControlMode::Bufferbased)
            .qp(QpRange::new(QUANTISERS.0, QUANTISERS.1))
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::High)
            .profile(Profile::High)
            .skip_frames(false)
            .scene_change_detect(false)
            .background_detection(false)
            .adaptive_quantization(false)
            .intra_frame_period(IntraFramePeriod::from_num_frames(
                (self.fps * JUMP_SECONDS).ceil().clamp(1.0, 300.0) as u32,
            ))
            .num_threads(1)
            .vui(VuiConfig::bt709());
        Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|e| Error::Encode { path: self.path.clone(), message: e.to_string() })
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        let mut file = AtomicFile::create(&self.path)?;
        let copied = (|| {
            let length = self.spool.stream_position()?;
            self.spool.flush()?;
            write_head(&mut file, &self.track, length)?;
            let mut spool = self.spool.reopen().map_err(std::io::Error::other)?;
            std::io::copy(&mut spool, &mut file)
        })();
        copied.map_err(|e| file.error(e))?;
        Ok(file.commit()?)
    }
}

/// The NAL units of a stream in which each starts with 0 0 1.
fn units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts: Vec<usize> = (0..stream.len().saturating_sub(2))
        .filter(|&i| stream[i..i + 3] == [0, 0, 1])
        .map(|i| i + 3)
        .collect();
    let ends: Vec<usize> = starts.iter().skip(1).map(|s| s - 3).chain([stream.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| {
        let unit = &stream[start..end];
        // Zeros before the next start belong to its start code.
        let zeros = unit.iter().rev().take_while(|&&b| b == 0).count();
        &unit[..unit.len() - zeros]
    })
}

/// A picture as luma and two subsampled chroma planes, BT.709, limited range.
#[derive(Debug, Default)]
struct Planes {
    width: usize,
    height: usize,
    y: Vec<u8>,
    u: Vec<u8>,
    v: Vec<u8>,
}

impl Planes {
    fn slices(&self) -> YUVSlices<'_> {
        YUVSlices::new(
            (&self.y, &self.u, &self.v),
            (self.width, self.height),
            (self.width, self.width / 2, self.width / 2),
        )
    }

    fn fill(&mut self, image: &Image) {
        // Even sides, and no smaller than one block of the encoder.
        self.width = image.width.next_multiple_of(2).max(16);
        self.height = image.height.next_multiple_of(2).max(16);
        self.y.resize(self.width * self.height, 0);
        self.u.resize(self.width * self.height / 4, 0);
        self.v.resize(self.width * self.height / 4, 0);
        let pixel = |x: usize, y: usize| {
            let at = (y.min(image.height - 1) * image.width + x.min(image.width - 1)) * 3;
            let p = &image.rgb8[at..at + 3];
            [f32::from(p[0]), f32::from(p[1]), f32::from(p[2])]
        };
        for by in 0..self.height / 2 {
            for bx in 0..self.width / 2 {
                let mut mean = [0.0f32; 3];
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let (x, y) = (2 * bx + dx, 2 * by + dy);
                    let rgb = pixel(x, y);
                    self.y[y * self.width + x] = (16.5 + brightness(rgb) * (219.0 / 255.0)) as u8;
                    for k in 0..3 {
                        mean[k] += 0.25 * rgb[k];
                    }
                }
                let luma = brightness(mean);
                let at = by * (self.width / 2) + bx;
                self.u[at] = (128.5 + (mean[2] - luma) * (224.0 / 255.0 / 1.8556)) as u8;
                self.v[at] = (128.5 + (mean[0] - luma) * (224.0 / 255.0 / 1.5748)) as u8;
            }
        }
    }
}

fn brightness([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_cut_at_start_codes() {
        let stream = [0, 0, 0, 1, 0x67, 5, 6, 0, 0, 1, 0x68, 7, 0, 0, 0, 1, 0x65, 9, 0];
        let found: Vec<&[u8]> = units(&stream).collect();
        assert_eq!(found, [&[0x67, 5, 6][..], &[0x68, 7], &[0x65, 9]]);
        assert_eq!(units(&[]).count(), 0);
    }

    #[test]
    fn grey_has_no_colour_and_white_is_235() {
        let mut planes = Planes::default();
        planes.fill(&Image { width: 3, height: 3, rgb8: vec![255; 27] });
        assert!(planes.y.iter().all(|&y| y == 235));
        assert!(planes.u.iter().chain(&planes.v).all(|&c| c == 128));
    }
}
