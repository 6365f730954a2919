use glam::Vec3A;

/// A quad's shear and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shear {
    /// C.
    pub(crate) value: f32,
    /// Gradient with respect to the third corner (1/m); that of the first is the opposite.
    pub(crate) third: Vec3A,
    /// Gradient with respect to the second corner (1/m); that of the fourth is the opposite.
    pub(crate) second: Vec3A,
}

impl Shear {
    /// The gradients with respect to the four corners (1/m).
    #[inline(always)]
    pub(crate) fn gradients(&self) -> [Vec3A; 4] {
        [-self.third, self.second, self.third, -self.second]
    }
}

/// Shear of a quad.
///
/// Model: `C = w_u . w_v - c`, with `w_u` the mean of the two edges along u over their rest length and
/// `w_v` likewise along v: what a bilinear quad has in its middle.
/// Source: `baraff1998` 4.3.
/// Symbols: x corners in turn (m), u from the first to the second, v from the first to the fourth;
/// `inverse_lengths` of u and v at rest (1/m); c what `w_u . w_v` is at rest.
/// Deviations: once per quad instead of once per triangle, with the edges as axes u and v, which need not
/// be at right angles at rest. A quad that folds like a saddle has no shear here; its edges and the
/// volume of its corners resist that.
#[inline(always)]
pub(crate) fn shear_condition(x: [Vec3A; 4], inverse_lengths: [f32; 2], rest: f32) -> Shear {
    let [iu, iv] = inverse_lengths.map(|i| 0.5 * i);
    let (diagonal, other) = (x[2] - x[0], x[1] - x[3]);
    let (along_u, along_v) = ((diagonal + other) * iu, (diagonal - other) * iv);
    let (by_u, by_v) = (along_v * iu, along_u * iv);
    Shear { value: along_u.dot(along_v) - rest, third: by_u + by_v, second: by_u - by_v }
}

#[cfg(test)]
mod tests {
    use super::super::differences::{agree, gradient, points};
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_value() {
        for seed in 0..20 {
            let x: [Vec3A; 4] = points(seed);
            let of = |x| shear_condition(x, [1.5, 0.7], 0.2);
            agree(of(x).gradients(), gradient(x, 3e-2, |x| of(x).value), 1e-3);
        }
    }

    #[test]
    fn a_rectangle_has_none_and_a_slanted_one_its_tangent() {
        let quad = |slant: f32| {
            [
                Vec3A::ZERO,
                Vec3A::X * 2.0,
                Vec3A::new(2.0 + slant, 1.0, 0.0),
                Vec3A::new(slant, 1.0, 0.0),
            ]
        };
        assert_eq!(shear_condition(quad(0.0), [0.5, 1.0], 0.0).value, 0.0);
        assert!((shear_condition(quad(0.25), [0.5, 1.0], 0.0).value - 0.25).abs() < 1e-6);
    }
}
