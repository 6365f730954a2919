use glam::Vec3;

/// The volume over one root polygon: a stack of prisms between three or four columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundle {
    columns: [u32; 4],
    corners: u8,
    /// Number of prisms; its columns have at least one vertex more.
    pub layers: u32,
}

impl Bundle {
    /// A bundle over a triangle of columns, counter-clockwise seen from outside the scalp.
    pub fn triangle([a, b, c]: [u32; 3], layers: u32) -> Self {
        Self { columns: [a, b, c, 0], corners: 3, layers }
    }

    /// A bundle over a quad of columns, counter-clockwise seen from outside the scalp.
    pub fn quad(columns: [u32; 4], layers: u32) -> Self {
        Self { columns, corners: 4, layers }
    }

    /// Over a polygon of three or four columns; `None` for any other number.
    pub fn over(columns: &[u32], layers: u32) -> Option<Self> {
        match *columns {
            [a, b, c] => Some(Self::triangle([a, b, c], layers)),
            [a, b, c, d] => Some(Self::quad([a, b, c, d], layers)),
            _ => None,
        }
    }

    /// Its columns, counter-clockwise seen from outside the scalp.
    pub fn columns(&self) -> &[u32] {
        &self.columns[..self.corners()]
    }

    /// Number of its columns: 3 or 4.
    pub fn corners(&self) -> usize {
        usize::from(self.corners)
    }

    /// The two columns of a side, in the order of the polygon.
    pub fn side(&self, side: usize) -> [u32; 2] {
        let n = self.corners();
        [self.columns[side % n], self.columns[(side + 1) % n]]
    }
}

/// One layer of a bundle: its vertices at the end nearer to the root and at the end nearer to the tip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prism {
    corners: u8,
    lower: [u32; 4],
    upper: [u32; 4],
}

impl Prism {
    pub(super) fn new(corners: usize, lower: [u32; 4], upper: [u32; 4]) -> Self {
        Self { corners: corners as u8, lower, upper }
    }

    /// Number of corners of its polygons: 3 or 4.
    pub fn corners(&self) -> usize {
        usize::from(self.corners)
    }

    /// The polygon nearer to the root, counter-clockwise seen from the tip.
    pub fn lower(&self) -> &[u32] {
        &self.lower[..self.corners()]
    }

    /// The polygon nearer to the tip, counter-clockwise seen from the tip.
    pub fn upper(&self) -> &[u32] {
        &self.upper[..self.corners()]
    }

    /// One tetrahedron per corner (6 or 8): the corner and its three neighbours along edges, ordered so
    /// that the volume `e1 . (e2 x e3) / 6` is positive in a prism that is not inverted.
    /// Source: `wu2016` 3.1, figure 3.
    pub fn corner_tetrahedra(&self) -> impl ExactSizeIterator<Item = [u32; 4]> + use<> {
        let (prism, n) = (*self, self.corners());
        (0..2 * n).map(move |corner| {
            let i = corner % n;
            let (next, before) = ((i + 1) % n, (i + n - 1) % n);
            if corner < n {
                [prism.lower[i], prism.lower[next], prism.lower[before], prism.upper[i]]
            } else {
                [prism.upper[i], prism.upper[before], prism.upper[next], prism.lower[i]]
            }
        })
    }
}

/// Volume of a tetrahedron (m^3), with its sign (`wu2016` eq. 1).
pub fn tetrahedron_volume([a, b, c, d]: [Vec3; 4]) -> f32 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}
