//! Parses the text of an `.obj` file into vertices, polylines, polygons and names.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use glam::Vec3;

use super::GroupKind;
use super::tokens::{Token, Tokens};
use crate::unit::Declared;
use crate::{Error, Place, Result};

/// The content of a file, before polygons are triangulated.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// In the file's unit; finite.
    pub(super) positions: Vec<Vec3>,
    /// One per vertex, or empty.
    pub(super) colors: Vec<Vec3>,
    /// Vertices of all polylines, one after the other.
    pub(super) lines: Vec<u32>,
    /// End of each polyline in `lines`.
    pub(super) line_ends: Vec<usize>,
    /// Vertices of all polygons, one after the other.
    pub(super) corners: Vec<u32>,
    /// End of each polygon in `corners`.
    pub(super) face_ends: Vec<usize>,
    /// Named parts.
    pub(super) groups: Vec<FaceGroup>,
    pub(super) declared: Declared,
    pub(super) warnings: Vec<String>,
}

/// A named part, in polygons.
#[derive(Debug, PartialEq)]
pub(super) struct FaceGroup {
    pub(super) kind: GroupKind,
    pub(super) name: String,
    pub(super) faces: Vec<Range<usize>>,
}

/// State of the parser.
#[derive(Default)]
struct State {
    /// The open groups: kind, index, and the polygon since which each is open.
    open: Vec<(GroupKind, usize, usize)>,
    by_name: HashMap<(GroupKind, String), usize>,
    /// The largest vertex number used so far, and its place.
    largest: Option<(u32, Place)>,
    joined: usize,
    /// Number of unknown statements, and the first.
    unknown: usize,
    first_unknown: Option<String>,
    some_colors: bool,
}

impl Parsed {
    pub(super) fn new(file: &Path, bytes: &[u8]) -> Result<Self> {
        if bytes.trim_ascii().is_empty() {
            return Err(Error::malformed(file, Place::Whole, "an .obj file", "an empty file"));
        }
        if let Some(at) = bytes.iter().take(4096).position(|&b| b == 0) {
            let expected = "the text of an .obj file";
            return Err(Error::malformed(file, Place::Byte(at as u64), expected, "a zero byte")
                .with_hint("this is a binary file, or text in UTF-16: save it as UTF-8"));
        }
        let mut parsed = Self::default();
        let mut state = State::default();
        let mut tokens = Tokens::new(file, bytes);
        loop {
            if tokens.at_comment() {
                parsed.comment(tokens.rest_of_line());
            } else if let Some(word) = tokens.next() {
                parsed.statement(word, &mut tokens, &mut state)?;
            }
            if !tokens.next_statement() {
                break;
            }
        }
        parsed.finish(&tokens, state)
    }

    /// Reads `# coif unit=m up=y` if it is before the first vertex.
    fn comment(&mut self, text: &[u8]) {
        if self.positions.is_empty() && text.contains(&b'=') {
            let declared = Declared::parse(&String::from_utf8_lossy(text));
            if declared.by_coif {
                self.declared = declared;
            }
        }
    }

    fn statement(
        &mut self,
        word: Token<'_>,
        tokens: &mut Tokens<'_>,
        state: &mut State,
    ) -> Result<()> {
        match word.text {
            b"v" => self.vertex(tokens, state),
            b"l" => self.polyline(tokens, state),
            b"f" | b"fo" => self.face(tokens, state),
            b"g" => {
                self.close(state, GroupKind::Group);
                while let Some(name) = tokens.next() {
                    self.open(state, GroupKind::Group, name.text);
                }
                Ok(())
            }
            b"o" | b"usemtl" => {
                let kind = if word.text == b"o" { GroupKind::Object } else { GroupKind::Material };
                self.close(state, kind);
                self.open(state, kind, tokens.rest_of_line());
                Ok(())
            }
            b"vn" | b"vt" | b"vp" | b"s" | b"p" | b"mtllib" | b"mg" | b"maplib" | b"usemap"
            | b"shadow_obj" | b"trace_obj" | b"bevel" | b"c_interp" | b"d_interp" | b"lod"
            | b"cstype" | b"deg" | b"bmat" | b"step" | b"curv" | b"curv2" | b"surf" | b"parm"
            | b"trim" | b"hole" | b"scrv" | b"sp" | b"end" | b"con" | b"ctech" | b"stech" => Ok(()),
            _ => {
                state.unknown += 1;
                if state.first_unknown.is_none() {
                    state.first_unknown = Some(format!("{}{}", word.quoted(), At(word.place)));
                }
                Ok(())
            }
        }
    }

    /// `v x y z`, `v x y z w` or `v x y z r g b`.
    fn vertex(&mut self, tokens: &mut Tokens<'_>, state: &mut State) -> Result<()> {
        let mut values = [0.0; 6];
        let mut count = 0;
        while count < values.len()
            && let Some(word) = tokens.next()
        {
            values[count] = tokens.number(word)?;
            count += 1;
        }
        if count < 3 {
            let found = format!("{count} of them");
            return Err(tokens.error(tokens.place(), "three coordinates", found));
        }
        let [x, y, z, r, g, b] = values;
        if count == 6 {
            state.some_colors = true;
            if self.colors.len() == self.positions.len() {
                self.colors.push(Vec3::new(r, g, b));
            }
        }
        self.positions.push(Vec3::new(x, y, z));
        if u32::try_from(self.positions.len()).is_err() {
            let expected = format!("at most {} vertices", u32::MAX);
            return Err(tokens.error(tokens.place(), &expected, "one more"));
        }
        Ok(())
    }

