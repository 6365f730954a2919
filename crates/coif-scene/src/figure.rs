//! The interface of a built-in body to hairstyles and scenes.

use std::sync::Arc;

use coif::body::{Body, BoneWeights, Collider, Motion, TriangleMesh};
use glam::Vec3;

use crate::file::Motion as MotionKind;
use crate::implicit::Implicit;
use crate::lens::{self, Lens};
use crate::motion::{BodyMotion, CHEST, HEAD, NECK, Pivots};
use crate::surface_nets;

/// An implicit solid with colliders, bones, skinning weights and a density of hair.
pub trait Figure: Implicit + Send {
    /// The solid without small parts that hair covers (ears): layers of hair follow this surface.
    fn hull(&self, p: Vec3) -> f32 {
        self.value(p)
    }
    /// Convex shapes that keep hair off the surface.
    fn colliders(&self) -> Vec<Collider>;
    /// The pivots of neck and head.
    fn pivots(&self) -> Pivots;
    /// Density of hair at a point of the surface, 0..1.
    fn hair_density(&self, p: Vec3) -> f32;
    /// [`Self::hair_density`] at a point of a triangle of the mesh.
    fn hair_density_on(&self, _triangle: usize, p: Vec3) -> f32 {
        self.hair_density(p)
    }
    /// Skinning weight of the head, the rest being that of the chest, for figures without other bones.
    fn head_weight(&self, _p: Vec3) -> f32 {
        1.0
    }
    /// Skinning weights at a point of the surface.
    fn bone_weights(&self, p: Vec3) -> BoneWeights {
        neck_weights(self.head_weight(p))
    }
    /// The motion of its bones. Chest, neck, head and ground come first, in this order.
    fn motion(&self, kind: MotionKind, speed: f32) -> Arc<dyn Motion> {
        Arc::new(BodyMotion::new(kind, speed, self.pivots()))
    }
    /// A region that needs a finer mesh than the rest.
    fn lens(&self) -> Option<Lens> {
        None
    }
    /// The fur at a point of the surface; `normal` points outwards.
    fn coat(&self, _p: Vec3, _normal: Vec3) -> Coat {
        Coat::default()
    }
    /// Linear albedo of the fur at its root and its tip, if the figure defines one.
    fn coat_color(&self, _p: Vec3) -> Option<[Vec3; 2]> {
        None
    }
    /// Minimum fraction of its height that a picture shows, from the top.
    fn shown(&self) -> f32 {
        0.30
    }
    /// Linear albedo at a point of the surface; `hair` is the colour of the hair at its root.
    fn color(&self, p: Vec3, hair: Vec3) -> Vec3;
}

/// Length, direction and stiffness of the fur at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coat {
    /// Length as a fraction of the longest.
    pub length: f32,
    /// Direction of combing; its length is the strength.
    pub comb: Vec3,
    /// 0 lies flat, 1 stands on end.
    pub lift: f32,
    /// Bending by its weight (1/m).
    pub weight: f32,
}

impl Default for Coat {
    /// Uniform length, combed down and back.
    fn default() -> Self {
        Self { length: 1.0, comb: Vec3::new(0.0, -0.8, -0.5), lift: 0.5, weight: 12.0 }
    }
}

/// Meshes a figure at `resolution` metres.
pub fn mesh(figure: &dyn Figure, resolution: f32) -> TriangleMesh {
    match figure.lens() {
        Some(lens) => lens::mesh(figure, lens, resolution),
        None => surface_nets::mesh(figure, resolution),
    }
}

/// A moving body from a figure and its mesh.
pub fn body(
    figure: &dyn Figure,
    mesh: TriangleMesh,
    motion: Arc<dyn Motion>,
    colliders: Vec<Collider>,
) -> coif::Result<Body> {
    let weights = mesh.positions.iter().map(|&p| figure.bone_weights(p)).collect();
    Body::skinned(mesh, weights, motion)?.with_colliders(colliders)
}

/// Blends chest to neck in the lower half, neck to head in the upper.
pub(crate) fn neck_weights(head_weight: f32) -> BoneWeights {
    let (from, to, t) = if head_weight < 0.5 {
        (CHEST, NECK, 2.0 * head_weight)
    } else {
        (NECK, HEAD, 2.0 * head_weight - 1.0)
    };
    [(from as u16, 1.0 - t), (to as u16, t), (0, 0.0), (0, 0.0)]
}

