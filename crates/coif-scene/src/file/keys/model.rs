//! `[model]`: how the hair moves. Keys that mean the same in every model come first; the others say
//! which models take them.

use coif::model::follow_the_leader::{self, Ends};
use coif::model::{
    ModelSettings, cantilever, explicit_spring, hair_mesh, mass_spring, position_based,
};

use super::key;
use crate::file::choices::PLANNED_MODELS;
use crate::file::scene::Scene;
use crate::file::schema::{Key, Kind};

fn set_model(scene: &mut Scene, index: usize) {
    scene.model = ModelSettings::by_name(ModelSettings::NAMES[index]).unwrap_or_default();
}

/// The longest style time (s); Follow-The-Leader has no style at all then.
const NO_STYLE: f32 = 1000.0;

/// The latest time (s) at which a held tip stops; it does not, then.
const NEVER: f32 = 1000.0;

/// The words of [`Ends::NAMES`].
const ENDS: &[&str] = &{
    let mut words = [""; Ends::NAMES.len()];
    let mut i = 0;
    while i < words.len() {
        words[i] = Ends::NAMES[i].0;
        i += 1;
    }
    words
};

fn ends_name(ends: Ends) -> Option<&'static str> {
    Ends::NAMES.iter().find(|(_, e)| *e == ends).map(|(name, _)| *name)
}

/// What every model has, by its own default.
struct Shared<F, B> {
    damping: F,
    hold_shape: B,
}

fn shared(scene: &Scene) -> Option<Shared<f32, bool>> {
    let (damping, hold_shape) = match &scene.model {
        ModelSettings::FollowTheLeader(m) => (m.damping, m.hold_shape),
        ModelSettings::PositionBased(m) => (m.damping, m.hold_shape),
        ModelSettings::ExplicitSpring(m) => (m.damping, m.hold_shape),
        ModelSettings::MassSpring(m) => (m.damping, m.hold_shape),
        ModelSettings::Cantilever(m) => (m.damping, m.hold_shape),
        ModelSettings::HairMesh(m) => (m.damping, m.hold_shape),
        _ => return None,
    };
    Some(Shared { damping, hold_shape })
}

fn shared_mut(scene: &mut Scene, change: impl FnOnce(Shared<&mut f32, &mut bool>)) {
    let (damping, hold_shape) = match &mut scene.model {
        ModelSettings::FollowTheLeader(m) => (&mut m.damping, &mut m.hold_shape),
        ModelSettings::PositionBased(m) => (&mut m.damping, &mut m.hold_shape),
        ModelSettings::ExplicitSpring(m) => (&mut m.damping, &mut m.hold_shape),
        ModelSettings::MassSpring(m) => (&mut m.damping, &mut m.hold_shape),
        ModelSettings::Cantilever(m) => (&mut m.damping, &mut m.hold_shape),
        ModelSettings::HairMesh(m) => (&mut m.damping, &mut m.hold_shape),
        _ => return,
    };
    change(Shared { damping, hold_shape });
}

/// The models whose style is a spring of its own; that of mass-spring hair is the fibre itself.
const STYLED: &[&str] =
    &[follow_the_leader::NAME, position_based::NAME, explicit_spring::NAME, cantilever::NAME];

fn style_time(scene: &Scene) -> Option<f32> {
    match &scene.model {
        ModelSettings::FollowTheLeader(m) => Some(m.style_time),
        ModelSettings::PositionBased(m) => Some(m.style_time),
        ModelSettings::ExplicitSpring(m) => Some(m.style_time),
        ModelSettings::Cantilever(m) => Some(m.style_time),
        _ => None,
    }
}

fn set_style_time(scene: &mut Scene, time: f32) {
    match &mut scene.model {
        ModelSettings::FollowTheLeader(m) => {
            m.style_time = if time >= NO_STYLE { f32::INFINITY } else { time };
        }
        ModelSettings::PositionBased(m) => m.style_time = time,
        ModelSettings::ExplicitSpring(m) => m.style_time = time,
        ModelSettings::Cantilever(m) => m.style_time = time,
        _ => {}
    }
}

