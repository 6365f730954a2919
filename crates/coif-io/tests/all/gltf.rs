//! Strips as glTF, read back by another reader.

use coif::groom::Strands;
use coif::groom::strips::{Strips, texture};
use coif::grow::strips::StripMesh;
use coif_io::gltf::{StripFilm, StripFrame, strips_to_glb, write_strips};
use glam::Vec3;

fn strips() -> Strips {
    let mut edges = Strands::new();
    for x in [0.0, 0.1] {
        let line: Vec<Vec3> = (0..5).map(|i| Vec3::new(x, 0.1 - 0.02 * i as f32, 0.0)).collect();
        edges.push(&line);
    }
    Strips {
        edges,
        virtual_point: vec![Vec3::Y * 0.12, Vec3::new(0.1, 0.12, 0.0)],
        binormal: vec![Vec3::X; 2],
        width: vec![0.02; 2],
        layer: vec![0, 1],
        strip_of_strand: vec![0, 1],
        ..Strips::default()
    }
}

/// Three frames of a strip that is blown forward.
fn frames(mesh: &StripMesh) -> Vec<StripFrame> {
    (0..3)
        .map(|k| {
            let away = Vec3::Z * (0.01 * (k * k) as f32);
            let positions = mesh.positions.iter().map(|p| *p + away).collect();
            StripFrame { positions, ..StripFrame::of(mesh) }
        })
        .collect()
}

fn glb(frames: &[StripFrame], mesh: &StripMesh) -> Result<Vec<u8>, String> {
    let texture =
        texture::paint(&texture::Settings { width: 16, height: 32, ..Default::default() });
    let color = Vec3::new(0.3, 0.2, 0.1);
    let tolerance = 1e-3;
    strips_to_glb(&StripFilm { mesh, frames, fps: 30.0, texture: &texture, color, tolerance })
}

/// The document and the binary chunk of a film of these frames, as another reader finds them.
fn read_back(frames: &[StripFrame], mesh: &StripMesh) -> (gltf::Document, Vec<u8>) {
    let bytes = glb(frames, mesh).expect("frames that fit the mesh");
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).expect("a valid file");
    (document, blob.expect("a binary chunk"))
}

#[test]
fn another_reader_finds_mesh_motion_and_texture() {
    let mesh = StripMesh::new(&strips());
    let frames = frames(&mesh);
    let (document, blob) = read_back(&frames, &mesh);
    let data = |_: gltf::Buffer<'_>| Some(&blob[..]);
    let primitive = document.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(data);

    // The mesh is that of the first frame.
    let positions: Vec<Vec3> = reader.read_positions().unwrap().map(Vec3::from).collect();
    assert_eq!(positions, frames[0].positions);
    let normals: Vec<Vec3> = reader.read_normals().unwrap().map(Vec3::from).collect();
    assert_eq!(normals.len(), 20);
    // Tangents are perpendicular to the normals; the binormal, with the sign, points from tip to root.
    for (n, [x, y, z, sign]) in normals.iter().zip(reader.read_tangents().unwrap()) {
        let t = Vec3::new(x, y, z);
        assert!(t.distance(Vec3::X) < 1e-6 && t.dot(*n).abs() < 1e-6);
        assert!((n.cross(t) * sign).distance(Vec3::Y) < 1e-6);
    }
    let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
    assert_eq!(indices, mesh.triangles.as_flattened());
    let uv: Vec<[f32; 2]> = reader.read_tex_coords(0).unwrap().into_f32().collect();
    assert_eq!((uv[0], uv[9]), ([0.0, 0.0], [1.0, 1.0]));

    // Every target moves the first frame to its own frame.
    let targets: Vec<_> = reader.read_morph_targets().collect();
    assert_eq!(targets.len(), 2);
    for (k, (moved, turned, _)) in targets.into_iter().enumerate() {
        assert_eq!(turned.expect("normals").count(), 20);
        for (v, d) in moved.expect("positions").enumerate() {
            assert!((positions[v] + Vec3::from(d)).distance(frames[k + 1].positions[v]) < 1e-6);
        }
    }

    // At the time of a frame only its target has weight.
    let animation = document.animations().next().unwrap();
    let channel = animation.channels().next().unwrap();
    let channel = channel.reader(data);
    let times: Vec<f32> = channel.read_inputs().unwrap().collect();
    assert_eq!(times, [0.0, 1.0 / 30.0, 2.0 / 30.0]);
    let Some(gltf::animation::util::ReadOutputs::MorphTargetWeights(weights)) =
        channel.read_outputs()
    else {
        panic!("weights are animated");
    };
    assert_eq!(weights.into_f32().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);

    // The texture is a PNG with transparency.
    let material = primitive.material();
    assert_eq!(material.alpha_mode(), gltf::material::AlphaMode::Mask);
    assert!(material.double_sided());
    let image = document.images().next().unwrap();
    let gltf::image::Source::View { view, mime_type } = image.source() else { panic!("a view") };
    assert_eq!(mime_type, "image/png");
    let encoded = &blob[view.offset()..view.offset() + view.length()];
    let decoder = png::Decoder::new(std::io::Cursor::new(encoded));
    let reader = decoder.read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (16, 32));
    assert_eq!(reader.info().color_type, png::ColorType::Rgba);
}

