//! The nearest triangle of every node within the band.
//!
//! Eight triangles at a time are turned into seven affine functions of the position each; then each
//! triangle in turn is measured against the nodes of its widened box, four along x by two along y.
//! All coordinates are in cells from the first node.

use fearless_simd::{Select, Simd, SimdBase, SimdCombine, SimdFloat, SimdMask, SimdSplit};
use fearless_simd::{f32x4, f32x8, mask32x8, u32x4, u32x8};

use super::grid::{Layout, WIDTH};

/// Of the seven functions, the distance to the plane.
const PLANE: usize = 6;
/// Area over squared longest edge below which a triangle is nothing but its edges: there the
/// direction of its normal is lost to rounding.
const FLAT: f32 = 1e-6;
/// Edge length (cells) below which an edge has no direction.
const SHORT: f32 = 1e-12;
/// Nodes in a triangle's box from which on its rows are clipped before they are measured.
const LARGE: usize = 256;

/// What the search leaves behind, in the order of [`Layout`].
#[derive(Debug, Default)]
pub(super) struct Nearest {
    /// Squared distance to the nearest triangle (cells squared); right where it is below the
    /// squared band, anything above elsewhere.
    pub(super) distance2: Vec<f32>,
    /// Which triangle that is.
    pub(super) triangle: Vec<u32>,
    /// Triangles that may cross a row along x.
    pub(super) crossing_x: Vec<u32>,
}

/// Eight triangles, ready to be measured against nodes.
///
/// Model: in the frame of an edge i (t along it, m in the plane and outward, n the normal) a point
/// has coordinates r, s, w. Its squared distance to the edge is s^2 + max(-r, r - length, 0)^2 + w^2,
/// to the triangle the least of the three, or w^2 if all s are negative.
struct Eight {
    /// First node of the widened box, and how many from there.
    first: [[usize; 3]; WIDTH],
    count: [[usize; 3]; WIDTH],
    /// r of the three edges, s of the three edges, w: value at the first node of the box, then
    /// change per node along x, y, z.
    function: [[[f32; 4]; 7]; WIDTH],
    /// Lengths of the edges, and what s has to be below to be inside.
    length: [[f32; 4]; WIDTH],
}

/// Finds the nearest triangles within `band` cells. Triangles with a vertex that is not a number or
/// not there are left out.
#[inline(always)]
pub(super) fn find_nearest<S: Simd>(
    simd: S,
    layout: &Layout,
    band: f32,
    triangles: &[[u32; 3]],
    vertices: &[[f32; 4]],
    out: &mut Nearest,
) {
    out.crossing_x.clear();
    let mut eight = Eight {
        first: [[0; 3]; WIDTH],
        count: [[0; 3]; WIDTH],
        function: [[[0.0; 4]; 7]; WIDTH],
        length: [[0.0; 4]; WIDTH],
    };
    for (group, eight_triangles) in triangles.chunks(WIDTH).enumerate() {
        let first = (group * WIDTH) as u32;
        // Bring the corners into lanes; lanes without a triangle are not numbers.
        let mut corner = [[f32::NAN; WIDTH]; 9];
        for (lane, triangle) in eight_triangles.iter().enumerate() {
            for (c, &v) in triangle.iter().enumerate() {
                if let Some(v) = vertices.get(v as usize) {
                    for axis in 0..3 {
                        corner[3 * c + axis][lane] = v[axis];
                    }
                }
            }
        }
        let crossing = prepare(simd, layout, band, &corner, &mut eight);
        for lane in 0..eight_triangles.len() {
            if crossing & (1 << lane) != 0 {
                out.crossing_x.push(first + lane as u32);
            }
            measure(simd, layout, band, &eight, lane, first + lane as u32, out);
        }
    }
}

/// A vector in eight lanes.
#[derive(Clone, Copy)]
struct V<S: Simd>(f32x8<S>, f32x8<S>, f32x8<S>);

impl<S: Simd> V<S> {
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        Self(self.0 - b.0, self.1 - b.1, self.2 - b.2)
    }
    #[inline(always)]
    fn times(self, s: f32x8<S>) -> Self {
        Self(self.0 * s, self.1 * s, self.2 * s)
    }
    #[inline(always)]
    fn dot(self, b: Self) -> f32x8<S> {
        self.0 * b.0 + self.1 * b.1 + self.2 * b.2
    }
    #[inline(always)]
    fn cross(self, b: Self) -> Self {
        Self(self.1 * b.2 - self.2 * b.1, self.2 * b.0 - self.0 * b.2, self.0 * b.1 - self.1 * b.0)
    }
    #[inline(always)]
    fn or(self, mask: mask32x8<S>, other: Self) -> Self {
        Self(
            mask.select(self.0, other.0),
            mask.select(self.1, other.1),
            mask.select(self.2, other.2),
        )
    }
}