/// Reads and changes the settings of one model, if the scene has it.
macro_rules! settings_of {
    ($get:ident, $change:ident, $variant:ident, $model:ident) => {
        fn $get(scene: &Scene) -> Option<&$model::Settings> {
            match &scene.model {
                ModelSettings::$variant(settings) => Some(settings),
                _ => None,
            }
        }

        fn $change(scene: &mut Scene, change: impl FnOnce(&mut $model::Settings)) {
            if let ModelSettings::$variant(settings) = &mut scene.model {
                change(settings);
            }
        }
    };
}

settings_of!(masses, masses_mut, MassSpring, mass_spring);
settings_of!(leader, leader_mut, FollowTheLeader, follow_the_leader);
settings_of!(spring, spring_mut, ExplicitSpring, explicit_spring);
settings_of!(beams, beams_mut, Cantilever, cantilever);
settings_of!(mesh, mesh_mut, HairMesh, hair_mesh);

/// A number of the hair mesh.
macro_rules! mesh_number {
    ($name:literal, $field:ident, $unit:literal, $range:expr, $meaning:literal) => {
        key(
            $name,
            $unit,
            $meaning,
            Kind::Number {
                min: *$range.start(),
                max: *$range.end(),
                get: |s| mesh(s).map(|m| m.$field),
                set: |s, v| mesh_mut(s, |m| m.$field = v),
            },
        )
        .of_models(&[hair_mesh::NAME])
    };
}

/// A count of the hair mesh.
macro_rules! mesh_count {
    ($name:literal, $field:ident, $most:literal, $meaning:literal) => {
        key(
            $name,
            "",
            $meaning,
            Kind::Integer {
                min: 1,
                max: $most,
                get: |s| mesh(s).map(|m| m.$field.into()),
                set: |s, v| mesh_mut(s, |m| m.$field = v as u32),
            },
        )
        .of_models(&[hair_mesh::NAME])
    };
}

/// A switch of the hair mesh.
macro_rules! mesh_switch {
    ($name:literal, $field:ident, $meaning:literal) => {
        key(
            $name,
            "",
            $meaning,
            Kind::Bool {
                get: |s| mesh(s).map(|m| m.$field),
                set: |s, v| mesh_mut(s, |m| m.$field = v),
            },
        )
        .of_models(&[hair_mesh::NAME])
    };
}

