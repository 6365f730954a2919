//! The extension chooses the format; unsupported ones are refused with the list of supported ones.

use crate::grooms::{full_groom, plain_groom};
use coif_io::{Cache, Error, FileKind, ReadOptions};

#[test]
fn extensions_are_recognised_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    let groom = plain_groom(3, 4);
    for name in ["a.hair", "b.HAIR", "c.obj", "d.Obj"] {
        let path = folder.path().join(name);
        coif_io::write_groom(&path, &groom).unwrap();
        let read = coif_io::read_groom(&path, &ReadOptions::default()).unwrap();
        assert_eq!(read.value, groom, "{name}");
        assert_eq!(FileKind::of(&path).unwrap(), FileKind::Groom);
    }
    let mut embedded = full_groom(2);
    embedded.embedded.fill(2);
    let dropped = coif_io::write_groom(folder.path().join("a.hair"), &embedded).unwrap();
    assert!(dropped[0].contains("embedded"), "{dropped:?}");
}

#[test]
fn other_formats_get_a_list_and_a_hint() {
    let options = ReadOptions::default();
    for (name, hint) in [
        ("a.abc", Some("not supported yet; convert it to .hair or .obj")),
        ("a.USDC", Some("not supported yet")),
        ("a.tfx", Some("not supported yet")),
        ("a", Some("no extension")),
        ("a.xyz", None),
    ] {
        let error = coif_io::read_groom(name, &options).unwrap_err();
        assert!(matches!(error, Error::UnknownExtension { .. }));
        assert!(error.to_string().contains(".hair, .obj"), "{error}");
        assert_eq!(error.hint().is_some(), hint.is_some(), "{name}");
        assert!(error.hint().unwrap_or_default().contains(hint.unwrap_or_default()), "{name}");
        assert!(coif_io::write_groom(name, &plain_groom(1, 2)).is_err());
    }
    assert!(coif_io::read_mesh("a.glb", &options).unwrap_err().hint().unwrap().contains(".obj"));
    assert!(coif_io::read_mesh("a.hair", &options).unwrap_err().hint().unwrap().contains("body"));
}

#[test]
fn kinds_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        FileKind::of(path)
    };
    assert_eq!(write("a.toml", "").unwrap(), FileKind::Scene);
    assert_eq!(write("a.obj", "v 0 0 0\nf 1 1 1\nl 1 1").unwrap(), FileKind::Mesh);
    assert_eq!(write("b.obj", "v 0 0 0\nl 1 1").unwrap().to_string(), "groom");
    assert!(write("c.obj", "v 0 0 0\n").is_err());
    assert!(write("a.png", "").is_err());
    assert!(FileKind::of(folder.path()).is_err());
    assert!(FileKind::of(folder.path().join("none.hair")).is_err());
    Cache::create(folder.path().join("out"), "", false).unwrap();
    assert_eq!(FileKind::of(folder.path().join("out")).unwrap(), FileKind::Cache);
}
