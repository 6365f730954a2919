//! The heavy elastica: the shape of a rod under its own weight that is clamped horizontally, a reference for strands.

/// Integration steps along the rod.
const STEPS: usize = 4000;

/// The equilibrium of a heavy rod of length 1, clamped horizontally at the origin: `points + 1` positions
/// (x forward, y up), at equal arc length.
///
/// Model: `t'' = -w (1 - s) cos t`, `t(0) = 0`, `t'(1) = 0`, solved by shooting:
/// the curvature at the clamp is found by bisection, with the midpoint rule for each step.
/// Symbols: t angle below the horizontal (rad), s arc length, `w = q L^3 / EI` dimensionless weight (`weight`).
pub fn heavy_cantilever(weight: f64, points: usize) -> Vec<[f64; 2]> {
    let shoot = |curvature: f64, mut at: Option<&mut Vec<[f64; 2]>>| {
        let h = 1.0 / STEPS as f64;
        let (mut t, mut k, mut x, mut y) = (0.0f64, curvature, 0.0, 0.0);
        for i in 0..=STEPS {
            if let Some(at) = at.as_deref_mut()
                && i * points / STEPS >= at.len()
            {
                at.push([x, y]);
            }
            let s = i as f64 * h;
            let (t_mid, k_mid) = (t + 0.5 * h * k, k - 0.5 * h * weight * (1.0 - s) * t.cos());
            x += h * t_mid.cos();
            y -= h * t_mid.sin();
            t += h * k_mid;
            k -= h * weight * (1.0 - s - 0.5 * h) * t_mid.cos();
        }
        k
    };
    // Bisect: the curvature at the tip increases with that at the clamp as long as the rod does not curl up.
    let (mut lo, mut hi) = (0.0, 0.5 * weight);
    for _ in 0..80 {
        let middle = 0.5 * (lo + hi);
        if shoot(middle, None) > 0.0 {
            hi = middle;
        } else {
            lo = middle;
        }
    }
    let mut found = Vec::with_capacity(points + 1);
    shoot(0.5 * (lo + hi), Some(&mut found));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A light rod has the deflection `w / 8` of the linear beam, a heavy one hangs down.
    #[test]
    fn light_rods_are_beams_and_heavy_ones_hang() {
        let tip = heavy_cantilever(0.01, 10)[10];
        assert!((tip[1] + 0.01 / 8.0).abs() < 1e-6, "{tip:?}");
        let shape = heavy_cantilever(60.0, 20);
        assert_eq!(shape.len(), 21);
        assert!(shape[20][1] < -0.75 && shape[20][0] < 0.4, "{:?}", shape[20]);
        for pair in shape.windows(2) {
            let length = (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
            assert!((length - 0.05).abs() < 1e-3);
        }
    }
}