pub(super) const MODEL: &[Key<Scene>] = &[
    key(
        "name",
        "",
        "The published method.",
        Kind::Choice {
            what: "model",
            names: ModelSettings::NAMES,
            planned: PLANNED_MODELS,
            get: |s| Some(s.model.name()),
            set: set_model,
        },
    ),
    key(
        "style_time",
        "s",
        "Time in which hair returns to its groom: more is softer, 1000 is limp.",
        Kind::Number {
            min: 1e-3,
            max: NO_STYLE as f64,
            get: |s| style_time(s).map(|time| time.min(NO_STYLE)),
            set: set_style_time,
        },
    )
    .of_models(STYLED),
    key(
        "style_length",
        "m",
        "Length up to which the style holds directions too: shorter hair swings back faster.",
        Kind::Number {
            min: 0.0,
            max: 10.0,
            get: |s| leader(s).map(|m| m.style_length),
            set: |s, v| leader_mut(s, |m| m.style_length = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "damping_ratio",
        "",
        "Damping of the swing back to the groom: 1 is critical, less swings over.",
        Kind::Number {
            min: 0.0,
            max: 10.0,
            get: |s| leader(s).map(|m| m.damping_ratio),
            set: |s, v| leader_mut(s, |m| m.damping_ratio = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "damping",
        "1/s",
        "Damping by still air; 'cantilever' needs some.",
        Kind::Number {
            min: 0.0,
            max: 1000.0,
            get: |s| shared(s).map(|m| m.damping),
            set: |s, v| shared_mut(s, |m| *m.damping = v),
        },
    ),
    key(
        "hold_shape",
        "",
        "Whether the groom is the shape at rest under gravity; if not, it sags.",
        Kind::Bool {
            get: |s| shared(s).map(|m| m.hold_shape),
            set: |s, v| shared_mut(s, |m| *m.hold_shape = v),
        },
    ),
    key(
        "correction",
        "",
        "Mass per length that the motion shows at the tip, relative to the root: 1 is even, less \
         is livelier.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| leader(s).map(|m| m.correction),
            set: |s, v| leader_mut(s, |m| m.correction = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "bend_limit",
        "",
        "How far every second point stays apart, as a share of the straight distance: 0 bends \
         freely, 1 not at all.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| leader(s).map(|m| m.bend_limit),
            set: |s, v| leader_mut(s, |m| m.bend_limit = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "ends",
        "",
        "Which ends of a strand follow the body; both-evenly weighs the two alike everywhere.",
        Kind::Choice {
            what: "choice of ends",
            names: ENDS,
            planned: &[],
            get: |s| leader(s).and_then(|m| ends_name(m.ends)),
            set: |s, i| leader_mut(s, |m| m.ends = Ends::NAMES[i].1),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "backward",
        "",
        "Whether a pass from tip to root goes first; if not, the one-way pass of the paper, for chains of equal segments \
         without style (style_time = 1000, hold_shape = false).",
        Kind::Bool {
            get: |s| leader(s).map(|m| m.backward),
            set: |s, v| leader_mut(s, |m| m.backward = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "iterations",
        "",
        "Sweeps over the lengths of all segments in each step; less is stretchier.",
        Kind::Integer {
            min: 1,
            max: 1000,
            get: |s| match &s.model {
                ModelSettings::PositionBased(m) => Some(m.iterations.into()),
                _ => None,
            },
            set: |s, v| {
                if let ModelSettings::PositionBased(m) = &mut s.model {
                    m.iterations = v as u32;
                }
            },
        },
    )
    .of_models(&[position_based::NAME]),
    key(
        "stretch_modulus",
        "Pa",
        "Stress per stretch. Real hair has 4e9, which takes hundreds of substeps; what takes too many is refused.",
        Kind::Number {
            min: 1.0,
            max: 1e12,
            get: |s| spring(s).map(|m| m.stretch_modulus),
            set: |s, v| spring_mut(s, |m| m.stretch_modulus = v),
        },
    )
    .of_models(&[explicit_spring::NAME]),
    key(
        "stretch_damping",
        "s",
        "Internal friction along the hair as a time.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| spring(s).map(|m| m.stretch_damping),
            set: |s, v| spring_mut(s, |m| m.stretch_damping = v),
        },
    )
    .of_models(&[explicit_spring::NAME]),
    key(
        "substeps",
        "",
        "Parts of a step; 0 takes as many as the springs need, up to 1000; too few are refused.",
        Kind::Integer {
            min: 0,
            max: 10_000,
            get: |s| spring(s).map(|m| m.substeps.unwrap_or(0).into()),
            set: |s, v| spring_mut(s, |m| m.substeps = (v > 0).then_some(v as u32)),
        },
    )
    .of_models(&[explicit_spring::NAME]),
    key(
        "strain_limit",
        "",
        "Largest stretch of a segment, as a share of its length.",
        Kind::Number {
            min: 0.0,
            max: 0.9,
            get: |s| masses(s).map(|m| m.strain_limit),
            set: |s, v| masses_mut(s, |m| m.strain_limit = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "velocity_update",
        "",
        "How the velocity at the end of a substep is found: backward-euler is robust, \
         trapezoidal is as published and rings.",
        Kind::Choice {
            what: "velocity update",
            names: &["backward-euler", "trapezoidal"],
            planned: &[],
            get: |s| {
                let m = masses(s)?;
                let names = mass_spring::VelocityUpdate::NAMES.iter();
                names.clone().find(|(_, u)| *u == m.velocity_update).map(|(name, _)| *name)
            },
            set: |s, i| {
                let update = mass_spring::VelocityUpdate::NAMES[i].1;
                masses_mut(s, |m| m.velocity_update = update);
            },
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "longest_substep",
        "s",
        "A step is cut into substeps no longer than this; fast hair gets shorter ones.",
        Kind::Number {
            min: 1e-6,
            max: 1.0,
            get: |s| masses(s).map(|m| m.longest_substep),
            set: |s, v| masses_mut(s, |m| m.longest_substep = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "shortest_substep",
        "s",
        "And no shorter than this, however fast the hair moves.",
        Kind::Number {
            min: 1e-6,
            max: 1.0,
            get: |s| masses(s).map(|m| m.shortest_substep),
            set: |s, v| masses_mut(s, |m| m.shortest_substep = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "straight_below",
        "rad",
        "Angle between two segments below which hair counts as straight there, and gets extra \
         particles that feel its twist.",
        Kind::Number {
            min: 0.0,
            max: std::f64::consts::PI,
            get: |s| masses(s).map(|m| m.straight_below),
            set: |s, v| masses_mut(s, |m| m.straight_below = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "hold_tips",
        "",
        "Whether tips are held too, and moved by the keys that follow.",
        Kind::Bool {
            get: |s| masses(s).map(|m| m.ends == mass_spring::Ends::Both),
            set: |s, v| {
                let ends = if v { mass_spring::Ends::Both } else { mass_spring::Ends::Root };
                masses_mut(s, |m| m.ends = ends);
            },
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "tip_first",
        "",
        "Number of the first strand that the keys that follow move; those before it are only held.",
        Kind::Integer {
            min: 0,
            max: u32::MAX as u64,
            get: |s| masses(s).map(|m| m.far_end.first.into()),
            set: |s, v| masses_mut(s, |m| m.far_end.first = v as u32),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "ends_slide",
        "m/s",
        "Velocity of both ends of these strands: hair that is pulled across other hair.",
        Kind::Vector {
            min: -100.0,
            max: 100.0,
            get: |s| masses(s).map(|m| m.far_end.slide),
            set: |s, v| masses_mut(s, |m| m.far_end.slide = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "tip_approach",
        "m/s",
        "Speed at which a held tip moves towards its root; negative pulls it away.",
        Kind::Number {
            min: -100.0,
            max: 100.0,
            get: |s| masses(s).map(|m| m.far_end.approach),
            set: |s, v| masses_mut(s, |m| m.far_end.approach = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "tip_twist",
        "rad/s",
        "Rate at which a held tip turns about the line to its root.",
        Kind::Number {
            min: -1000.0,
            max: 1000.0,
            get: |s| masses(s).map(|m| m.far_end.twist),
            set: |s, v| masses_mut(s, |m| m.far_end.twist = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "tip_until",
        "s",
        "Time after which held ends stop; 1000 is never.",
        Kind::Number {
            min: 0.0,
            max: NEVER as f64,
            get: |s| masses(s).map(|m| m.far_end.until.min(NEVER)),
            set: |s, v| {
                let until = if v >= NEVER { f32::INFINITY } else { v };
                masses_mut(s, |m| m.far_end.until = until);
            },
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "tip_release",
        "",
        "Whether a held tip is let go then.",
        Kind::Bool {
            get: |s| masses(s).map(|m| m.far_end.release),
            set: |s, v| masses_mut(s, |m| m.far_end.release = v),
        },
    )
    .of_models(&[mass_spring::NAME]),
    key(
        "trail",
        "",
        "Share of a sudden move of the root that the tip of long hair does not follow at first: 0 is \
         a helmet.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| beams(s).map(|m| m.trail),
            set: |s, v| beams_mut(s, |m| m.trail = v),
        },
    )
    .of_models(&[cantilever::NAME]),
    key(
        "inertia",
        "",
        "How much of its root's acceleration hair feels as a force.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| beams(s).map(|m| m.inertia),
            set: |s, v| beams_mut(s, |m| m.inertia = v),
        },
    )
    .of_models(&[cantilever::NAME]),
    key(
        "bend_variation",
        "",
        "How much softer the topmost strips are than those in the middle, as a share.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| beams(s).map(|m| m.bend_variation),
            set: |s, v| beams_mut(s, |m| m.bend_variation = v),
        },
    )
    .of_models(&[cantilever::NAME]),
    key(
        "layer_distance",
        "m",
        "How much farther from the body a strip stays than the one of the layer below.",
        Kind::Number {
            min: 0.0,
            max: 0.1,
            get: |s| beams(s).map(|m| m.layer_distance),
            set: |s, v| beams_mut(s, |m| m.layer_distance = v),
        },
    )
    .of_models(&[cantilever::NAME]),
    key(
        "wisp_radius",
        "m",
        "How far apart the roots of strands in one strip are, for a groom that has no strips; 0 makes \
         a strip of every strand.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| beams(s).map(|m| m.wisps.radius),
            set: |s, v| beams_mut(s, |m| m.wisps.radius = v),
        },
    )
    .of_models(&[cantilever::NAME]),
    key(
        "segments",
        "",
        "Segments of these strips.",
        Kind::Integer {
            min: 3,
            max: 200,
            get: |s| beams(s).map(|m| m.wisps.segments as u64),
            set: |s, v| beams_mut(s, |m| m.wisps.segments = v as usize),
        },
    )
    .of_models(&[cantilever::NAME]),
    key(
        "layers",
        "",
        "Layers of these strips: wisps that grow higher are in higher ones, and stay farther from the body.",
        Kind::Integer {
            min: 1,
            max: 64,
            get: |s| beams(s).map(|m| m.wisps.layers.into()),
            set: |s, v| beams_mut(s, |m| m.wisps.layers = v as u32),
        },
    )
    .of_models(&[cantilever::NAME]),
    mesh_number!(
        "bulk_density",
        density,
        "kg/m^3",
        1e-3..=1e4,
        "Mass of hair per volume of the hair mesh, air included."
    ),
    mesh_number!(
        "along_modulus",
        along_modulus,
        "Pa",
        1.0..=1e9,
        "Stress per stretch along the hair."
    ),
    mesh_number!(
        "across_modulus",
        across_modulus,
        "Pa",
        1e-3..=1e9,
        "Stress per stretch across the hair: how bundles keep their width."
    ),
    mesh_number!(
        "shear_modulus",
        shear_modulus,
        "Pa",
        1e-3..=1e9,
        "Stress per shear: how hard hairs slide along each other, and so how hard a bundle bends."
    ),
    mesh_number!(
        "bulk_modulus",
        bulk_modulus,
        "Pa",
        0.0..=1e9,
        "Stress per change of volume; 0 leaves the volume force out."
    ),
    mesh_number!(
        "bending",
        bending,
        "N",
        0.0..=1e6,
        "Bending moment per curvature and cross-section: how hard hairs bend one by one."
    ),
    mesh_number!(
        "friction_time",
        friction_time,
        "s",
        0.0..=10.0,
        "Internal friction as a time: stress per rate of strain is this times the modulus."
    ),
    mesh_number!(
        "creep_speed",
        creep_speed,
        "m/s",
        1e-3..=10.0,
        "Speed over the body below which friction is that of something thick: slow hair creeps."
    ),
    mesh_switch!(
        "minimise",
        minimise,
        "Whether what contact does to outer vertices is spread over the mesh."
    ),
    mesh_switch!(
        "clear_inside",
        clear_inside,
        "Whether vertices that are inside the body after that are brought out too."
    ),
    mesh_switch!(
        "self_collision",
        self_collision,
        "Whether bundles that are not neighbours collide."
    ),
    mesh_number!(
        "seam_strength",
        seam_strength,
        "Pa",
        1e-3..=1e9,
        "Stress that a seam bears before it opens."
    ),
    mesh_number!(
        "seam_gap",
        seam_gap,
        "m",
        1e-5..=1.0,
        "How wide a seam gapes when it opens; it closes again at half of that."
    ),
    mesh_number!(
        "seam_speed",
        seam_speed,
        "m/s",
        0.0..=100.0,
        "Speed of its sides below which an open seam closes."
    ),
    mesh_count!(
        "parts",
        parts,
        1000,
        "Parts of a step, all alike: more follow a fast body better."
    ),
    mesh_number!(
        "tolerance",
        tolerance,
        "m/s",
        1e-7..=1.0,
        "Error of velocities that the solver may leave in a 60th of a second."
    ),
    mesh_count!("most_iterations", most_iterations, 10_000, "Most iterations of the solver."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::schema::Needs;

    /// A key has a value exactly in the models that it says it belongs to.
    #[test]
    fn every_model_has_the_keys_that_name_it() {
        for name in ModelSettings::NAMES {
            let model = ModelSettings::by_name(name).unwrap();
            let scene = Scene { model, ..Scene::default() };
            for key in MODEL {
                let named = match key.needs {
                    Needs::Model(models) => models.contains(name),
                    _ => true,
                };
                assert_eq!(key.value_text(&scene).is_some(), named, "{} in {name}", key.name);
            }
        }
    }
}
