//! `.obj`: polylines and polygons as programs write them, with every error at its line and column.

use std::path::Path;

use crate::grooms::{full_groom, plain_groom};
use coif::body::TriangleMesh;
use coif::groom::{Fibre, Groom};
use coif_io::obj::{self, Group, GroupKind};
use coif_io::{Error, Loaded, ObjMesh, Place, ReadOptions, Up};
use glam::Vec3;
use proptest::prelude::*;

fn groom(text: impl AsRef<[u8]>) -> Result<Loaded<Groom>, Error> {
    obj::parse_groom(Path::new("a.obj"), text.as_ref(), &ReadOptions::default())
}

fn mesh(text: impl AsRef<[u8]>) -> Result<Loaded<ObjMesh>, Error> {
    obj::parse_mesh(Path::new("a.obj"), text.as_ref(), &ReadOptions::default())
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn written_grooms_read_back_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    let mut colored = full_groom(11);
    colored.transparency = None;
    colored.radius.fill(colored.fibre.radius);
    let mut extreme = plain_groom(2, 3);
    let places = [f32::MAX, f32::MIN_POSITIVE, 1e-45, -0.0, 1.0 / 3.0, 16_777_217.0];
    for (p, &x) in extreme.strands.positions_mut().iter_mut().zip(&places) {
        *p = Vec3::new(x, -x, x / 7.0);
    }
    for groom in [colored, plain_groom(5, 4), extreme] {
        assert_eq!(obj::write_groom(&path, &groom).unwrap(), Vec::<String>::new());
        let read = obj::read_groom(&path, &ReadOptions::default()).unwrap();
        assert_eq!(read.value, groom);
        let bits = |g: &Groom| -> Vec<[u32; 3]> {
            g.strands.positions().iter().map(|p| p.to_array().map(f32::to_bits)).collect()
        };
        assert_eq!(bits(&read.value), bits(&groom));
        assert_eq!(read.warnings, Vec::<String>::new());
    }
    let dropped = obj::write_groom(&path, &full_groom(3)).unwrap();
    assert!(dropped[0].contains("radius") && dropped[1].contains("transparency"), "{dropped:?}");
}

#[test]
fn polylines_in_every_spelling() {
    let text = "\u{feff}# made by hand\r\n\
        v 0 0 0\r\n  v\t+1.0e-1 -.5 1.\t# a comment\r\n\
        v 0 1 0 1.0\r\nv 0 2 \\\r\n 0\r\n\
        g hair\r\nl 1/1 2/2 \\\r\n  3/3\r\n\r\nl -1 -2\r\nvt 0 0\r\n";
    let read = groom(text).unwrap();
    let strands = &read.value.strands;
    assert_eq!(strands.strand(0), [Vec3::ZERO, Vec3::new(0.1, -0.5, 1.0), Vec3::Y]);
    assert_eq!(strands.strand(1), [Vec3::Y * 2.0, Vec3::Y]);
    assert_eq!(read.value.fibre, Fibre::default());
    assert_eq!(read.warnings, Vec::<String>::new());
}

#[test]
fn segments_on_their_own_are_joined_to_strands() {
    let text = "v 0 0 0\nv 0 1 0\nv 0 2 0\nv 1 0 0\nv 1 1 0\nl 1 2\nl 2 3\nl 4 5\n";
    let read = groom(text).unwrap();
    assert_eq!(read.value.strands.first_points(), [0, 3, 5]);
    assert!(read.warnings[0].contains("joined"), "{:?}", read.warnings);
}

#[test]
fn vertices_may_come_after_their_use() {
    assert_eq!(groom("l 1 2\nv 0 0 0\nv 0 1 0\n").unwrap().value.strands.point_count(), 2);
}

#[test]
fn colours_of_vertices_become_colours_of_points() {
    let read = groom("v 0 0 0 1 0 0\nv 0 1 0 0 1 0\nl 2 1\n").unwrap();
    assert_eq!(read.value.color, Some(vec![Vec3::Y, Vec3::X]));
    let read = groom("v 0 0 0 1 0 0\nv 0 1 0\nl 2 1\n").unwrap();
    assert_eq!(read.value.color, None);
    assert!(read.warnings[0].contains("colour"), "{:?}", read.warnings);
}

