//! Numbers with units for people, with the significant digits.

/// 12,345,678
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A length given in metres.
pub(crate) fn metres(m: f32) -> String {
    let size = m.abs();
    if size == 0.0 {
        "0".into()
    } else if size < 1e-3 {
        format!("{:.1} um", m * 1e6)
    } else if size < 1e-2 {
        format!("{:.1} mm", m * 1e3)
    } else if size < 1.0 {
        format!("{:.1} cm", m * 1e2)
    } else {
        format!("{m:.2} m")
    }
}

/// A speed given in metres per second.
pub(crate) fn speed(m_s: f32) -> String {
    if m_s.abs() < 1.0 { format!("{:.1} cm/s", m_s * 1e2) } else { format!("{m_s:.1} m/s") }
}

/// A time given in milliseconds.
pub(crate) fn milliseconds(ms: f64) -> String {
    if ms < 10.0 {
        format!("{ms:.2} ms")
    } else if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else {
        seconds(ms / 1e3)
    }
}

/// A time given in seconds.
pub(crate) fn seconds(s: f64) -> String {
    if s < 1.0 {
        format!("{:.0} ms", s * 1e3)
    } else if s < 90.0 {
        format!("{s:.1} s")
    } else {
        format!("{} min {:02} s", (s / 60.0) as u64, (s % 60.0) as u64)
    }
}

/// A number of any size with three significant digits.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else if (0.001..1e4).contains(&x.abs()) {
        let digits = (2.0 - x.abs().log10().floor()).max(0.0) as usize;
        format!("{x:.digits$}")
    } else {
        format!("{x:.2e}")
    }
}

/// A size of memory or a file.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.0} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(metres(0.0), "0");
        assert_eq!(metres(38e-6), "38.0 um");
        assert_eq!(metres(0.305), "30.5 cm");
        assert_eq!(speed(0.002), "0.2 cm/s");
        assert_eq!(speed(33.0), "33.0 m/s");
        assert_eq!(milliseconds(4.2), "4.20 ms");
        assert_eq!(seconds(125.0), "2 min 05 s");
        assert_eq!(number(1.0937), "1.09");
        assert_eq!(number(0.15), "0.150");
        assert_eq!(number(2.384e-6), "2.38e-6");
        assert_eq!(bytes(2_300_000), "2.3 MB");
    }
}
