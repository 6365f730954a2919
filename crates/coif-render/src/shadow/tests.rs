//! Properties of both maps of hair.

use coif::groom::Strands;
use glam::Vec3;

use super::{HairMap, LightAxes, SplatMemory};
use crate::hair::order_strands;
use crate::hash::hash;
use crate::{HairShadows, HairView, Settings};

const KINDS: [HairShadows; 2] = [HairShadows::DeepShadow, HairShadows::DeepOpacity];

/// Random fibres of a length (m) perpendicular to the light, in a slab whose upper side is at the height that `top`
/// gives.
fn slab(count: usize, thick: f32, length: f32, top: impl Fn(f32) -> f32) -> Strands {
    let unit = |i: usize, k: u32| hash(i as u32 * 8 + k) as f32 / u32::MAX as f32;
    let mut strands = Strands::new();
    for i in 0..count {
        let (x, z) = (unit(i, 0), unit(i, 2));
        let centre = Vec3::new(x, top(x) - thick * unit(i, 1), z);
        let angle = std::f32::consts::TAU * unit(i, 3);
        let half = Vec3::new(angle.cos(), 0.0, angle.sin()) * (0.5 * length);
        strands.push(&[centre - half, centre + half]);
    }
    strands
}

fn build(kind: HairShadows, view: HairView<'_>, toward: Vec3, settings: &Settings) -> HairMap {
    let mut order = Vec::new();
    order_strands(&[view], &mut order);
    let (axes, memory) = (LightAxes::new(toward), &mut SplatMemory::default());
    HairMap::of_kind(kind, None).rebuild(axes, &[view], &order, settings, memory).unwrap()
}

/// The mean transmittance at some depths below the upper side is that of a homogeneous medium.
fn check_beer_lambert(
    kind: HairShadows,
    (count, radius, length): (usize, f32, f32),
    settings: &Settings,
    top: impl Fn(f32) -> f32,
    tolerance: f64,
) {
    let thick = 0.25;
    let strands = slab(count, thick, length, &top);
    let widths = vec![radius; strands.point_count()];
    let map = build(kind, HairView::new(&strands, &widths), Vec3::Y, settings);
    // Extinction: area of fibre per volume.
    let sigma = count as f32 * 2.0 * radius * length / thick;
    for depth in [0.05f32, 0.1, 0.15, 0.2] {
        let (mut sum, mut places) = (0.0f64, 0.0);
        for (i, j) in (0..120 * 120).map(|k| (k / 120, k % 120)) {
            let at = |k: usize| 0.2 + 0.6 * k as f32 / 119.0;
            let p = Vec3::new(at(i), top(at(i)) - depth, at(j));
            sum += f64::from(map.optical_depth(p, 0.0));
            places += 1.0;
        }
        let (found, truth) = ((-sum / places).exp(), f64::from((-sigma * depth).exp()));
        println!("{kind:?}, depth {depth}: transmittance {found:.4}, analytic {truth:.4}");
        assert!((found.ln() / truth.ln() - 1.0).abs() < tolerance, "{found} {truth}");
    }
}

#[test]
fn a_uniform_slab_obeys_beer_lambert() {
    let fibres = (200_000, 4e-4, 0.04);
    check_beer_lambert(KINDS[0], fibres, &Settings::default(), |_| 0.25, 0.025);
}

/// Flat or slanted: the layers of an opacity map follow the surface, so the fall-off is that of the slab.
#[test]
fn a_slab_of_any_shape_obeys_beer_lambert() {
    let settings = Settings { shadow_resolution: 96, ..Settings::default() };
    for slope in [0.0, 0.8] {
        let fibres = (400_000, 1e-3, 0.008);
        check_beer_lambert(KINDS[1], fibres, &settings, |x| slope * x, 0.04);
    }
}

#[test]
fn nothing_shadows_before_the_hair_and_outside() {
    for kind in KINDS {
        let strands = slab(20_000, 0.1, 0.04, |_| 0.1);
        let widths = vec![1e-3; strands.point_count()];
        let view = HairView::new(&strands, &widths);
        let map = build(kind, view, Vec3::Y, &Settings::default());
        assert_eq!(map.optical_depth(Vec3::new(0.5, 0.3, 0.5), 0.0), 0.0);
        assert_eq!(map.optical_depth(Vec3::new(5.0, -1.0, 0.5), 0.0), 0.0);
        assert_eq!(map.optical_depth(Vec3::NAN, 0.0), 0.0);
        assert!(map.optical_depth(Vec3::new(0.5, -3.0, 0.5), 0.0) > 0.01);
    }
}

#[test]
fn order_and_workers_do_not_change_a_bit() {
    for kind in KINDS {
        let strands = slab(3000, 0.1, 0.04, |x| x);
        let ids: Vec<u32> = (0..3000).collect();
        let mut reversed = Strands::new();
        for s in (0..3000).rev() {
            reversed.push(strands.strand(s));
        }
        let back: Vec<u32> = (0..3000).rev().collect();
        let widths = vec![1e-3; strands.point_count()];
        let toward = Vec3::new(0.6, 0.8, 0.0);
        let in_pool = |strands: &Strands, ids: &[u32], threads: usize| {
            let view = HairView { seed_ids: Some(ids), ..HairView::new(strands, &widths) };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| build(kind, view, toward, &Settings::default()))
        };
        let one = in_pool(&strands, &ids, 1);
        let behind = strands.positions().iter().map(|&p| p - toward * 0.2);
        assert!(behind.filter(|&p| one.optical_depth(p, 0.0) > 0.0).count() > 1000);
        assert!(one == in_pool(&strands, &ids, 3));
        assert!(one == in_pool(&reversed, &back, 2));
    }
}
