//! The enumerations of a scene file: one enum per choice, with the name of each variant.

use coif::contact::{strand_contact, volume};
use coif::params;

/// Declares an enum whose variants have names in scene files, usable as the type of a parameter.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $name:ident, $what:literal $(, planned [$($planned:literal),+])? {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            /// All values, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// The names of [`Self::ALL`], in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text,)+];

            /// The name in a scene file.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl params::Field for $name {
            const KIND: params::Kind = params::Kind::Choice {
                what: $what,
                names: Self::NAMES,
                planned: &[$($($planned),+)?],
            };

            fn value(&self) -> Option<params::Value> {
                Some(params::Value::Choice(self.name()))
            }

            fn from_value(value: &params::Value) -> Option<Self> {
                let params::Value::Choice(word) = value else { return None };
                Self::ALL.iter().find(|one| one.name() == *word).copied()
            }
        }
    };
}

choice! {
    /// A built-in hairstyle.
    Style, "style" {
        /// A few centimetres all over.
        Short = "short",
        /// To the chin, cut to one length.
        Bob = "bob",
        /// To the shoulder blades, without curl.
        #[default]
        LongStraight = "long-straight",
        /// To the shoulder blades, with waves.
        LongWavy = "long-wavy",
        /// To the shoulder blades, in curls.
        LongCurly = "long-curly",
        /// Combed to the back of the head and tied.
        Ponytail = "ponytail",
        /// A short coat over a whole creature.
        Fur = "fur",
        /// Long wild fur in tufts, for the monster.
        Shaggy = "shaggy",
        /// Long fur that hangs, for the hound.
        Silky = "silky",
        /// One tuft of long hair at the back of the head.
        Tuft = "tuft",
        /// Hairs that stand straight up from the top of the head, one or a few.
        Single = "single",
        /// As `Single`, as coils.
        Coil = "coil",
        /// One upright hair with slack over the head, and others that lie across it.
        Crossed = "crossed",
        /// Hairs that hang in three rows over the head, from straight to curly and from stiff to soft.
        Sweep = "sweep",
        /// Strips of hair in layers over the scalp; see the keys `strip_...`.
        Strips = "strips",
        /// Short hair, grown in a hair mesh.
        HairMeshShort = "hair-mesh-short",
        /// To the shoulders, parted, grown in a hair mesh.
        HairMeshShoulder = "hair-mesh-shoulder",
        /// Down the back, parted, grown in a hair mesh.
        HairMeshLong = "hair-mesh-long",
    }
}

choice! {
    /// What a groom from a file is fitted to.
    FitTo, "fit" {
        /// Nothing: the groom stays where it is.
        #[default]
        None = "none",
        /// The scalp, or the head, of the body.
        Body = "body",
    }
}

choice! {
    /// A bone of the body that points are pinned to.
    PinTo, "bone" {
        /// The chest, or all of a body that has no neck.
        Chest = "chest",
        /// The neck.
        Neck = "neck",
        /// The head.
        #[default]
        Head = "head",
        /// The ground, which does not move.
        Ground = "ground",
    }
}

choice! {
    /// How fine a hair mesh is.
    Resolution, "resolution" {
        /// A few hundred vertices, for games.
        #[default]
        Low = "low",
        /// Two to three times as many as `Low`.
        Medium = "medium",
        /// A few thousand.
        High = "high",
    }
}

choice! {
    /// A built-in body.
    BodyShape, "body shape" {
        /// Head, neck and shoulders.
        #[default]
        Head = "head",
        /// A small animal, for fur.
        Creature = "creature",
        /// A monster with horns, for shaggy fur.
        Monster = "monster",
        /// An Afghan hound, for silky fur.
        Hound = "hound",
        /// A girl from head to foot.
        Girl = "girl",
    }
}

impl BodyShape {
    /// Edge length of the mesh (m) that shows the body well: finer where it has a face.
    pub const fn resolution(self) -> f32 {
        match self {
            Self::Head | Self::Creature => 0.0025,
            Self::Monster => 0.0120,
            Self::Hound => 0.0155,
            Self::Girl => 0.0100,
        }
    }
}

