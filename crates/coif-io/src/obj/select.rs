//! Selection of triangles by the names of objects, groups and materials.

use super::ObjMesh;

impl ObjMesh {
    /// The triangles that a list of names selects, ascending; the entry that fits no name as an error.
    ///
    /// A name stands for all objects, groups and materials of that name; `*` stands for any characters and `?` for one. An
    /// entry that begins with `!` takes triangles away again. Entries count in their order; a list that begins with `!`
    /// starts from all triangles.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("head.obj");
    /// # std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\ng skin\nf 1 2 3\ng helper-eye\nf 3 2 1\n")?;
    /// let head = coif_io::obj::read_mesh(&path, &Default::default())?.value;
    /// assert_eq!(head.matching(&["!helper*"]), Ok(vec![0]));
    /// assert_eq!(head.matching(&["skin", "hair"]), Err("hair".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matching(&self, names: &[impl AsRef<str>]) -> Result<Vec<u32>, String> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let from_all = names.first().is_some_and(|name| name.starts_with('!'));
        let mut chosen = vec![from_all; self.mesh.triangles.len()];
        for entry in names {
            let (adds, pattern) = match entry.strip_prefix('!') {
                Some(pattern) => (false, pattern),
                None => (true, entry),
            };
            let mut is_known = false;
            for group in self.groups.iter().filter(|g| fits(pattern, &g.name)) {
                is_known = true;
                for triangles in &group.triangles {
                    chosen[triangles.start as usize..triangles.end as usize].fill(adds);
                }
            }
            if !is_known {
                return Err(entry.to_owned());
            }
        }
        Ok((0..).zip(chosen).filter(|(_, is_chosen)| *is_chosen).map(|(t, _)| t).collect())
    }
}

/// Whether a name is equal to a pattern, or fits it with `*` and `?`.
fn fits(pattern: &str, name: &str) -> bool {
    if pattern == name {
        return true;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Go on from the last star with one more character where the rest does not fit.
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p + 1, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((after, taken)) = star {
            star = Some((after, taken + 1));
            (p, n) = (after, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::parse_mesh;
    use super::*;

    #[test]
    fn stars_and_question_marks_fit() {
        for (pattern, name, expected) in [
            ("hair", "hair", true),
            ("hair", "hair2", false),
            ("hair*", "hair", true),
            ("hair*", "hairband", true),
            ("*eye*", "helper-l-eye", true),
            ("*eye", "eyelid", false),
            ("l-?-toe", "l-5-toe", true),
            ("l-?-toe", "l--toe", false),
            ("*a*b*", "xaybz", true),
            ("*a*b*", "xbya", false),
            ("a*", "a*", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn groups_and_materials_are_added_and_taken_away_in_order() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\ng body\nusemtl skin\nf 1 2 3\n\
                    usemtl cloth\nf 1 2 3\ng helper-hair\nf 1 2 3\ng helper-skirt\nf 1 2 3\n";
        let mesh = parse_mesh(Path::new("a.obj"), text.as_bytes(), &Default::default()).unwrap();
        let matching = |names: &[&str]| mesh.value.matching(names);
        assert_eq!(matching(&["body"]), Ok(vec![1, 2]));
        assert_eq!(matching(&["skin"]), Ok(vec![1]));
        assert_eq!(matching(&["cloth"]), Ok(vec![2, 3, 4]));
        assert_eq!(matching(&["body", "!cloth"]), Ok(vec![1]));
        assert_eq!(matching(&["!helper*"]), Ok(vec![0, 1, 2]));
        assert_eq!(matching(&["!helper*", "helper-hair"]), Ok(vec![0, 1, 2, 3]));
        assert_eq!(matching(&["!helpers"]), Err("!helpers".to_owned()));
    }
}
