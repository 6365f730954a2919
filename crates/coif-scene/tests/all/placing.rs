//! Grooms from files on bodies from files: fitted, snapped, thinned, on named parts, on a head that turns.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;

use coif::body::TriangleMesh;
use coif_scene::bust::Bust;
use coif_scene::figure::{self, Figure};
use coif_scene::{BuildError, Built, Scene, build};
use glam::{Quat, Vec3};

/// Writes the bust as an actor: groups "scalp" and "skin" of the material "body", and a box around its head as
/// "helper-hat" of the material "cloth".
fn write_actor(folder: &Path) -> TriangleMesh {
    let mesh = figure::mesh(&Bust, 0.008);
    let mut text = String::from("# coif unit=m up=y\n");
    for p in &mesh.positions {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    for i in 0..8 {
        let at = |bit: i32| if i >> bit & 1 == 1 { 0.2 } else { -0.2 };
        writeln!(text, "v {} {} {}", at(0), at(1), at(2)).unwrap();
    }
    let is_scalp = |t: usize| mesh.corners(t).iter().all(|&p| Bust.hair_density(p) > 0.5);
    text += "usemtl body\n";
    for (name, wanted) in [("scalp", true), ("skin", false)] {
        writeln!(text, "g {name}").unwrap();
        for t in (0..mesh.triangles.len()).filter(|&t| is_scalp(t) == wanted) {
            let [a, b, c] = mesh.triangles[t].map(|v| v + 1);
            writeln!(text, "f {a} {b} {c}").unwrap();
        }
    }
    let first = mesh.positions.len() + 1;
    text += "g helper-hat\nusemtl cloth\n";
    for quad in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    {
        let [a, b, c, d] = quad.map(|v| v + first);
        writeln!(text, "f {a} {b} {c} {d}").unwrap();
    }
    std::fs::write(folder.join("actor.obj"), text).unwrap();
    mesh
}

fn built(text: &str, folder: &Path) -> Result<Built, BuildError> {
    build(&Scene::from_toml(text, "test.toml", &[]).unwrap(), folder)
}

/// A groom of the style "short" on the bust, moved by a function, as groom.hair.
fn write_groom(folder: &Path, strands: u32, to: impl Fn(Vec3) -> Vec3) -> coif::groom::Groom {
    let text = format!("[groom]\nstyle = 'short'\nstrands = {strands}\n[body]\nresolution = 0.008");
    let mut groom = (*built(&text, folder).unwrap().groom).clone();
    let original = groom.clone();
    groom.strands.positions_mut().iter_mut().for_each(|p| *p = to(*p));
    coif_io::write_groom(folder.join("groom.hair"), &groom).unwrap();
    original
}

fn warning<'a>(built: &'a Built, word: &str) -> &'a str {
    let found = built.warnings.iter().find(|w| w.contains(word));
    found.unwrap_or_else(|| panic!("no '{word}' in {:?}", built.warnings))
}

/// Some roots of the style are beside the triangles of the group, by a hairline of less than a centimetre, so the fit is
/// not exact.
#[test]
fn a_groom_elsewhere_comes_onto_the_scalp_and_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    write_actor(folder.path());
    let turn = Quat::from_rotation_y(0.4) * Quat::from_rotation_x(-0.2);
    let away = |p: Vec3| turn * p * 1.7 + Vec3::new(0.4, 1.1, -0.3);
    let original = write_groom(folder.path(), 2000, away);
    for scalp in ["scalp = 'scalp'", "show = '!helper*'"] {
        let text = format!(
            "[groom]\nfile = 'groom.hair'\nfit = 'body'\nsnap = 0\n[body]\nfile = 'actor.obj'\n{scalp}\n\
             collide = 'distance-field'\ncollide_with = '!helper*'"
        );
        let built = built(&text, folder.path()).unwrap();
        let fit = built.placement.fit.unwrap();
        println!("{}", warning(&built, "fitted"));
        assert!(fit.mean < 5e-4, "{fit:?}");
        assert!((fit.body_from_groom.scale * 1.7 - 1.0).abs() < 0.02, "{fit:?}");
        for (s, strand) in built.groom.strands.iter().enumerate() {
            let there = original.strands.strand(s)[0];
            assert!(strand[0].distance(there) < 5e-3, "{} {there}", strand[0]);
            let length = built.groom.strands.length(s) / original.strands.length(s);
            assert!((length - 1.7 * fit.body_from_groom.scale as f32).abs() < 1e-3, "{length}");
        }
        built.simulation().unwrap().step();
        // Without a fit all roots are far away, and the warning names the key.
        let text = text.replace("fit = 'body'\nsnap = 0", "snap = 0.002");
        let far = self::built(&text, folder.path()).unwrap();
        let text = warning(&far, "roots are more than 10 mm");
        assert!(text.contains("2000 of 2000") && text.contains("groom.fit=body"), "{text}");
    }
}

