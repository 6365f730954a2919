//! Hair meshes as other programs write them: faces in any order, faces that are missing or too many, and
//! messages that lead to the line.

use std::fmt::Write;
use std::path::Path;

use coif::groom::{HairMesh, Strands};
use coif::math::Random;
use coif_io::obj::parse_hair_mesh;
use coif_io::{Error, Loaded, ReadOptions, Result};
use glam::Vec3;

/// The text of a hair mesh: vertices, then the group of the roots, then all other faces.
#[derive(Clone)]
struct Text {
    vertices: Vec<Vec3>,
    roots: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
}

impl Text {
    /// All faces of a mesh: sides, then tips.
    fn of(mesh: &HairMesh) -> Self {
        let root = |b: &coif::groom::hair_mesh::Bundle| {
            b.columns().iter().map(|&c| mesh.vertex(c, 0)).collect()
        };
        let topology = mesh.topology();
        let mut others: Vec<Vec<u32>> =
            topology.sides.iter().map(|s| s.vertices.to_vec()).collect();
        let caps = topology.caps.iter();
        others.extend(caps.map(|c| c.vertices[..usize::from(c.corners)].to_vec()));
        let roots = mesh.bundles.iter().map(root).collect();
        Self { vertices: mesh.positions().to_vec(), roots, others }
    }

    fn write(&self) -> String {
        let mut text = String::from("# coif unit=m up=y\n");
        for v in &self.vertices {
            writeln!(text, "v {:?} {:?} {:?}", v.x, v.y, v.z).expect("memory");
        }
        for (group, faces) in [("roots", &self.roots), ("others", &self.others)] {
            writeln!(text, "g {group}").expect("memory");
            for face in faces {
                let corners: Vec<String> = face.iter().map(|v| (v + 1).to_string()).collect();
                writeln!(text, "f {}", corners.join(" ")).expect("memory");
            }
        }
        text
    }

    fn read(&self) -> Result<Loaded<HairMesh>> {
        read(&self.write())
    }

    /// The line of a vertex, counted from 0.
    fn vertex_line(&self, vertex: usize) -> usize {
        2 + vertex
    }

    fn root_line(&self, root: usize) -> usize {
        3 + self.vertices.len() + root
    }

    fn other_line(&self, other: usize) -> usize {
        4 + self.vertices.len() + self.roots.len() + other
    }
}

fn read(text: &str) -> Result<Loaded<HairMesh>> {
    parse_hair_mesh(Path::new("mesh.obj"), text.as_bytes(), &ReadOptions::default())
}

