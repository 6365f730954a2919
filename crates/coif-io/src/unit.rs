//! Metres, y up: unit and axes of a file, and assumptions for files that do not declare them.
//!
//! Neither `.hair` nor `.obj` has a field for this. Coif writes the words `coif unit=m up=y` into
//! the free text of both and uses them when reading. Otherwise the roots of a head of hair decide
//! ([`HeadOfHair`]), or else the size, and a warning names the assumption.

use std::path::Path;

use coif::groom::Strands;
use glam::Vec3;

use crate::head_of_hair::{HEAD_DIAMETER_M, HeadOfHair, mean_hang};
use crate::{Error, Result};

/// The hint for an invalid scale.
pub(crate) const SCALE_HINT: &str =
    "the scale is in metres per unit, for instance 0.01 for centimetres";

/// The axis of a file that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Up {
    /// As in Coif.
    #[default]
    Y,
    /// Rotated on reading: (x, y, z) becomes (x, z, -y).
    Z,
}

/// Properties of a file that the user gives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReadOptions {
    /// Metres per unit of the file, 0.01 for centimetres. `None`: as the file declares, or else a
    /// guess from its size with a warning.
    pub scale_m: Option<f32>,
    /// The axis that points up. `None`: as the file declares, or else y.
    pub up: Option<Up>,
}

/// The declarations in the free text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Declared {
    /// Whether Coif wrote the file.
    pub(crate) by_coif: bool,
    pub(crate) scale_m: Option<f32>,
    pub(crate) up: Option<Up>,
    pub(crate) radius_m: Option<f32>,
    /// Whether colours are linear; those of other programs are sRGB.
    pub(crate) linear_color: Option<bool>,
}

/// The declaration that Coif writes into the free text of a file.
pub(crate) const DECLARATION: &str = "coif unit=m up=y";

/// Plausible range of the extent of a head of hair or an animal (m); outside of it another unit is assumed.
const PLAUSIBLE_M: std::ops::RangeInclusive<f32> = 0.05..=10.0;

/// Extent (m) above which a file that is read as metres gets a warning: larger than any animal's coat.
const LARGE_M: f32 = 3.0;

impl Declared {
    /// Reads `unit=cm`, `up=z` and the like; other words are ignored.
    pub(crate) fn parse(text: &str) -> Self {
        let mut declared = Self::default();
        for word in text.split_ascii_whitespace() {
            match word.split_once('=') {
                None => declared.by_coif |= word == "coif",
                Some(("unit", unit)) => declared.scale_m = declared.scale_m.or(metres_per(unit)),
                Some(("color", "linear")) => declared.linear_color = Some(true),
                Some(("color", "srgb")) => declared.linear_color = Some(false),
                Some(("up", "y" | "Y")) => declared.up = Some(Up::Y),
                Some(("up", "z" | "Z")) => declared.up = Some(Up::Z),
                Some(("radius", value)) => {
                    declared.radius_m =
                        value.parse().ok().filter(|r: &f32| r.is_finite() && *r > 0.0);
                }
                Some(_) => {}
            }
        }
        declared
    }
}

fn metres_per(unit: &str) -> Option<f32> {
    Some(match unit {
        "m" => 1.0,
        "dm" => 0.1,
        "cm" => 0.01,
        "mm" => 0.001,
        "in" | "inch" => 0.0254,
        "ft" => 0.3048,
        _ => return None,
    })
}

/// The conversion of the positions of a file to metres, y up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Conversion {
    pub(crate) scale_m: f32,
    pub(crate) up: Up,
}

impl Conversion {
    /// Decides: by the user's options first, then the file's declaration, then the size of its content.
    ///
    /// `positions` are in the file's unit and finite.
    pub(crate) fn decide(
        file: &Path,
        options: &ReadOptions,
        declared: &Declared,
        positions: &[Vec3],
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        check_scale(file, options)?;
        let scale_m = match options.scale_m.or(declared.scale_m) {
            Some(scale) => scale,
            None => guess_scale(file, extent_of_most(file, positions, warnings), warnings),
        };
        Ok(Self { scale_m, up: options.up.or(declared.up).unwrap_or_default() })
    }

