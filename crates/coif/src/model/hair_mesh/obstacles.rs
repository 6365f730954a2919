//! What vertices of a hair mesh must stay out of: the colliders and the surface of the body in a substep.

mod inside;

use fearless_simd::Level;
use glam::{Vec3, Vec3A};

use crate::body::MovingCollider;
use crate::collide::{PosedShape, SKIN, pose_between};
use crate::environment::{FieldObstacle, Link, Met, Obstacle};
use crate::math::LANES;
use crate::math::on_sphere::{HalfSpace, nearest_allowed, search_around};

/// Distance from a surface (m) up to which a vertex that touches it goes on doing so.
const TOUCHING: f32 = 1e-3;

/// Rounds through the obstacles for one vertex: two that cross at a right angle take two or three, where they meet in
/// a narrow wedge it takes more.
const ROUNDS: usize = 12;

/// Rounds of tangent planes for a link of a strand before those at its parent.
const PLANE_ROUNDS: usize = 3;

/// Most planes that a link is held against: no more solids of a body meet in one place.
const MAX_PLANES: usize = 8;

/// Depth (m) that nobody sees: what planes leave of it stays, rather than being turned far away.
const GRAZING: f32 = 3e-4;

/// Where a vertex has to go, and what it touches there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// Outside of everything, as far as that can be had (m).
    pub(crate) point: Vec3A,
    /// Out of the surface, unit length.
    pub(crate) normal: Vec3A,
    /// Velocity of the surface (m/s).
    pub(crate) velocity: Vec3A,
    pub(crate) friction: f32,
    pub(crate) restitution: f32,
    /// Which shape; the body's own surface is one beyond the last.
    pub(crate) solid: u32,
}

/// All obstacles of a step.
pub(crate) struct Obstacles {
    shapes: Vec<PosedShape>,
    /// What they were posed from: for a checkpoint.
    pub(super) posed: Posed,
    level: Level,
}

/// Colliders in a substep.
#[derive(Debug, Clone, Default)]
pub(super) struct Posed {
    pub(super) colliders: Vec<MovingCollider>,
    /// Length of the part (s), and the shares of the step that it goes from and to.
    pub(super) dt: f32,
    pub(super) part: [f32; 2],
}

impl Default for Obstacles {
    fn default() -> Self {
        Self { shapes: Vec::new(), posed: Posed::default(), level: Level::new() }
    }
}

impl Obstacles {
    /// Poses the colliders for a substep, `dt` seconds long, that goes from the first share of the
    /// step to the second.
    pub(crate) fn pose(&mut self, colliders: &[MovingCollider], dt: f32, [from, to]: [f32; 2]) {
        self.posed.colliders.clear();
        self.posed.colliders.extend_from_slice(colliders);
        (self.posed.dt, self.posed.part) = (dt, [from, to]);
        self.shapes.clear();
        self.shapes.extend(colliders.iter().map(|c| {
            let c = if from > 0.0 || to < 1.0 { pose_between(c, from, to) } else { *c };
            PosedShape::new(&c, dt)
        }));
    }

    /// Forgets the colliders, until they are posed again.
    pub(crate) fn forget(&mut self) {
        self.shapes.clear();
        self.posed.colliders.clear();
    }

    /// How deep a point is in the deepest shape or below the body's surface, skin included (m); 0 outside.
    pub(crate) fn depth(&self, p: Vec3A, field: Option<&FieldObstacle<'_>>) -> f32 {
        let mut depth = 0.0f32;
        for shape in &self.shapes {
            if let Some((distance, ..)) = shape.probe(p, 0.0) {
                depth = depth.max(-distance);
            }
        }
        if let Some(field) = field {
            depth = depth.max(field.skin - field.field.distance_at(p.into()));
        }
        depth
    }

    /// Velocity of the material of a solid, or of the body's own surface, at a point (m/s).
    pub(crate) fn velocity(
        &self,
        solid: u32,
        p: Vec3A,
        field: Option<&FieldObstacle<'_>>,
    ) -> Vec3A {
        match self.shapes.get(solid as usize) {
            Some(shape) => shape.velocity_at(p.into()).into(),
            None => field.map_or(Vec3A::ZERO, |f| f.field.sample(p.into()).velocity.into()),
        }
    }