/// What an error says, and its hint.
fn refused(text: &Text) -> (String, String) {
    let error: Error = text.read().expect_err("a refusal");
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

/// A block whose bundles have a number of layers each.
fn block(cells: [usize; 2], triangles: bool, layers: impl Fn(usize) -> u32) -> HairMesh {
    let whole = HairMesh::block(cells, 6, Vec3::new(0.1, 0.3, 0.1), triangles);
    let mut mesh = HairMesh { columns: Strands::new(), ..whole.clone() };
    let mut needed = vec![0; whole.column_count()];
    for (b, bundle) in mesh.bundles.iter_mut().enumerate() {
        bundle.layers = layers(b);
        for &c in bundle.columns() {
            needed[c as usize] = bundle.layers.max(needed[c as usize]);
        }
    }
    for (c, &needed) in needed.iter().enumerate() {
        mesh.columns.push(&whole.columns.strand(c)[..=needed as usize]);
    }
    mesh
}

fn shuffled(mut faces: Vec<Vec<u32>>, seed: u64) -> Vec<Vec<u32>> {
    Random::new(seed, 0).shuffle(&mut faces);
    faces
}

#[test]
fn the_order_of_faces_makes_no_difference() {
    let meshes = [
        ("even", block([3, 3], false, |_| 4)),
        ("one side shorter", block([3, 3], false, |b| if b < 3 { 2 } else { 4 })),
        ("triangles and quads", block([4, 4], true, |b| [4, 1, 4, 2, 3][b % 5])),
        ("stairs", block([5, 2], false, |b| b as u32 % 5 + 1)),
    ];
    for (name, mesh) in meshes {
        let text = Text::of(&mesh);
        for seed in 0..60 {
            let others = shuffled(text.others.clone(), seed);
            let found = Text { others, ..text.clone() }.read().unwrap();
            assert_eq!(found.value, mesh, "{name}, seed {seed}");
            assert_eq!(found.warnings, [""; 0], "{name}, seed {seed}");
        }
    }
}

#[test]
fn a_missing_side_is_warned_about() {
    let mesh = block([3, 3], false, |_| 4);
    let text = Text::of(&mesh);
    // A face in the third layer between two bundles, then one on the outside.
    let topology = mesh.topology();
    let shared = |kind| kind == coif::groom::hair_mesh::SideKind::Internal;
    for inside in [true, false] {
        let missing = topology.sides.iter().position(|s| s.layer == 2 && shared(s.kind) == inside);
        let mut short = text.clone();
        short.others.remove(missing.unwrap());
        let found = short.read().unwrap();
        let ended = if inside { 2 } else { 1 };
        assert_eq!(found.value.prism_count(), 36 - 2 * ended);
        let [loose, open] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
        // What hung on it: its upper neighbour if none else has that, outer sides, tips.
        assert!(loose.contains("belong to no bundle and were ignored, first"), "{loose}");
        let line: usize = loose.rsplit(' ').next().unwrap().parse().unwrap();
        let first = short.other_line(0)..short.other_line(short.others.len());
        assert!(first.contains(&line), "{loose}");
        let ends = if inside { "2 bundles end without" } else { "1 bundle ends without" };
        assert!(open.contains(ends) && open.contains("is a face missing there?"), "{open}");
        let b = found.value.bundles.iter().position(|b| b.layers == 2).unwrap();
        assert!(open.contains(&format!("in line {};", short.root_line(b))), "{open}");
    }
}

#[test]
fn a_missing_tip_among_others_is_warned_about() {
    // Without its tip the short bundle in the middle goes on with its neighbours.
    let mesh = block([3, 3], false, |b| if b == 4 { 2 } else { 4 });
    let mut text = Text::of(&mesh);
    let tip = text.others.len() - 9 + 4;
    text.others.remove(tip);
    let found = text.read().unwrap();
    assert_eq!(found.value.bundles[4].layers, 4);
    let line = text.root_line(4);
    let warning = format!(
        "mesh.obj: 1 bundle ends without a tip polygon, first the one over the polygon in line {line}; \
         hint: is a face missing there?"
    );
    assert_eq!(found.warnings, [warning]);
    // Without any tips there is nothing to miss.
    let even = block([3, 3], false, |_| 4);
    let mut text = Text::of(&even);
    text.others.truncate(text.others.len() - 9);
    let found = text.read().unwrap();
    assert_eq!((found.value, found.warnings.len()), (even, 0));
}

#[test]
fn stray_faces_are_warned_about() {
    let mesh = block([3, 3], false, |_| 4);
    let mut text = Text::of(&mesh);
    let n = text.vertices.len() as u32;
    text.vertices.extend([Vec3::X, Vec3::X + Vec3::Y]);
    text.others.insert(7, vec![0, 1, n + 1, n]);
    let found = text.read().unwrap();
    assert_eq!(found.value, mesh);
    let line = text.other_line(7);
    let warning = format!(
        "mesh.obj: 1 polygon belongs to no bundle and was ignored, first the polygon in line {line}"
    );
    assert_eq!(found.warnings, [warning]);
    text.others.push(vec![n, n + 1, 0]);
    let found = text.read().unwrap();
    assert!(found.warnings[0].contains("2 polygons belong to no bundle"), "{:?}", found.warnings);
}

#[test]
fn messages_count_as_the_file_does_and_name_lines() {
    let mesh = block([3, 3], false, |_| 4);
    let text = Text::of(&mesh);

    // A duplicate root polygon.
    let mut twice = text.clone();
    twice.roots.push(text.roots[2].clone());
    let (message, hint) = refused(&twice);
    let (again, first) = (twice.root_line(9), twice.root_line(2));
    assert!(
        message.contains(&format!("the polygon in line {again} is a duplicate root polygon")),
        "{message}"
    );
    assert!(
        message.contains(&format!("duplicate root polygon: the polygon in line {first} has")),
        "{message}"
    );
    assert!(hint.contains("counted from 1"), "{hint}");

    // One that is turned over.
    let mut turned = text.clone();
    turned.roots[1].reverse();
    let (message, _) = refused(&turned);
    assert!(message.contains("the root edge between vertex ") && message.contains("turned over"));
    for root in [0, 1] {
        let line = format!("the bundle over the polygon in line {}", turned.root_line(root));
        assert!(message.contains(&line), "{message}");
    }

    // A layer without height at one corner: level 2 of the first column is vertex 3.
    let mut flat = text.clone();
    flat.vertices[2] = flat.vertices[1];
    let (message, hint) = refused(&flat);
    let layer = format!("layer 2 of the bundle over the polygon in line {}", flat.root_line(0));
    assert!(message.contains(&layer), "{message}");
    let corner = format!("the first at vertex 2 (line {})", flat.vertex_line(1));
    assert!(message.contains(&corner), "{message}");
    assert!(hint.contains("layers from 1"), "{hint}");

    // Two vertices over one: a second sheath around the first bundle.
    let mut two = text.clone();
    let (n, root) = (two.vertices.len() as u32, two.roots[0].clone());
    two.vertices.extend((0..4).map(|i| Vec3::splat(i as f32)));
    for i in 0..4u32 {
        let (a, b) = (root[i as usize], root[(i as usize + 1) % 4]);
        two.others.push(vec![a, b, n + (i + 1) % 4, n + i]);
    }
    let (message, _) = refused(&two);
    let expected = format!(
        "vertex 1 (line 2) has two vertices over it, vertex 2 (line 3) and vertex {} (line {})",
        n + 1,
        two.vertex_line(n as usize)
    );
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn a_surface_alone_is_refused_with_a_word_about_inner_faces() {
    let mesh = block([3, 3], false, |_| 4);
    let mut text = Text::of(&mesh);
    let inner: Vec<bool> = mesh
        .topology()
        .sides
        .iter()
        .map(|s| s.kind == coif::groom::hair_mesh::SideKind::Internal)
        .collect();
    let mut i = 0;
    text.others.retain(|_| {
        i += 1;
        !inner.get(i - 1).copied().unwrap_or(false)
    });
    let (message, hint) = refused(&text);
    let line = format!("the polygon in line {}", text.root_line(0));
    assert!(message.contains(&line) && message.contains("2 of its 4 sides"), "{message}");
    assert!(hint.contains("inner faces between bundles"), "{hint}");
}

#[test]
fn numbers_and_lines_are_right_beside_comments_polylines_and_broken_lines() {
    // Vertices of a polyline come first and count; a face goes over two lines.
    let text = "# coif unit=m up=y\nv 9 9 9\nv 9 9 8\nl 1 2\n# roots\n\nv 0 0 0\nv 0 0 1\nv 1 0 1\n\
                vn 0 1 0\ng roots\nf 3 \\\n4 5\nf 4 3 5\n";
    let message = read(text).unwrap_err().to_string();
    assert!(message.contains("line 14 is a duplicate root polygon"), "{message}");
    assert!(message.contains("the polygon in line 12 has the same"), "{message}");
    let bare = text.replace("f 4 3 5\n", "");
    let message = read(&bare).unwrap_err().to_string();
    assert!(message.contains("between vertex 3 (line 7) and vertex 4 (line 8)"), "{message}");
}