#[test]
fn one_frame_has_no_motion_and_wrong_frames_are_refused() {
    let mesh = StripMesh::new(&strips());
    let mut all = frames(&mesh);
    let still = gltf::Gltf::from_slice(&glb(&all[..1], &mesh).unwrap()).expect("a valid file");
    assert_eq!(still.animations().count(), 0);
    assert!(glb(&[], &mesh).is_err());
    all[1].positions.pop();
    assert!(glb(&all, &mesh).unwrap_err().contains("20"));
}

/// Linear motion needs only its ends; reversals are kept.
#[test]
fn frames_on_a_straight_path_are_left_out() {
    let mesh = StripMesh::new(&strips());
    let at = |z: f32| {
        let positions = mesh.positions.iter().map(|p| *p + Vec3::Z * z).collect();
        StripFrame { positions, ..StripFrame::of(&mesh) }
    };
    let displacements = [0.0, 0.01, 0.02, 0.0302, 0.04, 0.03, 0.02];
    let frames: Vec<StripFrame> = displacements.into_iter().map(at).collect();
    let (document, blob) = read_back(&frames, &mesh);
    let animation = document.animations().next().unwrap();
    let channel = animation.channels().next().unwrap();
    let times: Vec<f32> = channel.reader(|_| Some(&blob[..])).read_inputs().unwrap().collect();
    assert_eq!(times, [0.0, 4.0 / 30.0, 6.0 / 30.0]);
}

/// Hair that swings needs at most a third of its frames as shapes, and every frame is reproduced within 1 mm.
#[test]
fn oscillation_is_stored_as_few_shapes() {
    let mesh = StripMesh::new(&strips());
    let at = |k: usize| {
        let t = k as f32 / 60.0;
        let swing = |p: &Vec3| Vec3::new(0.0, 0.0, (9.0 * t + 20.0 * p.y).sin() * (0.1 - p.y));
        let positions = mesh.positions.iter().map(|p| *p + swing(p)).collect();
        StripFrame { positions, ..StripFrame::of(&mesh) }
    };
    let frames: Vec<StripFrame> = (0..90).map(at).collect();
    let (document, blob) = read_back(&frames, &mesh);
    let data = |_: gltf::Buffer<'_>| Some(&blob[..]);
    let primitive = document.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(data);
    let base: Vec<Vec3> = reader.read_positions().unwrap().map(Vec3::from).collect();
    let shapes: Vec<Vec<Vec3>> = reader
        .read_morph_targets()
        .map(|(moved, ..)| moved.expect("positions").map(Vec3::from).collect())
        .collect();
    assert!((3..=30).contains(&shapes.len()), "{}", shapes.len());
    let animation = document.animations().next().unwrap();
    let channel = animation.channels().next().unwrap();
    let channel = channel.reader(data);
    assert_eq!(channel.read_inputs().unwrap().count(), 90);
    let Some(gltf::animation::util::ReadOutputs::MorphTargetWeights(weights)) =
        channel.read_outputs()
    else {
        panic!("weights are animated");
    };
    let weights: Vec<f32> = weights.into_f32().collect();
    for (frame, row) in frames.iter().zip(weights.chunks(shapes.len())) {
        for (v, p) in frame.positions.iter().enumerate() {
            let mixed =
                row.iter().zip(&shapes).fold(base[v], |sum, (w, shape)| sum + shape[v] * *w);
            assert!(mixed.distance(*p) < 1e-3, "{}", mixed.distance(*p));
        }
    }

    // Required by the specification: views and accessors lie within the buffer at multiples of four bytes, positions
    // have bounds.
    for view in document.views() {
        assert!(view.offset() % 4 == 0 && view.offset() + view.length() <= blob.len());
    }
    for accessor in document.accessors() {
        let view = accessor.view().expect("a view");
        assert!(accessor.offset() + accessor.count() * accessor.size() <= view.length());
    }
    let targets = primitive.morph_targets().map(|t| t.positions().expect("positions"));
    for accessor in targets.chain(primitive.get(&gltf::Semantic::Positions)) {
        let view = accessor.view().expect("a view");
        let floats: Vec<f32> = blob[view.offset()..view.offset() + view.length()]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        for k in 0..3 {
            let values = || floats[k..].iter().step_by(3).copied();
            let [lo, hi] =
                [accessor.min(), accessor.max()].map(|v| v.unwrap()[k].as_f64().unwrap());
            assert_eq!(lo as f32, values().fold(f32::INFINITY, f32::min));
            assert_eq!(hi as f32, values().fold(f32::NEG_INFINITY, f32::max));
        }
    }
}

#[test]
fn a_refused_film_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hair.glb");
    let mesh = StripMesh::new(&strips());
    let texture = texture::paint(&texture::Settings { width: 4, height: 4, ..Default::default() });
    let film = |frames| {
        let (mesh, texture) = (&mesh, &texture);
        StripFilm { mesh, frames, fps: 30.0, texture, color: Vec3::ONE, tolerance: 0.0 }
    };
    let error = write_strips(&path, &film(&[])).unwrap_err();
    assert!(error.hint().is_some() && error.to_string().contains("hair.glb"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    write_strips(&path, &film(&frames(&mesh))).unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(b"glTF"));
}