    /// Normal of a surface that a vertex has touched, if it still does; `allowed` is how deep it may be (m).
    pub(crate) fn still_touched(
        &self,
        solid: u32,
        p: Vec3A,
        allowed: f32,
        field: Option<&FieldObstacle<'_>>,
    ) -> Option<Vec3A> {
        let margin = TOUCHING - allowed;
        match (self.shapes.get(solid as usize), field) {
            (Some(shape), _) => {
                let (distance, normal) = shape.probe(p, margin)?;
                (distance < margin).then_some(normal)
            }
            (None, Some(field)) if field.field.distance_at(p.into()) < field.skin + margin => {
                Some(field.field.sample(p.into()).gradient.into())
            }
            _ => None,
        }
    }

    /// Brings a vertex that went from `before` to `p` out of all obstacles, `clearance` metres away from
    /// them; less than 0 lets it be that deep. `None` if it is outside.
    ///
    /// Model: closest point of the surface. A vertex whose way led right through a solid, seen from the
    /// solid, goes to the tangent plane at the place where it went in, so that hair does not change
    /// sides.
    pub(crate) fn push_out(
        &self,
        before: Option<Vec3A>,
        p: Vec3A,
        clearance: f32,
        field: Option<&FieldObstacle<'_>>,
    ) -> Option<Hit> {
        let mut hit: Option<Hit> = None;
        let mut at = p;
        let mut wedge = Wedge::default();
        for _ in 0..ROUNDS {
            let mut moved = false;
            for (i, shape) in self.shapes.iter().enumerate() {
                let entered = if hit.is_none() && clearance >= 0.0 {
                    before.and_then(|before| shape.entered(before, at))
                } else {
                    None
                };
                let (point, normal) = match entered {
                    Some(tangent) => tangent,
                    None => match shape.probe(at, clearance) {
                        Some((distance, normal)) if distance < clearance - 0.5 * SKIN => {
                            (wedge.leave(at, normal, clearance - distance), normal)
                        }
                        _ => continue,
                    },
                };
                at = point;
                moved = true;
                hit = Some(Hit {
                    point,
                    normal,
                    velocity: shape.velocity_at(point.into()).into(),
                    friction: shape.friction,
                    restitution: 0.0,
                    solid: i as u32,
                });
            }
            if let Some(field) = field {
                let room = clearance + field.skin;
                if field.field.distance_at(at.into()) < room - 0.5 * SKIN {
                    let sample = field.field.sample(at.into());
                    let normal = Vec3A::from(sample.gradient);
                    at = wedge.leave(at, normal, room - sample.distance);
                    moved = true;
                    hit = Some(Hit {
                        point: at,
                        normal,
                        velocity: sample.velocity.into(),
                        friction: field.friction,
                        restitution: field.restitution,
                        solid: self.shapes.len() as u32,
                    });
                }
            }
            if !moved {
                break;
            }
        }
        hit
    }
}

/// Longest way (m) out of a wedge in one go: from behind an ear.
const WEDGE: f32 = 0.03;

/// The surface that a point was last brought out of.
#[derive(Default)]
struct Wedge {
    /// Its tangent plane: unit normal and height, none at first.
    plane: Option<(Vec3A, f32)>,
}

impl Wedge {
    /// Moves a point that is `depth` metres below a surface with this normal onto it, and along it out of the
    /// last surface as well.
    ///
    /// Model: nearest point above both tangent planes. Surfaces that face each other would else throw
    /// the point to and fro between them, and out of a narrow wedge that takes dozens of rounds.
    #[inline(always)]
    fn leave(&mut self, p: Vec3A, normal: Vec3A, depth: f32) -> Vec3A {
        let mut way = normal * depth;
        if let Some((last, height)) = self.plane {
            let (cosine, below) = (last.dot(normal), (height - last.dot(p)).max(0.0));
            let sine2 = 1.0 - cosine * cosine;
            if cosine < 0.0 && sine2 > 1e-4 {
                let [a, b] = [depth - below * cosine, below - depth * cosine];
                way = ((normal * a + last * b) / sine2).clamp_length_max(WEDGE.max(depth));
            }
        }
        let to = p + way;
        self.plane = Some((normal, normal.dot(to)));
        to
    }
}

