//! The word that a misspelt word most likely meant.

/// The candidates nearest to `word`; none if nothing is near enough to be what was meant.
///
/// One slip of the finger is always allowed, longer words allow one slip in three letters. Among
/// equals those with the longest common beginning win, because typing errors come late.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let word: Vec<char> = word.to_lowercase().replace([' ', '_'], "-").chars().collect();
    // Skip the quadratic comparison for texts that no key can be near to.
    if word.len() > 64 {
        return Vec::new();
    }
    let mut best = (usize::MAX, 0);
    let mut near = Vec::new();
    for candidate in candidates {
        let letters: Vec<char> = candidate.replace('_', "-").chars().collect();
        let distance = edit_distance(&word, &letters);
        let allowed = (word.len().max(letters.len()) / 3).max(1);
        // Refuse a replacement of the whole word: two short words always look alike.
        if distance > allowed || distance >= letters.len() {
            continue;
        }
        let common = word.iter().zip(&letters).take_while(|(a, b)| a == b).count();
        if distance < best.0 || (distance == best.0 && common > best.1) {
            best = (distance, common);
            near.clear();
        }
        if best == (distance, common) {
            near.push(*candidate);
        }
    }
    near
}

/// "did you mean 'motion'? " if something is near, else nothing.
pub(crate) fn suggestion(word: &str, candidates: &[&str]) -> String {
    let near: Vec<String> = nearest(word, candidates).iter().map(|n| format!("'{n}'")).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

/// How many letters must be inserted, deleted, replaced, or swapped with their neighbour, no place
/// touched twice (the optimal string alignment distance).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &str, b: &str) -> usize {
        edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn distances_are_those_counted_by_hand() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("motion", "motion"), 0);
        assert_eq!(distance("moton", "motion"), 1);
        assert_eq!(distance("moiton", "motion"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ca", "abc"), 3);
    }

    #[test]
    fn only_near_words_are_suggested() {
        let words = ["motion", "speed", "radius", "radii", "fps"];
        assert_eq!(nearest("Moton", &words), ["motion"]);
        assert_eq!(nearest("radiu", &words), ["radius"]);
        assert_eq!(nearest("fsp", &words), ["fps"]);
        for far in ["banana", "xyz", "", &"motion".repeat(1000)] {
            assert!(nearest(far, &words).is_empty(), "{far}");
        }
        assert_eq!(
            suggestion("scalq", &["scale", "up", "scalp"]),
            "did you mean 'scale' or 'scalp'? "
        );
        assert_eq!(suggestion("banana", &words), "");
    }
}