choice! {
    /// How the whole body moves.
    Motion, "motion" {
        /// No motion.
        #[default]
        Still = "still",
        /// "No": left and right, fast.
        Shake = "shake",
        /// "Yes": down and up.
        Nod = "nod",
        /// To one side and back, once.
        Turn = "turn",
        /// Continuous rotation about the vertical.
        Spin = "spin",
        /// Forward with steps.
        Walk = "walk",
        /// Up and down.
        Jump = "jump",
        /// Free fall with a hard stop.
        FallAndStop = "fall-and-stop",
        /// Small hops, one after the other.
        Hop = "hop",
        /// Looks around, walks and hops.
        Play = "play",
    }
}

choice! {
    /// What hair collides with.
    Collide, "collision method" {
        /// Spheres, ellipsoids, capsules and planes.
        #[default]
        Primitives = "primitives",
        /// The body's own surface, as a field of distances around it.
        DistanceField = "distance-field",
        /// Nothing.
        None = "none",
    }
}

choice! {
    /// Which axis of a file points up.
    UpAxis, "up axis" {
        /// As in Coif.
        #[default]
        Y = "y",
        /// As in Blender and 3ds Max.
        Z = "z",
    }
}

choice! {
    /// How light scatters on hair.
    Shading, "shading", planned ["marschner"] {
        /// The model of Kajiya and Kay (`kajiya1989`).
        #[default]
        KajiyaKay = "kajiya-kay",
    }
}

choice! {
    /// How hair casts shadows.
    HairShadows, "shadows" {
        /// Layers at equal intervals over the depth of all hair.
        #[default]
        DeepShadow = "deep-shadow",
        /// Fewer layers, which follow the front of the hair as seen from the light.
        DeepOpacity = "deep-opacity",
    }
}

choice! {
    /// A natural hair colour, or that of the groom.
    HairPreset, "hair colour" {
        /// The colours of the groom; brown if it has none.
        #[default]
        Groom = "groom",
        /// Absorbs nearly all light.
        Black = "black",
        /// Dark brown.
        DarkBrown = "dark-brown",
        /// Brown.
        Brown = "brown",
        /// Red.
        Red = "red",
        /// Blond.
        Blond = "blond",
        /// Grey.
        Grey = "grey",
        /// White.
        White = "white",
    }
}

choice! {
    /// The direction from which the camera looks at the body.
    View, "view" {
        /// The view that shows the style best.
        #[default]
        Auto = "auto",
        /// From the front.
        Front = "front",
        /// Between front and side.
        ThreeQuarter = "three-quarter",
        /// From the left of the body.
        Side = "side",
        /// From behind.
        Back = "back",
        /// From above.
        Top = "top",
    }
}

choice! {
    /// What a collider is.
    ColliderKind, "collider shape" {
        /// A ball.
        #[default]
        Sphere = "sphere",
        /// A ball stretched along three axes.
        Ellipsoid = "ellipsoid",
        /// A rod with round ends.
        Capsule = "capsule",
        /// A half-space.
        Plane = "plane",
    }
}

/// Models that the design names and that cannot be simulated yet.
pub(crate) const PLANNED_MODELS: &[&str] = &["super-helix", "rigid-links"];
/// Methods of contact of hair on hair.
pub(crate) const CONTACTS: &[&str] = &[volume::NAME, "stiction", "repulsion", "edge-collision"];
/// The table of the settings that the last three share; it enables none of them.
pub(crate) const STRANDS: &str = strand_contact::NAME;
/// Methods of contact of hair on hair that the design names and that cannot be simulated yet.
pub const PLANNED_CONTACTS: &[&str] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_in_the_same_order() {
        assert!(Motion::ALL.iter().map(|m| m.name()).eq(Motion::NAMES.iter().copied()));
        assert!(Style::ALL.iter().map(|s| s.name()).eq(Style::NAMES.iter().copied()));
    }
}
