//! A hair mesh fitted to strands, so that any groom can be simulated as a volume.
//!
//! Every cell of the scalp with roots becomes a bundle, a tube around its strands ([`super::tubes`]). Neighbours
//! of similar direction share columns; where they differ in direction, as at a parting, each has its own.
//! Folded bundles are opened or rebuilt in a simpler form, vertices are kept out of the body, and surfaces that
//! strands protrude from are moved outward by that distance. The error is reported.

use glam::Vec3;

use super::tubes::{Plan, Sample, Simpler};
use super::validate::FLAT;
use super::{Bundle, HairMesh, wrong};
use crate::Result;
use crate::groom::{Groom, Strands};

/// Resolution of a fitted mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitSettings {
    /// Approximate number of bundles.
    pub bundles: usize,
    /// Layers of a bundle.
    pub layers: usize,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self { bundles: 90, layers: 11 }
    }
}

/// Quality of a fitted mesh.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitReport {
    /// Points of all strands.
    pub points: usize,
    /// Those that lie outside of the mesh by more than [`FitReport::TOLERANCE`].
    pub outside: usize,
    /// Largest distance outside (m).
    pub farthest: f32,
    /// Mean distance outside, 0 for points inside (m).
    pub mean: f32,
    /// Cells with roots that have no bundle because it would be folded.
    pub dropped: usize,
}

impl FitReport {
    /// Distance outside up to which a point counts as inside (m): the width of a few hairs.
    pub const TOLERANCE: f32 = 0.5e-3;
}

/// Largest number of iterations of opening folded prisms, and of moving surfaces outward.
const UNTANGLING: usize = 200;
const GROWING: usize = 6;

/// Attempts per iteration of moving surfaces outward, with decreasing displacements where bundles fold.
const TRIES: usize = 3;

/// Openness of corners below which a prism is a sliver: violent motion can invert it, and it may stay inverted. Bundles
/// with a sliver are rebuilt, or keep their last shape without one.
const SLIVER: f32 = 0.018;

/// Openness that corners are opened to at the end, see [`HairMesh::open_to`]. More changes the volume of bundles that fit.
const OPEN_AT_LAST: f32 = 0.1;

/// Largest number of strands that are tested per iteration of moving surfaces outward.
const TESTED_STRANDS: usize = 600;

/// Displacement of a surface, relative to the distance by which strands protrude.
const OVERSHOOT: f32 = 1.2;

/// The forms in which a folded bundle is rebuilt, in turn, until it is not folded.
const SIMPLER: [Simpler; 4] =
    [Simpler::Smooth(4), Simpler::Smooth(16), Simpler::Smooth(64), Simpler::Box];

impl HairMesh {
    /// Fits a mesh to a groom's strands. Does not bind its roots.
    pub fn fit(groom: &Groom, settings: &FitSettings) -> Result<(Self, FitReport)> {
        Self::fit_outside(groom, settings, |p| p)
    }

    /// [`HairMesh::fit`] with vertices kept out of an obstacle: `keep` projects a vertex.
    pub(crate) fn fit_outside(
        groom: &Groom,
        settings: &FitSettings,
        keep: impl Fn(Vec3) -> Vec3,
    ) -> Result<(Self, FitReport)> {
        // Build tubes around the strands of cells, and open those that are folded.
        groom.validate()?;
        let (bundles, layers) = (settings.bundles.clamp(1, 20_000), settings.layers.clamp(1, 200));
        let sample = Sample::new(&groom.strands, layers);
        let cells = sample.cells(bundles);
        let (mut mesh, plans) = sample.mesh(&cells)?;
        let wanted = mesh.bundles.len();
        mesh.keep_vertices(&keep);
        mesh.untangle(UNTANGLING, &keep);
        mesh.mend(&sample, &plans, sample.cell_size(&cells), &keep);
        mesh.cut_folds()?;
        // Move surfaces outward where strands protrude.
        let few = few_of(&groom.strands, TESTED_STRANDS);
        for _ in 0..GROWING {
            let Some(grown) = mesh.grown(&few, &keep)? else { break };
            mesh = grown;
        }
        // Open the remaining slivers.
        let before = mesh.positions().to_vec();
        mesh.open_to(OPEN_AT_LAST, UNTANGLING, &keep);
        mesh.undo_bad(&before);
        // Project vertices that opening has moved into the body, unless that folds bundles again.
        let before = mesh.positions().to_vec();
        mesh.keep_vertices(&keep);
        mesh.undo_bad(&before);
        mesh.validate()?;
        let mut report = mesh.fit_report(&groom.strands)?;
        report.dropped = wanted - mesh.bundles.len();
        Ok((mesh, report))
    }