/// Fills `eight`; returns which triangles have a row along x within their box.
#[inline(always)]
fn prepare<S: Simd>(
    simd: S,
    layout: &Layout,
    band: f32,
    corner: &[[f32; WIDTH]; 9],
    eight: &mut Eight,
) -> u64 {
    let load = |i: usize| f32x8::from_slice(simd, &corner[i]);
    let splat = |v: f32| f32x8::splat(simd, v);
    let point = |i: usize| V(load(3 * i), load(3 * i + 1), load(3 * i + 2));
    let (a, b, c) = (point(0), point(1), point(2));

    // Widen the box by the band. A coordinate that is not a number empties it.
    let extent = |a: f32x8<S>, b: f32x8<S>, c: f32x8<S>| (a.min(b).min(c), a.max(b).max(c));
    let number = (a.dot(a) + b.dot(b) + c.dot(c)).simd_lt(f32::MAX);
    let mut base = [splat(0.0); 3];
    let mut crossing = number;
    for (axis, (a, b, c)) in
        [(a.0, b.0, c.0), (a.1, b.1, c.1), (a.2, b.2, c.2)].into_iter().enumerate()
    {
        let (lo, hi) = extent(a, b, c);
        if axis > 0 {
            crossing &= lo.ceil().simd_le(hi.floor());
        }
        let last = splat((layout.len[axis] - 1) as f32);
        let first = (lo - band).ceil().max(splat(0.0)).min(last);
        let end = (hi + band).floor().max(splat(-1.0)).min(last);
        let first = number.select(first, splat(0.0));
        let count = number.select(end - first + 1.0, splat(0.0)).max(splat(0.0));
        base[axis] = first;
        for lane in 0..WIDTH {
            eight.first[lane][axis] = first[lane] as usize;
            eight.count[lane][axis] = count[lane] as usize;
        }
    }
    let base = V(base[0], base[1], base[2]);

    // Find the edges' directions; an edge without a length borrows the longest edge's.
    let edges = [b.minus(a), c.minus(b), a.minus(c)];
    let (zero, one) = (splat(0.0), splat(1.0));
    let mut lengths = [zero; 3];
    let mut along = edges;
    for i in 0..3 {
        lengths[i] = edges[i].dot(edges[i]).sqrt();
        along[i] = edges[i].times(one / lengths[i].max(splat(SHORT)));
    }
    let longest = lengths[0].max(lengths[1]).max(lengths[2]);
    let mut main = along[2];
    main = along[1].or(lengths[1].simd_ge(longest), main);
    main = along[0].or(lengths[0].simd_ge(longest), main);
    main = main.or(longest.simd_gt(SHORT), V(one, zero, zero));
    for i in 0..3 {
        along[i] = along[i].or(lengths[i].simd_gt(SHORT), main);
    }

    // Find the normal, square to the longest edge whatever the rounding.
    let cross = edges[0].cross(edges[1]);
    let area = cross.dot(cross).sqrt();
    let proper = area.simd_gt(longest * longest * FLAT) & longest.simd_gt(SHORT);
    let steep = (main.0 * main.0).simd_gt(0.4);
    let any = main.cross(V(zero, one, zero).or(steep, V(one, zero, zero)));
    let rough = cross.times(one / area.max(splat(f32::MIN_POSITIVE))).or(proper, any);
    let square = rough.minus(main.times(rough.dot(main)));
    let n = square.times(one / square.dot(square).sqrt());

    // Evaluate the functions at the first node of the box.
    let limit = proper.select(zero, splat(f32::NEG_INFINITY));
    for (i, corner) in [a, b, c].into_iter().enumerate() {
        let from = base.minus(corner);
        let outward = along[i].cross(n);
        store(eight, i, from.dot(along[i]), along[i]);
        store(eight, 3 + i, from.dot(outward), outward);
        for lane in 0..WIDTH {
            eight.length[lane][i] = lengths[i][lane];
        }
    }
    store(eight, PLANE, base.minus(a).dot(n), n);
    for lane in 0..WIDTH {
        eight.length[lane][3] = limit[lane];
    }
    crossing.to_bitmask()
}

#[inline(always)]
fn store<S: Simd>(eight: &mut Eight, function: usize, value: f32x8<S>, slope: V<S>) {
    for lane in 0..WIDTH {
        eight.function[lane][function] = [value[lane], slope.0[lane], slope.1[lane], slope.2[lane]];
    }
}

