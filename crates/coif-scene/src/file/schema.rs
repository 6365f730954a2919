//! The definition of a key of a scene file: its values, its unit, its meaning, and the field it fills.
//!
//! The list of all keys is in `keys`.

use coif::params::{self, Param, Parameters, Ramp, f32_text, f64_text, string_text};
use glam::Vec3;

use super::error::{Problem, SceneError, quoted};
use super::scene::Scene;
use super::tree::{Entry, Node, Sources, Value};
use crate::suggestion;

/// A table of a scene file and its keys. The top level has the path "".
pub(crate) struct Section<T: 'static> {
    pub(crate) path: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) keys: &'static [Key<T>],
}

/// A key that fills a field of `T`.
pub(crate) struct Key<T: 'static> {
    pub(crate) name: &'static str,
    /// SI unit, or the meaning of the components; empty for a plain number.
    pub(crate) unit: &'static str,
    /// The other keys of its table that it needs or excludes.
    pub(crate) needs: Needs,
    /// What happens without it, for keys without a fixed default.
    pub(crate) absent: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) kind: Kind<T>,
}

/// Which neighbouring key a key needs or excludes, or which models it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    With(&'static str),
    Without(&'static str),
    Model(&'static [&'static str]),
    /// The neighbour must have this value.
    Word(&'static str, &'static str),
}

impl Needs {
    /// Whether the key applies to a model.
    pub(crate) fn has_model(self, model: &str) -> bool {
        match self {
            Self::Model(models) => models.contains(&model),
            _ => true,
        }
    }
}

/// The values of a key, and accessors of its field. A getter returns `None` where the scene has no such value.
pub(crate) enum Kind<T> {
    Number {
        min: f64,
        max: f64,
        get: fn(&T) -> Option<f32>,
        set: fn(&mut T, f32),
    },
    Vector {
        min: f64,
        max: f64,
        get: fn(&T) -> Option<Vec3>,
        set: fn(&mut T, Vec3),
    },
    Text {
        get: fn(&T) -> Option<&str>,
        set: fn(&mut T, String),
    },
    Choice {
        what: &'static str,
        names: &'static [&'static str],
        planned: &'static [&'static str],
        get: fn(&T) -> Option<&'static str>,
        set: fn(&mut T, usize),
    },
    /// A parameter of settings within `T`.
    Param(&'static Param, Table<T>),
}

/// Accessors of settings within `T`.
pub(crate) struct Table<T = Scene> {
    /// `None` if they are disabled.
    pub(crate) get: fn(&T) -> Option<&dyn Parameters>,
    /// Enables them.
    pub(crate) get_mut: fn(&mut T) -> Option<&mut dyn Parameters>,
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<T> {}

/// The accepted values and the meaning of a key of a scene file, for references, help texts and sliders.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyInfo {
    /// The table, such as `groom.fibre`; empty for the top level.
    pub table: &'static str,
    /// The key within its table.
    pub name: &'static str,
    /// Which values it takes.
    pub values: Values,
    /// SI unit; empty for a plain number.
    pub unit: &'static str,
    /// The default as TOML, if it is a fixed one.
    pub default: Option<String>,
    /// What happens without the key if there is no fixed default.
    pub absent: &'static str,
    /// The key of the same table that it requires.
    pub only_with: Option<&'static str>,
    /// The key of the same table and the value of it that this key requires.
    pub only_with_word: Option<(&'static str, &'static str)>,
    /// The key of the same table that it excludes.
    pub not_with: Option<&'static str>,
    /// The models that have this key; empty if all have it, or if it does not depend on the model.
    pub only_models: &'static [&'static str],
    /// Defaults of models that differ from `default`.
    pub other_defaults: Vec<(&'static str, String)>,
    /// Its meaning.
    pub meaning: &'static str,
}

impl KeyInfo {
    /// Table and key, as `--set` takes them: `groom.fibre.radius`.
    pub fn path(&self) -> String {
        if self.table.is_empty() {
            self.name.into()
        } else {
            format!("{}.{}", self.table, self.name)
        }
    }
}