    /// [`Self::decide`] for hair: what neither the user nor the file tells is guessed from the roots and the direction of
    /// the hair if they are those of a head.
    pub(crate) fn decide_for_hair(
        file: &Path,
        options: &ReadOptions,
        declared: &Declared,
        strands: &Strands,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        check_scale(file, options)?;
        let (scale_m, up) = (options.scale_m.or(declared.scale_m), options.up.or(declared.up));
        let head = if scale_m.is_some() && up.is_some() { None } else { HeadOfHair::of(strands) };
        let unit = head.filter(|_| scale_m.is_none()).map(|head| unit_of_head(head.diameter));
        let axis = head.filter(|_| up.is_none()).and_then(|head| head.up);
        let mut guessed = Vec::new();
        if let (Some(unit), Some(head)) = (unit.filter(|unit| *unit != 1.0), head) {
            guessed.push(format!(
                "names no unit; guessed {unit} m from its roots, which lie around a head {:.3} units wide ({:.3} m)",
                head.diameter,
                head.diameter * unit
            ));
        }
        if axis == Some(Up::Z) {
            let and = if guessed.is_empty() { "names no axis; guessed" } else { "and" };
            guessed.push(format!("{and} z up from the hair, which hangs along -z"));
        }
        if !guessed.is_empty() {
            warnings.push(format!(
                "{}: the file {}; to override, give scale and up (groom.scale, groom.up)",
                file.display(),
                guessed.join(", ")
            ));
        }
        let scale_m = match scale_m.or(unit) {
            Some(scale) => scale,
            None => {
                guess_scale(file, extent_of_most(file, strands.positions(), warnings), warnings)
            }
        };
        let hang = mean_hang(strands);
        if up.or(axis).is_none() && hang.z < -2.0 * hang.y.abs().max(hang.x.abs()) {
            warnings.push(format!(
                "{}: the hair hangs along -z, so the file may be z-up; it was read as y-up. Give up = z to turn it",
                file.display()
            ));
        }
        Ok(Self { scale_m, up: up.or(axis).unwrap_or_default() })
    }

    /// Converts positions in place; changes no bit if the file is in metres and y-up.
    pub(crate) fn apply(&self, positions: &mut [Vec3]) {
        if self.up == Up::Z {
            positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, p.z, -p.y));
        }
        if self.scale_m != 1.0 {
            positions.iter_mut().for_each(|p| *p *= self.scale_m);
        }
    }
}

/// Refuses a scale that is not a positive number.
fn check_scale(file: &Path, options: &ReadOptions) -> Result<()> {
    match options.scale_m {
        Some(scale) if !(scale.is_finite() && scale > 0.0) => {
            Err(Error::refused(file, format!("cannot be read with a scale of {scale}"))
                .with_hint(SCALE_HINT))
        }
        _ => Ok(()),
    }
}

/// Diameters (m) of the sphere through the roots for which a common unit is accepted.
const HEADS_M: std::ops::RangeInclusive<f32> = 0.12..=0.28;

/// Diameters (m) for which metres are accepted: a child's head, or the large one of a cartoon.
const HEADS_IN_METRES: std::ops::RangeInclusive<f32> = 0.09..=0.45;

/// Metres per unit of a file in which a head has this diameter: a common unit if one gives a plausible head, otherwise the
/// one that gives a usual head, to two digits.
fn unit_of_head(diameter: f32) -> f32 {
    if HEADS_IN_METRES.contains(&diameter) {
        return 1.0;
    }
    let common = [0.01, 0.001, 0.0254, 0.1];
    common.into_iter().find(|unit| HEADS_M.contains(&(diameter * unit))).unwrap_or_else(|| {
        let exact = f64::from(HEAD_DIAMETER_M / diameter);
        let digit = 10f64.powf(exact.log10().floor() - 1.0);
        ((exact / digit).round() * digit) as f32
    })
}

