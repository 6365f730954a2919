//! Numbers and strings as TOML text: short, and read back without loss.

/// A number in the shortest form that TOML reads back as the same `f64`.
pub fn f64_text(value: f64) -> String {
    special(value).unwrap_or_else(|| {
        if in_plain_range(value.abs()) { format!("{value}") } else { format!("{value:e}") }
    })
}

/// A number in the shortest form that TOML, which reads `f64`, gives back as the same `f32`.
pub fn f32_text(value: f32) -> String {
    if let Some(text) = special(f64::from(value)) {
        return text;
    }
    let plain = in_plain_range(f64::from(value.abs()));
    let text = if plain { format!("{value}") } else { format!("{value:e}") };
    // Write all digits of the f64 where double rounding, to f64 and then to f32, would give another f32.
    match text.parse::<f64>() {
        Ok(read) if read as f32 == value => text,
        _ => f64_text(f64::from(value)),
    }
}

/// A string as TOML.
pub fn string_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn in_plain_range(size: f64) -> bool {
    size == 0.0 || (1e-4..1e7).contains(&size)
}

fn special(value: f64) -> Option<String> {
    if value.is_nan() {
        Some("nan".into())
    } else if value.is_infinite() {
        Some(if value > 0.0 { "inf" } else { "-inf" }.into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(f32_text(0.1), "0.1");
        assert_eq!(f32_text(40e-6), "4e-5");
        assert_eq!(f32_text(4e9), "4e9");
        assert_eq!(f32_text(60.0), "60");
        assert_eq!(f64_text(-9.81), "-9.81");
        assert_eq!(f64_text(f64::NEG_INFINITY), "-inf");
    }
}
