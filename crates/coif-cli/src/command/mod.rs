//! One file per command: its arguments, whose doc comments are the help, and its code.

pub(crate) mod bench;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod render;
pub(crate) mod scenes;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod validate;

use glam::Vec3;

/// `960x540`
pub(crate) fn size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("expected WIDTHxHEIGHT in pixels such as 960x540, found '{text}'");
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let side = |s: &str| s.trim().parse::<u32>().map_err(|_| wrong());
    let (width, height) = (side(width)?, side(height)?);
    if [width, height].iter().any(|s| !(16..=8192).contains(s)) {
        return Err(format!("each side must be 16 to 8192 pixels, found {width}x{height}"));
    }
    Ok((width, height))
}

/// Maximum number of threads: more than any machine has cores, as each takes memory.
const MAX_THREADS: usize = 512;

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= MAX_THREADS => Ok(threads),
        _ => Err(format!("expected 0 to {MAX_THREADS}, 0 is one per core")),
    }
}

/// `A..B`
pub(crate) fn range(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("expected A..B such as 10..50, found '{text}'");
    let (a, b) = text.split_once("..").ok_or_else(wrong)?;
    let number = |s: &str| s.trim().parse::<u64>().map_err(|_| wrong());
    let (a, b) = (number(a)?, number(b)?);
    if a <= b { Ok((a, b)) } else { Err(format!("the range {a}..{b} is empty")) }
}

/// `0.1,0.2,3`
pub(crate) fn point(text: &str) -> Result<Vec3, String> {
    let wrong = || format!("expected three numbers such as 0,1.6,0.8, found '{text}'");
    let numbers: Vec<f32> =
        text.split(',').map(|n| n.trim().parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let point = <[f32; 3]>::try_from(numbers).map(Vec3::from).map_err(|_| wrong())?;
    if point.is_finite() { Ok(point) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_threads_ranges_and_points_are_read() {
        assert_eq!(size("960x540"), Ok((960, 540)));
        for wrong in ["960", "x", "0x10", "1e9x3", "20000x20"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(range("3..7"), Ok((3, 7)));
        assert!(range("7..3").is_err() && range("7").is_err() && range("a..b").is_err());
        assert_eq!(threads("2"), Ok(2));
        assert!(threads("513").is_err() && threads("-1").is_err() && threads("two").is_err());
        assert_eq!(point("1, -2.5,3"), Ok(Vec3::new(1.0, -2.5, 3.0)));
        for wrong in ["1,2", "1,2,3,4", "a,b,c", "nan,0,0"] {
            assert!(point(wrong).is_err(), "{wrong}");
        }
    }
}