fn largest_extent(positions: &[Vec3]) -> f32 {
    let Some(&first) = positions.first() else { return 0.0 };
    let (lo, hi) = positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p)));
    (hi - lo).max_element()
}

/// A point is a stray if its distance from the middle is this many times the median distance.
const STRAY: f32 = 100.0;

/// The extent that decides the unit: that of all points, or, if no unit makes that plausible, that of all points but
/// strays. A single stray vertex must not decide the unit.
fn extent_of_most(file: &Path, positions: &[Vec3], warnings: &mut Vec<String>) -> f32 {
    let all = largest_extent(positions);
    if all * 0.001 <= *PLAUSIBLE_M.end() {
        return all;
    }
    let median = |mut values: Vec<f32>| {
        let middle = values.len() / 2;
        *values.select_nth_unstable_by(middle, f32::total_cmp).1
    };
    let along = |axis: usize| median(positions.iter().map(|p| p[axis]).collect());
    let centre = Vec3::new(along(0), along(1), along(2));
    let reach = STRAY * median(positions.iter().map(|p| p.distance(centre)).collect());
    let near: Vec<Vec3> =
        positions.iter().copied().filter(|p| p.distance(centre) <= reach).collect();
    if near.len() < positions.len() {
        warnings.push(format!(
            "{}: {} of {} points lie far away from the rest, {all:.0} units across, and do not count for the \
             unit; hint: remove them",
            file.display(),
            positions.len() - near.len(),
            positions.len()
        ));
    }
    largest_extent(&near)
}

