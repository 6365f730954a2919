use super::super::CountedFromZero;
use super::*;
use crate::math::Random;

/// Polygons of a mesh: vertices, whether it is a root, whether it may open.
type List = Vec<(Vec<u32>, bool, bool)>;

fn polygons_of(mesh: &HairMesh) -> List {
    let mut all = List::new();
    for bundle in &mesh.bundles {
        let roots = bundle.columns().iter().map(|&c| mesh.vertex(c, 0)).collect();
        all.push((roots, true, false));
    }
    let topology = mesh.topology();
    let parts = |kind| matches!(kind, super::super::SideKind::Seam { .. });
    all.extend(topology.sides.iter().map(|s| (s.vertices.to_vec(), false, parts(s.kind))));
    let caps = topology.caps.iter();
    all.extend(caps.map(|c| (c.vertices[..usize::from(c.corners)].to_vec(), false, false)));
    all
}

fn walked(positions: &[Vec3], list: &List) -> Result<Walked> {
    let mut corners = Vec::new();
    let mut ends = Vec::new();
    for (polygon, _, _) in list {
        corners.extend_from_slice(polygon);
        ends.push(corners.len());
    }
    let is_root: Vec<bool> = list.iter().map(|p| p.1).collect();
    let may_open: Vec<bool> = list.iter().map(|p| p.2).collect();
    let (is_root, may_open, corners, ends) = (&is_root, &may_open, &corners, &ends);
    let polygons = Polygons { positions, corners, ends, is_root, may_open };
    HairMesh::from_polygons(&polygons, &CountedFromZero)
}

/// Gives each bundle a number of layers, and shortens columns to them.
fn with_layers(mut mesh: HairMesh, layers: impl Fn(usize) -> u32) -> HairMesh {
    let mut needed = vec![0; mesh.column_count()];
    for (b, bundle) in mesh.bundles.iter_mut().enumerate() {
        bundle.layers = layers(b);
        for &c in bundle.columns() {
            needed[c as usize] = bundle.layers.max(needed[c as usize]);
        }
    }
    let mut columns = Strands::new();
    for (c, &needed) in needed.iter().enumerate() {
        columns.push(&mesh.columns.strand(c)[..=needed as usize]);
    }
    mesh.columns = columns;
    mesh.validate().unwrap();
    mesh
}

/// Hair meshes with bundles of equal and of different lengths, with triangles, and with a seam.
fn examples() -> Vec<(&'static str, HairMesh)> {
    let block = |cells, layers, triangles| {
        HairMesh::block(cells, layers, Vec3::new(0.1, 0.3, 0.1), triangles)
    };
    let mut random = Random::new(5, 0);
    let lengths: Vec<u32> = (0..30).map(|_| 1 + random.below(5) as u32).collect();
    vec![
        ("even", block([3, 2], 4, false)),
        ("one prism", block([1, 1], 1, false)),
        ("mixed even", block([3, 3], 4, true)),
        ("short side", with_layers(block([3, 3], 4, false), |b| if b % 3 == 0 { 2 } else { 4 })),
        ("checker", with_layers(block([3, 3], 4, false), |b| if b % 2 == 1 { 2 } else { 4 })),
        ("stairs", with_layers(block([5, 2], 6, false), |b| b as u32 % 5 + 1)),
        ("short among long", with_layers(block([3, 3], 4, false), |b| if b == 4 { 2 } else { 4 })),
        ("mixed", with_layers(block([4, 4], 5, true), |b| lengths[b])),
        ("parted", HairMesh::parted_block(3, Vec3::ONE)),
    ]
}

#[test]
fn the_result_does_not_depend_on_the_order_of_polygons_and_corners() {
    for (name, mesh) in examples() {
        let list = polygons_of(&mesh);
        let whole = Walked { mesh: mesh.clone(), ..Walked::default() };
        assert_eq!(walked(mesh.positions(), &list).unwrap(), whole, "{name}, as written");
        let roots = mesh.bundles.len();
        for seed in 0..200 {
            let mut random = Random::new(seed, 0);
            let (mut first, mut others) = (list[..roots].to_vec(), list[roots..].to_vec());
            random.shuffle(&mut others);
            for (polygon, _, _) in &mut others {
                let turn = random.below(polygon.len());
                polygon.rotate_left(turn);
                if random.below(2) == 0 {
                    polygon.reverse();
                }
            }
            let list: List = [first.clone(), others.clone()].concat();
            assert_eq!(walked(mesh.positions(), &list).unwrap(), whole, "{name}, seed {seed}");
            // Mix roots and others in any order: bundles are in the order of their roots.
            random.shuffle(&mut first);
            let mut list: List = [others, first.clone()].concat();
            random.shuffle(&mut list);
            let found = walked(mesh.positions(), &list).unwrap();
            let order = list.iter().filter(|p| p.1).map(|root| {
                let is_it = |b: &&Bundle| {
                    b.columns().iter().map(|&c| mesh.vertex(c, 0)).eq(root.0.iter().copied())
                };
                *mesh.bundles.iter().find(is_it).unwrap()
            });
            let bundles: Vec<Bundle> = order.collect();
            let expected = HairMesh { bundles, ..mesh.clone() };
            assert_eq!(found.mesh, expected, "{name}, seed {seed}");
            assert!(found.loose.is_empty() && found.open.is_empty(), "{name}, seed {seed}");
        }
    }
}