/// Colliders and, if there is one, the body's own surface, for strands to stay out of.
pub(crate) struct Around<'a> {
    pub(crate) obstacles: &'a Obstacles,
    pub(crate) field: Option<&'a FieldObstacle<'a>>,
}

impl Obstacle for Around<'_> {
    fn depth(&self, p: Vec3A) -> f32 {
        self.obstacles.depth(p, self.field)
    }

    fn may_hold(&self, points: &[f32; 3 * LANES]) -> u32 {
        self.inside(self.obstacles.level, points)
    }

    /// Model: tangent planes at the place that was wanted, then at what they gave, then at the parent:
    /// those that separate it from all obstacles leave a way out of every crease. What is still inside,
    /// in a hollow of the body's own surface, is looked for around.
    fn place(&self, link: &Link, allowed: f32) -> Option<Met> {
        let deep = |p: Vec3| self.depth(p.into()) - allowed;
        let (parent, wanted) = (Vec3::from(link.parent), Vec3::from(link.wanted));
        let mut best = (wanted, deep(wanted));
        if best.1 <= 0.5 * SKIN {
            return None;
        }
        let met = self.deepest(link.wanted);
        let mut tangent_at = wanted;
        for round in 0..=PLANE_ROUNDS {
            if round == PLANE_ROUNDS {
                tangent_at = parent;
            }
            let mut planes = [HalfSpace { normal: Vec3::Y, offset: 0.0 }; MAX_PLANES];
            let count = self.planes(tangent_at.into(), 2.0 * link.length, allowed, &mut planes);
            let planes = planes[..count].iter().copied();
            let Some(next) = nearest_allowed(planes, parent, link.length, wanted) else { continue };
            let depth = deep(next);
            if depth < best.1 {
                best = (next, depth);
            }
            if best.1 <= 0.5 * SKIN {
                break;
            }
            tangent_at = next;
        }
        if best.1 > GRAZING {
            let along = (best.0 - parent).normalize_or(Vec3::Y);
            let out = self.deepest(link.parent).normal.into();
            let (direction, depth) = search_around(parent, link.length, along, out, deep);
            if depth < best.1 {
                best = (parent + direction * link.length, depth);
            }
        }
        Some(Met { at: best.0.into(), ..met })
    }
}

