//! The nearest triangle of every node within the band.
//!
//! Eight triangles at a time are turned into seven affine functions of the position each; then each
//! triangle in turn is measured against the nodes of its widened box, four along x by two along y.
//! All coordinates are in cells from the first node.

use fearless_simd::{Select, Simd, SimdBase, SimdCombine, SimdFloat, SimdMask, SimdSplit};
use fearless_simd::{f32x4, f32x8, u32x4, u32x8};

use super::grid::{Layout, WIDTH};
use super::lanes::V;

/// Of the seven functions, the distance to the plane.
const PLANE: usize = 6;
/// Area over squared longest edge below which a triangle is treated as its three edges: there the
/// direction of its normal is lost to rounding.
const FLAT: f32 = 1e-6;
/// Edge length (cells) below which an edge has no direction.
const SHORT: f32 = 1e-12;

/// Results of the search, in the order of [`Layout`].
#[derive(Debug, Default)]
pub(super) struct Nearest {
    /// Squared distance to the nearest triangle (cells squared); exact where it is below the squared band, larger
    /// elsewhere.
    pub(super) distance2: Vec<f32>,
    /// Which triangle that is.
    pub(super) triangle: Vec<u32>,
    /// Triangles that may cross a row along x.
    pub(super) crossing_x: Vec<u32>,
}

/// Eight triangles, ready to be measured against nodes; the last index is the triangle.
///
/// Model: in the frame of an edge i (t along it, m in the plane and outward, n the normal) a point
/// has coordinates r, s, w from the edge's middle. Its squared distance to the edge of length l is
/// s^2 + max(|r| - l/2, 0)^2 + w^2, to the triangle the least of the three, or w^2 if all s are
/// negative.
#[derive(Default)]
struct Eight {
    /// First node of the widened box, and how many from there, along x, y, z.
    first: [[f32; WIDTH]; 3],
    count: [[f32; WIDTH]; 3],
    /// r of the three edges, s of the three edges, w: value at the first node of the box, then
    /// change per node along x, y, z.
    function: [[[f32; WIDTH]; 4]; 7],
    /// Half the lengths of the edges.
    half: [[f32; WIDTH]; 3],
    /// Upper bound of s for a point inside.
    limit: [f32; WIDTH],
}