#[test]
fn errors_name_line_and_column() {
    for (text, line, column, word) in [
        ("v 0 0 0\nv 0 x 0\n", 2, 5, "a number, found 'x'"),
        ("v 0 0 nan\n", 1, 7, "finite"),
        ("v 0 0 0\n\n  v 0 1e999 0\n", 3, 7, "finite"),
        ("v 0 0\nl 1 1\n", 1, 6, "three coordinates"),
        ("v 0 0 0\nl 1 \\\n 7\n", 3, 2, "a vertex from 1 to 1"),
        ("v 0 0 0\nl 1 0\n", 2, 5, "other than 0"),
        ("v 0 0 0\nl -2 1\n", 2, 3, "found '-2'"),
        ("v 0 0 0\nl 1\n", 2, 4, "at least two"),
        ("v 0 0 0\nl 1 1.5\n", 2, 5, "vertex number"),
        ("v 0 0 0\nl 1 99999999999\n", 2, 5, "99999999999"),
        ("v 0 0 0\nf 1 1\n", 2, 6, "three corners"),
    ] {
        let error = groom(text).unwrap_err();
        assert_eq!(error.place(), Place::Text { line, column }, "{error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("a.obj:{line}:{column}: ")), "{message}");
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn the_wrong_kind_of_file_gets_a_hint() {
    let error = groom(format!("{SQUARE}f 1 2 3 4\n")).unwrap_err();
    assert!(error.to_string().contains("1 faces") && error.hint().unwrap().contains("mesh"));
    let error = mesh(format!("{SQUARE}l 1 2 3 4\n")).unwrap_err();
    assert!(error.hint().unwrap().contains("hair"));
    assert!(groom("").unwrap_err().to_string().contains("empty"));
    assert!(mesh(" \n\t\n").unwrap_err().to_string().contains("empty"));
    assert!(mesh(b"L\x01\0\0ab").unwrap_err().hint().unwrap().contains("binary"));
    let read = mesh(format!("{SQUARE}hello world\nf 1 2 3\n")).unwrap();
    assert!(read.warnings[0].contains("'hello' in line 5"), "{:?}", read.warnings);
}

#[test]
fn faces_and_lines_in_one_file_are_told_apart() {
    let text = "v 5 5 5\nv 0 0 0\nv 5 6 5\nv 1 0 0\nv 0 1 0\nl 1 3\nf 2 4 5\n";
    assert_eq!(groom(text).unwrap().value.strands.positions()[1], Vec3::new(5.0, 6.0, 5.0));
    let body = mesh(text).unwrap().value.mesh;
    assert_eq!(body.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
    assert_eq!(body.triangles, [[0, 1, 2]]);
}

#[test]
fn groups_objects_and_materials_select_triangles() {
    let text = format!(
        "{SQUARE}o Big Head\nf 1 2 3\ng scalp left\nusemtl skin\nf 1//1 2//1 3//1 4//1\n\
         g\nf 2 3 4\ng scalp\nf 1/1/1 3/2/1 4/3/1\n"
    );
    let body = mesh(text).unwrap().value;
    assert_eq!(body.mesh.triangles.len(), 5);
    assert_eq!(body.select("scalp"), Some(vec![1, 2, 4]));
    assert_eq!(body.select("left"), Some(vec![1, 2]));
    assert_eq!(body.select("skin"), Some(vec![1, 2, 3, 4]));
    assert_eq!(body.select("Big Head"), Some(vec![0, 1, 2, 3, 4]));
    assert_eq!(body.select("nose"), None);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    obj::write_mesh(&path, &body).unwrap();
    let again = obj::read_mesh(&path, &ReadOptions::default()).unwrap();
    assert_eq!(again.value.mesh, body.mesh);
    for name in ["scalp", "left", "skin", "Big Head"] {
        assert_eq!(again.value.select(name), body.select(name), "{name}");
    }
}

#[test]
fn names_cannot_break_the_file() {
    let triangles = vec![[0, 1, 2]];
    let group = |kind, name: &str| Group {
        kind,
        name: name.into(),
        triangles: std::iter::once(0..1).collect(),
    };
    let body = ObjMesh {
        mesh: TriangleMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles },
        groups: vec![group(GroupKind::Group, "a b"), group(GroupKind::Object, "x\nf 9 9 9")],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    obj::write_mesh(&path, &body).unwrap();
    let again = obj::read_mesh(&path, &ReadOptions::default()).unwrap().value;
    assert_eq!(again.mesh, body.mesh);
    assert_eq!(again.select("a_b"), Some(vec![0]));
    assert!(obj::write_mesh(&path, &ObjMesh::default()).is_err());
}

#[test]
fn unit_and_axes_can_be_given() {
    let text = format!("{SQUARE}f 1 2 3\n");
    let options = ReadOptions { scale_m: Some(0.01), up: Some(Up::Z) };
    let read = obj::parse_mesh(Path::new("a.obj"), text.as_bytes(), &options).unwrap();
    assert_eq!(read.value.mesh.positions[2], Vec3::new(0.01, 0.0, -0.01));
    let big = text.replace('1', "170");
    assert!(mesh(big.replace("170 2 3", "1 2 3")).unwrap().warnings[0].contains("centimetres"));
}

#[test]
fn a_sequence_keeps_the_topology_of_its_first_frame() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    // Bend the polygon so that its first frame is concave: the cut must not change later.
    let frame = |x: f32| format!("v 0 0 0\nv 4 2 0\nv 0 4 0\nv {x} 2 0\nf 1 2 3 4\n");
    write("walk.0007.obj", &frame(1.0));
    write("walk.0008.obj", &frame(-1.0));
    write("walk.12.obj", "not part of it");
    let options = ReadOptions::default();
    for pattern in ["walk.%04d.obj", "walk.####.obj"] {
        let read = obj::read_mesh_sequence(folder.path().join(pattern), &options).unwrap().value;
        assert_eq!((read.first_frame, read.frames.len()), (7, 2));
        assert_eq!(read.first.mesh.triangles, read.mesh(1).triangles);
        assert_eq!(read.mesh(1).positions[3].x, -1.0);
        assert_eq!(read.mesh(9), read.mesh(1));
    }
    let pattern = folder.path().join("walk.%04d.obj");
    let fails = |word: &str| {
        let error = obj::read_mesh_sequence(&pattern, &options).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.hint().is_some());
    };
    write("walk.0009.obj", &frame(1.0).replace("1 2 3 4", "1 2 4 3"));
    fails("walk.0009.obj: expected the corners of polygon 1 as in walk.0007.obj");
    write("walk.0009.obj", &(frame(1.0) + "v 0 0 0\n"));
    fails("walk.0009.obj: expected 4 vertices");
    std::fs::remove_file(folder.path().join("walk.0008.obj")).unwrap();
    fails("frame 8 is missing");
    let nothing = obj::read_mesh_sequence(folder.path().join("run.%04d.obj"), &options);
    assert!(nothing.unwrap_err().to_string().contains("no file"));
    assert!(obj::read_mesh_sequence(folder.path().join("walk.obj"), &options).is_err());
}

#[test]
fn every_prefix_and_every_line_missing_never_panics() {
    let text = format!("# c\n{SQUARE}g a\nf 1/2/3 2 -1 \\\n 4\nl 1 2 3\nusemtl m\nf 1 2 3\n");
    for length in 0..text.len() {
        let _ = groom(&text[..length]);
        let _ = mesh(&text[..length]);
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = groom(&bytes);
        let _ = mesh(&bytes);
    }

    #[test]
    fn random_statements_never_panic_or_give_bad_meshes(
        text in "((v|l|f|g|o|#|usemtl)( -?[0-9]{1,2}(/[0-9])?| \\\\\n| x){0,7}(\n|\r\n)){0,30}"
    ) {
        let _ = groom(&text);
        if let Ok(read) = mesh(&text) {
            prop_assert_eq!(read.value.mesh.validate(), Ok(()));
            let count = read.value.mesh.triangles.len() as u32;
            for group in &read.value.groups {
                prop_assert!(group.triangles.iter().all(|r| r.start < r.end && r.end <= count));
            }
        }
    }

    #[test]
    fn meshes_read_back_with_the_same_bits(
        points in prop::collection::vec(prop::array::uniform3(-1e3f32..1e3), 3..20),
        corners in prop::collection::vec(prop::array::uniform3(0u32..20), 1..30),
    ) {
        let count = points.len() as u32;
        let body = ObjMesh::from(TriangleMesh {
            positions: points.into_iter().map(Vec3::from_array).collect(),
            triangles: corners.into_iter().map(|t| t.map(|v| v % count)).collect(),
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.obj");
        obj::write_mesh(&path, &body).unwrap();
        prop_assert_eq!(obj::read_mesh(&path, &ReadOptions::default()).unwrap().value, body);
    }
}