#[test]
fn roots_near_the_body_are_moved_onto_it_and_translate_comes_after_rotate() {
    let folder = tempfile::tempdir().unwrap();
    write_actor(folder.path());
    write_groom(folder.path(), 300, |p| p + Vec3::Y * 0.004);
    let text = "[groom]\nfile = 'groom.hair'\n[body]\nfile = 'actor.obj'\nshow = 'body'";
    let snapped = built(text, folder.path()).unwrap();
    assert!(snapped.placement.snapped.count >= 299, "{:?}", snapped.placement);
    assert!(snapped.placement.snapped.farthest <= 0.0041, "{:?}", snapped.placement);
    assert!(warning(&snapped, "moved onto the body").contains("mm"));
    assert!(snapped.groom.roots.iter().all(|root| root.offset == Vec3::ZERO));
    // Moved back by the same distance there is nothing left but rounding.
    let text =
        text.replace("file = 'groom.hair'", "file = 'groom.hair'\ntranslate = [0, -0.004, 0]");
    let back = built(&text, folder.path()).unwrap();
    assert!(back.placement.snapped.farthest < 1e-4, "{:?}", back.placement);
    // Turned by half a circle, the forelock is at the back.
    let text = text.replace("translate = [0, -0.004, 0]", "rotate = [0, 180, 0]\nsnap = 0");
    let turned = built(&text, folder.path()).unwrap();
    let front = |built: &Built| built.groom.strands.strand(0)[0].z;
    let (lo, hi) = back
        .groom
        .strands
        .iter()
        .map(|s| s[0].z)
        .fold((1.0f32, -1.0f32), |(lo, hi), z| (lo.min(z), hi.max(z)));
    assert!((front(&turned) + front(&back) - (lo + hi)).abs() < 1e-3);
}

#[test]
fn parts_are_chosen_by_group_and_material_and_a_wrong_name_lists_them() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = write_actor(folder.path());
    let with = |keys: &str| {
        let groom = "[groom]\nstyle = 'short'\nstrands = 50\n";
        built(&format!("{groom}[body]\nfile = 'actor.obj'\n{keys}"), folder.path())
    };
    let all = mesh.triangles.len();
    let built =
        with("scalp = 'scalp'\nshow = ['!cloth']\ncollide_with = ['scalp', 'skin']").unwrap();
    assert_eq!(built.shown_triangles().len(), all);
    assert_eq!(built.body.solid().len(), all);
    assert_eq!(built.body.rest().triangles.len(), all + 12);
    // The hat is not in the picture, so it does not count for the camera.
    assert!(built.film_bounds().1.y < 0.19, "{:?}", built.film_bounds());
    let whole = with("scalp = 'scalp'").unwrap();
    assert_eq!((whole.shown_triangles().len(), whole.body.solid().len()), (all + 12, all + 12));
    assert!(whole.film_bounds().1.y >= 0.19);
    for (keys, key) in [
        ("scalp = 'scalb'", "body.scalp"),
        ("scalp = 'scalp'\nshow = ['scalp', '!scalb']", "body.show"),
        ("scalp = 'scalp'\ncollide_with = 'hat*'", "body.collide_with"),
        ("scalp = 'scalp'\nneck = 'nec'", "body.neck"),
    ] {
        let error = with(keys).err().unwrap();
        assert!(error.to_string().contains(key), "{error}");
        let hint = error.hint().unwrap();
        for name in ["scalp", "skin", "helper-hat", "body", "cloth"] {
            assert!(hint.contains(name), "{hint}");
        }
        assert_eq!(hint.contains("did you mean 'scalp'"), keys.contains("scalb"), "{hint}");
    }
    let error = with("scalp = ['scalp', '!body']").err().unwrap();
    assert!(error.to_string().contains("body.scalp") && error.hint().is_some(), "{error}");
}