#[test]
fn a_missing_side_or_tip_is_an_error_or_is_reported() {
    for (name, mesh) in examples() {
        let list = polygons_of(&mesh);
        let tips = list.len() - mesh.bundles.len();
        for b in 0..mesh.bundles.len() {
            let mut list = list.clone();
            list.remove(tips + b);
            let found = walked(mesh.positions(), &list).unwrap();
            // A missing tip is not reported if no bundle has one.
            let open: &[usize] = if mesh.bundles.len() > 1 { &[b] } else { &[] };
            assert_eq!(found.open, open, "{name}, without tip {b}");
        }
        for missing in mesh.bundles.len()..tips {
            let mut list = list.clone();
            list.remove(missing);
            match walked(mesh.positions(), &list) {
                Ok(found) => {
                    assert!(!found.loose.is_empty(), "{name}, without {missing}");
                    assert!(found.mesh.prism_count() < mesh.prism_count());
                }
                Err(Error::RootWithoutLayer { bare, .. }) => assert_eq!(bare, 1),
                Err(other) => panic!("{name}, without {missing}: {other}"),
            }
        }
    }
}

#[test]
fn a_bundle_without_tip_whose_sides_continue_is_reported() {
    // Without tips, a missing inner side leaves no polygon over: only the ends of its bundles show it.
    let mesh = HairMesh::block([4, 4], 3, Vec3::ONE, false);
    let mut list = polygons_of(&mesh);
    list.truncate(list.len() - mesh.bundles.len());
    let found = walked(mesh.positions(), &list).unwrap();
    assert_eq!(found, Walked { mesh: mesh.clone(), ..Walked::default() });
    let [a, b] = [5, 6].map(|b| mesh.bundles[b].columns().to_vec());
    let shared = [2, 1].map(|level| a.iter().filter(|c| b.contains(c)).map(move |c| (*c, level)));
    let shared: Vec<u32> =
        shared.into_iter().flatten().map(|(c, level)| mesh.vertex(c, level + 1)).collect();
    list.retain(|p| sorted(&p.0) != sorted(&shared));
    let found = walked(mesh.positions(), &list).unwrap();
    assert_eq!((found.loose.len(), &found.open[..]), (0, &[5, 6][..]));
}

#[test]
fn polygons_that_belong_to_no_bundle_are_reported_and_change_nothing() {
    for (name, mesh) in examples() {
        let list = polygons_of(&mesh);
        let mut positions = mesh.positions().to_vec();
        let n = positions.len() as u32;
        positions.extend([Vec3::X, Vec3::X + Vec3::Y]);
        // Attach a quad to every edge in turn.
        let topology = mesh.topology();
        for [a, b] in topology.along.iter().chain(&topology.across) {
            let mut list = list.clone();
            list.insert(0, (vec![*a, *b, n, n + 1], false, false));
            let found = walked(&positions, &list).unwrap();
            assert_eq!(found.mesh, mesh, "{name}, at {a} and {b}");
            assert_eq!(found.loose, [0], "{name}, at {a} and {b}");
        }
        // Duplicate every side, as exporters of single prisms do.
        let roots = mesh.bundles.len();
        let twice: List = [&list[..], &list[roots..]].concat();
        let found = walked(&positions, &twice).unwrap();
        assert_eq!(found, Walked { mesh, ..Walked::default() }, "{name}");
    }
}

#[test]
fn errors_name_the_polygon_or_vertex() {
    let mesh = HairMesh::block([2, 1], 2, Vec3::ONE, false);
    let list = polygons_of(&mesh);
    let refused = |list: &List| walked(mesh.positions(), list).unwrap_err().to_string();
    assert!(refused(&list[2..].to_vec()).contains("no root polygon"));
    // Only the root polygons, without a layer.
    let error = refused(&list[..2].to_vec());
    assert!(error.contains("polygon 0") && error.contains("without a layer"), "{error}");
    assert!(error.contains("4 of its 4 sides"), "{error}");
    let twice: List = [&list[..], &list[1..2]].concat();
    let error = refused(&twice);
    assert!(error.starts_with(&format!("polygon {}", list.len())), "{error}");
    assert!(error.contains("duplicate root polygon: polygon 1 has"), "{error}");
    // A second layer over the same sides of the first bundle.
    let mut other = list.clone();
    let n = mesh.vertex_count() as u32;
    let mut positions = mesh.positions().to_vec();
    positions.extend((0..4).map(|i| Vec3::splat(2.0 + i as f32)));
    let roots = list[0].0.clone();
    for i in 0..4u32 {
        let (a, b) = (roots[i as usize], roots[(i as usize + 1) % 4]);
        other.push((vec![a, b, n + (i + 1) % 4, n + i], false, false));
    }
    let error = walked(&positions, &other).unwrap_err().to_string();
    assert!(error.contains("vertex 0 has two vertices over it, vertex 1 and"), "{error}");
    // A vertex that does not exist.
    let mut bad = list;
    bad[3].0[1] = 1000;
    assert!(refused(&bad).contains("polygon 3 names vertex 1000"));
}
