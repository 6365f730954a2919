//! Triangulation of polygons.
//!
//! A fan from the first corner where it is valid (every convex polygon), otherwise ear clipping in the polygon's mean
//! plane.

use std::path::Path;

use glam::{Vec2, Vec3};

use super::Group;
use super::parse::Parsed;
use crate::{Error, Place, Result};

/// Maximum number of corners for ear clipping, whose time grows with their cube; polygons with more become fans.
const MAX_CORNERS: usize = 512;

/// Triangles of all polygons, and the named parts in triangles.
pub(super) fn triangulate(
    file: &Path,
    parsed: &Parsed,
    positions: &[Vec3],
    warnings: &mut Vec<String>,
) -> Result<(Vec<[u32; 3]>, Vec<Group>)> {
    let mut triangles = Vec::with_capacity(parsed.face_ends.len());
    // The first triangle of each polygon, and the total at the end.
    let mut first = Vec::with_capacity(parsed.face_ends.len() + 1);
    let mut fanned = 0;
    let mut start = 0;
    for &end in &parsed.face_ends {
        first.push(triangles.len());
        fanned += usize::from(!cut(&parsed.corners[start..end], positions, &mut triangles));
        start = end;
    }
    first.push(triangles.len());
    if fanned > 0 {
        warnings.push(format!(
            "{}: {fanned} polygons could not be cut cleanly (they cross themselves, have no area or have more than {MAX_CORNERS} corners)",
            file.display()
        ));
    }
    if u32::try_from(triangles.len()).is_err() {
        let (expected, found) = (format!("at most {} triangles", u32::MAX), triangles.len());
        return Err(Error::malformed(file, Place::Whole, expected, found.to_string()));
    }
    let in_triangles = |face: usize| first[face] as u32;
    let groups = parsed.groups.iter().map(|group| Group {
        kind: group.kind,
        name: group.name.clone(),
        triangles: group
            .faces
            .iter()
            .map(|faces| in_triangles(faces.start)..in_triangles(faces.end))
            .collect(),
    });
    Ok((triangles, groups.collect()))
}

/// Triangulates one polygon; `false` if only a fan that may overlap itself could be made.
fn cut(corners: &[u32], positions: &[Vec3], triangles: &mut Vec<[u32; 3]>) -> bool {
    if let &[a, b, c] = corners {
        triangles.push([a, b, c]);
        return true;
    }
    let at = |i: usize| positions[corners[i] as usize];
    let count = corners.len();
    // Sum the cross products of the fan: twice the area vector of the polygon, flat or bent.
    let area = |i: usize| (at(i) - at(0)).cross(at(i + 1) - at(0));
    let normal: Vec3 = (1..count - 1).map(area).sum();
    let fan_is_valid = (1..count - 1).all(|i| area(i).dot(normal) > 0.0);
    if !fan_is_valid
        && count <= MAX_CORNERS
        && let Some(normal) = normal.try_normalize()
    {
        let x = normal.any_orthonormal_vector();
        let y = normal.cross(x);
        let flat: Vec<Vec2> =
            (0..count).map(|i| at(i) - at(0)).map(|p| Vec2::new(p.dot(x), p.dot(y))).collect();
        if let Some(ears) = clip_ears(&flat) {
            triangles.extend(ears.iter().map(|ear| ear.map(|i| corners[i])));
            return true;
        }
    }
    triangles.extend((1..count - 1).map(|i| [corners[0], corners[i], corners[i + 1]]));
    fan_is_valid
}

/// Cuts ears off a counter-clockwise polygon; `None` if it intersects itself.
fn clip_ears(flat: &[Vec2]) -> Option<Vec<[usize; 3]>> {
    let mut left: Vec<usize> = (0..flat.len()).collect();
    let mut ears = Vec::with_capacity(flat.len() - 2);
    while left.len() > 3 {
        let count = left.len();
        let around = |i: usize| [left[(i + count - 1) % count], left[i], left[(i + 1) % count]];
        let is_ear = |&i: &usize| {
            let [a, b, c] = around(i).map(|k| flat[k]);
            (b - a).perp_dot(c - a) > 0.0
                && left.iter().filter(|k| !around(i).contains(k)).all(|&k| {
                    let p = flat[k];
                    // A corner on the cut or inside the ear would be cut off with it.
                    let outside = |u: Vec2, v: Vec2| (v - u).perp_dot(p - u) < 0.0;
                    outside(a, b) || outside(b, c) || outside(c, a) || p == a || p == b || p == c
                })
        };
        let ear = (0..count).find(is_ear)?;
        ears.push(around(ear));
        left.remove(ear);
    }
    ears.push([left[0], left[1], left[2]]);
    Some(ears)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles of a flat polygon, and the sum of their signed areas.
    fn area(flat: &[(f32, f32)]) -> (bool, f32) {
        let positions: Vec<Vec3> = flat.iter().map(|&(x, y)| Vec3::new(x, 0.5, -y)).collect();
        let corners: Vec<u32> = (0..flat.len() as u32).collect();
        let mut triangles = Vec::new();
        let clean = cut(&corners, &positions, &mut triangles);
        assert_eq!(triangles.len(), flat.len() - 2);
        let signed = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            (b - a).cross(c - a).y / 2.0
        };
        assert!(!clean || triangles.iter().all(|t| signed(t) > -1e-6), "a triangle is inverted");
        (clean, triangles.iter().map(signed).sum())
    }

    #[test]
    fn concave_polygons_are_covered_once() {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        assert_eq!(area(&square), (true, 1.0));
        // An arrow head whose notch is opposite to the first corner, and at every other one.
        let arrow = [(0.0, 0.0), (4.0, 2.0), (0.0, 4.0), (1.0, 2.0)];
        for turn in 0..4 {
            let mut turned = arrow;
            turned.rotate_left(turn);
            let (clean, area) = area(&turned);
            assert!(clean && (area - 6.0).abs() < 1e-5, "{turn}: {area}");
        }
        let u = [
            (0.0, 0.0),
            (3.0, 0.0),
            (3.0, 3.0),
            (2.0, 3.0),
            (2.0, 1.0),
            (1.0, 1.0),
            (1.0, 3.0),
            (0.0, 3.0),
        ];
        for turn in 0..8 {
            let mut turned = u;
            turned.rotate_left(turn);
            let (clean, area) = area(&turned);
            assert!(clean && (area - 7.0).abs() < 1e-5, "{turn}: {area}");
        }
    }

    #[test]
    fn polygons_without_an_area_do_not_panic() {
        assert!(!area(&[(0.0, 0.0); 6]).0);
        assert!(!area(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]).0);
    }
}