/// Finds the nearest triangles within `band` cells. Triangles with a vertex that is NaN or missing are left out.
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
    let mut eight = Eight::default();
    // Take every eighth triangle: stores to nodes of adjacent ones would be read again at once.
    for group in 0..triangles.len().next_multiple_of(WIDTH * WIDTH) / WIDTH {
        let of_lane = |lane: usize| (group / WIDTH * WIDTH + lane) * WIDTH + group % WIDTH;
        // Load the corners into lanes; lanes without a triangle are NaN.
        let mut corner = [[f32::NAN; WIDTH]; 9];
        for lane in 0..WIDTH {
            let Some(triangle) = triangles.get(of_lane(lane)) else { continue };
            for c in 0..3 {
                let Some(v) = vertices.get(triangle[c] as usize) else { continue };
                for axis in 0..3 {
                    corner[3 * c + axis][lane] = v[axis];
                }
            }
        }
        let crossing = prepare(simd, layout, band, &corner, &mut eight);
        for lane in 0..WIDTH {
            let triangle = of_lane(lane) as u32;
            if crossing & (1 << lane) != 0 {
                out.crossing_x.push(triangle);
            }
            measure(simd, layout, band, &eight, lane, triangle, out);
        }
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
    let splat = |v: f32| f32x8::splat(simd, v);
    let corners = [V::load(simd, corner, 0), V::load(simd, corner, 3), V::load(simd, corner, 6)];
    let [a, b, c] = corners;

    // Widen the box by the band. A coordinate that is not a number empties it.
    let number = (a.dot(a) + b.dot(b) + c.dot(c)).simd_lt(f32::MAX);
    let mut base = [splat(0.0); 3];
    let mut crossing = number;
    for axis in 0..3 {
        let coordinate = |i: usize| f32x8::from_slice(simd, &corner[3 * i + axis]);
        let (a, b, c) = (coordinate(0), coordinate(1), coordinate(2));
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        if axis > 0 {
            crossing &= lo.ceil().simd_le(hi.floor());
        }
        let last = splat((layout.len[axis] - 1) as f32);
        let first = (lo - band).ceil().max(splat(0.0)).min(last);
        let end = (hi + band).floor().max(splat(-1.0)).min(last);
        let first = number.select(first, splat(0.0));
        let count = number.select(end - first + 1.0, splat(0.0)).max(splat(0.0));
        base[axis] = first;
        first.store_slice(&mut eight.first[axis]);
        count.store_slice(&mut eight.count[axis]);
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

    // Find the normal, perpendicular to the longest edge in spite of rounding.
    let cross = edges[0].cross(edges[1]);
    let area = cross.dot(cross).sqrt();
    let proper = area.simd_gt(longest * longest * FLAT) & longest.simd_gt(SHORT);
    let steep = (main.0 * main.0).simd_gt(0.4);
    let any = main.cross(V(zero, one, zero).or(steep, V(one, zero, zero)));
    let rough = cross.times(one / area.max(splat(f32::MIN_POSITIVE))).or(proper, any);
    let square = rough.minus(main.times(rough.dot(main)));
    let n = square.times(one / square.dot(square).sqrt());

    // Evaluate the functions at the first node of the box.
    for i in 0..3 {
        let from = base.minus(corners[i]);
        let outward = along[i].cross(n);
        let half = lengths[i] * 0.5;
        store(&mut eight.function[i], from.dot(along[i]) - half, along[i]);
        store(&mut eight.function[3 + i], from.dot(outward), outward);
        half.store_slice(&mut eight.half[i]);
    }
    store(&mut eight.function[PLANE], base.minus(a).dot(n), n);
    proper.select(zero, splat(f32::NEG_INFINITY)).store_slice(&mut eight.limit);
    crossing.to_bitmask()
}

#[inline(always)]
fn store<S: Simd>(to: &mut [[f32; WIDTH]; 4], value: f32x8<S>, slope: V<S>) {
    value.store_slice(&mut to[0]);
    slope.0.store_slice(&mut to[1]);
    slope.1.store_slice(&mut to[2]);
    slope.2.store_slice(&mut to[3]);
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
    let [nx, ny, nz] = [0, 1, 2].map(|axis: usize| eight.count[axis][lane] as usize);
    let [x0, y0, z0] = [0, 1, 2].map(|axis: usize| eight.first[axis][lane] as usize);
    if nx * ny * nz == 0 {
        return;
    }
    // Spread the functions over four nodes along x by two along y.
    let splat = |v: f32| f32x8::splat(simd, v);
    let x = f32x8::from_slice(simd, &[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0]);
    let y = f32x8::from_slice(simd, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let mut rows = [splat(0.0); 7];
    let mut deeper = [splat(0.0); 7];
    for f in 0..7 {
        let [value, dx, dy, dz] = &eight.function[f];
        rows[f] = x * dx[lane] + y * dy[lane] + value[lane];
        deeper[f] = splat(dz[lane]);
    }
    let target = Target {
        half: [splat(eight.half[0][lane]), splat(eight.half[1][lane]), splat(eight.half[2][lane])],
        limit: splat(eight.limit[lane]),
        triangle: u32x8::splat(simd, triangle),
        row: layout.row,
    };
    let first = layout.index(x0, y0, z0);
    if nx <= 4 && ny * nz <= 64 {
        // Walk a small box column by column.
        let mut j = 0;
        loop {
            let mut column = rows;
            let mut place = first + j * layout.row;
            for _k in 0..nz {
                target.keep_nearer(simd, &column, place, out);
                place += layout.plane;
                for f in 0..7 {
                    column[f] += deeper[f];
                }
            }
            j += 2;
            if j >= ny {
                break;
            }
            for f in 0..7 {
                rows[f] += 2.0 * eight.function[f][2][lane];
            }
        }
    } else {
        // Clip the rows of a large one.
        let mut function = [[0.0; 4]; 7];
        for f in 0..7 {
            function[f] = [0, 1, 2, 3].map(|i: usize| eight.function[f][i][lane]);
        }
        for (k, j) in (0..nz).flat_map(|k| (0..ny).step_by(2).map(move |j| (k, j))) {
            let (from, to) = clip(&function, band, nx, j, k);
            for i in (from..to).step_by(4) {
                let mut here = rows;
                for f in 0..7 {
                    let [_, dx, dy, dz] = function[f];
                    here[f] += i as f32 * dx + j as f32 * dy + k as f32 * dz;
                }
                let place = first + k * layout.plane + j * layout.row + i;
                target.keep_nearer(simd, &here, place, out);
            }
        }
    }
}

/// A triangle that nodes are measured to.
struct Target<S: Simd> {
    half: [f32x8<S>; 3],
    limit: f32x8<S>,
    triangle: u32x8<S>,
    /// From one row to the next.
    row: usize,
}

impl<S: Simd> Target<S> {
    /// Measures four nodes from `place` on and the four above, of which the functions are given.
    #[inline(always)]
    fn keep_nearer(&self, simd: S, f: &[f32x8<S>; 7], place: usize, out: &mut Nearest) {
        // Measure to each edge, or to the plane from inside.
        let zero = f32x8::splat(simd, 0.0);
        let over = (f[0].abs() - self.half[0]).max(zero);
        let mut flat2 = f[3] * f[3] + over * over;
        for e in 1..3 {
            let over = (f[e].abs() - self.half[e]).max(zero);
            flat2 = flat2.min(f[3 + e] * f[3 + e] + over * over);
        }
        let inside = f[3].max(f[4]).max(f[5]).simd_lt(self.limit);
        let d2 = inside.select(zero, flat2) + f[PLANE] * f[PLANE];
        // Keep the nearer triangle, of equals the first.
        let both = place..place + self.row + 4;
        let (below, above) = out.distance2[both.clone()].split_at_mut(self.row);
        let (below, above) = (&mut below[..4], &mut above[..4]);
        let best = f32x4::from_slice(simd, below).combine(f32x4::from_slice(simd, above));
        let nearer = d2.simd_lt(best);
        let (low, high) = nearer.select(d2, best).split();
        low.store_slice(below);
        high.store_slice(above);
        let (below, above) = out.triangle[both].split_at_mut(self.row);
        let (below, above) = (&mut below[..4], &mut above[..4]);
        let which = u32x4::from_slice(simd, below).combine(u32x4::from_slice(simd, above));
        let (low, high) = nearer.select(self.triangle, which).split();
        low.store_slice(below);
        high.store_slice(above);
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