/// Measures one triangle against the nodes of its box.
#[inline(always)]
fn measure<S: Simd>(
    simd: S,
    layout: &Layout,
    band: f32,
    eight: &Eight,
    lane: usize,
    triangle: u32,
    out: &mut Nearest,
) {
    let ([x0, y0, z0], [nx, ny, nz]) = (eight.first[lane], eight.count[lane]);
    if nx * ny * nz == 0 {
        return;
    }
    let large = nx * ny * nz >= LARGE;
    let function = &eight.function[lane];
    let [l0, l1, l2, limit] = eight.length[lane];
    let lengths = [f32x8::splat(simd, l0), f32x8::splat(simd, l1), f32x8::splat(simd, l2)];
    let limit = f32x8::splat(simd, limit);
    let zero = f32x8::splat(simd, 0.0);
    let triangle = u32x8::splat(simd, triangle);
    // Spread the functions over four nodes along x by two along y.
    let x = f32x8::from_slice(simd, &[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0]);
    let y = f32x8::from_slice(simd, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let mut spread = [zero; 7];
    for f in 0..7 {
        let [value, dx, dy, _] = function[f];
        spread[f] = x * dx + y * dy + value;
    }

    for k in 0..nz {
        for j in (0..ny).step_by(2) {
            let (mut from, mut to) = (0, nx);
            if large {
                (from, to) = clip(function, band, nx, j, k);
            }
            let row = layout.index(x0, y0 + j, z0 + k);
            for i in (from..to).step_by(4) {
                // Move the functions to these eight nodes.
                let (fx, fy, fz) = (i as f32, j as f32, k as f32);
                let mut f = spread;
                for n in 0..7 {
                    let [_, dx, dy, dz] = function[n];
                    f[n] += fx * dx + fy * dy + fz * dz;
                }
                // Measure to each edge, or to the plane from inside.
                let mut flat2 = f32x8::splat(simd, f32::MAX);
                for e in 0..3 {
                    let over = (-f[e]).max(f[e] - lengths[e]).max(zero);
                    flat2 = flat2.min(f[3 + e] * f[3 + e] + over * over);
                }
                let inside = f[3].max(f[4]).max(f[5]).simd_lt(limit);
                let d2 = inside.select(zero, flat2) + f[PLANE] * f[PLANE];
                // Keep the nearer triangle, of equals the first.
                let (below, above) = (row + i, row + i + layout.row);
                let best = f32x4::from_slice(simd, &out.distance2[below..below + 4])
                    .combine(f32x4::from_slice(simd, &out.distance2[above..above + 4]));
                let nearer = d2.simd_lt(best);
                let (d_below, d_above) = nearer.select(d2, best).split();
                d_below.store_slice(&mut out.distance2[below..below + 4]);
                d_above.store_slice(&mut out.distance2[above..above + 4]);
                let which = u32x4::from_slice(simd, &out.triangle[below..below + 4])
                    .combine(u32x4::from_slice(simd, &out.triangle[above..above + 4]));
                let (t_below, t_above) = nearer.select(triangle, which).split();
                t_below.store_slice(&mut out.triangle[below..below + 4]);
                t_above.store_slice(&mut out.triangle[above..above + 4]);
            }
        }
    }
}

/// The part of the rows j and j + 1 of a box that can be within the band: where the plane is near
/// and no edge is far inside of the point.
fn clip(function: &[[f32; 4]; 7], band: f32, nx: usize, j: usize, k: usize) -> (usize, usize) {
    let band = band + 0.01;
    let (mut from, mut to) = (nx as f32, -1.0f32);
    for j in [j, j + 1] {
        let (mut lo, mut hi) = (0.0f32, (nx - 1) as f32);
        let mut keep_below = |value: f32, slope: f32| {
            if slope.abs() * (nx as f32) < 1e-3 {
                if value > band + 1e-3 {
                    hi = -1.0;
                }
            } else if slope > 0.0 {
                hi = hi.min((band - value) / slope);
            } else {
                lo = lo.max((band - value) / slope);
            }
        };
        for f in 3..7 {
            let [value, dx, dy, dz] = function[f];
            let value = value + dy * j as f32 + dz * k as f32;
            keep_below(value, dx);
            if f == PLANE {
                keep_below(-value, -dx);
            }
        }
        if lo <= hi {
            from = from.min(lo.floor());
            to = to.max(hi.ceil());
        }
    }
    if from <= to { (from.max(0.0) as usize, (to as usize + 1).min(nx)) } else { (0, 0) }
}
