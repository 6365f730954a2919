//! Resuming a simulation that was stopped: which cache, from which frame, and how often to write a checkpoint.

use std::path::Path;

use coif::math::bytes::{Reader, put_u64};
use coif::simulation::Simulation;
use coif_io::Cache;
use coif_scene::Scene;
use rayon::prelude::*;

use super::peaks::Peaks;
use crate::failure::Failure;
use crate::talk::Talk;

/// Maximum size of checkpoints per frame on average (bytes): small simulations write one after every frame, large ones
/// after every few, and a resumed run repeats at most those few.
const CHECKPOINT_BYTES_PER_FRAME: usize = 4 << 20;

/// Opens the cache to resume, or starts it, and restores the simulation and the checksums of the existing frames.
/// Returns the first frame that is still to be simulated.
pub(super) fn open(
    folder: &Path,
    scene: &Scene,
    simulation: &mut Simulation,
    peaks: &mut Peaks,
    checksums: &mut Vec<u64>,
    talk: &Talk,
) -> Result<(Cache, u64), Failure> {
    let Ok(cache) = Cache::open(folder) else {
        return Ok((Cache::create(folder, &scene.to_toml(), false)?, 0));
    };
    let name = folder.join("scene.toml").display().to_string();
    let kept = Scene::from_toml(&cache.scene()?, &name, &[])?;
    if !moves_alike(&kept, scene) {
        return Err(Failure::new(
            format!("{}: was simulated from another scene", folder.display()),
            format!(
                "give the scene and the --set of the first run ('{name}' has all of it), \
                 or start again with --overwrite"
            ),
        ));
    }
    let Some((frame, payload)) = cache.read_checkpoint()? else {
        talk.say(format_args!("{}: no checkpoint, starting from frame 0", folder.display()));
        return Ok((cache, 0));
    };
    if cache.frame_count()? <= frame {
        talk.warn(format_args!("{}: frames are missing, starting from frame 0", folder.display()));
        return Ok((cache, 0));
    }
    let sections = Peaks::split_from(&payload).and_then(|(head, rest)| {
        let (sums, state) = split_checksums(rest)?;
        (sums.len() as u64 == frame + 1).then_some((head, sums, state))
    });
    let Some((head, sums, state)) = sections else {
        let wrong = coif::Error::BadCheckpoint("it is of another version of coif".into());
        return Err(Failure::from(wrong).in_file(folder));
    };
    check_frames(&cache, &sums)?;
    simulation.restore(state).map_err(|e| Failure::from(e).in_file(folder))?;
    (*peaks, *checksums) = (head, sums);
    // Measure the last frame, so that the next one has a motion since then.
    simulation.health();
    talk.say(format_args!("{}: continuing after frame {frame}", folder.display()));
    Ok((cache, frame + 1))
}

/// Refuses a folder with a frame that differs from what was written: a film of the folder needs all frames, and the
/// checkpoint restores only the last one.
fn check_frames(cache: &Cache, checksums: &[u64]) -> Result<(), Failure> {
    let trouble = |(frame, expected): (usize, &u64)| {
        let found = match cache.frame_checksum(frame as u64) {
            Ok(found) => found,
            Err(error) => return Some(Failure::from(error)),
        };
        (found != *expected).then(|| {
            let file = cache.frame_path(frame as u64);
            Failure::new(
                format!(
                    "{}: expected the checksum {expected:016x} that it was written with, \
                     found {found:016x}",
                    file.display()
                ),
                "the file was changed or damaged since; put it back as it was, or simulate again \
                 from the start with --overwrite",
            )
        })
    };
    match checksums.par_iter().enumerate().filter_map(trouble).find_first(|_| true) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Splits the checksums off what follows the peaks in a checkpoint: their number (8 bytes) and the checksums.
fn split_checksums(bytes: &[u8]) -> Option<(Vec<u64>, &[u8])> {
    let mut reader = Reader(bytes);
    let length = usize::try_from(reader.u64()?).ok()?.checked_mul(8)?;
    let mut sums = Reader(reader.take(length)?);
    Some((std::iter::from_fn(|| sums.u64()).collect(), reader.0))
}

/// Whether two scenes give the same motion: pictures and the number of frames may differ.
fn moves_alike(a: &Scene, b: &Scene) -> bool {
    let mut a = a.clone();
    a.title.clone_from(&b.title);
    a.render.clone_from(&b.render);
    a.time.frames = b.time.frames;
    a == *b
}

/// Writes a checkpoint after `frame` if one is due.
pub(super) fn keep(
    cache: &Cache,
    frame: u64,
    is_last: bool,
    simulation: &Simulation,
    peaks: &Peaks,
    checksums: &[u64],
) -> Result<(), Failure> {
    // Position and velocity of every particle.
    let size = simulation.groom().strands.point_count() * 24;
    let every = (size / CHECKPOINT_BYTES_PER_FRAME) as u64 + 1;
    if is_last || frame.is_multiple_of(every) || crate::interrupt::requested() {
        let mut payload = peaks.to_bytes();
        put_u64(&mut payload, checksums.len() as u64);
        checksums.iter().for_each(|sum| put_u64(&mut payload, *sum));
        payload.extend(simulation.checkpoint());
        cache.write_checkpoint(frame, &payload)?;
    }
    Ok(())
}