    /// Projects all vertices but the roots with `keep`.
    fn keep_vertices(&mut self, keep: impl Fn(Vec3) -> Vec3) {
        for column in 0..self.column_count() {
            self.columns.strand_mut(column)[1..].iter_mut().for_each(|p| *p = keep(*p));
        }
    }

    /// Restores the columns of bundles that are folded or have layers without height to `before`, a state without
    /// such bundles, until none is left.
    fn undo_bad(&mut self, before: &[Vec3]) {
        let mut last = Vec::new();
        for flat in [SLIVER, FLAT] {
            // Bundles that were slivers before stay in the list: stop when it does not change.
            loop {
                let bad = self.bad_bundles(flat);
                if bad.is_empty() || bad == last {
                    break;
                }
                for &b in &bad {
                    let bundle = self.bundles[b];
                    for &c in bundle.columns() {
                        let points = self.columns.points_of(c as usize);
                        self.columns.strand_mut(c as usize).copy_from_slice(&before[points]);
                    }
                }
                last = bad;
            }
        }
    }

    /// Rebuilds bundles that are folded or have layers without height, each with columns of its own, in the forms of
    /// [`SIMPLER`], the last of which is never folded.
    fn mend(&mut self, sample: &Sample, plans: &[Plan], size: f32, keep: impl Fn(Vec3) -> Vec3) {
        // Count attempts per bundle: opening one may fold others, which start with the first form.
        let mut times = vec![0; self.bundles.len()];
        for _ in 0..2 * SIMPLER.len() {
            let bad = self.bad_bundles(SLIVER);
            if bad.is_empty() {
                return;
            }
            for b in bad {
                let form = SIMPLER[times[b].min(SIMPLER.len() - 1)];
                times[b] += 1;
                let first = self.column_count() as u32;
                let mut tube = sample.simpler_tube(&plans[b], form, size);
                let layers = tube[0].len() as u32 - 1;
                // Leave a box where it is: projection out of the body could fold it.
                if form != Simpler::Box {
                    lift(&mut tube, &keep);
                }
                tube.iter().for_each(|line| self.columns.push(line));
                self.bundles[b] = Bundle::quad([first, first + 1, first + 2, first + 3], layers);
            }
            self.own_columns();
            self.untangle(UNTANGLING, &keep);
        }
    }

    /// The mesh with surfaces moved outward where strands protrude; `None` if that does not improve it.
    ///
    /// Model: a vertex moves by the weighted mean of the offsets of points near it, with weights proportional to their
    /// length; vertices of bundles that fold move less, or not at all.
    fn grown(&self, strands: &Strands, keep: impl Fn(Vec3) -> Vec3) -> Result<Option<Self>> {
        let missing = self.outside(strands, 0.2 * FitReport::TOLERANCE)?;
        let mut displacements = vec![(Vec3::ZERO, 0.0f32); self.vertex_count()];
        let mut before = 0.0;
        for (vertices, displacement) in &missing {
            let length = displacement.length();
            before += length;
            for &(v, weight) in vertices {
                let sum = &mut displacements[v as usize];
                *sum = (sum.0 + *displacement * (weight * length), sum.1 + weight * length);
            }
        }
        let mut fraction = vec![OVERSHOOT; self.vertex_count()];
        let mut mesh = self.clone();
        for _ in 0..TRIES {
            mesh.columns.positions_mut().copy_from_slice(self.positions());
            for (v, p) in mesh.columns.positions_mut().iter_mut().enumerate() {
                if displacements[v].1 > 0.0 && self.locate(v).1 > 0 {
                    *p = keep(*p + displacements[v].0 / displacements[v].1 * fraction[v]);
                }
            }
            mesh.untangle(UNTANGLING, &keep);
            let bad = mesh.bad_bundles(SLIVER);
            if bad.is_empty() {
                break;
            }
            // Reduce the displacement of the vertices of bad bundles, and set that of bad prisms to zero.
            for b in bad {
                for k in 0..mesh.bundles[b].layers {
                    let less = if mesh.is_good(b, k, SLIVER) { 0.7 } else { 0.0 };
                    let prism = mesh.prism(b, k);
                    let corners = prism.lower().iter().chain(prism.upper());
                    corners.for_each(|&v| fraction[v as usize] *= less);
                }
            }
        }
        mesh.undo_bad(self.positions());
        let left = mesh.outside(strands, 0.2 * FitReport::TOLERANCE)?;
        let after: f32 = left.iter().map(|(_, displacement)| displacement.length()).sum();
        Ok((after < 0.98 * before).then_some(mesh))
    }

