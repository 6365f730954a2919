use glam::Vec3;

use super::{Bundle, HairMesh, Seam};
use crate::groom::Strands;

impl HairMesh {
    /// A box of hair for tests and benchmarks: `cells[0]` by `cells[1]` root polygons around the origin in
    /// the plane y = 0, with `layers` layers along +y; `size` is that of the box (m). With `triangles` every
    /// second quad is split into two triangles.
    pub fn block(cells: [usize; 2], layers: usize, size: Vec3, triangles: bool) -> Self {
        let [nx, nz] = cells.map(|n| n.max(1));
        let layers = layers.max(1);
        let mut columns = Strands::new();
        for iz in 0..=nz {
            for ix in 0..=nx {
                let x = ix as f32 / nx as f32 - 0.5;
                let z = iz as f32 / nz as f32 - 0.5;
                let column: Vec<Vec3> = (0..=layers)
                    .map(|k| size * Vec3::new(x, k as f32 / layers as f32, z))
                    .collect();
                columns.push(&column);
            }
        }
        let mut bundles = Vec::new();
        let at = |ix: usize, iz: usize| (iz * (nx + 1) + ix) as u32;
        let layers = layers as u32;
        for iz in 0..nz {
            for ix in 0..nx {
                let quad = [at(ix, iz), at(ix, iz + 1), at(ix + 1, iz + 1), at(ix + 1, iz)];
                let [a, b, c, d] = quad;
                if triangles && (ix + iz) % 2 == 1 {
                    bundles.push(Bundle::triangle([a, b, c], layers));
                    bundles.push(Bundle::triangle([a, c, d], layers));
                } else {
                    bundles.push(Bundle::quad(quad, layers));
                }
            }
        }
        Self { columns, bundles, seams: Vec::new(), roots: Vec::new() }
    }

    /// Two adjacent quads along x, with a seam between them that may open from level 1 on.
    pub fn parted_block(layers: usize, size: Vec3) -> Self {
        let whole = Self::block([2, 1], layers, size, false);
        let (first, second) = (whole.bundles[0], whole.bundles[1]);
        let mut columns = whole.columns.clone();
        let mut seams = Vec::new();
        let mut own = second.columns().to_vec();
        for column in own.iter_mut().filter(|c| first.columns().contains(c)) {
            columns.push(whole.columns.strand(*column as usize));
            let copy = columns.strand_count() as u32 - 1;
            seams.push(Seam { columns: [*column, copy], first_level: 1 });
            *column = copy;
        }
        let second = Bundle::over(&own, second.layers).unwrap_or(second);
        Self { columns, bundles: vec![first, second], seams, roots: Vec::new() }
    }
}