    /// `l 1 2 3`. An element that starts with the vertex at which the last one ended continues it: some programs write
    /// every segment separately.
    fn polyline(&mut self, tokens: &mut Tokens<'_>, state: &mut State) -> Result<()> {
        let start = self.lines.len();
        while let Some(word) = tokens.next() {
            let vertex = self.resolve(word, tokens, state)?;
            self.lines.push(vertex);
        }
        let count = self.lines.len() - start;
        if count < 2 {
            let expected = "at least two vertices of a polyline";
            return Err(tokens.error(tokens.place(), expected, format!("{count} of them")));
        }
        match self.line_ends.last_mut() {
            Some(end) if self.lines[start] == self.lines[start - 1] => {
                self.lines.remove(start);
                *end = self.lines.len();
                state.joined += 1;
            }
            _ => self.line_ends.push(self.lines.len()),
        }
        Ok(())
    }

    /// `f 1 2 3`, `f 1/1 2/2 3/3`, `f 1//1 2//2 3//3`, with any number of corners.
    fn face(&mut self, tokens: &mut Tokens<'_>, state: &mut State) -> Result<()> {
        let start = self.corners.len();
        while let Some(word) = tokens.next() {
            let vertex = self.resolve(word, tokens, state)?;
            self.corners.push(vertex);
        }
        let count = self.corners.len() - start;
        if count < 3 {
            let expected = "at least three corners of a polygon";
            return Err(tokens.error(tokens.place(), expected, format!("{count} of them")));
        }
        self.face_ends.push(self.corners.len());
        Ok(())
    }

    /// Converts a vertex number, counted from 1 or from the end, to one counted from 0. A vertex may be defined later
    /// in the file, so the largest number is compared with their count at the end.
    fn resolve(&self, word: Token<'_>, tokens: &Tokens<'_>, state: &mut State) -> Result<u32> {
        let index = tokens.index(word)?;
        let count = self.positions.len();
        let resolved = if index > 0 { index - 1 } else { count as i64 + index };
        match u32::try_from(resolved) {
            Ok(vertex) => {
                if state.largest.is_none_or(|(largest, _)| vertex > largest) {
                    state.largest = Some((vertex, word.place));
                }
                Ok(vertex)
            }
            Err(_) => {
                let expected = format!("a vertex of the {count} before this line");
                Err(tokens.error(word.place, &expected, word.quoted()))
            }
        }
    }

    fn open(&mut self, state: &mut State, kind: GroupKind, name: &[u8]) {
        if name.is_empty() {
            return;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        let next = self.groups.len();
        let group = *state.by_name.entry((kind, name.clone())).or_insert(next);
        if group == next {
            self.groups.push(FaceGroup { kind, name, faces: Vec::new() });
        }
        state.open.push((kind, group, self.face_ends.len()));
    }

    fn close(&mut self, state: &mut State, kind: GroupKind) {
        let now = self.face_ends.len();
        state.open.retain(|&(open_kind, group, since)| {
            let stays = open_kind != kind;
            if !stays && now > since {
                let faces = &mut self.groups[group].faces;
                match faces.last_mut() {
                    Some(last) if last.end >= since => last.end = now,
                    _ => faces.push(since..now),
                }
            }
            stays
        });
    }

    fn finish(mut self, tokens: &Tokens<'_>, mut state: State) -> Result<Self> {
        for kind in [GroupKind::Object, GroupKind::Group, GroupKind::Material] {
            self.close(&mut state, kind);
        }
        self.groups.retain(|g| !g.faces.is_empty());
        let vertices = self.positions.len();
        if let Some((largest, place)) = state.largest
            && largest as usize >= vertices
        {
            let expected = format!("a vertex from 1 to {vertices}");
            return Err(tokens.error(place, &expected, format!("{}", u64::from(largest) + 1)));
        }
        let file = tokens.file().display();
        if state.some_colors && self.colors.len() != vertices {
            self.colors.clear();
            self.warnings
                .push(format!("{file}: some vertices have no colour, so all colours were ignored"));
        }
        if state.joined > 0 {
            self.warnings.push(format!(
                "{file}: {} 'l' statements continue the one before them and were joined to it",
                state.joined
            ));
        }
        if let Some(first) = state.first_unknown {
            let count = state.unknown;
            self.warnings
                .push(format!("{file}: {count} unknown statements were ignored, first {first}"));
        }
        Ok(self)
    }

    /// Drops the vertices that only polylines use, so that hair in the same file does not become
    /// loose vertices of the body.
    pub(super) fn drop_vertices_of_lines(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let mut dropped = vec![false; self.positions.len()];
        self.lines.iter().for_each(|&v| dropped[v as usize] = true);
        self.corners.iter().for_each(|&v| dropped[v as usize] = false);
        let mut kept = 0;
        let renumbered: Vec<u32> = dropped
            .iter()
            .map(|&gone| {
                kept += u32::from(!gone);
                kept.wrapping_sub(1)
            })
            .collect();
        self.corners.iter_mut().for_each(|v| *v = renumbered[*v as usize]);
        let mut gone = dropped.iter();
        self.positions.retain(|_| gone.next() == Some(&false));
    }
}

/// The line of a place, for messages.
struct At(Place);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Place::Text { line, .. } => write!(f, " in line {line}"),
            _ => Ok(()),
        }
    }
}
