use crate::{Error, Result};

/// Parameters of the hair mesh model. Stiffness is per volume of hair, so that it does not depend on how
/// finely the mesh is cut.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Mass of hair per volume of the mesh (kg/m^3), air included.
    pub density: f32,
    /// Stress per stretch along the hair (Pa).
    pub along_modulus: f32,
    /// Stress per stretch across the hair (Pa): how bundles keep their width.
    pub across_modulus: f32,
    /// Stress per shear (Pa): how hard hairs slide along each other, and so how hard a bundle bends.
    pub shear_modulus: f32,
    /// Stress per change of volume (Pa); 0 leaves the volume force out.
    pub bulk_modulus: f32,
    /// Bending moment per curvature and cross-section (N): how hard hairs bend one by one.
    pub bending: f32,
    /// Internal friction as a time (s): stress from the rate of strain is this times the modulus.
    pub friction_time: f32,
    /// Rate (1/s) at which hair takes on the velocity of the air.
    pub damping: f32,
    /// Speed over the body (m/s) below which friction is that of something thick: hair at rest under load
    /// creeps. See [`Settings::default`] for what decides it.
    pub creep_speed: f32,
    /// Whether the groom is the shape that hair has under gravity (rather than without).
    pub hold_shape: bool,
    /// Whether the correction of positions at contacts is spread over the mesh (`wu2016` eq. 3).
    pub minimise: bool,
    /// Whether vertices that are inside the body after that are brought out as well.
    pub clear_inside: bool,
    /// Whether bundles that are not neighbours collide.
    pub self_collision: bool,
    /// Stress (Pa) that a seam bears before it opens.
    pub seam_strength: f32,
    /// How wide a seam gapes (m) when it opens.
    pub seam_gap: f32,
    /// Speed (m/s) below which a seam closes again, once its sides are nearer than half the gap.
    pub seam_speed: f32,
    /// Parts of a step, all alike.
    pub parts: u32,
    /// Error of velocities (m/s) that the solver may leave in a 60th of a second, as mean of a bundle or of bundles
    /// that share columns; less in shorter steps.
    pub tolerance: f32,
    /// Most iterations of the solver.
    pub most_iterations: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // 100,000 hairs of 30 cm weigh 200 g and fill four litres.
            density: 50.0,
            // Hair of half a metre gets longer by half a part in a thousand under its weight.
            along_modulus: 5e5,
            across_modulus: 400.0,
            shear_modulus: 60.0,
            bulk_modulus: 600.0,
            bending: 0.1,
            friction_time: 0.02,
            // As for single hairs (follow-the-leader, mass-spring): locks of a millimetre or two have that much drag
            // in still air, wide ones less.
            damping: 4.0,
            // A head is never quite still: it trembles about ten times a second, and each time contacts are
            // shaken loose that had taken hold. The hair over a contact yields by friction times pressure
            // over shear modulus, times its thickness, before the contact holds with all its force: 1 mm
            // for hair of 2 cm under its weight, 1 cm where it is drawn tight. So hair creeps by 1 to 10 cm
            // in a second. Recovery does not depend on it (`coif validate hair-mesh`: 5 to 60 cm).
            creep_speed: 0.1,
            hold_shape: true,
            minimise: true,
            clear_inside: true,
            self_collision: false,
            seam_strength: 20.0,
            seam_gap: 0.004,
            seam_speed: 0.1,
            parts: 1,
            tolerance: 1e-4,
            most_iterations: 60,
        }
    }
}

impl Settings {
    /// Names the first parameter that makes no sense.
    pub fn validate(&self) -> Result<()> {
        const POSITIVE: &str = "more than 0";
        const NOT_NEGATIVE: &str = "0 or more";
        let positive = [
            ("density (kg/m^3)", self.density),
            ("along_modulus (Pa)", self.along_modulus),
            ("across_modulus (Pa)", self.across_modulus),
            ("shear_modulus (Pa)", self.shear_modulus),
            ("seam_strength (Pa)", self.seam_strength),
            ("seam_gap (m)", self.seam_gap),
            ("creep_speed (m/s)", self.creep_speed),
            ("tolerance (m/s)", self.tolerance),
        ];
        let not_negative = [
            ("bulk_modulus (Pa)", self.bulk_modulus),
            ("bending (N)", self.bending),
            ("friction_time (s)", self.friction_time),
            ("damping (1/s)", self.damping),
            ("seam_speed (m/s)", self.seam_speed),
        ];
        let checks = positive
            .iter()
            .map(|&(name, value)| (name, value, value > 0.0, POSITIVE))
            .chain(not_negative.iter().map(|&(name, v)| (name, v, v >= 0.0, NOT_NEGATIVE)));
        for (name, value, fine, expected) in checks {
            if !(fine && value.is_finite()) {
                return Err(Error::OutOfRange { name: name.into(), value: value.into(), expected });
            }
        }
        for (name, value) in [("parts", self.parts), ("most_iterations", self.most_iterations)] {
            if value == 0 {
                let expected = "1 or more";
                return Err(Error::OutOfRange { name: name.into(), value: 0.0, expected });
            }
        }
        Ok(())
    }
}
