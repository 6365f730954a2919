//! The choices among the parameters: which ends follow the body, and what the scale of eq. 9 belongs to.

use crate::params::choice;

/// Which ends of a strand follow the body (`muller2012` figure 2). Without a pass from tip to root
/// ([`Settings::backward`](super::Settings::backward)) the passes from both ends are averaged, as in the paper, and lengths between two ends are kept
/// approximately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// The root.
    #[default]
    Root,
    /// Root and tip, each carried by the scalp under the root. In averages both passes count more near the end
    /// where they start (figure 2 e).
    Both,
    /// As `Both`; in averages with the plain average of the two passes (figure 2 d).
    BothEvenly,
    /// None: the strand is cut off; it flies, falls and keeps its groomed shape, but not its place (figure 2 c).
    Free,
}

impl Ends {
    /// All choices by name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("root", Self::Root),
        ("both", Self::Both),
        ("both-evenly", Self::BothEvenly),
        ("free", Self::Free),
    ];
}

choice!(Ends, "choice of ends");

/// What the scale of the velocity correction (eq. 9) belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CorrectionForm {
    /// The whole strand, whatever its number of points.
    #[default]
    Strand,
    /// Each segment (eq. 9).
    Segment,
}

impl CorrectionForm {
    /// All choices by name.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("strand", Self::Strand), ("segment", Self::Segment)];

    /// The power of the scale for a strand of so many segments.
    pub(super) fn of_strand(self, segments: usize) -> f32 {
        if self == Self::Segment { segments as f32 } else { 1.0 }
    }
}

choice!(CorrectionForm, "form of the correction");