#[cfg(test)]
mod tests {
    use coif::body::MovingCollider;

    use super::*;
    use crate::bust::Bust;
    use crate::creature::Creature;
    use crate::file::BodyShape;
    use crate::girl::Girl;
    use crate::hound::Hound;
    use crate::monster::Monster;

    /// The colliders follow the surface where hair can reach it: no vertex is more than a few millimetres outside of
    /// them (except in folds of the face and at the rims of the ears), and roots are at most 3 mm inside.
    #[test]
    fn colliders_follow_the_surface() {
        let (monster, hound, girl) = (Monster::new(), Hound::new(), Girl::new());
        // Larger bodies have coarser meshes and wider fillets between their parts.
        let figures: [(&dyn Figure, f32, f32); 5] = [
            (&Bust, 0.008, 0.0125),
            (&Creature, 0.008, 0.012),
            (&monster, 0.020, 0.030),
            (&hound, 0.026, 0.030),
            (&girl, 0.030, 0.030),
        ];
        for (figure, cell, max_out) in figures {
            let mesh = mesh(figure, cell);
            let colliders: Vec<MovingCollider> = figure
                .colliders()
                .iter()
                .map(|c| MovingCollider {
                    shape: c.shape,
                    friction: c.friction,
                    start: c.world_from_shape,
                    end: c.world_from_shape,
                })
                .collect();
            let lowest = mesh.bounds().unwrap().0.y;
            let mut worst_out = (0.0, Vec3::ZERO);
            let mut worst_in = (0.0, Vec3::ZERO);
            for &p in &mesh.positions {
                if p.y < lowest + 0.03 {
                    continue;
                }
                let distance = colliders
                    .iter()
                    .map(|c| c.project_point(p).distance)
                    .fold(f32::INFINITY, f32::min);
                if distance > worst_out.0 {
                    worst_out = (distance, p);
                }
                if figure.hair_density(p) > 0.0 && -distance > worst_in.0 {
                    worst_in = (-distance, p);
                }
            }
            println!("surface out of the colliders by {worst_out:?}, roots inside by {worst_in:?}");
            assert!(worst_out.0 < max_out, "{worst_out:?}");
            assert!(worst_in.0 < 0.003, "{worst_in:?}");
        }
    }

    /// Every edge has a triangle on either side, and there are about 30,000 triangles, few enough for a distance
    /// field that is rebuilt in every step.
    #[test]
    fn bodies_with_limbs_are_closed_and_not_too_fine() {
        let figures: [(Box<dyn Figure>, BodyShape); 2] = [
            (Box::new(Monster::new()), BodyShape::Monster),
            (Box::new(Hound::new()), BodyShape::Hound),
        ];
        for (figure, shape) in figures {
            let mesh = mesh(&*figure, shape.resolution());
            let count = mesh.triangles.len();
            println!("{shape:?}: {count} triangles");
            assert!((18_000..36_000).contains(&count), "{shape:?} has {count} triangles");
            assert!(mesh.validate().is_ok());
            let mut balance = std::collections::BTreeMap::<(u32, u32), i32>::new();
            for [a, b, c] in &mesh.triangles {
                for (from, to) in [(a, b), (b, c), (c, a)] {
                    let (key, sign) =
                        if from < to { ((*from, *to), 1) } else { ((*to, *from), -1) };
                    *balance.entry(key).or_default() += sign;
                }
            }
            assert!(balance.values().all(|&sum| sum == 0), "{shape:?} has a hole");
        }
    }

    /// Skinning weights refer to existing bones and add up to one.
    #[test]
    fn weights_fit_the_bones() {
        let figures: [Box<dyn Figure>; 3] =
            [Box::new(Monster::new()), Box::new(Hound::new()), Box::new(Girl::new())];
        for figure in figures {
            let bones = figure.motion(MotionKind::Walk, 1.0).bones();
            for p in mesh(&*figure, 0.04).positions {
                let weights = figure.bone_weights(p);
                let sum: f32 = weights.iter().map(|w| w.1).sum();
                assert!((sum - 1.0).abs() < 1e-4, "{p}: {weights:?}");
                assert!(weights.iter().all(|w| usize::from(w.0) < bones && w.1 >= 0.0));
            }
        }
    }
}