/// The head of the actor shakes on shoulders that stand still.
#[test]
fn the_head_turns_on_the_neck_that_is_found_or_given() {
    let folder = tempfile::tempdir().unwrap();
    write_actor(folder.path());
    let moved = |keys: &str| {
        let text = format!(
            "[groom]\nstyle = 'short'\nstrands = 50\n\
             [body]\nfile = 'actor.obj'\nscalp = 'scalp'\nshow = 'body'\nmotion = 'shake'\n{keys}"
        );
        let built = built(&text, folder.path()).unwrap();
        let rest = &built.body.rest().positions;
        let now = built.body.positions_at(0.6);
        // The largest displacement of face and shoulders.
        let most = |of: &dyn Fn(Vec3) -> bool| {
            let moved = rest.iter().zip(&now).filter(|(r, _)| of(**r)).map(|(r, n)| r.distance(*n));
            moved.fold(0.0, f32::max)
        };
        let skin = |p: Vec3| p.abs().max_element() < 0.199;
        let face = most(&|p| skin(p) && p.y > 0.0 && p.z > 0.05);
        (face, most(&|p| p.y < -0.2 && p.x.abs() > 0.1), built.warnings.join("\n"))
    };
    for keys in ["", "neck_height = -0.13"] {
        let (face, shoulders, said) = moved(keys);
        assert!(face > 0.02 && shoulders < 1e-6, "{keys}: {face} {shoulders}");
        assert!(said.contains("its head turns on a neck found at a height of"), "{said}");
    }
    let (face, shoulders, said) = moved("neck = 'none'");
    // The face is nearer to the axis, below the middle of the body, than the shoulders are.
    assert!(face > 0.005 && shoulders > 0.02, "{face} {shoulders}");
    assert!(!said.contains("neck"), "{said}");
    let text =
        "[groom]\nstyle = 'short'\n[body]\nfile = 'actor.obj'\nscalp = 'scalp'\nneck_height = 3";
    let error = built(text, folder.path()).err().unwrap();
    assert!(error.to_string().contains("no neck") && error.hint().is_some(), "{error}");
}

#[test]
fn some_strands_of_a_file_are_simulated_and_drawn_wider() {
    let folder = tempfile::tempdir().unwrap();
    write_groom(folder.path(), 1000, |p| p);
    let with = |keys: &str| {
        let text = format!("[groom]\nfile = 'groom.hair'\n{keys}\n[body]\nresolution = 0.008");
        built(&text, folder.path()).unwrap()
    };
    let built = with("strands = 100");
    assert_eq!(built.groom.strands.strand_count(), 100);
    // The mean length of a hundred strands is that of all within a few percent.
    assert!((built.widening - 10.0).abs() < 0.5, "{}", built.widening);
    assert!(warning(&built, "100 of its 1000 strands").contains("times as wide"));
    assert_eq!(built.groom, with("strands = 100").groom);
    assert_ne!(built.groom, with("strands = 100\nseed = 2").groom);
    let whole = with("strands = 5000");
    assert_eq!((whole.groom.strands.strand_count(), whole.widening), (1000, 1.0));
    assert!(warning(&whole, "fewer than").contains("5000"));
}
