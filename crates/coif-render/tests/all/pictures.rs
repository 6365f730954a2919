//! Whole pictures: same bytes, no flicker, occlusion by the body, degenerate input.

#![allow(clippy::unwrap_used)]

use coif::groom::{Fibre, Groom, Strands};
use coif_render::studio::{self, Studio};
use coif_render::{
    Backdrop, Camera, Error, Frame, HairLook, HairView, Image, Light, Renderer, Settings,
    SurfaceView,
};
use coif_scene::file::{Background, Camera as CameraChoice, HairColor, HairPreset, RenderSettings};
use glam::{Vec3, Vec3Swizzles};

/// A number from 0 to 1. Not [`coif::math::Random`]: with other draws a block of twelve strands jumps by up to 0.07 in
/// the test of sparkles, more than its limit.
fn random(key: u32) -> f32 {
    let mut x = key.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    for _ in 0..3 {
        x ^= x >> 15;
        x = x.wrapping_mul(0x2c1b_3c6d);
        x ^= x >> 12;
    }
    (x >> 8) as f32 / 16_777_216.0
}

/// A hanging curtain of hair, 10 cm wide, 12 cm long.
fn curtain(count: u32) -> Strands {
    let mut strands = Strands::new();
    for s in 0..count {
        let root = Vec3::new(random(s * 8) - 0.5, 0.6, 0.2 * random(s * 8 + 1)) * 0.1;
        let lean = Vec3::new(random(s * 8 + 2) - 0.5, 0.0, random(s * 8 + 3) - 0.5) * 0.03;
        let phase = 6.3 * random(s * 8 + 4);
        let line: Vec<Vec3> = (0..14)
            .map(|i| {
                let u = i as f32 / 13.0;
                let wave = Vec3::new((phase + 9.0 * u).cos(), 0.0, (phase + 9.0 * u).sin());
                root + lean * u + wave * 0.002 * u - Vec3::Y * 0.12 * u
            })
            .collect();
        strands.push(&line);
    }
    strands
}

