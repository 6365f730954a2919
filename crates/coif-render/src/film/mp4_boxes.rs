//! The boxes of an MP4 file with one H.264 track (ISO/IEC 14496-12 and -15).
//!
//! Written here because `muxide` 0.5 keeps the film in memory, has a fixed clock of 90 kHz (23.976 fps is not exact),
//! no `colr` box and 32-bit offsets.

use std::io::Write;

/// Ticks of the track's clock per frame.
const FRAME_TICKS: u32 = 1000;

/// Data of the pictures for the index.
#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) sequence_set: Vec<u8>,
    pub(crate) picture_set: Vec<u8>,
    ticks_per_second: u32,
    sizes: Vec<u32>,
    /// Numbers (from 1) of the key frames.
    jumps: Vec<u32>,
}

impl Track {
    pub(crate) fn new(fps: f64) -> Self {
        Self {
            width: 0,
            height: 0,
            sequence_set: Vec::new(),
            picture_set: Vec::new(),
            ticks_per_second: (fps * f64::from(FRAME_TICKS)).round().max(1.0) as u32,
            sizes: Vec::new(),
            jumps: Vec::new(),
        }
    }

    /// Appends a picture of this many bytes.
    pub(crate) fn push(&mut self, size: u32, can_jump: bool) {
        self.sizes.push(size);
        if can_jump {
            self.jumps.push(self.sizes.len() as u32);
        }
    }

    fn ticks(&self) -> u32 {
        (self.sizes.len() as u32).saturating_mul(FRAME_TICKS)
    }
}

/// Writes everything before the pictures, which take `length` bytes.
pub(crate) fn write_head(out: &mut impl Write, track: &Track, length: u64) -> std::io::Result<()> {
    let file_type = atom(b"ftyp", &[b"isom", &be(0x200), b"isom", b"iso2", b"avc1", b"mp41"]);
    // The pictures start after the index, whose size does not depend on the offset in it.
    let index = movie(track, 0);
    let data_head = 16;
    let start = (file_type.len() + index.len() + data_head) as u64;
    out.write_all(&file_type)?;
    out.write_all(&movie(track, start))?;
    // A size of 1 means that the true size follows with 64 bits.
    out.write_all(&be(1))?;
    out.write_all(b"mdat")?;
    out.write_all(&(length + data_head as u64).to_be_bytes())
}

fn be(value: u32) -> [u8; 4] {
    value.to_be_bytes()
}

/// A box: size, kind, content.
fn atom(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let size = 8 + parts.iter().map(|p| p.len()).sum::<usize>();
    let mut out = be(size as u32).to_vec();
    out.extend(kind);
    parts.iter().for_each(|p| out.extend(*p));
    out
}

/// A box with version and flags.
fn full_atom(kind: &[u8; 4], flags: u32, parts: &[&[u8]]) -> Vec<u8> {
    let flags = be(flags);
    let mut all: Vec<&[u8]> = vec![&flags];
    all.extend(parts);
    atom(kind, &all)
}

/// The identity matrix in 16.16 and 2.30 fixed point.
fn unit_matrix() -> Vec<u8> {
    [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000].into_iter().flat_map(be).collect()
}

fn movie(track: &Track, start: u64) -> Vec<u8> {
    let header = full_atom(
        b"mvhd",
        0,
        &[
            &[0; 8],
            &be(track.ticks_per_second),
            &be(track.ticks()),
            &be(0x1_0000),
            &[1, 0],
            &[0; 10],
            &unit_matrix(),
            &[0; 24],
            &be(2),
        ],
    );
    let track_header = full_atom(
        b"tkhd",
        3,
        &[
            &[0; 8],
            &be(1),
            &[0; 4],
            &be(track.ticks()),
            &[0; 16],
            &unit_matrix(),
            &be((track.width as u32) << 16),
            &be((track.height as u32) << 16),
        ],
    );
    // 0x55c4 is the language code "und".
    let media_header = full_atom(
        b"mdhd",
        0,
        &[&[0; 8], &be(track.ticks_per_second), &be(track.ticks()), &[0x55, 0xc4, 0, 0]],
    );
    let handler = full_atom(b"hdlr", 0, &[&[0; 4], b"vide", &[0; 12], b"video\0"]);
    let reference = full_atom(b"dref", 0, &[&be(1), &full_atom(b"url ", 1, &[])]);
    let information = atom(
        b"minf",
        &[
            &full_atom(b"vmhd", 1, &[&[0; 8]]),
            &atom(b"dinf", &[&reference]),
            &sample_table(track, start),
        ],
    );
    let media = atom(b"mdia", &[&media_header, &handler, &information]);
    atom(b"moov", &[&header, &atom(b"trak", &[&track_header, &media])])
}

fn sample_table(track: &Track, start: u64) -> Vec<u8> {
    let count = track.sizes.len() as u32;
    let list = |values: &[u32]| values.iter().copied().flat_map(be).collect::<Vec<u8>>();
    atom(
        b"stbl",
        &[
            &full_atom(b"stsd", 0, &[&be(1), &sample_description(track)]),
            &full_atom(b"stts", 0, &[&be(1), &be(count), &be(FRAME_TICKS)]),
            &full_atom(b"stss", 0, &[&be(track.jumps.len() as u32), &list(&track.jumps)]),
            // One chunk holds all pictures.
            &full_atom(b"stsc", 0, &[&be(1), &be(1), &be(count), &be(1)]),
            &full_atom(b"stsz", 0, &[&be(0), &be(count), &list(&track.sizes)]),
            &full_atom(b"co64", 0, &[&be(1), &start.to_be_bytes()]),
        ],
    )
}

fn sample_description(track: &Track) -> Vec<u8> {
    let [sps, pps] = [&track.sequence_set, &track.picture_set];
    let profile = sps.get(1..4).unwrap_or(&[66, 0, 40]);
    let length = |set: &[u8]| (set.len() as u16).to_be_bytes();
    // High profile repeats chroma format 4:2:0 and 8 bits at the end.
    let high: &[u8] = if profile[0] >= 100 { &[0xfd, 0xf8, 0xf8, 0] } else { &[] };
    let configuration = atom(
        b"avcC",
        &[&[1], profile, &[0xff, 0xe1], &length(sps), sps, &[1], &length(pps), pps, high],
    );
    // BT.709 primaries, transfer and matrix, limited range.
    let color = atom(b"colr", &[b"nclx", &[0, 1, 0, 1, 0, 1, 0]]);
    atom(
        b"avc1",
        &[
            &[0; 6],
            &[0, 1],
            &[0; 16],
            &(track.width as u16).to_be_bytes(),
            &(track.height as u16).to_be_bytes(),
            &be(72 << 16),
            &be(72 << 16),
            &[0; 4],
            &[0, 1],
            &[0; 32],
            &[0, 24, 0xff, 0xff],
            &configuration,
            &color,
        ],
    )
}
