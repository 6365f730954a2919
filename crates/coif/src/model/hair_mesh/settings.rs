use super::NAME;
use crate::params::{Ramp, parameters};

parameters! {
    /// Parameters of the hair mesh model. Stiffness is per volume of hair, so that it does not depend on how finely the
    /// mesh is cut.
    pub struct Settings of NAME {
        /// Mass of hair per volume of the hair mesh, air included.
        // 100,000 hairs of 30 cm weigh 200 g and fill four litres.
        bulk_density: f32 = 50.0, "kg/m^3", 1e-3..=1e4;
        /// Stress per stretch along the hair.
        // Hair of half a metre gets longer by half a part in a thousand under its weight.
        along_modulus: f32 = 5e5, "Pa", 1.0..=1e9;
        /// Stress per stretch across the hair: how bundles keep their width.
        across_modulus: f32 = 400.0, "Pa", 1e-3..=1e9;
        /// Stress per shear: how hard hairs slide along each other, and so how hard a bundle bends.
        shear_modulus: f32 = 60.0, "Pa", 1e-3..=1e9;
        /// Stress per change of volume; 0 leaves the volume force out.
        bulk_modulus: f32 = 600.0, "Pa", 0.0..=1e9;
        /// Bending moment per curvature and cross-section: how hard hairs bend one by one.
        bending: f32 = 0.1, "N", 0.0..=1e6;
        /// Stiffness against shear, bending, stretch across the hair and change of volume, relative to the values above.
        stiffness: Ramp = 1.0.into(), "", 1e-3..=1000.0;
        /// Internal friction as a time: stress per rate of strain is this times the modulus.
        friction_time: f32 = 0.02, "s", 0.0..=10.0;
        /// Rate at which hair takes on the velocity of the air.
        // As for single hairs (follow-the-leader, mass-spring): locks of a millimetre or two have that much drag in still
        // air, wide ones less.
        damping: Ramp = 4.0.into(), "1/s", 0.0..=1000.0;
        /// Whether the groom is the shape at rest under gravity; if not, it sags.
        hold_shape: bool = true;
        /// Friction on the body, relative to what the body has.
        friction: Ramp = 1.0.into(), "", 0.0..=100.0;
        /// Threshold speed of the regularised Coulomb friction on the body: slower hair creeps under load.
        ///
        /// A head is never quite still: it trembles about ten times a second, and each time contacts are shaken loose
        /// that had taken hold. The hair over a contact yields by friction times pressure over shear modulus, times its
        /// thickness, before the contact holds with all its force: 1 mm for hair of 2 cm under its weight, 1 cm where it
        /// is drawn tight. So hair creeps by 1 to 10 cm in a second. Recovery does not depend on it
        /// (`coif validate hair-mesh`: 5 to 60 cm).
        creep_speed: f32 = 0.1, "m/s", 1e-3..=10.0;
        /// Fraction of the approach speed at which hair rebounds from the body. Of this and `body.field_restitution` the
        /// larger one counts.
        restitution: f32 = 0.0, "", 0.0..=1.0;
        /// Whether what contact does to outer vertices is spread over the mesh.
        ///
        /// `wu2016` eq. 3.
        minimise: bool = true;
        /// Whether vertices that are inside the body after that are brought out too.
        clear_inside: bool = true;
        /// Whether bundles that are not neighbours collide.
        self_collision: bool = false;
        /// Stress that a seam bears before it opens.
        seam_strength: f32 = 20.0, "Pa", 1e-3..=1e9;
        /// How wide a seam gapes when it opens; it closes again at half of that.
        seam_gap: f32 = 0.004, "m", 1e-5..=1.0;
        /// Speed of its sides below which an open seam closes.
        seam_speed: f32 = 0.1, "m/s", 0.0..=100.0;
        /// Substeps of a step, all alike: more follow a fast body better.
        substeps: u32 = 1, "", 1..=1000;
        /// Error of velocities that the solver may leave in a 60th of a second.
        ///
        /// As mean of a bundle or of bundles that share columns; less in shorter steps.
        tolerance: f32 = 1e-4, "m/s", 1e-7..=1.0;
        /// Residual at which the solver stops, relative to that at its start.
        ///
        /// With the default the remaining error depends on rounding, and thin bundles amplify it: runs that differ by rounding
        /// part by 2 to 5 % of the length within two seconds. With 0.0003 it is 0.4 %, and a step takes 1.5 times as long.
        relative_tolerance: f32 = 3.16e-3, "", 1e-6..=0.1;
        /// Most iterations of the solver.
        max_iterations: u32 = 60, "", 1..=10_000;
    }
}