/// A square plate that faces +z.
fn plate(z: f32, half: f32) -> ([Vec3; 4], [Vec3; 4], [[u32; 3]; 2]) {
    let at = |x: f32, y: f32| Vec3::new(x * half, y * half, z);
    let positions = [at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
    (positions, [Vec3::Z; 4], [[0, 1, 2], [0, 2, 3]])
}

fn camera() -> Camera {
    Camera::look_at(Vec3::new(0.0, 0.0, 0.5), Vec3::ZERO)
}

fn draw(
    hair: &[HairView<'_>],
    surfaces: &[SurfaceView<'_>],
    settings: Settings,
    look: &HairLook,
) -> Image {
    let camera = camera();
    let lights = Light::three_point(&camera);
    let mut renderer = Renderer::new(settings).unwrap();
    renderer.render(&Frame { hair, surfaces, camera, lights: &lights, look }).unwrap()
}

#[test]
fn rendering_stops_when_the_flag_is_set() {
    let mut renderer = Renderer::new(Settings::sized(64, 64)).unwrap();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    renderer.stop_when(flag.clone());
    let camera = Camera::look_at(Vec3::Z, Vec3::ZERO);
    let look = HairLook::default();
    let frame = Frame { hair: &[], surfaces: &[], camera, lights: &[], look: &look };
    assert!(renderer.render(&frame).is_ok());
    flag.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(matches!(renderer.render(&frame), Err(coif_render::Error::Stopped)));
}

#[test]
fn order_threads_and_repetition_give_the_same_bytes() {
    let strands = curtain(1500);
    let radius = vec![5e-5; strands.point_count()];
    let count = strands.strand_count();
    let ids: Vec<u32> = (0..count as u32).collect();
    let shuffled: Vec<u32> = (0..count as u32).map(|s| s * 7 % count as u32).collect();
    let mut other = Strands::new();
    shuffled.iter().for_each(|&s| other.push(strands.strand(s as usize)));
    let (positions, normals, triangles) = plate(-0.005, 0.04);
    let surface = SurfaceView {
        positions: &positions,
        normals: &normals,
        triangles: &triangles,
        color: None,
    };
    let settings = Settings::sized(200, 150);
    let look = HairLook::default();
    let draw_in = |threads: usize, strands: &Strands, ids: &[u32]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let hair = HairView { seed_ids: Some(ids), ..HairView::new(strands, &radius) };
        pool.install(|| draw(&[hair], &[surface], settings, &look))
    };
    let one = draw_in(1, &strands, &ids);
    assert!(one == draw_in(1, &strands, &ids), "the same again");
    assert!(one == draw_in(2, &strands, &ids), "two threads");
    assert!(one == draw_in(3, &other, &shuffled), "another order of strands, three threads");

    // A renderer that drew another frame before draws the same.
    let hair = HairView::new(&strands, &radius);
    let (camera, look) = (camera(), HairLook::default());
    let lights = Light::three_point(&camera);
    let mut renderer = Renderer::new(settings).unwrap();
    let frame = Frame { hair: &[hair], surfaces: &[surface], camera, lights: &lights, look: &look };
    renderer.render(&Frame { surfaces: &[], lights: &lights[..1], ..frame }).unwrap();
    assert!(renderer.render(&frame).unwrap() == one, "memory of an earlier frame is visible");
}

/// Mean brightness of blocks of 16 x 16 pixels (0..255).
fn blocks(image: &Image) -> Vec<f32> {
    let (columns, rows) = (image.width / 16, image.height / 16);
    let mut sums = vec![0.0; columns * rows];
    for y in 0..rows * 16 {
        for x in 0..columns * 16 {
            let p = &image.rgb8[(y * image.width + x) * 3..][..3];
            let light: f32 = p.iter().map(|&c| (f32::from(c) / 255.0).powf(2.2)).sum();
            sums[y / 16 * columns + x / 16] += light * 85.0 / 256.0;
        }
    }
    sums
}

#[test]
fn hair_does_not_sparkle_when_it_moves_by_less_than_a_pixel() {
    let look = HairLook { color_variation: 0.3, ..HairLook::named("blond").unwrap() };
    let settings = Settings { backdrop: Backdrop::flat(Vec3::ZERO), ..Settings::sized(192, 192) };
    // One pixel at the distance of the hair.
    let pixel = 2.0 * 0.5 * (Camera::PORTRAIT_FOV * 0.5).tan() / 192.0;
    // A handful of strands: single fibres against black show every flaw.
    for (count, radius) in [(12, 4e-5), (600, 4e-5), (12, 4e-4)] {
        let strands = curtain(count);
        let radius = vec![radius; strands.point_count()];
        let mut rendered: Vec<Vec<f32>> = Vec::new();
        for step in 0..16 {
            let shift = Vec3::new(0.13, 0.09, 0.0) * (pixel * step as f32);
            let mut moved = strands.clone();
            moved.positions_mut().iter_mut().for_each(|p| *p += shift);
            // Lights without shadows: lighting does not change when everything moves.
            let (camera, hair) = (camera(), [HairView::new(&moved, &radius)]);
            let mut lights = Light::three_point(&camera);
            lights.iter_mut().for_each(|light| light.casts_shadow = false);
            let mut renderer = Renderer::new(settings).unwrap();
            let frame = Frame { hair: &hair, surfaces: &[], camera, lights: &lights, look: &look };
            rendered.push(blocks(&renderer.render(&frame).unwrap()));
        }
        let total = |image: &Vec<f32>| image.iter().sum::<f32>();
        let total_jump = rendered
            .windows(2)
            .map(|w| (total(&w[1]) / total(&w[0]) - 1.0).abs())
            .fold(0.0, f32::max);
        // Moving hair carries light from block to block at a steady rate; a change of that rate is a flicker.
        let brightest = rendered[0].iter().copied().fold(0.0, f32::max);
        let mut local_jump = 0.0f32;
        for w in rendered.windows(3) {
            for ((a, b), c) in w[0].iter().zip(&w[1]).zip(&w[2]) {
                local_jump = local_jump.max((a - 2.0 * b + c).abs() / (b + 0.25 * brightest));
            }
        }
        println!("{count} strands: total {total_jump:.4}, local {local_jump:.4}");
        assert!(total_jump < 0.012, "{count} strands: total brightness jumps by {total_jump}");
        assert!(local_jump < 0.04, "{count} strands: a block jumps by {local_jump}");
    }
}

#[test]
fn fewer_and_wider_strands_look_like_all_of_them() {
    let strands = curtain(40_000);
    let radius = vec![3e-5; strands.point_count()];
    // Strands of one tint: the test is about covered area, not about which tints were drawn.
    let (camera, look) = (camera(), HairLook { color_variation: 0.0, ..HairLook::default() });
    let lights = Light::three_point(&camera);
    let frame = Frame {
        hair: &[HairView::new(&strands, &radius)],
        surfaces: &[],
        camera,
        lights: &lights,
        look: &look,
    };
    let with_finest = |finest_width: f32| {
        let mut renderer =
            Renderer::new(Settings { finest_width, ..Settings::sized(96, 96) }).unwrap();
        let image = renderer.render(&frame).unwrap();
        (blocks(&image), renderer.stats().segments as f32)
    };
    let ((all, all_segments), (few, few_segments)) = (with_finest(0.0), with_finest(0.075));
    let worst = all.iter().zip(&few).map(|(a, b)| (a - b).abs() / a).fold(0.0, f32::max);
    println!("{few_segments} of {all_segments} segments, a block differs by {worst:.4}");
    assert!(few_segments < 0.5 * all_segments, "nothing was left out");
    assert!(worst < 0.03, "a block differs by {worst}");
}

#[test]
fn the_body_hides_hair_behind_it_and_not_in_front() {
    let strands = curtain(800);
    let radius = vec![6e-5; strands.point_count()];
    let hair = [HairView::new(&strands, &radius)];
    let settings = Settings::sized(96, 96);
    let look = HairLook::default();
    let with_plate = |z: f32, hair: &[HairView<'_>]| {
        let (positions, normals, triangles) = plate(z, 0.3);
        let surface = SurfaceView {
            positions: &positions,
            normals: &normals,
            triangles: &triangles,
            color: None,
        };
        draw(hair, &[surface], settings, &look)
    };
    let difference = |a: &Image, b: &Image| {
        a.rgb8.iter().zip(&b.rgb8).filter(|(a, b)| a.abs_diff(**b) > 8).count()
    };
    // With a light from the front, hair casts no shadow on a plate in front of it.
    let mut front_light = Light::three_point(&camera())[0];
    front_light.direction = Vec3::Z;
    let hidden = |z: f32| {
        let (positions, normals, triangles) = plate(z, 0.3);
        let surface = [SurfaceView {
            positions: &positions,
            normals: &normals,
            triangles: &triangles,
            color: None,
        }];
        let lights = [front_light];
        let mut renderer = Renderer::new(settings).unwrap();
        let frame = Frame {
            hair: &hair,
            surfaces: &surface,
            camera: camera(),
            lights: &lights,
            look: &look,
        };
        let with = renderer.render(&frame).unwrap();
        let without = renderer.render(&Frame { hair: &[], ..frame }).unwrap();
        difference(&with, &without)
    };
    assert_eq!(hidden(0.1), 0, "hair shows through a plate in front of it");
    assert!(hidden(-0.1) > 3000, "hair in front of a plate is missing");
    assert!(difference(&with_plate(-0.1, &hair), &with_plate(-0.1, &[])) > 3000);
}

/// The mean of the middle of a picture, sRGB in 0..1.
fn middle(image: &Image) -> Vec3 {
    let (w, h) = (image.width, image.height);
    let mut sum = Vec3::ZERO;
    for y in h * 3 / 8..h * 5 / 8 {
        for x in w * 3 / 8..w * 5 / 8 {
            let p = (y * w + x) * 3;
            sum += Vec3::from_array(std::array::from_fn(|k| f32::from(image.rgb8[p + k])));
        }
    }
    sum / (255.0 * (w / 4 * (h / 4)) as f32)
}

/// CIE L*, a*, b* (white point D65) of an sRGB colour.
fn lab(srgb: Vec3) -> Vec3 {
    let linear = |c: f32| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let c = Vec3::new(linear(srgb.x), linear(srgb.y), linear(srgb.z));
    let f = |t: f32| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let x = f(c.dot(Vec3::new(0.4124, 0.3576, 0.1805)) / 0.9505);
    let y = f(c.dot(Vec3::new(0.2126, 0.7152, 0.0722)));
    let z = f(c.dot(Vec3::new(0.0193, 0.1192, 0.9505)) / 1.0888);
    Vec3::new(116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z))
}

/// A thick lock with the colour of a file, in the light of the studio, looks like the colour in the file. White
/// highlights make black hair lighter, hence the limit of 16, a third of the difference between black and blond hair; hue
/// and the order of lightness are kept.
#[test]
fn a_lock_has_the_colour_of_its_groom() {
    let mut shades = Vec::new();
    let strands = curtain(4000);
    let mut groom = Groom::new(strands, Fibre::default());
    let srgb = |r: u8, g: u8, b: u8| Vec3::new(r.into(), g.into(), b.into()) / 255.0;
    for (name, color) in [
        ("black", srgb(30, 25, 23)),
        ("dark brown", srgb(70, 45, 30)),
        ("brown", srgb(128, 89, 51)),
        ("blond", srgb(190, 150, 100)),
        ("red", srgb(150, 60, 30)),
        ("green", srgb(40, 110, 40)),
    ] {
        let linear =
            |c: f32| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let albedo = Vec3::new(linear(color.x), linear(color.y), linear(color.z));
        groom.color = Some(vec![albedo; groom.strands.point_count()]);
        let render = RenderSettings {
            width: 96,
            height: 96,
            camera: CameraChoice::Position(Vec3::new(0.0, 0.0, 0.3)),
            camera_target: Some(Vec3::ZERO),
            ..RenderSettings::default()
        };
        let renderer = studio::renderer(&render).unwrap();
        let mut studio = Studio::of_groom(renderer, &render, &groom, None);
        let image = studio.shoot(&groom, &groom.strands, 0.0, 0.0).unwrap();
        let (shown, file) = (lab(middle(&image)), lab(color));
        let difference = (shown - file).length();
        println!("{name}: {shown:?} shown, {file:?} in the file: CIE76 {difference:.1}");
        assert!(difference < 16.0, "{name}: {shown:?} shown, {file:?} in the file");
        assert!(name != "brown" || difference < 10.0, "{difference}");
        // Hue within 25 degrees where there is one.
        let (shown_ab, file_ab) = (shown.yz(), file.yz());
        let angle = shown_ab.angle_to(file_ab).to_degrees().abs();
        assert!(file_ab.length() < 15.0 || angle < 25.0, "{name}: hue off by {angle} degrees");
        shades.push((file.x, shown.x));
    }
    shades.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(shades.windows(2).all(|w| w[0].0 + 5.0 > w[1].0 || w[0].1 < w[1].1), "{shades:?}");
}

/// The colour of the scene replaces that of the groom, and hair gets wider on request.
#[test]
fn a_colour_of_the_scene_replaces_that_of_the_groom() {
    let strands = curtain(150);
    let mut groom = Groom::new(strands, Fibre::default());
    groom.color = Some(vec![Vec3::new(0.01, 0.4, 0.01); groom.strands.point_count()]);
    let sum_of = |hair: HairColor, hair_width: f32| -> Vec3 {
        let render = RenderSettings {
            width: 64,
            height: 64,
            background: Background::Color(Vec3::ZERO),
            hair,
            hair_width,
            ..RenderSettings::default()
        };
        let renderer = studio::renderer(&render).unwrap();
        let mut studio = Studio::of_groom(renderer, &render, &groom, None);
        let image = studio.shoot(&groom, &groom.strands, 0.0, 0.0).unwrap();
        let pixels = image.rgb8.chunks_exact(3);
        pixels.map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into())).sum()
    };
    let own = sum_of(HairColor::default(), 1.0);
    assert!(own.y > 1.5 * own.x, "green: {own}");
    for hair in [HairColor::Preset(HairPreset::Red), HairColor::Linear(Vec3::new(0.2, 0.02, 0.02))]
    {
        let red = sum_of(hair, 1.0);
        assert!(red.x > 1.2 * red.y, "{hair:?}: {red}");
    }
    let wide = sum_of(HairColor::default(), 4.0);
    assert!(wide.y > 1.5 * own.y, "{wide} {own}");
}

