//! Root polygons of the built-in hair meshes, and how many layers grow over each.
//!
//! Rings of polygons lie around a parting from the forehead to the crown: quads beside it, triangles
//! around its end, quads in all rings outside. The rings begin on one side of the forehead and end on
//! the other.

use coif::groom::hair_mesh::Bundle;

/// Fraction of the circumference of the head that hair from the end of the parting covers: the nape.
const BACK: f32 = 0.16;

/// Size of a layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Layout {
    /// Quads along each side of the parting.
    pub(super) along: usize,
    /// Triangles around its end at the crown.
    pub(super) fan: usize,
    /// Rings of columns around the parting.
    pub(super) rings: usize,
    /// Layers of most bundles.
    pub(super) layers: usize,
    /// Vertices of the whole mesh: bundles of the outermost ring have fewer layers, so that this number is reached.
    pub(super) vertices: usize,
}

/// Position of the root of a column.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Spot {
    /// The step around the head whose track the column follows.
    pub(super) step: usize,
    /// From the parting (0) to the hair line (1).
    pub(super) outwards: f32,
    /// Number of vertices of the column.
    pub(super) vertices: usize,
}

/// The polygons and columns of a layout.
pub(super) struct Plan {
    pub(super) spots: Vec<Spot>,
    pub(super) bundles: Vec<Bundle>,
    /// Per step around the head: where its track starts along the parting, 0 in front to 1 at the crown, and its
    /// position around the head, 0..1: from the forehead over the wearer's left side, the nape and the right side.
    pub(super) tracks: Vec<(f32, f32)>,
    /// Root edges outwards through all rings, per step around the head: where a seam is possible.
    pub(super) spokes: Vec<Vec<[u32; 2]>>,
}

impl Layout {
    /// Steps around the head.
    pub(super) fn sectors(&self) -> usize {
        2 * self.along + self.fan
    }

    /// Columns in each ring.
    fn per_ring(&self) -> usize {
        self.sectors() + 1
    }

    /// Columns on the parting.
    fn on_parting(&self) -> usize {
        2 * self.along + 1
    }

    fn columns(&self) -> usize {
        self.on_parting() + self.rings * self.per_ring()
    }

    /// The column on the parting at which step `i` around the head starts, and its position along the parting, 0..1.
    fn parting_column(&self, i: usize) -> (usize, f32) {
        let fraction = |j: usize| j as f32 / self.along as f32;
        if i < self.along {
            (i, fraction(i))
        } else if i <= self.along + self.fan {
            (self.along, 1.0)
        } else {
            let back = i - self.along - self.fan;
            (self.along + back, fraction(self.along - back))
        }
    }

    pub(super) fn plan(&self) -> Plan {
        let (sectors, per_ring) = (self.sectors(), self.per_ring());
        let ring_column = |ring: usize, i: usize| {
            if ring == 0 {
                self.parting_column(i).0 as u32
            } else {
                (self.on_parting() + (ring - 1) * per_ring + i) as u32
            }
        };
        // Remove layers from the outermost ring until the wanted number of vertices is reached, one more on a run
        // around the nape.
        let full = self.columns() * (self.layers + 1);
        let missing = full.saturating_sub(self.vertices);
        let (shorter, rest) = (missing / per_ring, missing % per_ring);
        let run =
            if rest == 0 { 0..0 } else { (sectors - rest - 1) / 2..(sectors + rest).div_ceil(2) };
        let mut bundles = Vec::new();
        for ring in 0..self.rings {
            for i in 0..sectors {
                let inner = [ring_column(ring, i), ring_column(ring, i + 1)];
                let outer = [ring_column(ring + 1, i), ring_column(ring + 1, i + 1)];
                let mut layers = self.layers;
                if ring + 1 == self.rings {
                    layers -= shorter + usize::from(run.contains(&i));
                }
                // Counter-clockwise seen from outside: outwards, then around.
                let polygon: &[u32] = if inner[0] == inner[1] {
                    &[inner[0], outer[0], outer[1]]
                } else {
                    &[inner[0], outer[0], outer[1], inner[1]]
                };
                bundles.extend(Bundle::over(polygon, layers.max(1) as u32));
            }
        }
        let mut vertices = vec![0; self.columns()];
        for bundle in &bundles {
            for &c in bundle.columns() {
                vertices[c as usize] = vertices[c as usize].max(bundle.layers as usize + 1);
            }
        }
        let mut spots = vec![Spot::default(); self.columns()];
        for ring in 0..=self.rings {
            for i in 0..per_ring {
                let column = ring_column(ring, i) as usize;
                let spot = &mut spots[column];
                // The end of the parting belongs to several steps: assign it to the middle one.
                let at_end = ring == 0 && column == self.along;
                spot.step = if at_end { sectors / 2 } else { i };
                spot.outwards = ring as f32 / self.rings as f32;
                spot.vertices = vertices[column];
            }
        }
        let spokes = (0..per_ring)
            .map(|i| (0..self.rings).map(|r| [ring_column(r, i), ring_column(r + 1, i)]).collect())
            .collect();
        // Distribute the steps beside the parting over the head, except for the part at the back that belongs to its
        // end.
        let beside = 0.5 - 0.5 * BACK;
        let around = |i: usize| {
            let (along, fan) = (self.along as f32, self.fan as f32);
            let (i, end) = (i as f32, self.sectors() as f32);
            if i <= along {
                beside * i / along
            } else if i >= along + fan {
                1.0 - beside * (end - i) / along
            } else {
                beside + BACK * (i - along) / fan
            }
        };
        let tracks = (0..per_ring).map(|i| (self.parting_column(i).1, around(i))).collect();
        Plan { spots, bundles, tracks, spokes }
    }
}
