//! Going on with a simulation that was stopped: which cache, from which frame, and how often to
//! keep a checkpoint.

use std::path::Path;

use coif::groom::Strands;
use coif::simulation::Simulation;
use coif_io::Cache;
use coif_scene::Scene;
use rayon::prelude::*;

use super::peaks::Peaks;
use crate::failure::Failure;
use crate::talk::Talk;

/// A checkpoint is at most this much writing per frame on average (bytes): small simulations keep
/// one after every frame, large ones every few, and a resumed run repeats at most those few.
const CHECKPOINT_BYTES_PER_FRAME: usize = 4 << 20;

/// Opens the cache to go on with, or starts it, and restores the simulation. Returns the first
/// frame that is still to be simulated.
pub(super) fn open(
    folder: &Path,
    scene: &Scene,
    simulation: &mut Simulation,
    peaks: &mut Peaks,
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
                 or start anew with --overwrite"
            ),
        ));
    }
    let Some((frame, payload)) = cache.read_checkpoint()? else {
        talk.say(format_args!("{}: no checkpoint, starting from frame 0", folder.display()));
        return Ok((cache, 0));
    };
    if cache.frame_count()? <= frame {
        talk.warn(format_args!("{}: frames are missing, starting anew", folder.display()));
        return Ok((cache, 0));
    }
    if let Some(error) = first_bad_frame(&cache, frame, simulation) {
        talk.warn(format_args!("{error}; starting anew from frame 0"));
        return Ok((cache, 0));
    }
    let Some((head, state)) = Peaks::split_from(&payload) else {
        let wrong = coif::Error::BadCheckpoint("it is of another version of coif".into());
        return Err(Failure::from(wrong).in_file(folder));
    };
    simulation.restore(state).map_err(|e| Failure::from(e).in_file(folder))?;
    *peaks = head;
    // Look at the last frame, so that the next one has a motion since then.
    simulation.health();
    talk.say(format_args!("{}: going on after frame {frame}", folder.display()));
    Ok((cache, frame + 1))
}

/// What is wrong with the first frame up to `last` that cannot be read, or is of another groom: a picture of
/// the folder needs all of them, and the checkpoint brings back the last one only.
fn first_bad_frame(cache: &Cache, last: u64, simulation: &Simulation) -> Option<String> {
    let expected = &simulation.groom().strands;
    let is_alike = |found: &Strands| {
        found.strand_count() == expected.strand_count()
            && (0..found.strand_count()).all(|s| found.points_of(s) == expected.points_of(s))
    };
    let trouble = |frame: u64| match cache.read_frame(frame) {
        Ok(groom) if is_alike(&groom.strands) => None,
        Ok(_) => {
            let file = cache.frame_path(frame);
            Some(format!("{}: has other strands than the scene", file.display()))
        }
        Err(error) => Some(error.to_string()),
    };
    (0..=last).into_par_iter().filter_map(trouble).find_first(|_| true)
}

/// Whether two scenes give the same motion: pictures and the number of frames may differ.
fn moves_alike(a: &Scene, b: &Scene) -> bool {
    let mut a = a.clone();
    a.title.clone_from(&b.title);
    a.render.clone_from(&b.render);
    a.time.frames = b.time.frames;
    a == *b
}

/// Keeps a checkpoint after `frame` if it is time for one.
pub(super) fn keep(
    cache: &Cache,
    frame: u64,
    is_last: bool,
    simulation: &Simulation,
    peaks: &Peaks,
) -> Result<(), Failure> {
    // Position and velocity of every particle.
    let size = simulation.groom().strands.point_count() * 24;
    let every = (size / CHECKPOINT_BYTES_PER_FRAME) as u64 + 1;
    if is_last || frame.is_multiple_of(every) || crate::interrupt::asked() {
        let mut payload = peaks.to_bytes();
        payload.extend(simulation.checkpoint());
        cache.write_checkpoint(frame, &payload)?;
    }
    Ok(())
}