#[test]
fn light_comes_out_finite_and_in_range_for_every_look() {
    let strands = curtain(400);
    let radius = vec![5e-5; strands.point_count()];
    for name in HairLook::names() {
        let look = HairLook::named(name).unwrap();
        let settings = Settings { backdrop: Backdrop::flat(Vec3::ZERO), ..Settings::sized(64, 64) };
        let image = draw(&[HairView::new(&strands, &radius)], &[], settings, &look);
        let brightest = image.rgb8.iter().max().unwrap();
        assert!(*brightest > 20, "{name}: nothing is visible");
        let clipped = image.rgb8.iter().filter(|&&c| c >= 254).count();
        assert!(clipped * 50 < image.rgb8.len(), "{name}: {clipped} values are clipped");
    }
    // White furnace: a white hair in uniform light must not reflect more than it receives.
    let white = HairLook { color_variation: 0.0, ..HairLook::of_colors(Vec3::ONE, Vec3::ONE) };
    let lights: Vec<Light> = (0..64)
        .map(|i| {
            let y = 1.0 - (i as f32 + 0.5) / 32.0;
            let (r, a) = ((1.0 - y * y).sqrt(), i as f32 * 2.4);
            let direction = Vec3::new(r * a.cos(), y, r * a.sin());
            Light {
                direction,
                color: Vec3::splat(0.7 * std::f32::consts::PI / 64.0),
                casts_shadow: false,
            }
        })
        .collect();
    let settings = Settings { backdrop: Backdrop::flat(Vec3::ZERO), ..Settings::sized(64, 64) };
    let thick = vec![1e-3; strands.point_count()];
    let frame = Frame {
        hair: &[HairView::new(&strands, &thick)],
        surfaces: &[],
        camera: camera(),
        lights: &lights,
        look: &HairLook { ambient: 0.0, ..white },
    };
    let image = Renderer::new(settings).unwrap().render(&frame).unwrap();
    let brightest = *image.rgb8.iter().max().unwrap();
    println!("white furnace: brightest level {brightest}");
    assert!(brightest < 255 && brightest > 60, "{brightest}");
}

