use std::collections::BTreeSet;

use super::{Bundle, HairMesh, Seam};

impl HairMesh {
    /// Cuts the mesh along root edges (pairs of neighbouring columns), so that the bundles on either
    /// side may separate from `first_level` on. A column where a cut ends inside the mesh is not
    /// duplicated. Bindings of roots are kept.
    pub fn cut(&self, edges: &[[u32; 2]], first_level: u32) -> Self {
        let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        let edges: BTreeSet<[u32; 2]> = edges.iter().map(|&e| sorted(e)).collect();
        let mut out = self.clone();
        let mut columns: Vec<Vec<u32>> =
            self.bundles.iter().map(|b| b.columns().to_vec()).collect();
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); self.column_count()];
        for (b, bundle) in self.bundles.iter().enumerate() {
            bundle.columns().iter().for_each(|&c| around[c as usize].push(b));
        }
        for (c, bundles) in around.iter().enumerate() {
            let c = c as u32;
            // Gather the bundles around the column that are connected without a cut.
            let joined = |a: usize, b: usize| {
                let (a, b) = (self.bundles[a].columns(), self.bundles[b].columns());
                a.iter().any(|&d| {
                    d != c && b.contains(&d) && !edges.contains(&sorted([c, d])) && {
                        let beside = |bundle: &[u32]| {
                            let n = bundle.len();
                            let i = bundle.iter().position(|&e| e == c).unwrap_or(0);
                            bundle[(i + 1) % n] == d || bundle[(i + n - 1) % n] == d
                        };
                        beside(a) && beside(b)
                    }
                })
            };
            let mut group = vec![usize::MAX; bundles.len()];
            let mut groups = 0;
            for start in 0..bundles.len() {
                if group[start] != usize::MAX {
                    continue;
                }
                group[start] = groups;
                let mut open = vec![start];
                while let Some(i) = open.pop() {
                    for j in 0..bundles.len() {
                        if group[j] == usize::MAX && joined(bundles[i], bundles[j]) {
                            group[j] = groups;
                            open.push(j);
                        }
                    }
                }
                groups += 1;
            }
            // Duplicate the column for every group but the first.
            for g in 1..groups {
                let own = out.columns.strand_count() as u32;
                let own_bundles = || bundles.iter().zip(&group).filter(move |(_, h)| **h == g);
                let layers = own_bundles().map(|(&b, _)| self.bundles[b].layers).max().unwrap_or(1);
                let line = &self.columns.strand(c as usize)[..=layers as usize];
                out.columns.push(line);
                if let Some(&root) = self.roots.get(c as usize) {
                    out.roots.push(root);
                }
                out.seams.push(Seam { columns: [c, own], first_level: first_level.max(1) });
                for (&b, _) in own_bundles() {
                    columns[b].iter_mut().filter(|d| **d == c).for_each(|d| *d = own);
                }
            }
        }
        for (bundle, columns) in out.bundles.iter_mut().zip(&columns) {
            *bundle = Bundle::over(columns, bundle.layers).unwrap_or(*bundle);
        }
        out.trim();
        out
    }

    /// Shortens columns to the length of their longest bundle.
    fn trim(&mut self) {
        let mut longest = vec![0; self.column_count()];
        for bundle in &self.bundles {
            for &c in bundle.columns() {
                longest[c as usize] = bundle.layers.max(longest[c as usize]);
            }
        }
        let mut columns = crate::groom::Strands::new();
        for (line, layers) in self.columns.iter().zip(longest) {
            columns.push(&line[..line.len().min(layers as usize + 1)]);
        }
        self.columns = columns;
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::SideKind;
    use super::*;

    #[test]
    fn a_cut_across_a_block_separates_it() {
        // Columns 1, 4, 7 run across a block of two by two.
        let whole = HairMesh::block([2, 2], 3, Vec3::new(0.1, 0.3, 0.1), false);
        let cut = whole.cut(&[[1, 4], [7, 4]], 2);
        cut.validate().unwrap();
        assert_eq!(cut.column_count(), whole.column_count() + 3);
        assert_eq!(cut.seams.len(), 3);
        assert!(cut.seams.iter().all(|s| s.first_level == 2));
        let sides = cut.topology().sides;
        let along_seam = sides.iter().filter(|s| matches!(s.kind, SideKind::Seam { .. })).count();
        assert_eq!(along_seam, 2 * 2 * 3);
        // The column where a cut ends inside the mesh is not duplicated.
        let slit = whole.cut(&[[1, 4]], 1);
        slit.validate().unwrap();
        assert_eq!(slit.column_count(), whole.column_count() + 1);
        assert_eq!(whole.cut(&[], 1), whole);
    }
}