    /// Fit of the mesh in its rest shape to strands.
    fn fit_report(&self, strands: &Strands) -> Result<FitReport> {
        let distances = self.distances(strands, 0.2 * FitReport::TOLERANCE)?;
        let mut report = FitReport { points: strands.point_count(), ..Default::default() };
        let mut sum = 0.0f64;
        for offset in distances {
            report.outside += usize::from(offset > FitReport::TOLERANCE);
            report.farthest = report.farthest.max(offset);
            sum += f64::from(offset);
        }
        report.mean = (sum / report.points.max(1) as f64) as f32;
        Ok(report)
    }

    /// Cuts bundles below their first prism that is folded or has no height, and drops those without a prism left, and
    /// unused columns.
    fn cut_folds(&mut self) -> Result<()> {
        loop {
            let mut kept = Vec::with_capacity(self.bundles.len());
            for (b, bundle) in self.bundles.iter().enumerate() {
                let layers = (0..bundle.layers).find(|&k| !self.is_good(b, k, FLAT));
                let layers = layers.unwrap_or(bundle.layers);
                if layers > 0 {
                    let mut shorter = *bundle;
                    shorter.layers = layers;
                    kept.push(shorter);
                }
            }
            if kept.is_empty() {
                return Err(wrong(
                    "hair mesh".into(),
                    "cannot be fitted: every bundle is folded; expected strands that are longer than a hair is wide",
                ));
            }
            let same = kept == self.bundles;
            self.bundles = kept;
            self.own_columns();
            if same {
                return Ok(());
            }
        }
    }

    /// Duplicates columns of bundles that share a column but no edge, and shortens columns to the longest of their
    /// bundles; drops unused ones.
    pub(super) fn own_columns(&mut self) {
        // A cut along no edge separates exactly these bundles. They are not joined by seams, because they share
        // only a line.
        let all = self.cut(&[], 1);
        let mut longest = vec![0usize; all.column_count()];
        for bundle in &all.bundles {
            for &c in bundle.columns() {
                longest[c as usize] = longest[c as usize].max(bundle.layers as usize + 1);
            }
        }
        let mut number = vec![u32::MAX; all.column_count()];
        let mut columns = Strands::new();
        for (c, line) in all.columns.iter().enumerate() {
            if longest[c] > 0 {
                number[c] = columns.strand_count() as u32;
                columns.push(&line[..longest[c].min(line.len())]);
            }
        }
        self.bundles = all
            .bundles
            .iter()
            .filter_map(|b| {
                let own: Vec<u32> = b.columns().iter().map(|&c| number[c as usize]).collect();
                Bundle::over(&own, b.layers)
            })
            .collect();
        self.columns = columns;
        self.seams.clear();
        self.roots.clear();
    }
}

/// Translates each section of a tube by the largest displacement that `keep` gives to one of its corners.
fn lift(tube: &mut [Vec<Vec3>; 4], keep: impl Fn(Vec3) -> Vec3) {
    for k in 1..tube[0].len() {
        let displacements = [0, 1, 2, 3].map(|i| keep(tube[i][k]) - tube[i][k]);
        let longer = |a: Vec3, b: Vec3| if b.length_squared() > a.length_squared() { b } else { a };
        let farthest = displacements.into_iter().fold(Vec3::ZERO, longer);
        tube.iter_mut().for_each(|line| line[k] += farthest);
    }
}

