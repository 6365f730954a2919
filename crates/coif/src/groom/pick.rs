//! A groom of some strands of another, for previews.

use super::{Groom, Strands};

impl Groom {
    /// The strands with these indices, in this order. Strips and hair meshes refer to all strands, so they are left
    /// out unless all are picked in their order.
    ///
    /// # Panics
    /// If a strand does not exist.
    pub fn picked(&self, strands: &[usize]) -> Self {
        let points: Vec<usize> = strands.iter().flat_map(|&s| self.strands.points_of(s)).collect();
        let mut picked = Strands::with_capacity(strands.len(), points.len());
        strands.iter().for_each(|&s| picked.push(self.strands.strand(s)));
        let whole = strands.iter().copied().eq(0..self.strands.strand_count());
        Self {
            strands: picked,
            radius: at(&self.radius, &points),
            color: self.color.as_deref().map(|color| at(color, &points)),
            transparency: self.transparency.as_deref().map(|values| at(values, &points)),
            embedded: at(&self.embedded, strands),
            roots: if self.roots.is_empty() { Vec::new() } else { at(&self.roots, strands) },
            fibre: self.fibre,
            strips: self.strips.clone().filter(|_| whole),
            hair_mesh: self.hair_mesh.clone().filter(|_| whole),
        }
    }
}

fn at<T: Copy>(values: &[T], indices: &[usize]) -> Vec<T> {
    indices.iter().map(|&i| values[i]).collect()
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::Fibre;
    use super::*;

    #[test]
    fn picked_strands_keep_their_points_and_attributes() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::X]);
        strands.push(&[Vec3::Y, Vec3::Y * 2.0, Vec3::Y * 3.0]);
        strands.push(&[Vec3::Z, Vec3::Z * 2.0]);
        let mut groom = Groom::new(strands, Fibre::default());
        groom.radius = (0..7).map(|i| i as f32).collect();
        groom.embedded = vec![1, 2, 1];
        let picked = groom.picked(&[1, 0]);
        assert_eq!(picked.strands.strand(0), groom.strands.strand(1));
        assert_eq!(picked.radius, [2.0, 3.0, 4.0, 0.0, 1.0]);
        assert_eq!(picked.embedded, [2, 1]);
        assert_eq!(groom.picked(&[0, 1, 2]), groom);
    }
}
