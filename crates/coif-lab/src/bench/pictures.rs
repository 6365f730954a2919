//! `render`: a picture of 100,000 strands of 30 points, 1280 x 720. The reference is the same
//! renderer on one thread, so the ratio measures its use of the cores only.

use coif::with_threads;
use coif_render::studio::{Studio, renderer};

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
    let (scene, built) = crate::built_in("long-straight", &sets)?;
    let groom = &built.groom;
    let segments = groom.strands.point_count() - groom.strands.strand_count();
    let mut rows: Vec<Row> = Vec::new();
    for threads in setting.thread_counts() {
        let row = with_threads(threads, || -> Result<Row, Error> {
            let mut studio = Studio::of_scene(renderer(&scene.render)?, &built);
            let (mut pictures, mut hash) = (Pieces::default(), 0);
            // The first picture allocates and is not measured.
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
            // Times are per segment; the report has the number of points.
            let particles = groom.strands.point_count();
            let reference = "same renderer, one thread";
            let row = pictures.row(name, [strands, segments], 1, reference, hash);
            Ok(Row { threads, particles, ..row })
        })??;
        let one_thread = rows.first().map_or(row.ms_per_frame, |r| r.ms_per_frame);
        rows.push(Row { reference_ratio: one_thread / row.ms_per_frame, ..row });
    }
    Ok(rows)
}

/// FNV-1a hash.
fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