/// Every n-th strand, for at most `max_count` strands.
fn few_of(strands: &Strands, max_count: usize) -> Strands {
    let stride = strands.strand_count().div_ceil(max_count).max(1);
    let mut few = Strands::new();
    (0..strands.strand_count()).step_by(stride).for_each(|s| few.push(strands.strand(s)));
    few
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::Fibre;
    use crate::grow::hair_mesh::Binding;

    /// Strands on the upper hemisphere of a ball that fall over its sides; with `parted`, to either side of x = 0.
    fn ball_of_hair(parted: bool) -> Groom {
        let mut strands = Strands::new();
        let n = 900;
        for i in 0..n {
            // Place roots on a spiral over the hemisphere.
            let up = 1.0 - 0.95 * (i as f32 + 0.5) / n as f32;
            let around = 2.399_963 * i as f32;
            let flat = (1.0 - up * up).sqrt();
            let normal = Vec3::new(flat * around.cos(), up, flat * around.sin());
            let side = if normal.x >= 0.0 { 1.0 } else { -1.0 };
            let mut away = if parted { Vec3::X * side } else { Vec3::new(normal.x, 0.0, normal.z) };
            away = away.normalize_or(Vec3::X);
            let mut p = normal * 0.1;
            let mut d = (normal + away * 0.4).normalize();
            let mut line = vec![p];
            for _ in 0..20 {
                d = (d + (away * 0.1 - Vec3::Y * 0.22)).normalize();
                p += d * 0.01;
                let height = Vec3::new(p.x, p.y.max(0.0), p.z).length();
                if height < 0.104 {
                    p *= 0.104 / height.max(1e-3);
                }
                line.push(p);
            }
            strands.push(&line);
        }
        Groom::new(strands, Fibre::default())
    }

    #[test]
    fn a_fitted_mesh_is_valid_and_contains_most_points() {
        for parted in [false, true] {
            let groom = ball_of_hair(parted);
            let (mesh, report) = HairMesh::fit(&groom, &FitSettings::default()).unwrap();
            mesh.validate().unwrap();
            println!(
                "parted {parted}: {} bundles, {} columns, {} vertices, {report:?}",
                mesh.bundles.len(),
                mesh.column_count(),
                mesh.vertex_count()
            );
            assert!((60..=95).contains(&mesh.bundles.len()), "{}", mesh.bundles.len());
            assert!(report.outside * 20 < report.points, "{report:?}");
            assert!(report.mean < 0.5e-3, "{report:?}");
            // No bundle has tips on both sides of the parting.
            let side = |c: u32| mesh.columns.strand(c as usize).last().map_or(0.0, |p| p.x);
            let bridges = |b: &&Bundle| {
                let (left, right) = (b.columns().iter().map(|&c| side(c)), b.columns().iter());
                left.fold(0.0, f32::min) < -0.03
                    && right.map(|&c| side(c)).fold(0.0, f32::max) > 0.03
            };
            assert_eq!(mesh.bundles.iter().filter(bridges).count() * usize::from(parted), 0);
            // Inside or not, every strand is reproduced at rest.
            let binding = Binding::new(&mesh, &groom.strands).unwrap();
            let mut out = vec![Vec3::ZERO; groom.strands.point_count()];
            binding.positions(&mut out);
            let apart = out.iter().zip(groom.strands.positions()).map(|(a, b)| a.distance(*b));
            assert!(apart.fold(0.0, f32::max) < 1e-6);
        }
    }

    #[test]
    fn hair_that_fills_a_block_is_inside_of_its_mesh() {
        let mut strands = Strands::new();
        for i in 0..400 {
            let (x, z) = ((i % 20) as f32 * 0.005, (i / 20) as f32 * 0.005);
            strands.push(&[Vec3::new(x, 0.0, z), Vec3::new(x, 0.1, z), Vec3::new(x, 0.2, z)]);
        }
        let groom = Groom::new(strands, Fibre::default());
        let settings = FitSettings { bundles: 9, layers: 4 };
        let (mesh, report) = HairMesh::fit(&groom, &settings).unwrap();
        println!("{} bundles, {report:?}", mesh.bundles.len());
        assert_eq!(report.dropped, 0);
        assert!(report.outside < report.points / 20, "{report:?}");
        assert!(HairMesh::fit(&Groom::default(), &settings).is_err());
    }

    #[test]
    fn a_single_strand_is_inside_of_its_mesh() {
        for length in [1e-3, 0.1, 2.0] {
            let mut strands = Strands::new();
            strands.push(&[Vec3::ZERO, Vec3::Y * length]);
            let groom = Groom::new(strands, Fibre::default());
            let (mesh, report) = HairMesh::fit(&groom, &FitSettings::default()).unwrap();
            mesh.validate().unwrap();
            assert_eq!((mesh.bundles.len(), report.outside), (1, 0), "{report:?}");
        }
    }

    #[test]
    fn a_folded_bundle_is_rebuilt_around_its_strands() {
        // The strand zigzags by more than the width of a tube, and lies inside of the obstacle of `fit_outside`.
        let zigzag = |i: i32| Vec3::new(0.03 * (i % 2) as f32, 2e-3 * i as f32, 0.0);
        let mut strands = Strands::new();
        strands.push(&(0..30).map(zigzag).collect::<Vec<_>>());
        let groom = Groom::new(strands, Fibre::default());
        let onto_plane = |p: Vec3| Vec3::new(p.x, p.y.max(0.5), p.z);
        for settings in [FitSettings::default(), FitSettings { bundles: 1, layers: 1 }] {
            let (mesh, report) = HairMesh::fit(&groom, &settings).unwrap();
            mesh.validate().unwrap();
            // Opening slivers at the end leaves some points outside: up to a third of a single strand.
            assert!(report.outside * 3 < report.points, "{report:?}");
            assert!(report.mean < 1e-3, "{report:?}");
            let (mesh, report) = HairMesh::fit_outside(&groom, &settings, onto_plane).unwrap();
            mesh.validate().unwrap();
            assert_eq!(report.dropped, 0, "{report:?}");
        }
    }
}
