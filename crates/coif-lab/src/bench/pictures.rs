//! `render`: a picture of 100,000 strands of 30 points, 1280 x 720. The reference is the same
//! renderer on one thread, so the ratio says how well it uses the cores, and no more.

use std::path::Path;

use coif::with_threads;
use coif_render::studio::{Studio, renderer};
use coif_scene::{Scene, build, builtin};

use super::timing::Pieces;
use super::{Benchmark, Row, Setting, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "render",
    about: "a picture of 100,000 strands of 30 points, 1280 x 720, per segment",
    run,
};

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let (strands, name) =
        if setting.quick { (10_000, "render-10k") } else { (100_000, "render-100k") };
    let sets = [
        format!("groom.strands={strands}"),
        "groom.points=30".into(),
        "render.width=1280".into(),
        "render.height=720".into(),
    ];
    let text = builtin::text("long-straight").unwrap_or_default();
    let scene = Scene::from_toml(text, "long-straight", &sets)?;
    let built = build(&scene, Path::new("."))?;
    let groom = &built.groom;
    let segments = groom.strands.point_count() - groom.strands.strand_count();
    let mut rows: Vec<Row> = Vec::new();
    for threads in setting.thread_counts() {
        let row = with_threads(threads, || -> Result<Row, Error> {
            let mut studio = Studio::of_scene(renderer(&scene.render)?, &built);
            let (mut pictures, mut hash) = (Pieces::default(), 0);
            // The first picture allocates and does not count.
            for picture in 0..setting.repetitions().min(4) {
                let mut image = None;
                let time = seconds(|| {
                    image = Some(studio.shoot(groom, &groom.strands, 0.0, 0.0));
                });
                if let Some(image) = image {
                    hash = hash_bytes(&image?.rgb8);
                }
                if picture > 0 {
                    pictures.add(time, None);
                }
            }
            Ok(Row {
                name: name.into(),
                strands,
                particles: groom.strands.point_count(),
                threads,
                ns_per_particle_step: pictures.median() * 1e9 / segments as f64,
                ns_per_particle_step_min: pictures.min() * 1e9 / segments as f64,
                ms_per_frame: pictures.median() * 1e3,
                reference_ratio: 1.0,
                reference: "same renderer, one thread",
                memory_limit_ns: None,
                state_hash: format!("{hash:016x}"),
                detail: None,
            })
        })??;
        let one_thread = rows.first().map_or(row.ms_per_frame, |r| r.ms_per_frame);
        rows.push(Row { reference_ratio: one_thread / row.ms_per_frame, ..row });
    }
    Ok(rows)
}

/// A number that changes with any byte (FNV-1a).
fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
