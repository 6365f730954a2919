//! A hair mesh fitted to strands, so that any groom can be simulated as a volume.
//!
//! Roots are spread out on a plane around the head and cut into square cells; every cell with roots
//! becomes a bundle. The columns at its corners are local affine fits of the strands around, level by
//! level, so they reach as far as the strands do. Where neighbours go different ways (a parting), they
//! get columns of their own. What is folded is opened or cut away, and the error is reported.

use std::collections::BTreeMap;

use glam::{Mat3, Quat, Vec2, Vec3};

use super::{Bundle, Exposure, HairMesh, wrong};
use crate::groom::{Groom, Strands};
use crate::grow::hair_mesh::Binding;
use crate::{Error, Result};

/// How fine a fitted mesh is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitSettings {
    /// About how many bundles there are.
    pub bundles: usize,
    /// Layers of a bundle.
    pub layers: usize,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self { bundles: 40, layers: 8 }
    }
}

/// How well a fitted mesh holds its strands.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitReport {
    /// Points of all strands.
    pub points: usize,
    /// Those that lie outside of the mesh by more than [`FitReport::TOLERANCE`].
    pub outside: usize,
    /// How far the farthest lies outside (m).
    pub farthest: f32,
    /// How far points lie outside on average, those inside counting as 0 (m).
    pub mean: f32,
    /// Cells with roots that had to be left without a bundle because it would be folded.
    pub dropped: usize,
}

impl FitReport {
    /// How far outside a point still counts as inside (m): the width of a few hairs.
    pub const TOLERANCE: f32 = 0.5e-3;
}

/// Columns of neighbouring cells are one if they come this close, in cells.
const SAME: f32 = 0.9;

/// Rounds of opening folds, and of widening.
const UNTANGLING: usize = 400;
const WIDENING: usize = 8;

/// How far outer columns are moved out in one round, as a share of the distance to their neighbours.
const WIDER: f32 = 0.2;

/// Strands that the fit looks at at most.
const MOST_STRANDS: usize = 4000;

impl HairMesh {
    /// Fits a mesh to a groom's strands. Roots are not bound yet.
    pub fn fit(groom: &Groom, settings: &FitSettings) -> Result<(Self, FitReport)> {
        groom.validate()?;
        let (bundles, layers) = (settings.bundles.clamp(1, 20_000), settings.layers.clamp(1, 200));
        let sample = Sample::new(&groom.strands, layers);
        let cells = sample.cells(bundles);
        let mut mesh = sample.mesh(&cells, layers)?;
        let wanted = mesh.bundles.len();
        mesh.untangle(UNTANGLING, |p| p);
        mesh.cut_folds()?;
        // Move the outer columns out until few strands are outside.
        let mut share = WIDER;
        for _ in 0..WIDENING {
            let report = mesh.fit_report(&groom.strands)?;
            if report.outside * 50 < report.points {
                break;
            }
            let mut wider = mesh.clone();
            wider.widen(share);
            // Where it folds, go on with half of it; keep only what helps.
            let folds = wider.untangle(UNTANGLING, |p| p) > 0;
            if folds || wider.fit_report(&groom.strands)?.outside >= report.outside {
                share *= 0.5;
                continue;
            }
            mesh = wider;
        }
        mesh.validate()?;
        let mut report = mesh.fit_report(&groom.strands)?;
        report.dropped = wanted - mesh.bundles.len();
        Ok((mesh, report))
    }

