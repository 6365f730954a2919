//! The lists of values of a sweep, and their combinations.

use crate::failure::Failure;

/// Maximum number of combinations: more than a machine simulates in a year.
const MAX_COMBINATIONS: usize = 1_000_000;

/// A key with its values, in the notation of `--set`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

impl List {
    /// Reads `key=a,b,c`. Commas inside brackets, braces and quotes do not separate: `key=[1,0,0],[2,0,0]`.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |reason: &str| {
            Failure::new(
                format!("--set {text}: {reason}"),
                "write it like model.damping=0.5,1,2 or 'wind.velocity=[1,0,0],[2,0,0]'",
            )
        };
        let (key, list) = text.split_once('=').ok_or_else(|| wrong("expected KEY=A,B,C"))?;
        if key.trim().is_empty() {
            return Err(wrong("expected a key before '='"));
        }
        let values = split(list).ok_or_else(|| wrong("a bracket or a quote is not closed"))?;
        if values.iter().any(String::is_empty) {
            return Err(wrong("expected a value before and after every comma"));
        }
        Ok(Self { key: key.trim().into(), values })
    }
}

/// The values between commas outside of brackets and quotes; `None` if one of these is not closed.
fn split(list: &str) -> Option<Vec<String>> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0i32, None);
    for c in list.chars() {
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                values.push(std::mem::take(&mut value).trim().to_owned());
                continue;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        value.push(c);
    }
    values.push(value.trim().to_owned());
    (depth == 0 && quote.is_none()).then_some(values)
}

/// All combinations, the last list varying fastest: one value per list.
pub(super) fn combinations(lists: &[List]) -> Result<Vec<Vec<&str>>, Failure> {
    let count = lists.iter().try_fold(1usize, |n, list| n.checked_mul(list.values.len()));
    let count = count.filter(|&n| n <= MAX_COMBINATIONS).ok_or_else(|| {
        Failure::new(
            format!("the lists have more than {MAX_COMBINATIONS} combinations"),
            "use fewer values",
        )
    })?;
    let combination = |index: usize| {
        let mut rest = index;
        let mut values: Vec<&str> = Vec::with_capacity(lists.len());
        for list in lists.iter().rev() {
            values.push(&list.values[rest % list.values.len()]);
            rest /= list.values.len();
        }
        values.reverse();
        values
    };
    Ok((0..count).map(combination).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_at_the_outer_commas() {
        let values = |text: &str| List::parse(text).unwrap().values;
        assert_eq!(values("a.b=1, 2 ,3"), ["1", "2", "3"]);
        assert_eq!(values("model.name=mass-spring"), ["mass-spring"]);
        assert_eq!(values("wind.velocity=[1,0,0],[2,0,0]"), ["[1,0,0]", "[2,0,0]"]);
        assert_eq!(values("t=[[0,1],[1,2]],3"), ["[[0,1],[1,2]]", "3"]);
        assert_eq!(values("title='a,b',\"c,d\""), ["'a,b'", "\"c,d\""]);
        for wrong in ["a", "=1", "a=", "a=1,,2", "a=1,", "a=[1,2", "a=1]", "a='x"] {
            assert!(List::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_list_varies_fastest() {
        let lists = ["a=1,2", "b=x", "c=p,q"].map(|text| List::parse(text).unwrap());
        let expected = [["1", "x", "p"], ["1", "x", "q"], ["2", "x", "p"], ["2", "x", "q"]];
        assert_eq!(combinations(&lists).unwrap(), expected);
        assert_eq!(combinations(&[]).unwrap(), [[""; 0]]);
        let long = List { key: "a".into(), values: vec!["1".into(); 1001] };
        assert!(combinations(&[long.clone(), long]).is_err());
    }
}
