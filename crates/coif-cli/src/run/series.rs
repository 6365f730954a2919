//! One row of figures per frame: for `series` of `--json`, and for `health.csv` beside the frames.

use coif::simulation::Health;
use coif_io::{Cache, RowFile};
use serde::Serialize;

use crate::failure::Failure;
use crate::talk::Talk;

/// Declares a row: its fields are the keys of the JSON and the columns of the table, in this order.
macro_rules! row {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        /// The health of one frame, with units in the names.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize)]
        pub(crate) struct Row {
            $($(#[$doc])* pub(crate) $name: $type,)+
        }

        impl Row {
            fn header() -> String {
                [$(stringify!($name)),+].join(",")
            }

            /// The row as CSV, with the shortest digits that read back as the same bits.
            fn to_csv(self) -> String {
                [$(format!("{:?}", self.$name)),+].join(",")
            }

            fn from_csv(row: &str) -> Option<Self> {
                let mut cells = row.split(',');
                let row = Self { $($name: cells.next()?.parse().ok()?,)+ };
                cells.next().is_none().then_some(row)
            }
        }
    };
}

row! {
    frame: u64,
    time_s: f64,
    /// Maximum speed of free points in the world, over the frame.
    speed_max_m_s: f32,
    speed_mean_m_s: f32,
    /// Maximum speed relative to the rigid motion of the scalp under the root.
    relative_speed_max_m_s: f32,
    /// Points faster than 1 cm/s relative to the scalp.
    moving_points: usize,
    kinetic_energy_j: f64,
    kinked_strands: usize,
    /// Largest distance from the groomed place, as a fraction of the strand's length.
    drift_max: f32,
    stretch_max: f32,
    penetration_max_m: f32,
    /// Maximum speed of the scalp, the colliders and the surface that hair collides with.
    body_speed_max_m_s: f32,
    /// Strand and point of `relative_speed_max_m_s`.
    fastest_strand: usize,
    fastest_point: usize,
}

impl Row {
    /// The row of a frame at a time (s).
    pub(super) fn new(frame: u64, time_s: f64, health: &Health) -> Self {
        let motion = &health.motion;
        Self {
            frame,
            time_s,
            speed_max_m_s: motion.speed_max,
            speed_mean_m_s: motion.speed_mean(),
            relative_speed_max_m_s: motion.relative_speed_max,
            moving_points: motion.moving_points,
            kinetic_energy_j: motion.kinetic_energy,
            kinked_strands: health.kinked.count,
            drift_max: health.drift.max,
            stretch_max: health.stretch_max,
            penetration_max_m: health.penetration_max,
            body_speed_max_m_s: motion.body_speed_max,
            fastest_strand: motion.fastest_relative.0,
            fastest_point: motion.fastest_relative.1,
        }
    }
}

/// The rows of all frames, and the table beside the frames if there is one.
#[derive(Default)]
pub(super) struct Series {
    pub(super) rows: Vec<Row>,
    table: Option<RowFile>,
}

impl Series {
    /// Starts the table of a cache, or continues it: frames before `first` exist.
    pub(super) fn open(cache: &Cache, first: u64, talk: &Talk) -> Result<Self, Failure> {
        let mut rows = Vec::new();
        let keep = |text: &str| {
            let row = Row::from_csv(text).filter(|row| row.frame < first);
            rows.extend(row);
            row.is_some()
        };
        let (table, _) = RowFile::open(cache.health_path(), &Row::header(), keep)?;
        if (rows.len() as u64) < first {
            talk.warn(format_args!(
                "{}: rows of earlier frames are missing; the table continues without them",
                cache.health_path().display()
            ));
        }
        Ok(Self { rows, table: Some(table) })
    }

    /// Adds a frame.
    pub(super) fn push(&mut self, row: Row) -> Result<(), Failure> {
        self.rows.push(row);
        if let Some(table) = &mut self.table {
            table.push(&row.to_csv())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_with_the_same_bits() {
        let health = Health { stretch_max: 1.1e-7, ..Health::default() };
        let mut row = Row::new(7, 7.0 / 60.0, &health);
        row.kinetic_energy_j = 1.0 / 3e9;
        row.speed_max_m_s = 33.3;
        let text = row.to_csv();
        assert_eq!(Row::from_csv(&text), Some(row));
        assert_eq!(Row::header().split(',').count(), text.split(',').count());
        for wrong in ["", "frame", &text[..text.len() / 2], &format!("{text},1")] {
            assert_eq!(Row::from_csv(wrong), None, "{wrong}");
        }
    }
}
