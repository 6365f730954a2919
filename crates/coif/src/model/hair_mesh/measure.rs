//! Distance of a hair mesh from its rest shape: the measure of recovery.

use glam::{Vec3, Vec3A};

use super::dynamics::MeshDynamics;

/// Distance from rest, volume and inversion of a hair mesh.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshMeasure {
    /// Mean distance of vertices from where their column's root carries them at rest (m).
    pub mean_distance: f32,
    /// The farthest (m).
    pub farthest: f32,
    /// Mean length of columns at rest (m).
    pub length: f32,
    /// Sum of all corner volumes over that at rest.
    pub volume: f32,
    /// Largest change of a prism's volume, the sum of its corners', as a fraction of that at rest.
    pub volume_change: f32,
    /// Mean of such changes.
    pub mean_volume_change: f32,
    /// Corners that are turned inside out.
    pub inverted: u32,
    /// Largest stretch of an edge along the hair.
    pub stretch: f32,
    /// Fastest vertex (m/s).
    pub fastest: f32,
}

impl MeshMeasure {
    pub(super) fn new(mesh: &MeshDynamics) -> Self {
        let mut m = Self::default();
        let (mut distance, mut count) = (0.0, 0);
        let columns = mesh.starts.len() - 1;
        for column in 0..columns {
            let root = &mesh.roots[column];
            for v in mesh.starts[column] as usize..mesh.starts[column + 1] as usize {
                let home = Vec3A::from(root.point(Vec3::from(mesh.rest[v])));
                let away = home.distance(mesh.x[v]);
                distance += f64::from(away);
                count += 1;
                m.farthest = m.farthest.max(away);
                if v > mesh.starts[column] as usize {
                    let rest = mesh.rest[v].distance(mesh.rest[v - 1]);
                    m.length += rest;
                    let stretch = mesh.x[v].distance(mesh.x[v - 1]) / rest - 1.0;
                    m.stretch = m.stretch.max(stretch);
                    m.fastest = m.fastest.max(mesh.v[v].length());
                }
            }
        }
        m.length /= columns.max(1) as f32;
        m.mean_distance = (distance / f64::from(count.max(1))) as f32;
        let (mut now, mut rest, mut change) = (0.0, 0.0, 0.0);
        let mut first = 0;
        for &end in &mesh.elements.prism_ends {
            let (mut own, mut own_rest) = (0.0, 0.0);
            for corner in &mesh.elements.corners[first..end as usize] {
                let [a, b, c, d] = corner.vertices.map(|v| mesh.x[v as usize]);
                let volume = (b - a).dot((c - a).cross(d - a)) / 6.0;
                m.inverted += u32::from(volume / corner.rest <= 0.0);
                own += f64::from(volume * corner.rest.signum());
                own_rest += f64::from(corner.rest.abs());
            }
            first = end as usize;
            let off = (own / own_rest - 1.0).abs();
            m.volume_change = m.volume_change.max(off as f32);
            change += off;
            now += own;
            rest += own_rest;
        }
        m.volume = (now / rest.max(f64::MIN_POSITIVE)) as f32;
        m.mean_volume_change = (change / mesh.elements.prism_ends.len().max(1) as f64) as f32;
        m
    }
}
