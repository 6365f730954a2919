//! The neck of a body from a file, so that its head turns on its shoulders.
//!
//! Found from the horizontal cross-sections of the mesh, from the top down, or given by a height or a named part.

use coif::body::{BoneWeights, TriangleMesh};
use glam::Vec3;

use crate::figure::neck_weights;
use crate::implicit::smoothstep;
use crate::motion::{CHEST, HEAD, NECK, Pivots};

/// Number of cross-sections over the height of the body.
const SECTIONS: usize = 400;

/// Largest size of a neck in sizes of the head above it.
const NARROWER: f32 = 0.8;

/// Smallest size of shoulders in sizes of the neck above them.
const WIDER: f32 = 1.3;

/// Smallest distance of the neck from the top of the body, in sizes of the head: less is a hat or a bun.
const BELOW_TOP: f32 = 1.1;

/// Growth of a cross-section, above and below the narrowest one, up to which the skin is blended.
const BLEND: [f32; 2] = [1.15, 1.35];

/// Limits of the length over which the skin is blended, above and below the narrowest cross-section, in sizes of the
/// neck: two to four centimetres of a person each.
const BLEND_LIMITS: [f32; 2] = [0.15, 0.4];

/// Where the head turns on the neck, and the neck on the chest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Neck {
    /// Lower end of the blended skin; the vertices below do not move with the head.
    pub(crate) low: Vec3,
    /// Upper end; the vertices above move with the head.
    pub(crate) high: Vec3,
    /// Size of the narrowest cross-section (m).
    pub(crate) size: f32,
}

/// A horizontal cross-section: the extents of the mesh at one height.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Section {
    y: f32,
    lo: [f32; 2],
    hi: [f32; 2],
}

impl Section {
    /// Geometric mean of width and depth (m).
    fn size(&self) -> f32 {
        ((self.hi[0] - self.lo[0]).max(0.0) * (self.hi[1] - self.lo[1]).max(0.0)).sqrt()
    }

    fn middle(&self) -> Vec3 {
        Vec3::new(0.5 * (self.lo[0] + self.hi[0]), self.y, 0.5 * (self.lo[1] + self.hi[1]))
    }
}

impl Neck {
    /// The narrowest cross-section below the head; `None` if the body does not get narrower below its head, or does not
    /// get wider again below that.
    pub(crate) fn find(mesh: &TriangleMesh) -> Option<Self> {
        let sections = sections(mesh);
        let top = sections.first()?.y;
        let (mut head, mut neck) = (0.0f32, None::<usize>);
        for (i, section) in sections.iter().enumerate() {
            let size = section.size();
            match neck {
                None if size <= NARROWER * head && top - section.y >= BELOW_TOP * head => {
                    neck = Some(i);
                }
                None => head = head.max(size),
                Some(narrowest) => {
                    let smallest = sections[narrowest].size();
                    if size < smallest {
                        neck = Some(i);
                    } else if size >= WIDER * smallest {
                        return (smallest > 0.0).then(|| Self::around(&sections, narrowest));
                    }
                }
            }
        }
        None
    }

    /// The neck at a height (m); `None` if the body does not reach it.
    pub(crate) fn at(mesh: &TriangleMesh, height: f32) -> Option<Self> {
        let sections = sections(mesh);
        let (first, last) = (sections.first()?, sections.last()?);
        if !(last.y..=first.y).contains(&height) {
            return None;
        }
        let nearest = (0..sections.len()).min_by(|&a, &b| {
            (sections[a].y - height).abs().total_cmp(&(sections[b].y - height).abs())
        });
        nearest.filter(|&i| sections[i].size() > 0.0).map(|i| Self::around(&sections, i))
    }

    /// The neck from bottom to top of a part of the body.
    pub(crate) fn of_part(part: &TriangleMesh) -> Option<Self> {
        let sections = sections(part);
        let (high, low) = (sections.first()?, sections.last()?);
        let narrowest = sections.iter().map(Section::size).fold(f32::INFINITY, f32::min);
        (high.y > low.y).then(|| Self { low: low.middle(), high: high.middle(), size: narrowest })
    }

    fn around(sections: &[Section], narrowest: usize) -> Self {
        let neck = sections[narrowest];
        let size = neck.size();
        let [nearest, farthest] = BLEND_LIMITS.map(|limit| limit * size);
        let end = |found: Option<&Section>, growth: f32| {
            let distance = found.map_or(farthest, |s| (s.y - neck.y).abs());
            neck.middle() + Vec3::Y * distance.clamp(nearest, farthest) * growth
        };
        let above = sections[..narrowest].iter().rev().find(|s| s.size() > BLEND[0] * size);
        let below = sections[narrowest..].iter().find(|s| s.size() > BLEND[1] * size);
        Self { low: end(below, -1.0), high: end(above, 1.0), size }
    }

    pub(crate) fn pivots(&self) -> Pivots {
        Pivots { neck: self.low, head: self.high }
    }

    /// Skinning weights at a height (m).
    pub(crate) fn weights(&self, y: f32) -> BoneWeights {
        neck_weights(smoothstep(self.low.y, self.high.y, y))
    }

    /// The bone of a rigid part whose middle is at a height (m).
    pub(crate) fn bone(&self, y: f32) -> usize {
        match y {
            y if y >= self.high.y => HEAD,
            y if y <= self.low.y => CHEST,
            _ => NECK,
        }
    }
}

