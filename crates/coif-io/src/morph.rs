//! Approximation of many frames of a mesh by weighted sums of few shapes (morph targets).
//!
//! Of two methods the one with fewer shapes is used. Key frames: the frames between two of them are interpolated
//! linearly; suited to slow motion and to pauses. Spline: the shapes are the control points of a cubic B-spline in
//! time, fitted to all frames at once; suited to oscillation. In both, weights are 0 to 1 and few are non-zero at a
//! time, since some readers support nothing else.

use glam::Vec3;

use crate::gltf::StripFrame;

/// The shapes besides the first frame, and their weights at some frames.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Morph {
    /// Displacements of vertices (m) and normals from the first frame.
    pub(crate) moved: Vec<Vec<Vec3>>,
    pub(crate) turned: Vec<Vec<Vec3>>,
    /// Frames at which weights are given; those between are interpolated linearly.
    pub(crate) frames: Vec<usize>,
    /// One weight per shape at each of these frames.
    pub(crate) weights: Vec<Vec<f32>>,
}

/// Distances of the knots of a spline (frames) that are tried, fewest shapes first.
const SPACINGS: [usize; 9] = [16, 12, 10, 8, 6, 5, 4, 3, 2];

/// Maximum fraction of the vertices of all frames that exceed the tolerance, and the factor by which they may: a tip
/// that is stopped by a shoulder turns within a frame, which a spline cannot follow.
const STRAYS: f64 = 1e-3;
const MAX_STRAY: f32 = 6.0;

impl Morph {
    /// As few shapes as keep the tolerance (m). `None` if cancelled by `stop`.
    pub(crate) fn of(
        frames: &[StripFrame],
        tolerance: f32,
        stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let keys = key_frames(frames, tolerance, stop)?;
        for spacing in SPACINGS {
            let spline = Spline::new(frames.len(), spacing);
            if spline.shapes() + 1 >= keys.len() {
                break;
            }
            match spline.fit(frames, tolerance, stop) {
                Fit::Near(morph) => return Some(morph),
                Fit::Far => {}
                Fit::Stopped => return None,
            }
        }
        Some(Self::of_keys(frames, keys))
    }

    /// One shape per key frame after the first.
    fn of_keys(frames: &[StripFrame], keys: Vec<usize>) -> Self {
        let others = &keys[1..];
        let weights = (0..keys.len()).map(|k| {
            let mut row = vec![0.0; others.len()];
            if k > 0 {
                row[k - 1] = 1.0;
            }
            row
        });
        Self {
            moved: others.iter().map(|&k| moved(&frames[k], &frames[0])).collect(),
            turned: others.iter().map(|&k| turned(&frames[k], &frames[0])).collect(),
            weights: weights.collect(),
            frames: keys,
        }
    }
}

fn moved(to: &StripFrame, from: &StripFrame) -> Vec<Vec3> {
    to.positions.iter().zip(&from.positions).map(|(a, b)| *a - *b).collect()
}

fn turned(to: &StripFrame, from: &StripFrame) -> Vec<Vec3> {
    to.normals.iter().zip(&from.normals).map(|(a, b)| *a - *b).collect()
}

