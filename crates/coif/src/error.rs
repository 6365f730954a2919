use thiserror::Error;

/// An invalid groom, body, parameter or checkpoint, or a failure of the operating system.
///
/// Messages name the strand and the point, counted from 0 as in the files.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The groom has no strands.
    #[error("the groom is empty: expected at least one strand")]
    EmptyGroom,
    /// A strand has too few points to have a segment.
    #[error("strand {strand} has {points} point(s): expected at least 2")]
    ShortStrand {
        /// Which strand.
        strand: usize,
        /// How many points it has.
        points: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("strand {strand}, point {point}: {what} is not a finite number")]
    NotFinite {
        /// Which strand.
        strand: usize,
        /// Which point of that strand, counted from the root.
        point: usize,
        /// Which attribute: position, radius, colour, transparency.
        what: &'static str,
    },
    /// A point is so far from the origin that single precision does not resolve its segments.
    #[error(
        "strand {strand}, point {point}: position is {distance:e} m from the origin, expected at most {limit} m"
    )]
    TooFar {
        /// Which strand.
        strand: usize,
        /// Which point of that strand, counted from the root.
        point: usize,
        /// Its distance from the origin (m).
        distance: f32,
        /// Largest distance (m).
        limit: f32,
    },
    /// Two neighbouring points coincide.
    #[error("strand {strand}: points {point} and {} coincide, so the segment has no direction", point + 1)]
    ZeroSegment {
        /// Which strand.
        strand: usize,
        /// The point nearer to the root.
        point: usize,
    },
    /// A value is outside its physically meaningful range.
    #[error("{name} is {value}: expected {expected}")]
    OutOfRange {
        /// Which parameter, with its unit.
        name: String,
        /// What it was.
        value: f64,
        /// What it has to be.
        expected: &'static str,
    },
    /// A parameter is out of its range.
    #[error("{of} {name} is {value}: expected {expected}")]
    Parameter {
        /// What it is a parameter of: a model, a contact, the fibre.
        of: &'static str,
        /// Which parameter.
        name: &'static str,
        /// What it was, with its unit.
        value: String,
        /// What it has to be, with its unit.
        expected: String,
    },
    /// The number of entries of an attribute is not the number of points or strands of the groom.
    #[error("{what}: {found} values for {expected} expected")]
    WrongCount {
        /// Which attribute.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A triangle names a vertex that the mesh does not have.
    #[error("triangle {triangle} names vertex {vertex}, but the mesh has {vertices} vertices")]
    BadTriangle {
        /// Which triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: usize,
        /// How many the mesh has.
        vertices: usize,
    },
    /// A vertex position is NaN or infinite.
    #[error("vertex {vertex} of the body is not finite")]
    VertexNotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// A pose that a body is driven to is NaN or infinite somewhere, or has a rotation of length zero.
    #[error("{what} of the pose is not finite: the body and its hair stay where they were")]
    PoseNotFinite {
        /// Which bone or transform.
        what: String,
    },
    /// An error of one character of a crowd.
    #[error("character {index}: {error}")]
    Character {
        /// Which character.
        index: usize,
        /// Its error.
        error: Box<Error>,
    },
    /// The parameters belong to a model other than the one that runs.
    #[error(
        "parameters of model '{other}' for model '{this}': expected those of the model that runs; another one takes \
         another simulation"
    )]
    OtherModel {
        /// The model that runs.
        this: &'static str,
        /// The one that the parameters belong to.
        other: &'static str,
    },
    /// A pose of bones is given for a body that has none.
    #[error("the body has no bones: expected a rigid transform or vertices as its pose")]
    NoBones,
    /// The mesh has no triangle of non-zero area, so nothing can be bound to it.
    #[error("the body has no triangle that hair could grow on")]
    NoTriangles,
    /// The groom's roots are not bound to the body.
    #[error("the groom's roots are not bound to a body: call Groom::bind first")]
    Unbound,
    /// A hair mesh is invalid.
    #[error("{element} {problem}")]
    HairMesh {
        /// Which bundle, layer, column, level, root edge or seam.
        element: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A root polygon of a hair mesh has no layer.
    #[error(
        "{polygon} is a root polygon without a layer: {bare} of its {sides} sides have no quad over them, \
         the first between {first}"
    )]
    RootWithoutLayer {
        /// Which polygon.
        polygon: String,
        /// How many of its sides have no quad over them.
        bare: usize,
        /// How many sides it has.
        sides: usize,
        /// The two vertices of the first such side.
        first: String,
    },
    /// No model or contact has that name.
    #[error("unknown {kind} '{name}': expected one of {expected}")]
    UnknownName {
        /// Kind of thing: model, contact, ...
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        expected: String,
    },
    /// The model moves no particles of single hairs, which the contact acts on.
    #[error(
        "model '{model}' does not take contact '{contact}': expected a model whose hair has particles \
         of its own"
    )]
    NoContact {
        /// The model's name.
        model: &'static str,
        /// The contact's name.
        contact: &'static str,
    },
    /// The model moves no points of single strands that could be pinned.
    #[error("model '{model}' takes no pins{because}: expected one of {expected}")]
    NoPins {
        /// The model's name.
        model: &'static str,
        /// The reason, if its parameters are the reason.
        because: &'static str,
        /// The models that take pins.
        expected: String,
    },
    /// A point cannot be pinned.
    #[error("strand {strand}, point {point} cannot be pinned: {problem}")]
    Pin {
        /// Which strand.
        strand: usize,
        /// Which point of it, counted from the root.
        point: usize,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// A contact is listed twice.
    #[error("contact '{contact}' is listed twice: expected each contact once")]
    ContactTwice {
        /// The contact's name.
        contact: &'static str,
    },
    /// An explicit step is too long for the stiffest spring.
    #[error(
        "strand {strand}, point {point}: {substeps} substeps are too few for a spring as stiff and short \
         as this one: expected {needed} or more{}", uneven(*ratio, *limit)
    )]
    Unstable {
        /// The strand with the fastest vibration.
        strand: usize,
        /// Which point of it, counted from the root.
        point: usize,
        /// How many substeps a step has.
        substeps: u32,
        /// How many it must have at least.
        needed: u32,
        /// Longest over shortest segment of the strand.
        ratio: f32,
        /// Largest such ratio for which the substeps would suffice; below 1 if segments of equal length are too short as
        /// well.
        limit: f32,
    },
    /// The one-way pass of Follow-The-Leader has no style.
    #[error(
        "without a pass from tip to root (backward) Follow-The-Leader has no style: expected no style time and \
         no held shape"
    )]
    OneWayStyle,
    /// The one-way pass of Follow-The-Leader has no ramps.
    #[error(
        "without a pass from tip to root (backward) Follow-The-Leader has no \
         ramps: expected the same style time, damping and friction from root to tip"
    )]
    OneWayRamp,
    /// The segments of a strand are too uneven for a model.
    #[error(
        "strand {strand}: its longest segment is {ratio:.0} times its shortest, expected at most {limit} \
         times with model '{model}'"
    )]
    UnevenStrand {
        /// Which strand.
        strand: usize,
        /// Longest over shortest segment.
        ratio: f32,
        /// Largest ratio that the model takes.
        limit: f32,
        /// The model's name.
        model: &'static str,
    },
    /// A checkpoint does not belong to this simulation.
    #[error("the checkpoint does not fit this simulation: {0}")]
    BadCheckpoint(String),
    /// The operating system did not start the threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// Requested number; 0 is one per core.
        threads: usize,
        /// The system's error.
        reason: String,
    },
}

/// The hint to even out segment lengths, if that suffices.
fn uneven(ratio: f32, limit: f32) -> String {
    if limit < 1.0 {
        return String::new();
    }
    // Round down: what the message allows is allowed.
    let limit = (limit * 10.0).floor() / 10.0;
    format!(
        ", or a longest segment of at most {limit} times the shortest: in this strand it is {ratio:.1} times"
    )
}