    /// How well the mesh at rest holds strands.
    pub fn fit_report(&self, strands: &Strands) -> Result<FitReport> {
        let distances = Binding::distances(self, strands, 0.2 * FitReport::TOLERANCE)?;
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

    /// Moves vertices of the outer surface away from their neighbours, by a share of the distance.
    fn widen(&mut self, share: f32) {
        let topology = self.topology();
        let mut sums = vec![(Vec3::ZERO, 0.0f32); self.vertex_count()];
        for &[a, b] in &topology.across {
            for (v, n) in [(a, b), (b, a)] {
                let sum = &mut sums[v as usize];
                *sum = (sum.0 + self.positions()[n as usize], sum.1 + 1.0);
            }
        }
        let places: Vec<usize> = (0..self.vertex_count()).map(|v| self.locate(v).1).collect();
        for (v, p) in self.columns.positions_mut().iter_mut().enumerate() {
            if topology.exposure[v] == Exposure::External && sums[v].1 > 0.0 && places[v] > 0 {
                *p += (*p - sums[v].0 / sums[v].1) * share;
            }
        }
    }

    /// Ends bundles before their first folded prism, drops those that have none left, and the columns
    /// that nothing needs any more.
    fn cut_folds(&mut self) -> Result<()> {
        loop {
            let folded = |mesh: &Self, b: usize, k: u32| {
                let at = |v: u32| mesh.positions()[v as usize];
                let open =
                    |t: [u32; 4]| super::validate::openness(t.map(at)) > super::validate::FLAT;
                !mesh.prism(b, k).corner_tetrahedra().all(open)
            };
            let mut kept = Vec::with_capacity(self.bundles.len());
            for (b, bundle) in self.bundles.iter().enumerate() {
                let layers = (0..bundle.layers).find(|&k| folded(self, b, k));
                let layers = layers.unwrap_or(bundle.layers);
                if layers > 0 {
                    let mut shorter = *bundle;
                    shorter.layers = layers;
                    kept.push(shorter);
                }
            }
            if kept.is_empty() {
                return Err(wrong("hair mesh".into(), "cannot be fitted: every bundle is folded"));
            }
            let same = kept == self.bundles;
            self.bundles = kept;
            self.own_columns();
            if same {
                return Ok(());
            }
        }
    }

    /// Gives bundles that meet in a column without sharing an edge columns of their own, and drops and
    /// shortens columns to what bundles need.
    fn own_columns(&mut self) {
        let all = self.cut(&[], 1);
        // A cut along no edge separates just those; they are not seams, because they never touch more
        // than a line.
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

/// Strands that stand for all, laid out on a plane.
struct Sample {
    /// Where the roots are on the plane (radians).
    at: Vec<Vec2>,
    /// Points at equal shares of the length, `layers + 1` each.
    lines: Vec<Vec<Vec3>>,
}

impl Sample {
    /// Model: the roots are seen from a point behind them; the angle from the middle of all directions and
    /// the direction around it are polar coordinates, so that nearly a whole sphere has a place.
    fn new(strands: &Strands, layers: usize) -> Self {
        let stride = strands.strand_count().div_ceil(MOST_STRANDS).max(1);
        let chosen: Vec<usize> = (0..strands.strand_count()).step_by(stride).collect();
        let lines: Vec<Vec<Vec3>> =
            chosen.iter().map(|&s| at_equal_shares(strands.strand(s), layers)).collect();
        let count = lines.len() as f32;
        let mean = lines.iter().map(|l| l[0]).sum::<Vec3>() / count;
        let reach = lines.iter().map(|l| l[0].distance(mean)).fold(1e-4, f32::max);
        // Hair that grows one way grows on one side of the point to look from.
        let way = lines.iter().map(|l| (l[1] - l[0]).normalize_or_zero()).sum::<Vec3>() / count;
        let centre = mean - way * (way.length() * 1.5 * reach);
        let axis = lines
            .iter()
            .map(|l| (l[0] - centre).normalize_or_zero())
            .sum::<Vec3>()
            .normalize_or(Vec3::Y);
        let turn = Quat::from_rotation_arc(axis, Vec3::Y);
        let at = lines
            .iter()
            .map(|l| {
                let d = turn * (l[0] - centre).normalize_or(axis);
                // Seen from outside, x to the right and -z up: counter-clockwise stays so.
                Vec2::new(d.x, -d.z).normalize_or_zero() * d.y.clamp(-1.0, 1.0).acos()
            })
            .collect();
        Self { at, lines }
    }

    /// Square cells that hold roots, about as many as asked for, and their side.
    fn cells(&self, wanted: usize) -> Cells {
        let count = |side: f32| {
            let mut cells: BTreeMap<[i32; 2], Vec<usize>> = BTreeMap::new();
            for (i, p) in self.at.iter().enumerate() {
                let cell = (*p / side).floor();
                cells.entry([cell.x as i32, cell.y as i32]).or_default().push(i);
            }
            cells
        };
        let (mut small, mut large) = (1e-3f32, 8.0f32);
        for _ in 0..24 {
            let side = (small * large).sqrt();
            if count(side).len() > wanted { small = side } else { large = side }
        }
        Cells { side: large, roots: count(large) }
    }

    fn mesh(&self, cells: &Cells, layers: usize) -> Result<HairMesh> {
        // Fit the four columns of every cell on its own.
        const CORNERS: [[i32; 2]; 4] = [[0, 0], [1, 0], [1, 1], [0, 1]];
        let mut fitted: Vec<([i32; 2], Vec<Vec3>)> = Vec::new();
        for (&cell, roots) in &cells.roots {
            let middle = self.mean(roots);
            for [dx, dy] in CORNERS {
                let corner = [cell[0] + dx, cell[1] + dy];
                let place = Vec2::new(corner[0] as f32, corner[1] as f32) * cells.side;
                fitted.push((corner, self.column(place, cells.side, &middle)));
            }
        }
        // Make columns one that stand on the same corner and run close to each other.
        let size = self.cell_size(cells);
        let mut groups: Vec<(Vec<usize>, [i32; 2])> = Vec::new();
        let mut on_corner: BTreeMap<[i32; 2], Vec<usize>> = BTreeMap::new();
        let mut group_of = vec![0u32; fitted.len()];
        for (i, (corner, line)) in fitted.iter().enumerate() {
            let near = |g: &usize| {
                let other = &fitted[groups[*g].0[0]].1;
                let apart = line.iter().zip(other).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
                apart < SAME * size
            };
            let known = on_corner.entry(*corner).or_default();
            let group = known.iter().copied().find(near).unwrap_or_else(|| {
                groups.push((Vec::new(), *corner));
                known.push(groups.len() - 1);
                groups.len() - 1
            });
            groups[group].0.push(i);
            group_of[i] = group as u32;
        }
        let mut columns = Strands::new();
        for (members, _) in &groups {
            let share = 1.0 / members.len() as f32;
            let line: Vec<Vec3> = (0..=layers)
                .map(|k| members.iter().map(|&i| fitted[i].1[k] * share).sum())
                .collect();
            columns.push(&line);
        }
        let bundles =
            group_of.chunks_exact(4).filter_map(|c| Bundle::over(c, layers as u32)).collect();
        let mut mesh = HairMesh { columns, bundles, seams: Vec::new(), roots: Vec::new() };
        if !mesh.positions().iter().all(|p| p.is_finite()) {
            return Err(Error::HairMesh {
                element: "hair mesh".into(),
                problem: "cannot be fitted: the strands are too far from each other".into(),
            });
        }
        mesh.own_columns();
        Ok(mesh)
    }

    /// The mean of some strands.
    fn mean(&self, strands: &[usize]) -> Vec<Vec3> {
        let share = 1.0 / strands.len() as f32;
        (0..self.lines[0].len())
            .map(|k| strands.iter().map(|&s| self.lines[s][k] * share).sum())
            .collect()
    }

    /// About how wide a cell is at the roots (m).
    fn cell_size(&self, cells: &Cells) -> f32 {
        let mut sum = (0.0f64, 0.0f64);
        for roots in cells.roots.values() {
            let middle = roots.iter().map(|&s| self.lines[s][0]).sum::<Vec3>() / roots.len() as f32;
            for &s in roots {
                sum.0 += f64::from(self.lines[s][0].distance_squared(middle));
                sum.1 += 1.0;
            }
        }
        // The mean square distance from the middle of a square is a sixth of its side squared.
        ((6.0 * sum.0 / sum.1.max(1.0)).sqrt() as f32).max(1e-4)
    }

    /// The column over a place of the plane.
    ///
    /// Model: moving least squares. On every level the strands' points are an affine function of their
    /// roots' places; near strands count more, and so do those that run like `middle`.
    /// Symbols: w weight of a strand, m the 3x3 matrix of moments, c its coefficient.
    fn column(&self, place: Vec2, side: f32, middle: &[Vec3]) -> Vec<Vec3> {
        let length: f32 = middle.windows(2).map(|w| w[0].distance(w[1])).sum();
        let unlike = (0.4 * length).max(1e-4);
        let mut weights = Vec::with_capacity(self.lines.len());
        let mut m = Mat3::ZERO;
        for (s, (at, line)) in self.at.iter().zip(&self.lines).enumerate() {
            let near = (*at - place) / side;
            if near.length_squared() > 9.0 {
                continue;
            }
            let n = line.len() as f32;
            let apart = line
                .iter()
                .zip(middle)
                .map(|(a, b)| ((*a - line[0]) - (*b - middle[0])).length())
                .sum::<f32>()
                / n;
            let w = (-near.length_squared() - (apart / unlike).powi(2)).exp();
            let v = Vec3::new(1.0, near.x, near.y);
            m += Mat3::from_cols(v * (w * v.x), v * (w * v.y), v * (w * v.z));
            weights.push((s, w, v));
        }
        // Few strands or all in a row give no slope: hold it down a little.
        let ridge = 0.02 * m.x_axis.x + 1e-12;
        let solve = (m + Mat3::from_diagonal(Vec3::new(1e-9, ridge, ridge))).inverse().x_axis;
        let mut line = vec![Vec3::ZERO; middle.len()];
        for (s, w, v) in weights {
            let c = w * v.dot(solve);
            for (p, q) in line.iter_mut().zip(&self.lines[s]) {
                *p += *q * c;
            }
        }
        line
    }
}

struct Cells {
    /// Side of a cell on the plane (radians).
    side: f32,
    /// The strands with roots in each cell.
    roots: BTreeMap<[i32; 2], Vec<usize>>,
}

/// Points at equal shares of a line's length.
fn at_equal_shares(line: &[Vec3], layers: usize) -> Vec<Vec3> {
    let total: f32 = line.windows(2).map(|w| w[0].distance(w[1])).sum();
    let (mut segment, mut passed) = (0, 0.0);
    (0..=layers)
        .map(|k| {
            let target = total * k as f32 / layers as f32;
            loop {
                let length = line[segment].distance(line[segment + 1]);
                if passed + length >= target || segment + 2 >= line.len() {
                    let t = if length > 0.0 { ((target - passed) / length).min(1.0) } else { 0.0 };
                    return line[segment].lerp(line[segment + 1], t);
                }
                passed += length;
                segment += 1;
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::Fibre;

    /// Strands on the upper half of a ball that fall over its sides; parted along x = 0 if asked for.
    fn ball_of_hair(parted: bool) -> Groom {
        let mut strands = Strands::new();
        let n = 900;
        for i in 0..n {
            // Spiral over the half ball.
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
    fn a_fitted_mesh_is_valid_and_holds_most_of_the_hair() {
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
            assert!((20..=44).contains(&mesh.bundles.len()), "{}", mesh.bundles.len());
            assert!(report.outside < report.points / 2, "{report:?}");
            assert!(report.mean < 0.005, "{report:?}");
            // Inside or not, every strand is reproduced at rest.
            let binding = Binding::new(&mesh, &groom.strands).unwrap();
            let mut out = vec![Vec3::ZERO; groom.strands.point_count()];
            binding.positions(&mut out);
            let apart = out.iter().zip(groom.strands.positions()).map(|(a, b)| a.distance(*b));
            assert!(apart.fold(0.0, f32::max) < 1e-6);
        }
    }

    #[test]
    fn hair_that_fills_a_block_is_found_inside_of_its_mesh() {
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
    fn even_one_strand_has_a_mesh_or_an_error() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::Y * 0.1]);
        let groom = Groom::new(strands, Fibre::default());
        match HairMesh::fit(&groom, &FitSettings::default()) {
            Ok((mesh, _)) => mesh.validate().unwrap(),
            Err(error) => assert!(matches!(error, Error::HairMesh { .. }), "{error}"),
        }
    }
}