/// The frames that have to be kept so that linear interpolation from one to the next has an error of at most
/// `tolerance` (m) at every vertex of the frames between them. The first is among them, and the last unless nothing
/// moves. `None` if cancelled by `stop`.
fn key_frames(
    frames: &[StripFrame],
    tolerance: f32,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<usize>> {
    let mut keys = vec![0];
    let mut from = 0;
    while from + 1 < frames.len() {
        // Continue as long as all frames in between are on the straight path.
        let fits = |to: usize| {
            (from + 1..to).all(|k| {
                let fraction = (k - from) as f32 / (to - from) as f32;
                let ends = frames[from].positions.iter().zip(&frames[to].positions);
                let mut pairs = ends.zip(&frames[k].positions);
                pairs.all(|((a, b), p)| a.lerp(*b, fraction).distance(*p) <= tolerance)
            })
        };
        let mut to = from + 1;
        while to + 1 < frames.len() && fits(to + 1) {
            to += 1;
            if stop() {
                return None;
            }
        }
        keys.push(to);
        from = to;
    }
    (!stop()).then_some(keys)
}

/// Outcome of fitting a spline.
enum Fit {
    /// It keeps the tolerance.
    Near(Morph),
    /// It does not.
    Far,
    /// Unknown: cancelled.
    Stopped,
}

/// A cubic B-spline over frames that begins at the first one, fitted by least squares.
struct Spline {
    /// Per frame: the weights of all shapes but the first, which is the first frame.
    basis: Vec<Vec<f64>>,
}

impl Spline {
    /// With knots at every `spacing`-th frame and at the last, clamped at both ends.
    fn new(frames: usize, spacing: usize) -> Self {
        let last = frames.saturating_sub(1);
        let mut knots = vec![0.0; 3];
        knots.extend((0..last).step_by(spacing).map(|k| k as f64));
        knots.extend([last as f64; 4]);
        let shapes = knots.len() - 4;
        let basis = |frame: usize| {
            // Cox-de Boor recursion, starting in the interval of the frame.
            let x = frame as f64;
            let inside = |i: usize| knots[i] <= x && (x < knots[i + 1] || frame == last);
            let mut at = 3;
            while at + 1 < shapes && !(inside(at) && knots[at] < knots[at + 1] && x < knots[at + 1])
            {
                at += 1;
            }
            let mut row = vec![0.0; knots.len() - 1];
            row[at] = 1.0;
            for d in 1..=3 {
                for i in 0..row.len() - d {
                    let ramp = |i: usize| {
                        let width = knots[i + d] - knots[i];
                        if width > 0.0 { (x - knots[i]) / width } else { 0.0 }
                    };
                    let fall = |i: usize| {
                        let width = knots[i + d] - knots[i];
                        if width > 0.0 { (knots[i + d] - x) / width } else { 0.0 }
                    };
                    row[i] = ramp(i) * row[i] + fall(i + 1) * row[i + 1];
                }
            }
            row[1..shapes].to_vec()
        };
        Self { basis: (0..frames).map(basis).collect() }
    }

    /// Number of shapes besides the first.
    fn shapes(&self) -> usize {
        self.basis.first().map_or(0, Vec::len)
    }

    /// The shapes with the least-squares error over all frames, if that is small enough.
    fn fit(&self, frames: &[StripFrame], tolerance: f32, stop: &dyn Fn() -> bool) -> Fit {
        let Some(inverse) = self.pseudo_inverse() else { return Fit::Far };
        let displacements: Vec<_> = frames.iter().map(|f| self::moved(f, &frames[0])).collect();
        let turns: Vec<_> = frames.iter().map(|f| self::turned(f, &frames[0])).collect();
        let (mut moved, mut turned) = (Vec::new(), Vec::new());
        for row in &inverse {
            if stop() {
                return Fit::Stopped;
            }
            moved.push(mixed(row.iter().copied(), &displacements));
            turned.push(mixed(row.iter().copied(), &turns));
        }
        // Compare the spline with every frame.
        let (mut strays, mut all) = (0.0, 0.0);
        for (frame, weights) in frames.iter().zip(&self.basis) {
            if stop() {
                return Fit::Stopped;
            }
            let displacement = mixed(weights.iter().copied(), &moved);
            for ((p, q), d) in frame.positions.iter().zip(&frames[0].positions).zip(displacement) {
                let off = p.distance(*q + d);
                if off.is_nan() || off > MAX_STRAY * tolerance {
                    return Fit::Far;
                }
                strays += f64::from(u8::from(off > tolerance));
                all += 1.0;
            }
        }
        let weights = self.basis.iter().map(|row| row.iter().map(|&w| w as f32).collect());
        let (weights, frames) = (weights.collect(), (0..frames.len()).collect());
        if strays <= STRAYS * all {
            Fit::Near(Morph { moved, turned, frames, weights })
        } else {
            Fit::Far
        }
    }

    /// The least-squares map from frames to shapes: `(B^T B)^-1 B^T`, one row per shape; `None` if frames do not
    /// determine every shape.
    fn pseudo_inverse(&self) -> Option<Vec<Vec<f64>>> {
        let (n, m) = (self.basis.len(), self.shapes());
        // Cholesky factor of the normal matrix.
        let mut factor = vec![vec![0.0f64; m]; m];
        for i in 0..m {
            for j in 0..=i {
                let entry: f64 = self.basis.iter().map(|row| row[i] * row[j]).sum();
                let known: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                let left = entry - known;
                factor[i][j] = if i == j {
                    if left < 1e-9 {
                        return None;
                    }
                    left.sqrt()
                } else {
                    left / factor[j][j]
                };
            }
        }
        let mut rows = vec![vec![0.0; n]; m];
        let mut x = vec![0.0; m];
        for (k, weights) in self.basis.iter().enumerate() {
            for i in 0..m {
                let known: f64 = (0..i).map(|j| factor[i][j] * x[j]).sum();
                x[i] = (weights[i] - known) / factor[i][i];
            }
            for i in (0..m).rev() {
                let known: f64 = (i + 1..m).map(|j| factor[j][i] * x[j]).sum();
                x[i] = (x[i] - known) / factor[i][i];
                rows[i][k] = x[i];
            }
        }
        Some(rows)
    }
}

/// A weighted sum of rows of vectors; rows without weight are skipped.
fn mixed(weights: impl Iterator<Item = f64>, rows: &[Vec<Vec3>]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; rows.first().map_or(0, Vec::len)];
    for (w, row) in weights.zip(rows).filter(|(w, _)| w.abs() > 1e-9) {
        out.iter_mut().zip(row).for_each(|(to, v)| *to += *v * w as f32);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of twelve points that move by a function of time (s) and point.
    fn frames(count: usize, motion: impl Fn(f32, f32) -> Vec3) -> Vec<StripFrame> {
        (0..count)
            .map(|k| {
                let at = |v: usize| motion(k as f32 / 60.0, v as f32);
                let positions = (0..12).map(at).collect();
                StripFrame { positions, normals: vec![Vec3::Z; 12], tangents: vec![Vec3::X; 12] }
            })
            .collect()
    }

    fn error(morph: &Morph, frames: &[StripFrame]) -> f32 {
        let mut worst = 0.0f32;
        for pair in morph.frames.windows(2).chain([[morph.frames[0]; 2].as_slice()]) {
            for k in pair[0]..=pair[1] {
                let fraction = (k - pair[0]) as f32 / (pair[1] - pair[0]).max(1) as f32;
                let row = |frame: usize| {
                    let at = morph.frames.iter().position(|f| *f == frame).unwrap();
                    mixed(morph.weights[at].iter().map(|&w| w.into()), &morph.moved)
                };
                let (a, b) = (row(pair[0]), row(pair[1]));
                for (v, p) in frames[k].positions.iter().enumerate() {
                    let displacement = a.get(v).copied().unwrap_or_default();
                    let to = b.get(v).copied().unwrap_or_default();
                    worst = worst
                        .max(p.distance(frames[0].positions[v] + displacement.lerp(to, fraction)));
                }
            }
        }
        worst
    }

    #[test]
    fn oscillation_takes_few_shapes() {
        // Twice a second, 10 cm: from frame to frame up to 2 cm.
        let swing = |t: f32, v: f32| Vec3::new((12.6 * t + v).sin(), v, 0.0) * 0.1;
        let frames = frames(120, swing);
        let morph = Morph::of(&frames, 5e-4, &|| false).unwrap();
        assert!(morph.moved.len() < 40, "{}", morph.moved.len());
        assert_eq!(morph.weights.len(), 120);
        assert!(error(&morph, &frames) < 3e-3);
        // Weights are 0 to 1, at most four are non-zero, and the first frame has none.
        for row in &morph.weights {
            assert!(row.iter().all(|w| (0.0..=1.0).contains(w)));
            assert!(row.iter().filter(|w| **w > 1e-6).count() <= 4);
        }
        assert!(morph.weights[0].iter().all(|w| *w == 0.0));
    }

    #[test]
    fn linear_motion_takes_its_ends_and_jumps_take_every_frame() {
        let straight = frames(60, |t, v| Vec3::new(t, v, 0.0));
        let morph = Morph::of(&straight, 5e-4, &|| false).unwrap();
        assert_eq!((morph.moved.len(), &morph.frames[..]), (1, &[0, 59][..]));
        assert!(error(&morph, &straight) < 1e-5);
        let jumps = frames(20, |t, _| Vec3::X * ((t * 60.0).round() as i32 % 2) as f32);
        let morph = Morph::of(&jumps, 5e-4, &|| false).unwrap();
        assert_eq!(morph.moved.len(), 19);
        assert!(error(&morph, &jumps) < 1e-6);
        let one = frames(1, |_, v| Vec3::X * v);
        assert_eq!(Morph::of(&one, 5e-4, &|| false).unwrap().frames, [0]);
    }

    #[test]
    fn the_weights_of_a_spline_sum_to_one() {
        for (frames, spacing) in [(120, 4), (7, 2), (50, 16)] {
            let spline = Spline::new(frames, spacing);
            for (k, row) in spline.basis.iter().enumerate() {
                let sum: f64 = row.iter().sum();
                // The first shape has the remaining weight.
                assert!((-1e-12..=1.0 + 1e-12).contains(&sum), "{k}: {sum}");
                assert!(k < spacing || (sum - 1.0).abs() < 1e-12, "{k}: {sum}");
            }
            assert!((spline.basis[frames - 1][spline.shapes() - 1] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_fit_can_be_cancelled_at_any_time() {
        let swings = frames(40, |t, v| Vec3::X * (9.0 * t + v).sin());
        for asked in [0, 1, 5, 20] {
            let left = std::cell::Cell::new(asked);
            let stop = || left.replace(left.get().max(1) - 1) == 0;
            assert_eq!(Morph::of(&swings, 5e-4, &stop), None, "{asked}");
        }
    }
}