/// Cross-sections at equal distances, from the top down; those without a triangle are left out.
fn sections(mesh: &TriangleMesh) -> Vec<Section> {
    let Some((lo, hi)) = mesh.bounds_of_triangles() else { return Vec::new() };
    let step = (hi.y - lo.y) / SECTIONS as f32;
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let height = |i: usize| hi.y - (i as f32 + 0.5) * step;
    let empty = |i| Section { y: height(i), lo: [f32::INFINITY; 2], hi: [f32::NEG_INFINITY; 2] };
    let mut all: Vec<Section> = (0..SECTIONS).map(empty).collect();
    for t in 0..mesh.triangles.len() {
        let corners = mesh.corners(t);
        let top = corners.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max);
        let bottom = corners.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        let index = |y: f32| ((hi.y - y) / step - 0.5).clamp(0.0, SECTIONS as f32 - 1.0);
        for section in &mut all[index(top).floor() as usize..=index(bottom).ceil() as usize] {
            for (a, b) in [(0, 1), (1, 2), (2, 0)].map(|(a, b)| (corners[a], corners[b])) {
                if (a.y <= section.y) != (b.y <= section.y) {
                    let p = a.lerp(b, (section.y - a.y) / (b.y - a.y));
                    for (k, value) in [p.x, p.z].into_iter().enumerate() {
                        section.lo[k] = section.lo[k].min(value);
                        section.hi[k] = section.hi[k].max(value);
                    }
                }
            }
        }
    }
    all.retain(|section| section.hi[0] >= section.lo[0]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bust::Bust;
    use crate::creature::Creature;
    use crate::figure::{self, Figure};
    use crate::girl::Girl;

    /// A body of revolution: radii at heights, from the top down.
    fn turned(profile: &[(f32, f32)]) -> TriangleMesh {
        const AROUND: u32 = 24;
        let mut mesh = TriangleMesh::default();
        for &(y, radius) in profile {
            for i in 0..AROUND {
                let angle = i as f32 / AROUND as f32 * std::f32::consts::TAU;
                mesh.positions.push(Vec3::new(angle.cos() * radius, y, angle.sin() * radius));
            }
        }
        for row in 0..profile.len() as u32 - 1 {
            for i in 0..AROUND {
                let (a, b) = (row * AROUND + i, row * AROUND + (i + 1) % AROUND);
                mesh.triangles.extend([[a, b, a + AROUND], [b, b + AROUND, a + AROUND]]);
            }
        }
        mesh
    }

    /// Head, neck at 1.45 m of radius 0.05 m, shoulders.
    const PERSON: [(f32, f32); 6] =
        [(1.70, 0.0), (1.68, 0.06), (1.60, 0.09), (1.45, 0.05), (1.38, 0.2), (0.9, 0.16)];

    #[test]
    fn the_narrowest_section_between_head_and_shoulders_is_the_neck() {
        let neck = Neck::find(&turned(&PERSON)).unwrap();
        // One section is 2 mm.
        assert!((neck.size - 0.1).abs() < 0.003, "{neck:?}");
        assert!((0.5 * (neck.low.y + neck.high.y) - 1.45).abs() < 0.02, "{neck:?}");
        assert!(neck.low.y < 1.45 && neck.high.y > 1.45 && neck.high.y - neck.low.y < 0.08);
        assert_eq!([1.39, 1.45, 1.5].map(|y| neck.bone(y)), [CHEST, NECK, HEAD]);
        let head = |y: f32| {
            neck.weights(y).iter().filter(|w| w.0 == HEAD as u16).map(|w| w.1).sum::<f32>()
        };
        assert_eq!((head(1.6), head(1.3)), (1.0, 0.0));
        // By hand at the same height, the same neck.
        let by_hand = Neck::at(&turned(&PERSON), 1.45).unwrap();
        assert!((by_hand.low.y - neck.low.y).abs() < 0.005, "{by_hand:?} {neck:?}");
        assert_eq!(Neck::at(&turned(&PERSON), 2.0), None);
    }

    #[test]
    fn a_head_without_shoulders_a_ball_and_a_bun_have_no_neck() {
        assert_eq!(Neck::find(&turned(&PERSON[..4])), None);
        assert_eq!(Neck::find(&TriangleMesh::ellipsoid(Vec3::splat(0.1), 20, 20)), None);
        assert_eq!(Neck::find(&figure::mesh(&Creature, 0.008)), None);
        let mut bun = vec![(1.75, 0.0), (1.745, 0.03), (1.725, 0.04), (1.705, 0.03), (1.69, 0.02)];
        bun.extend(&PERSON[1..]);
        let neck = Neck::find(&turned(&bun)).unwrap();
        assert!((neck.size - 0.1).abs() < 0.003, "{neck:?}");
        assert_eq!(Neck::find(&TriangleMesh::default()), None);
    }

    /// The built-in bodies know where their necks are.
    #[test]
    fn the_necks_of_built_in_bodies_are_found_between_their_pivots() {
        let figures: [(&dyn Figure, f32); 2] = [(&Bust, 0.006), (&Girl::new(), 0.01)];
        for (figure, resolution) in figures {
            let neck = Neck::find(&figure::mesh(figure, resolution)).unwrap();
            let pivots = figure.pivots();
            println!("{neck:?} {pivots:?}");
            let middle = 0.5 * (neck.low.y + neck.high.y);
            assert!((pivots.neck.y..=pivots.head.y).contains(&middle), "{neck:?} {pivots:?}");
        }
    }
}