/// The values that a key accepts, with inclusive limits.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are limits and names.
pub enum Values {
    /// A whole number.
    Integer { min: u64, max: u64 },
    /// A number.
    Number { min: f64, max: f64 },
    /// A number, or a ramp: pairs of a place, from 0 at the root to 1 at the tip, and a number.
    Ramp { min: f64, max: f64 },
    /// Three numbers.
    Vector { min: f64, max: f64 },
    /// `true` or `false`.
    Bool,
    /// Any string.
    Text,
    /// One string, or a list of strings.
    Names,
    /// One of several names; `planned` ones are known, but not available yet.
    Choice { names: &'static [&'static str], planned: &'static [&'static str] },
    /// One of several names, or a colour: three numbers from 0 to 1.
    NameOrColor { names: &'static [&'static str] },
}

impl<T> Key<T> {
    pub(crate) fn values(&self) -> Values {
        match self.kind {
            Kind::Number { min, max, .. } => Values::Number { min, max },
            Kind::Vector { min, max, .. } => Values::Vector { min, max },
            Kind::Text { .. } => Values::Text,
            Kind::Choice { names, planned, .. } => Values::Choice { names, planned },
            Kind::Param(&Param { kind, min, max, .. }, _) => match kind {
                params::Kind::Number => Values::Number { min, max },
                params::Kind::Count => {
                    let [min, max] = counts(min, max);
                    Values::Integer { min, max }
                }
                params::Kind::Ramp => Values::Ramp { min, max },
                params::Kind::Vector => Values::Vector { min, max },
                params::Kind::Text => Values::Text,
                params::Kind::Names => Values::Names,
                params::Kind::Choice { names, planned, .. } => Values::Choice { names, planned },
                params::Kind::NameOrColor { names, .. } => Values::NameOrColor { names },
                _ => Values::Bool,
            },
        }
    }

    /// The value of the field as TOML.
    pub(crate) fn value_text(&self, from: &T) -> Option<String> {
        match &self.kind {
            Kind::Number { get, .. } => get(from).map(f32_text),
            Kind::Vector { get, .. } => get(from).map(vector_text),
            Kind::Text { get, .. } => get(from).map(string_text),
            Kind::Choice { get, .. } => get(from).map(string_text),
            Kind::Param(param, table) => {
                let settings = (table.get)(from).filter(|s| self.needs.has_model(s.of()))?;
                settings.get(param.name).map(|value| value.to_string())
            }
        }
    }

    /// Checks the value in the file and fills the field.
    pub(crate) fn read(
        &self,
        into: &mut T,
        entry: &Entry,
        table: &str,
        sources: &Sources,
    ) -> Result<(), SceneError> {
        let reader = Reader { name: self.name, unit: self.unit, table, sources };
        let node = &entry.node;
        match &self.kind {
            Kind::Number { min, max, set, .. } => set(into, reader.number(node, *min, *max)?),
            Kind::Vector { min, max, set, .. } => set(into, reader.vector(node, *min, *max)?),
            Kind::Text { set, .. } => set(into, reader.string(node, "a string")?.into()),
            Kind::Choice { what, names, planned, set, .. } => {
                set(into, reader.choice(node, what, names, planned)?);
            }
            Kind::Param(param, table) => {
                let value = reader.param(node, param)?;
                // If two models have a key of the same name, only the chosen one takes it.
                let settings = (table.get_mut)(into).filter(|s| self.needs.has_model(s.of()));
                if let Some(settings) = settings {
                    settings
                        .set(param.name, value)
                        .map_err(|e| reader.wrong_type(node, &e.to_string()))?;
                }
            }
        }
        Ok(())
    }
}

/// Converts nodes to checked values; errors name the key.
struct Reader<'a> {
    name: &'static str,
    unit: &'static str,
    table: &'a str,
    sources: &'a Sources,
}

