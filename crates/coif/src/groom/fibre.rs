use crate::params::parameters;

parameters! {
    /// The material of one fibre, in SI units. The default is human hair.
    ///
    /// Figures: density, moduli and radius as in Robbins, *Chemical and Physical Behavior of Human Hair* (the source that
    /// `selle2008` and `cani2006` use as well).
    #[derive(Copy)]
    pub struct Fibre of "fibre" {
        /// Radius; human hair has 25 to 50 micrometres.
        radius: f32 = 40e-6, "m", 1e-6..=1e-3;
        /// Mass per volume.
        density: f32 = 1320.0, "kg/m^3", 1.0..=20_000.0;
        /// Young's modulus: resists stretching and bending.
        young_modulus: f32 = 4.0e9, "Pa", 1e3..=1e12;
        /// Shear modulus: resists twisting.
        shear_modulus: f32 = 1.0e9, "Pa", 1e3..=1e12;
        /// Internal friction as a time: stress per rate of strain is this times the modulus.
        damping: f32 = 1e-3, "s", 0.0..=1.0;
        /// Coulomb friction against the skin of built-in bodies; colliders and distance fields have their own.
        friction: f32 = 0.3, "", 0.0..=10.0;
    }
}

impl Fibre {
    /// Mass per length (kg/m) of a round fibre of the given radius (m).
    pub fn mass_per_length(&self, radius: f32) -> f32 {
        self.density * std::f32::consts::PI * radius * radius
    }
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
    fn errors_name_the_invalid_parameter() {
        let fibre = Fibre { density: f32::NAN, ..Fibre::default() };
        let message = fibre.validate().unwrap_err().to_string();
        assert!(message.contains("density"), "{message}");
    }
}
