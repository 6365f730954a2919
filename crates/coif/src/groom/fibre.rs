use crate::{Error, Result};

/// The material of one fibre, in SI units. The default is human hair.
///
/// Figures: density, moduli and radius as in Robbins, *Chemical and Physical Behavior of Human
/// Hair* (the source that `selle2008` and `cani2006` use as well).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fibre {
    /// Radius (m). Human hair: 25 to 50 micrometres.
    pub radius: f32,
    /// Mass per volume (kg/m^3).
    pub density: f32,
    /// Young's modulus (Pa): resists stretching and bending.
    pub young_modulus: f32,
    /// Shear modulus (Pa): resists twisting.
    pub shear_modulus: f32,
    /// Internal friction as a time (s): stress from strain rate is `damping * young_modulus`.
    pub damping: f32,
    /// Coulomb friction against skin (no unit).
    pub friction: f32,
}

impl Default for Fibre {
    fn default() -> Self {
        Self {
            radius: 40e-6,
            density: 1320.0,
            young_modulus: 4.0e9,
            shear_modulus: 1.0e9,
            damping: 1e-3,
            friction: 0.3,
        }
    }
}

impl Fibre {
    /// Mass per length (kg/m) of a round fibre of the given radius (m).
    pub fn mass_per_length(&self, radius: f32) -> f32 {
        self.density * std::f32::consts::PI * radius * radius
    }

    /// Names the first value that no material can have.
    pub fn validate(&self) -> Result<()> {
        let positive = [
            ("fibre radius (m)", self.radius),
            ("fibre density (kg/m^3)", self.density),
            ("fibre young_modulus (Pa)", self.young_modulus),
            ("fibre shear_modulus (Pa)", self.shear_modulus),
        ];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(out_of_range(name, value, "a positive number"));
            }
        }
        for (name, value) in
            [("fibre damping (s)", self.damping), ("fibre friction", self.friction)]
        {
            if !(value.is_finite() && value >= 0.0) {
                return Err(out_of_range(name, value, "zero or more"));
            }
        }
        Ok(())
    }
}

fn out_of_range(name: &str, value: f32, expected: &'static str) -> Error {
    Error::OutOfRange { name: name.into(), value: value.into(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn human_hair_weighs_about_66_micrograms_per_centimetre() {
        let fibre = Fibre::default();
        let mass = fibre.mass_per_length(fibre.radius) * 0.01;
        assert!((mass - 66e-9).abs() < 1e-9, "{mass}");
    }

    #[test]
    fn impossible_material_is_named() {
        let fibre = Fibre { density: f32::NAN, ..Fibre::default() };
        let message = fibre.validate().unwrap_err().to_string();
        assert!(message.contains("density"), "{message}");
    }
}