fn guess_scale(file: &Path, extent: f32, warnings: &mut Vec<String>) -> f32 {
    const OVERRIDE: &str =
        "To override, give the scale in metres per unit, for instance 0.01 (cm) or 0.0254 (inch)";
    let file = file.display();
    if PLAUSIBLE_M.contains(&extent) {
        if extent > LARGE_M {
            warnings.push(format!(
                "{file}: the file names no unit and was read as metres, which makes it {extent:.2} m across. {OVERRIDE}"
            ));
        }
        return 1.0;
    }
    let (scale, unit) = if extent < *PLAUSIBLE_M.start() {
        (1.0, "metres")
    } else if PLAUSIBLE_M.contains(&(extent * 0.01)) {
        (0.01, "centimetres")
    } else {
        (0.001, "millimetres")
    };
    warnings.push(format!(
        "{file}: the file names no unit; at {extent:.4} units across it was read as {unit}, which makes it {:.4} m. {OVERRIDE}",
        extent * scale
    ));
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(extent: f32, options: ReadOptions, text: &str) -> (Conversion, Vec<String>) {
        let mut warnings = Vec::new();
        let conversion = Conversion::decide(
            Path::new("a.hair"),
            &options,
            &Declared::parse(text),
            &[Vec3::ZERO, Vec3::X * extent],
            &mut warnings,
        );
        (conversion.unwrap(), warnings)
    }

    #[test]
    fn plausible_sizes_are_metres_and_others_are_guessed_with_a_warning() {
        for (extent, scale, warned) in
            [(0.4, 1.0, 0), (5.0, 1.0, 1), (60.0, 0.01, 1), (4e3, 0.001, 1), (0.01, 1.0, 1)]
        {
            let (conversion, warnings) = decide(extent, ReadOptions::default(), "");
            assert_eq!((conversion.scale_m, warnings.len()), (scale, warned), "{extent}");
        }
    }

    #[test]
    fn a_stray_point_does_not_decide_the_unit() {
        let guess = |positions: &[Vec3]| {
            let mut warnings = Vec::new();
            let (options, declared) = (ReadOptions::default(), Declared::parse(""));
            let file = Path::new("a.obj");
            let decided = Conversion::decide(file, &options, &declared, positions, &mut warnings);
            (decided.unwrap().scale_m, warnings)
        };
        let body = |size: f32| [Vec3::ZERO, Vec3::X * size, Vec3::Y * size, Vec3::Z * -1e6];
        let (scale, warnings) = guess(&body(0.1));
        assert!(scale == 1.0 && warnings[0].contains("1 of 4 points"), "{scale} {warnings:?}");
        assert_eq!(guess(&body(20.0)).0, 0.01);
        // A body that is large as a whole has no strays.
        let large = [Vec3::ZERO, Vec3::X * 2e6, Vec3::Y * 1e6, Vec3::Z * -1e6];
        let (scale, warnings) = guess(&large);
        assert!(scale == 0.001 && warnings.len() == 1, "{scale} {warnings:?}");
    }

    #[test]
    fn options_override_the_file_and_the_file_overrides_the_guess() {
        let text = "made by hand unit=mm up=z";
        let (conversion, warnings) = decide(60.0, ReadOptions::default(), text);
        assert_eq!((conversion.scale_m, conversion.up), (0.001, Up::Z));
        assert!(warnings.is_empty());
        let options = ReadOptions { scale_m: Some(0.0254), up: Some(Up::Y) };
        let (conversion, warnings) = decide(60.0, options, text);
        assert_eq!((conversion.scale_m, conversion.up), (0.0254, Up::Y));
        assert!(warnings.is_empty());
    }

    #[test]
    fn z_up_is_rotated_without_mirroring() {
        let mut axes = [Vec3::X, Vec3::Y, Vec3::Z];
        Conversion { scale_m: 1.0, up: Up::Z }.apply(&mut axes);
        assert_eq!(axes[2], Vec3::Y);
        assert_eq!(axes[0].cross(axes[1]), axes[2]);
    }

    #[test]
    fn impossible_scales_are_refused() {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let options = ReadOptions { scale_m: Some(scale), up: None };
            let result = Conversion::decide(
                Path::new("a.hair"),
                &options,
                &Declared::default(),
                &[],
                &mut Vec::new(),
            );
            assert!(result.is_err(), "{scale}");
        }
    }

    #[test]
    fn the_roots_of_a_head_give_unit_and_axis_where_the_file_does_not() {
        use crate::head_of_hair::cap_of_hair;
        let guess = |strands: &Strands, options: ReadOptions, text: &str| {
            let mut warnings = Vec::new();
            let (file, declared) = (Path::new("a.hair"), Declared::parse(text));
            let decided =
                Conversion::decide_for_hair(file, &options, &declared, strands, &mut warnings);
            (decided.unwrap(), warnings)
        };
        // Common units are recognised; 3 mm is none of them, and comes back as the unit of a usual head.
        for (unit, found) in
            [(1.0, 1.0), (0.01, 0.01), (0.001, 0.001), (0.0254, 0.0254), (0.003, 0.0031)]
        {
            let strands = cap_of_hair(0.18 / unit, 400, 0.3 / unit);
            let (conversion, warnings) = guess(&strands, ReadOptions::default(), "");
            assert_eq!(conversion.scale_m, found);
            assert_eq!(warnings.len(), usize::from(unit != 1.0), "{warnings:?}");
            assert!(
                warnings
                    .iter()
                    .all(|w| w.contains(&found.to_string()) && w.contains("groom.scale"))
            );
        }
        let mut z_up = cap_of_hair(18.0, 400, 30.0);
        z_up.positions_mut().iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, p.y));
        let (conversion, warnings) = guess(&z_up, ReadOptions::default(), "");
        assert_eq!((conversion.scale_m, conversion.up), (0.01, Up::Z));
        assert!(warnings.len() == 1 && warnings[0].contains("z up"), "{warnings:?}");
        // The file and the user know better.
        let (conversion, warnings) = guess(&z_up, ReadOptions::default(), "unit=mm up=y");
        assert_eq!((conversion.scale_m, conversion.up, warnings.len()), (0.001, Up::Y, 0));
        let options = ReadOptions { scale_m: Some(0.02), up: None };
        let (conversion, _) = guess(&z_up, options, "");
        assert_eq!((conversion.scale_m, conversion.up), (0.02, Up::Z));
    }
}