impl Around<'_> {
    /// What of all obstacles is nearest to a point, or deepest around it: its normal and its velocity.
    fn deepest(&self, p: Vec3A) -> Met {
        let mut least = f32::INFINITY;
        let mut met = Met { at: p, normal: Vec3A::Y, velocity: Vec3A::ZERO };
        for shape in &self.obstacles.shapes {
            if let Some((distance, normal)) = shape.probe(p, SKIN)
                && distance < least
            {
                least = distance;
                met = Met { at: p, normal, velocity: shape.velocity_at(p.into()).into() };
            }
        }
        if let Some(field) = self.field {
            let sample = field.field.sample(p.into());
            if sample.distance - field.skin < least {
                met =
                    Met { at: p, normal: sample.gradient.into(), velocity: sample.velocity.into() };
            }
        }
        met
    }

    /// Half-spaces without obstacles that are nearer to `p` than `reach` (m), but for `allowed` (m) of them;
    /// how many there are.
    fn planes(&self, p: Vec3A, reach: f32, allowed: f32, out: &mut [HalfSpace]) -> usize {
        let near = self.obstacles.shapes.iter().filter_map(|shape| shape.probe(p, reach));
        let field = self.field.map(|f| {
            let sample = f.field.sample(p.into());
            (sample.distance - f.skin, Vec3A::from(sample.gradient))
        });
        let mut count = 0;
        for ((distance, normal), out) in field.into_iter().chain(near).zip(out) {
            *out = HalfSpace { normal: normal.into(), offset: normal.dot(p) - distance - allowed };
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Shape;
    use crate::math::RigidTransform;
    use glam::Quat;

    const SHAPES: [Shape; 4] = [
        Shape::Sphere { radius: 0.1 },
        Shape::Ellipsoid { radii: Vec3::new(0.1, 0.15, 0.07) },
        Shape::Capsule { half_height: 0.1, radius: 0.06 },
        Shape::Plane,
    ];

    fn still(shape: Shape, at: Vec3) -> MovingCollider {
        let pose = RigidTransform { rotation: Quat::from_rotation_z(0.3), translation: at };
        MovingCollider { shape, friction: 0.3, start: pose, end: pose }
    }

    #[test]
    fn points_inside_any_shape_come_out_and_points_outside_stay() {
        for shape in SHAPES {
            let collider = still(shape, Vec3::new(0.02, -0.01, 0.03));
            let mut obstacles = Obstacles::default();
            obstacles.pose(&[collider], 0.01, [0.0, 1.0]);
            // The same with its skin.
            let mut outer = MovingCollider { shape: shape.grown(SKIN), ..collider };
            if shape == Shape::Plane {
                outer.end.translation += collider.end.rotation * (Vec3::Y * SKIN);
            }
            for i in 0..300 {
                let at = |k: f32| (i as f32 * k).sin() * 0.15;
                let p = Vec3::new(at(1.1), at(1.7), at(2.3));
                let depth = outer.depth_at(p);
                let hit = obstacles.push_out(None, p.into(), 0.0, None);
                assert_eq!(hit.is_some(), depth > 0.5 * SKIN, "{shape:?} {p} {depth}");
                assert!((obstacles.depth(p.into(), None) - depth).abs() < 1e-5);
                if let Some(hit) = hit {
                    assert!(outer.depth_at(hit.point.into()) < 1e-6);
                    assert!((hit.point.distance(p.into()) - depth).abs() < 1e-5);
                }
                // With clearance it is that far away.
                if let Some(hit) = obstacles.push_out(None, p.into(), 0.02, None) {
                    let s = outer.project_point(hit.point.into());
                    assert!((s.distance - 0.02).abs() < 3e-3, "{shape:?}: {}", s.distance);
                }
            }
        }
    }

    /// Behind an ear, where two surfaces face each other at a few degrees, a vertex comes out of both.
    #[test]
    fn a_vertex_in_a_narrow_wedge_comes_out_of_both_sides() {
        let radii = [Vec3::new(0.075, 0.086, 0.095), Vec3::new(0.0105, 0.034, 0.0205)];
        let at = [Vec3::new(0.0, 0.04, 0.002), Vec3::new(0.0775, 0.0, 0.0)];
        let both = [0, 1].map(|i| still(Shape::Ellipsoid { radii: radii[i] }, at[i]));
        let mut obstacles = Obstacles::default();
        obstacles.pose(&both, 0.01, [0.0, 1.0]);
        let mut between = 0;
        for i in 0..4000 {
            let along = |k: f32, half: f32| (i as f32 * k).sin() * half;
            let p = at[1] + Vec3::new(along(1.1, 0.012), along(1.7, 0.03), along(2.3, 0.02));
            between += u32::from(both.iter().all(|c| c.depth_at(p) > 0.0));
            if let Some(hit) = obstacles.push_out(None, p.into(), 0.0, None) {
                let deep = both.map(|c| c.depth_at(hit.point.into()));
                assert!(deep.iter().all(|d| *d < SKIN), "{p}: {deep:?}");
                assert!(hit.point.distance(p.into()) < 0.05, "{p} {hit:?}");
            }
        }
        assert!(between > 100, "{between}");
    }

    /// Hair that a fast head would pass through stays on the side where it was.
    #[test]
    fn a_vertex_that_went_right_through_stays_on_its_side() {
        let shape = Shape::Ellipsoid { radii: Vec3::new(0.08, 0.1, 0.09) };
        let start = RigidTransform::from_translation(Vec3::new(0.3, 0.0, 0.0));
        let end = RigidTransform::from_translation(Vec3::new(-0.3, 0.0, 0.0));
        let collider = MovingCollider { shape, friction: 0.0, start, end };
        let mut obstacles = Obstacles::default();
        obstacles.pose(&[collider], 1.0 / 30.0, [0.0, 1.0]);
        // The solid passes over a vertex that does not move.
        let p = Vec3A::new(0.0, 0.01, 0.0);
        let hit = obstacles.push_out(Some(p), p, 0.0, None).unwrap();
        assert!(hit.normal.x < -0.9 && hit.point.x < -0.37, "{hit:?}");
        assert!(hit.velocity.x < 0.0);
        // One that it only grazes is left alone.
        let beside = Vec3A::new(0.0, 0.095, 0.0);
        assert!(obstacles.push_out(Some(beside), beside, 0.0, None).is_none());
    }

    /// Sixteen points at a time are inside where they are one by one.
    #[test]
    fn a_quick_look_finds_the_points_that_are_inside() {
        for shape in SHAPES {
            let mut obstacles = Obstacles::default();
            obstacles.pose(&[still(shape, Vec3::new(0.02, -0.01, 0.03))], 0.01, [0.0, 1.0]);
            let around = Around { obstacles: &obstacles, field: None };
            let mut held = 0;
            for row in 0..200 {
                let at = |i: usize| {
                    let along = |k: f32| ((16 * row + i) as f32 * k).sin() * 0.12;
                    Vec3A::new(along(1.1), along(1.7), along(2.3))
                };
                let points = std::array::from_fn(|k| at(k % LANES)[k / LANES]);
                let bits = around.may_hold(&points);
                for i in 0..LANES {
                    let depth = around.depth(at(i));
                    // On the surface itself either will do.
                    let is_clear =
                        depth > 1e-6 || obstacles.push_out(None, at(i), 1e-6, None).is_none();
                    assert!(
                        !is_clear || (depth > 0.0) == (bits & (1 << i) != 0),
                        "{shape:?} {depth}"
                    );
                    held += usize::from(depth > 1e-6);
                }
            }
            assert!((100..3000).contains(&held), "{shape:?} {held}");
        }
    }

    /// Wherever a link begins outside of two solids that cross and a plane, it ends outside, as long as it is.
    #[test]
    fn links_leave_every_crease_with_their_length() {
        let colliders = [
            still(Shape::Ellipsoid { radii: Vec3::new(0.1, 0.15, 0.12) }, Vec3::ZERO),
            still(Shape::Capsule { half_height: 0.2, radius: 0.06 }, Vec3::new(0.12, -0.1, 0.0)),
            still(Shape::Plane, Vec3::Y * -0.2),
        ];
        let mut obstacles = Obstacles::default();
        obstacles.pose(&colliders, 0.01, [0.0, 1.0]);
        let around = Around { obstacles: &obstacles, field: None };
        let (mut met, mut deepest) = (0, 0.0f32);
        for i in 0..250_000 {
            let at = |k: f32| (i as f32 * k).sin();
            let parent = Vec3A::new(at(1.1), at(1.7), at(2.3)) * 0.25;
            if around.depth(parent) > 0.0 {
                continue;
            }
            let direction = Vec3A::new(at(0.7), at(0.9), at(1.3)).normalize_or(Vec3A::X);
            let link = Link { parent, length: 0.012, wanted: parent + direction * 0.012 };
            if let Some(place) = around.place(&link, 0.0) {
                met += 1;
                deepest = deepest.max(around.depth(place.at));
                assert!((place.at.distance(parent) / link.length - 1.0).abs() < 1e-4);
            }
        }
        println!("{met} links met something; {deepest} m at most");
        assert!(met > 1000 && deepest <= 0.5 * SKIN, "{met} {deepest}");
    }
}
