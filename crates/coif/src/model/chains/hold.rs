//! The groom as the equilibrium under gravity: inverse statics of one chain.

use glam::Vec3;

/// Forces that keep a chain in equilibrium in its groomed shape. Keeps its memory between solves.
#[derive(Debug, Default)]
pub(in crate::model) struct Hold {
    /// Acceleration (m/s^2) that holds each particle, in the rest frame.
    pub(in crate::model) acceleration: Vec<Vec3>,
    /// Tension (N) of the segment to each particle from its predecessor.
    pub(in crate::model) tension: Vec<f32>,
    /// Residual forces (N): scratch.
    left: Vec<Vec3>,
}

/// Gauss-Seidel sweeps over the tensions. Fewer make the holding forces slightly
/// larger than necessary; the groom is in equilibrium for any tensions.
const SWEEPS: usize = 32;

/// Finds tensions that carry as much of the weight as possible, and the accelerations that balance the remainder.
///
/// Model: particle i is at rest if `m_i g + T_(i+1) u_(i+1) - T_i u_i + m_i a_i = 0`, with `u_i` the
/// direction of segment i, `T_i` its tension and `a_i` an acceleration that is constant in the body's frame.
/// Any tensions satisfy this for some accelerations; these minimise `sum m_i |a_i|^2` within `0 <= T_i <= max_i`. Hanging
/// hair is held only by its root, so that it swings freely. Upright hair is held particle by
/// particle and not compressed, so that it does not buckle.
/// Symbols: `line` the groom (m), the first `embedded` points of it fixed; `mass` (kg); `gravity`
/// (m/s^2); `max_tension` the largest tension of each segment (N).
pub(in crate::model) fn hold_groom(
    line: &[Vec3],
    embedded: usize,
    mass: impl Fn(usize) -> f32,
    max_tension: impl Fn(usize) -> f32,
    gravity: Vec3,
) -> Hold {
    let mut hold = Hold::default();
    hold.solve(line, embedded, mass, max_tension, gravity);
    hold
}

impl Hold {
    /// [`hold_groom`] in reused memory.
    pub(in crate::model) fn solve(
        &mut self,
        line: &[Vec3],
        embedded: usize,
        mass: impl Fn(usize) -> f32,
        max_tension: impl Fn(usize) -> f32,
        gravity: Vec3,
    ) {
        let n = line.len();
        let direction = |i: usize| (line[i] - line[i - 1]).normalize_or(Vec3::Y);
        let Self { acceleration, tension, left } = self;
        tension.clear();
        tension.resize(n, 0.0);
        // Start with the weight along each segment, tip to root: exact where hair hangs straight.
        let mut load = Vec3::ZERO;
        for i in (embedded..n).rev() {
            let u = direction(i);
            tension[i] = (load + gravity * mass(i)).dot(u).clamp(0.0, max_tension(i));
            load = u * tension[i];
        }
        // Residual forces (N).
        left.clear();
        left.extend((0..n).map(|i| gravity * mass(i)));
        for i in embedded..n {
            left[i] -= direction(i) * tension[i];
            left[i - 1] += direction(i) * tension[i];
        }
        // Minimise over one tension after the other, tip to root and back.
        let both_directions = || (embedded..n).rev().chain(embedded..n);
        for i in std::iter::repeat_with(both_directions).take(SWEEPS).flatten() {
            let u = direction(i);
            let (outer, inner) =
                (1.0 / mass(i), if i > embedded { 1.0 / mass(i - 1) } else { 0.0 });
            let slope = left[i - 1].dot(u) * inner - left[i].dot(u) * outer;
            let better = (tension[i] - slope / (outer + inner)).clamp(0.0, max_tension(i));
            left[i] -= u * (better - tension[i]);
            left[i - 1] += u * (better - tension[i]);
            tension[i] = better;
        }
        acceleration.clear();
        acceleration
            .extend((0..n).map(|i| if i < embedded { Vec3::ZERO } else { -left[i] / mass(i) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

    fn hold(line: &[Vec3], embedded: usize, max_tension: f32) -> Hold {
        hold_groom(line, embedded, |_| 2.0, |_| max_tension, GRAVITY)
    }

    #[test]
    fn hanging_hair_needs_no_acceleration_and_upright_hair_all_of_gravity() {
        let hanging: Vec<Vec3> = (0..12).map(|i| Vec3::NEG_Y * 0.01 * i as f32).collect();
        let solved = hold(&hanging, 2, f32::INFINITY);
        assert!(solved.acceleration.iter().all(|a| a.length() < 1e-4));
        // Ten particles of 2 kg hang on the first free segment.
        assert!((solved.tension[2] - 20.0 * 9.81).abs() < 1e-3, "{}", solved.tension[2]);
        let standing: Vec<Vec3> = hanging.iter().map(|p| -*p).collect();
        let solved = hold(&standing, 1, f32::INFINITY);
        assert!(solved.tension.iter().all(|t| *t == 0.0));
        assert!(solved.acceleration[1..].iter().all(|a| (*a + GRAVITY).length() < 1e-5));
    }

    /// For any limits, the forces on every particle add up to zero, and the holding accelerations
    /// are smaller in the mean than gravity.
    #[test]
    fn a_curl_is_in_equilibrium_with_small_forces() {
        let curl: Vec<Vec3> = (0..60)
            .map(|i| i as f32 * 0.5)
            .map(|t| Vec3::new(0.01 * t.cos(), -0.003 * t, 0.01 * t.sin()))
            .collect();
        for max_tension in [f32::INFINITY, 5.0] {
            let solved = hold(&curl, 1, max_tension);
            let u = |i: usize| (curl[i] - curl[i - 1]).normalize();
            for i in 1..curl.len() {
                let above =
                    if i + 1 < curl.len() { u(i + 1) * solved.tension[i + 1] } else { Vec3::ZERO };
                let sum =
                    (GRAVITY + solved.acceleration[i]) * 2.0 + above - u(i) * solved.tension[i];
                assert!(sum.length() < 1e-3, "{i}: {sum}");
                assert!((0.0..=max_tension).contains(&solved.tension[i]));
            }
            let squares: f32 = solved.acceleration.iter().map(|a| a.length_squared()).sum();
            let mean = (squares / curl.len() as f32).sqrt();
            assert!(mean < 9.81, "{mean}");
        }
    }
}