impl Reader<'_> {
    fn param(&self, node: &Node, param: &Param) -> Result<params::Value, SceneError> {
        let Param { kind, min, max, .. } = *param;
        Ok(match kind {
            params::Kind::Number => params::Value::Number(self.number(node, min, max)?),
            params::Kind::Count => {
                let [min, max] = counts(min, max);
                params::Value::Count(self.integer(node, min, max)?)
            }
            params::Kind::Ramp => params::Value::Ramp(self.ramp(node, min, max)?),
            params::Kind::Vector => params::Value::Vector(self.vector(node, min, max)?),
            params::Kind::Text => params::Value::Text(self.string(node, "a string")?.into()),
            params::Kind::Names => params::Value::Names(self.names(node)?),
            params::Kind::NameOrColor { .. } if matches!(node.value, Value::Array(_)) => {
                params::Value::Vector(self.vector(node, min, max)?)
            }
            params::Kind::NameOrColor { what, names } => {
                params::Value::Choice(names[self.choice(node, what, names, &[])?])
            }
            params::Kind::Choice { what, names, planned } => {
                params::Value::Choice(names[self.choice(node, what, names, planned)?])
            }
            _ => params::Value::Switch(self.bool(node)?),
        })
    }

    fn bool(&self, node: &Node) -> Result<bool, SceneError> {
        match node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.wrong_type(node, "true or false")),
        }
    }

    fn integer(&self, node: &Node, min: u64, max: u64) -> Result<u64, SceneError> {
        let refuse =
            |value: String| Err(self.out_of_range(node, value, min.to_string(), max.to_string()));
        match node.value {
            Value::Integer(v) => match u64::try_from(v) {
                Ok(v) if (min..=max).contains(&v) => Ok(v),
                _ => refuse(v.to_string()),
            },
            // Accept 1e5 as a whole number.
            Value::Float(v) if v.fract() == 0.0 && v >= min as f64 && v < max as f64 + 1.0 => {
                Ok((v as u64).clamp(min, max))
            }
            Value::Float(v) if v.fract() == 0.0 => refuse(f64_text(v)),
            _ => Err(self.wrong_type(node, "a whole number")),
        }
    }

    fn number(&self, node: &Node, min: f64, max: f64) -> Result<f32, SceneError> {
        let value = match node.value {
            Value::Integer(v) => v as f64,
            Value::Float(v) => v,
            _ => return Err(self.wrong_type(node, &number_of(self.unit))),
        };
        if (min..=max).contains(&value) {
            Ok(value as f32)
        } else {
            Err(self.out_of_range(node, f64_text(value), f64_text(min), f64_text(max)))
        }
    }

    fn ramp(&self, node: &Node, min: f64, max: f64) -> Result<Ramp, SceneError> {
        let expected = || {
            let number = number_of(self.unit);
            format!(
                "{number}, or a ramp of places from 0 to 1 and numbers, such as [[0, 1], [1, 2]]"
            )
        };
        let Value::Array(points) = &node.value else {
            return match node.value {
                Value::Integer(_) | Value::Float(_) => Ok(self.number(node, min, max)?.into()),
                _ => Err(self.wrong_type(node, &expected())),
            };
        };
        let mut ramp = Vec::with_capacity(points.len());
        for point in points {
            let pair = match &point.value {
                Value::Array(pair) => pair.as_slice(),
                _ => &[],
            };
            let [place, value] = pair else { return Err(self.wrong_type(point, &expected())) };
            ramp.push([self.number(place, 0.0, 1.0)?, self.number(value, min, max)?]);
        }
        Ramp::new(&ramp).ok_or_else(|| {
            let problem = self.type_problem(&expected(), "places that do not increase");
            let hint = format!("write 1 to {} points, from root to tip", Ramp::MAX_POINTS);
            self.sources.error(node.span, problem).with_hint(hint)
        })
    }

    fn vector(&self, node: &Node, min: f64, max: f64) -> Result<Vec3, SceneError> {
        let Value::Array(items) = &node.value else {
            return Err(self.wrong_type(node, "three numbers [x, y, z]"));
        };
        let [x, y, z] = items.as_slice() else {
            let found = format!("{} of them", items.len());
            let problem = self.type_problem("three numbers [x, y, z]", &found);
            return Err(self.sources.error(node.span, problem));
        };
        let component = |node| self.number(node, min, max);
        Ok(Vec3::new(component(x)?, component(y)?, component(z)?))
    }

    fn string<'n>(&self, node: &'n Node, expected: &str) -> Result<&'n str, SceneError> {
        match &node.value {
            Value::String(text) => Ok(text),
            _ => {
                let error = self.wrong_type(node, expected);
                let plain = !matches!(node.value, Value::Array(_) | Value::Table(_));
                Err(if plain { error.with_hint("put it in quotes") } else { error })
            }
        }
    }

    fn names(&self, node: &Node) -> Result<Vec<String>, SceneError> {
        const EXPECTED: &str = "a string or a list of strings";
        match &node.value {
            Value::Array(items) if items.is_empty() => {
                let problem = self.type_problem(EXPECTED, "an empty list");
                let hint = format!("name something, or leave out '{}'", self.name);
                Err(self.sources.error(node.span, problem).with_hint(hint))
            }
            Value::Array(items) => {
                items.iter().map(|item| Ok(self.string(item, EXPECTED)?.to_owned())).collect()
            }
            _ => Ok(vec![self.string(node, EXPECTED)?.to_owned()]),
        }
    }

    fn choice(
        &self,
        node: &Node,
        what: &'static str,
        names: &[&'static str],
        planned: &[&'static str],
    ) -> Result<usize, SceneError> {
        let word = self.string(node, &format!("one of {}", names.join(", ")))?;
        if let Some(index) = names.iter().position(|n| *n == word) {
            return Ok(index);
        }
        Err(unknown_choice(self.sources, node, what, word, names, planned))
    }

    fn wrong_type(&self, node: &Node, expected: &str) -> SceneError {
        self.sources.error(node.span, self.type_problem(expected, node.type_name()))
    }

    fn type_problem(&self, expected: &str, found: &str) -> Problem {
        Problem::WrongType {
            key: self.name.into(),
            table: self.table.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    fn out_of_range(&self, node: &Node, value: String, min: String, max: String) -> SceneError {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let problem = Problem::OutOfRange {
            key: self.name.into(),
            table: self.table.into(),
            value: format!("{value}{unit}"),
            allowed: format!("{min} to {max}{unit}"),
        };
        self.sources.error(node.span, problem)
    }
}

/// The error for a name that is planned, misspelt or unknown.
pub(crate) fn unknown_choice(
    sources: &Sources,
    node: &Node,
    what: &'static str,
    word: &str,
    names: &[&'static str],
    planned: &[&'static str],
) -> SceneError {
    let list = if names.is_empty() { "none yet".into() } else { names.join(", ") };
    if planned.contains(&word) {
        let problem = Problem::NotAvailable { what, name: word.into() };
        return sources.error(node.span, problem).with_hint(format!("available: {list}"));
    }
    let problem = Problem::UnknownChoice { what, value: quoted(word) };
    let all: Vec<&str> = names.iter().chain(planned).copied().collect();
    let hint = format!("{}available: {list}", suggestion(word, &all));
    sources.error(node.span, problem).with_hint(hint)
}

/// The range of a count: whole numbers up to the largest integer of TOML.
fn counts(min: f64, max: f64) -> [u64; 2] {
    [min, max].map(|limit| (limit as u64).min(i64::MAX as u64))
}

/// "a number of seconds" and the like.
fn number_of(unit: &str) -> String {
    match unit {
        "" => "a number".into(),
        "m" => "a number of metres".into(),
        "s" => "a number of seconds".into(),
        "degrees" | "pixels" => format!("a number of {unit}"),
        _ => format!("a number ({unit})"),
    }
}

pub(crate) fn vector_text(v: Vec3) -> String {
    format!("[{}, {}, {}]", f32_text(v.x), f32_text(v.y), f32_text(v.z))
}

/// The keys of the scene, and of the tables within.
pub(crate) type SceneSection = Section<Scene>;
