//! The name that a misspelt name most likely meant.

/// The candidate nearest to `word`, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().replace([' ', '_'], "-").chars().take(64).collect();
    let distances = candidates.into_iter().map(|candidate| {
        let letters: Vec<char> = candidate.chars().collect();
        let begins = letters.starts_with(&word) && word.len() > 1;
        let distance = if begins { 1 } else { edit_distance(&word, &letters) };
        (distance, letters.len().max(word.len()), candidate)
    });
    let best = distances.min_by_key(|d| d.0)?;
    (best.0 * 3 <= best.1.max(3)).then_some(best.2)
}

/// How many letters must be inserted, deleted, replaced, or swapped with their neighbour.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["demo", "spin", "long-wavy", "fall-and-stop"];
        assert_eq!(nearest("dmeo", names), Some("demo"));
        assert_eq!(nearest("dem", names), Some("demo"));
        assert_eq!(nearest("spinn", names), Some("spin"));
        assert_eq!(nearest("Long_wavi", names), Some("long-wavy"));
        assert_eq!(nearest("fall", names), Some("fall-and-stop"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("", names), None);
    }
}