#[test]
fn degenerate_input_is_drawn_or_refused() {
    let mut strands = Strands::new();
    let far = 1e20;
    strands.push(&[]);
    strands.push(&[Vec3::ZERO]);
    strands.push(&[Vec3::ZERO, Vec3::ZERO, Vec3::ZERO]);
    strands.push(&[Vec3::ZERO, Vec3::NAN, Vec3::Y * 0.1, Vec3::Y * 0.2]);
    strands.push(&[Vec3::splat(-far), Vec3::splat(far)]);
    strands.push(&[Vec3::new(0.0, 0.0, -0.2), Vec3::new(0.01, 0.0, 2.0)]);
    strands.push(&[Vec3::new(0.0, 0.0, 0.5), Vec3::new(0.0, 0.01, 0.499)]);
    strands.push(&[Vec3::new(-0.05, 0.0, 0.0), Vec3::new(0.05, 0.01, 0.0)]);
    let mut radius = vec![1e-4; strands.point_count()];
    (radius[1], radius[2]) = (f32::NAN, f32::INFINITY);
    radius[7] = -1.0;
    let settings = Settings::sized(50, 70);
    let look = HairLook::default();
    draw(&[HairView::new(&strands, &radius)], &[], settings, &look);

    let positions = [Vec3::NAN, Vec3::X, Vec3::Y, Vec3::splat(far), Vec3::ZERO];
    let normals = [Vec3::ZERO; 5];
    let triangles = [[0, 1, 2], [1, 2, 3], [1, 1, 1], [1, 2, 4]];
    let surface = SurfaceView {
        positions: &positions,
        normals: &normals,
        triangles: &triangles,
        color: None,
    };
    draw(&[HairView::new(&strands, &radius)], &[surface], settings, &look);
    draw(&[], &[], Settings::sized(1, 1), &look);

    let lights = Light::three_point(&camera());
    let mut renderer = Renderer::new(settings).unwrap();
    let frame = Frame {
        hair: &[HairView::new(&strands, &radius[1..])],
        surfaces: &[],
        camera: camera(),
        lights: &lights,
        look: &look,
    };
    assert!(matches!(renderer.render(&frame), Err(Error::SliceLength { .. })));
    let wrong = SurfaceView { triangles: &[[0, 1, 9]], ..surface };
    let frame = Frame { hair: &[], surfaces: &[wrong], ..frame };
    assert!(matches!(renderer.render(&frame), Err(Error::VertexIndex { vertex: 9, .. })));
    assert!(matches!(Renderer::new(Settings::sized(0, 5)), Err(Error::Size { .. })));
    assert!(matches!(Renderer::new(Settings::sized(5, 1 << 20)), Err(Error::Size { .. })));
}
