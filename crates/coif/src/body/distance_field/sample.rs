//! Distance, gradient and velocity anywhere.

use glam::Vec3;

use super::DistanceField;

/// What the field says about a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldSample {
    /// To the surface (m), negative inside.
    pub distance: f32,
    /// Unit vector away from the surface outside, towards it inside.
    pub gradient: Vec3,
    /// Of the surface (m/s).
    pub velocity: Vec3,
}

/// Gradients shorter than this have no direction: the point is as far from one part of the surface
/// as from another. Elsewhere the length is about 1.
const NO_DIRECTION: f32 = 1e-3;

/// Share of the nodes around a point that have to know the velocity, by their trilinear weights. On
/// the surface the nearest node does, and has at least an eighth.
const ENOUGH: f32 = 0.05;

/// How often a point is brought towards the surface. Once is enough except where the gradient
/// changes on the way.
const STEPS: usize = 4;

/// The cell around a point.
struct Place {
    /// Its node with the least coordinates.
    node: usize,
    /// Where in the cell, 0 to 1.
    at: Vec3,
}

impl DistanceField {
    /// Signed distance to the surface (m), trilinear between nodes. Outside of the grid it is the
    /// distance to the mesh's box, a lower bound; without a mesh, or for a point that is not a
    /// number, it is infinite.
    #[inline]
    pub fn distance_at(&self, p: Vec3) -> f32 {
        match self.place(p) {
            Some(place) => {
                let [near, far] = self.faces(place.node, &self.distance);
                let near = mix2(near, place.at.x, place.at.y);
                let far = mix2(far, place.at.x, place.at.y);
                near + (far - near) * place.at.z
            }
            None => self.beyond(p).distance,
        }
    }

    /// Distance, its normalised gradient, and the velocity of the closest point of the surface.
    /// Beyond the grid the distance is that of [`distance_at`](Self::distance_at), the gradient
    /// points away from the mesh's box, and the velocity is the mean of the surface's.
    #[inline]
    pub fn sample(&self, p: Vec3) -> FieldSample {
        let Some(place) = self.place(p) else { return self.beyond(p) };
        let (distance, gradient) = self.slope(p, &place);
        let velocity = self.velocity_at(p - gradient * distance);
        FieldSample { distance, gradient, velocity }
    }

    /// Distance and unit gradient of the trilinear interpolant.
    #[inline]
    fn slope(&self, p: Vec3, place: &Place) -> (f32, Vec3) {
        let at = place.at;
        let [near, far] = self.faces(place.node, &self.distance);
        let (low, high) = (mix2(near, at.x, at.y), mix2(far, at.x, at.y));
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let face = |[a, b, c, d]: [f32; 4]| [mix(b - a, d - c, at.y), mix(c - a, d - b, at.x)];
        let ([x0, y0], [x1, y1]) = (face(near), face(far));
        let slope = Vec3::new(mix(x0, x1, at.z), mix(y0, y1, at.z), high - low);
        let length = slope.length();
        let gradient = if length > NO_DIRECTION * self.grid.cell {
            slope / length
        } else {
            self.wide_gradient(p)
        };
        (mix(low, high, at.z), gradient)
    }

    /// Velocity at a point of the surface: the average of the nodes around it that are in the band.
    /// A point that is not on the surface is brought there first.
    #[inline]
    fn velocity_at(&self, mut p: Vec3) -> Vec3 {
        for _step in 0..STEPS {
            let Some(place) = self.place(p) else { break };
            let [near, far] = self.faces(place.node, &self.velocity);
            let low = mix2(near, place.at.x, place.at.y);
            let v = low + (mix2(far, place.at.x, place.at.y) - low) * place.at.z;
            if v.w > ENOUGH {
                return v.truncate() / v.w;
            }
            let (distance, gradient) = self.slope(p, &place);
            p -= gradient * distance;
        }
        self.mean_velocity
    }

    /// The cell around a point, if it is in the grid. Not a number is not.
    #[inline]
    fn place(&self, p: Vec3) -> Option<Place> {
        let layout = &self.grid.xyz;
        let last = layout.len.map(|n| n as f32 - 1.0);
        let g = self.grid.in_cells(p);
        let within = |g: f32, last: f32| g >= 0.0 && g < last;
        if !(within(g.x, last[0]) && within(g.y, last[1]) && within(g.z, last[2])) {
            return None;
        }
        let [x, y, z] = g.to_array().map(|g| g as usize);
        let at = g - Vec3::new(x as f32, y as f32, z as f32);
        Some(Place { node: layout.index(x, y, z), at })
    }

    /// The values at the corners of a cell: near and far face, each x first.
    #[inline]
    fn faces<T: Copy>(&self, node: usize, values: &[T]) -> [[T; 4]; 2] {
        let (row, plane) = (self.grid.xyz.row, self.grid.xyz.plane);
        [node, node + plane]
            .map(|i| [values[i], values[i + 1], values[i + row], values[i + row + 1]])
    }

    /// The gradient over two cells, where that of the cell vanishes; up if that does too.
    #[cold]
    fn wide_gradient(&self, p: Vec3) -> Vec3 {
        let slope = Vec3::AXES.map(|axis| {
            let step = axis * self.grid.cell;
            self.distance_at(p + step) - self.distance_at(p - step)
        });
        let slope = Vec3::from(slope);
        if slope.is_finite() && slope.length() > NO_DIRECTION * self.grid.cell {
            slope.normalize_or(Vec3::Y)
        } else {
            Vec3::Y
        }
    }

    /// What is known about a point beyond the grid.
    #[cold]
    fn beyond(&self, p: Vec3) -> FieldSample {
        let (lo, hi) = self.bounds;
        let nothing =
            FieldSample { distance: f32::INFINITY, gradient: Vec3::Y, velocity: Vec3::ZERO };
        if !lo.cmple(hi).all() {
            return nothing;
        }
        let way = p - p.max(lo).min(hi);
        let distance = way.length();
        if distance.is_nan() || p.is_nan() {
            return nothing;
        }
        let gradient = way.normalize_or(Vec3::Y);
        FieldSample { distance, gradient, velocity: self.mean_velocity }
    }
}

/// Values between the four corners of a face, x first.
#[inline]
fn mix2<T>([a, b, c, d]: [T; 4], x: f32, y: f32) -> T
where
    T: Copy
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<f32, Output = T>,
{
    let low = a + (b - a) * x;
    let high = c + (d - c) * x;
    low + (high - low) * y
}
