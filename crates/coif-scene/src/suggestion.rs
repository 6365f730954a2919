//! "Did you mean": suggestions for misspelt words.

/// "did you mean 'motion'? " if a candidate is near, else an empty string.
///
/// Ignores case, spaces and underscores.
pub fn suggestion(word: &str, candidates: &[&str]) -> String {
    let near: Vec<String> = nearest(word, candidates).iter().map(|n| format!("'{n}'")).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

/// The candidates nearest to `word`; none if no candidate is near enough.
///
/// The distance is that of optimal string alignment: letters inserted, deleted, replaced, or swapped with their
/// neighbour. One typing error is always allowed, in longer words one per three letters. Among equals those with the
/// longest common prefix win, because typing errors come late. If none is that near: all candidates that begin with the
/// word.
fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    /// Maximum number of letters of a word that is compared: no candidate is near to a longer one.
    const MAX_LETTERS: usize = 64;
    let word = word.to_lowercase().replace([' ', '_'], "-");
    let count = word.chars().count();
    // Skip the quadratic comparison.
    if count > MAX_LETTERS {
        return Vec::new();
    }
    let mut best = (usize::MAX, 0);
    let mut near = Vec::new();
    let mut begun = Vec::new();
    for candidate in candidates {
        let letters = candidate.replace('_', "-");
        let length = letters.chars().count();
        if count > 1 && letters.starts_with(&word) {
            begun.push(*candidate);
        }
        let distance = strsim::osa_distance(&word, &letters);
        let allowed = (count.max(length) / 3).max(1);
        // Refuse a replacement of the whole word: two short words always look alike.
        if distance > allowed || distance >= length {
            continue;
        }
        let common = word.chars().zip(letters.chars()).take_while(|(a, b)| a == b).count();
        if distance < best.0 || (distance == best.0 && common > best.1) {
            best = (distance, common);
            near.clear();
        }
        if best == (distance, common) {
            near.push(*candidate);
        }
    }
    // Remove duplicates: keys of several models can have the same name.
    let mut found = if near.is_empty() { begun } else { near };
    found.sort_by_key(|word| candidates.iter().position(|c| c == word));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_words_are_suggested() {
        let words = ["motion", "speed", "radius", "radii", "fps"];
        assert_eq!(nearest("Moton", &words), ["motion"]);
        assert_eq!(nearest("radiu", &words), ["radius"]);
        assert_eq!(nearest("fsp", &words), ["fps"]);
        for far in ["banana", "xyz", "", "m", &"motion".repeat(1000)] {
            assert!(nearest(far, &words).is_empty(), "{far}");
        }
        assert_eq!(
            suggestion("scalq", &["scale", "up", "scalp"]),
            "did you mean 'scale' or 'scalp'? "
        );
        assert_eq!(suggestion("up", &["uq", "down", "uq"]), "did you mean 'uq'? ");
        assert_eq!(suggestion("banana", &words), "");
    }

    #[test]
    fn a_prefix_suggests_the_words_that_begin_with_it() {
        let names = ["demo", "spin", "long-wavy", "fall-and-stop"];
        assert_eq!(nearest("dmeo", &names), ["demo"]);
        assert_eq!(nearest("Long_wavi", &names), ["long-wavy"]);
        assert_eq!(nearest("fall", &names), ["fall-and-stop"]);
        assert_eq!(nearest("Fall and", &names), ["fall-and-stop"]);
        assert!(nearest("zebra", &names).is_empty());
    }
}
