//! One place per parameter.
//!
//! The macro `parameters!` declares settings: meaning, field, default, unit and range of each parameter. The
//! struct, its `Default`, its `validate` and the table [`Parameters::params`] follow from it; scene files, `--set`,
//! the reference page, hints for misspelt keys and random tests walk that table.

mod field;
mod numbers;
mod ramp;

use std::fmt;

use glam::Vec3;

pub use field::Field;
pub(crate) use field::choice;
pub use numbers::{f32_text, f64_text, string_text};
pub use ramp::Ramp;

#[doc(hidden)]
pub use crate::parameters;
use crate::{Error, Result};

/// A parameter: everything except its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    /// Its key in a scene file.
    pub name: &'static str,
    /// SI unit; empty for a plain number.
    pub unit: &'static str,
    /// The doc comment of its field.
    pub doc: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Smallest number that it takes, of each component.
    pub min: f64,
    /// Largest number that it takes, of each component.
    pub max: f64,
    /// Whether the largest number stands for infinity.
    pub unlimited: bool,
    /// What happens without it, for an optional parameter.
    pub absent: &'static str,
}

/// The kinds of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A number.
    Number,
    /// A whole number, 0 or more.
    Count,
    /// On or off.
    Switch,
    /// Three numbers.
    Vector,
    /// A number, or numbers at places from root to tip.
    Ramp,
    /// Any string.
    Text,
    /// One string or a list of strings.
    Names,
    /// One of some words.
    Choice {
        /// What is chosen.
        what: &'static str,
        /// The words.
        names: &'static [&'static str],
        /// Words that are known but not available yet.
        planned: &'static [&'static str],
    },
    /// One of some words, or a colour: three numbers.
    NameOrColor {
        /// What is chosen.
        what: &'static str,
        /// The words.
        names: &'static [&'static str],
    },
}

/// The value of a parameter. Displayed as TOML.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Of [`Kind::Number`].
    Number(f32),
    /// Of [`Kind::Count`].
    Count(u64),
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Vector`] or [`Kind::NameOrColor`].
    Vector(Vec3),
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Names`]; at least one.
    Names(Vec<String>),
    /// Of [`Kind::Choice`] or [`Kind::NameOrColor`].
    Choice(&'static str),
    /// Of [`Kind::Ramp`].
    Ramp(Ramp),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(v) => f.write_str(&f32_text(*v)),
            Self::Count(v) => v.fmt(f),
            Self::Switch(v) => v.fmt(f),
            Self::Vector(v) => {
                write!(f, "[{}, {}, {}]", f32_text(v.x), f32_text(v.y), f32_text(v.z))
            }
            Self::Ramp(ramp) => ramp.fmt(f),
            Self::Text(text) => f.write_str(&string_text(text)),
            Self::Names(names) => match names.as_slice() {
                [name] => f.write_str(&string_text(name)),
                names => {
                    let names: Vec<String> = names.iter().map(|name| string_text(name)).collect();
                    write!(f, "[{}]", names.join(", "))
                }
            },
            Self::Choice(word) => write!(f, "\"{word}\""),
        }
    }
}

impl Param {
    /// A parameter without a unit, to be completed by `parameters!`.
    #[doc(hidden)]
    pub const fn plain(name: &'static str, doc: &'static str, kind: Kind) -> Self {
        Self { name, unit: "", doc, kind, min: 0.0, max: 1.0, unlimited: false, absent: "" }
    }

    /// Whether another parameter has the same declaration, as parameters that several models have in common.
    pub fn is_like(&self, other: &Self) -> bool {
        let Self { name, unit, kind, min, max, .. } = *self;
        (name, unit, kind) == (other.name, other.unit, other.kind)
            && (min, max) == (other.min, other.max)
            && self.meaning() == other.meaning()
    }

    /// What it does, in one line: the first paragraph of its doc comment.
    pub fn meaning(&self) -> String {
        let lines = self.doc.lines().map(str::trim);
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// From the value of the field to the value outside: the largest number in place of infinity.
    #[doc(hidden)]
    pub fn shown(&self, value: Value) -> Value {
        let max = self.max as f32;
        self.unlimited_as(value, |v| if v > max { max } else { v })
    }

    /// From the value outside to the value of the field: infinity in place of the largest number, where that stands for
    /// it. Refuses a value that is out of range or of another kind.
    #[doc(hidden)]
    pub fn taken(&self, of: &'static str, value: Value) -> Result<Value> {
        // Convert a number to a constant ramp.
        let value = match (self.kind, value) {
            (Kind::Ramp, Value::Number(v)) => Value::Ramp(v.into()),
            (_, value) => value,
        };
        self.check(of, &value)?;
        let max = self.max as f32;
        Ok(self.unlimited_as(value, |v| if v >= max { f32::INFINITY } else { v }))
    }

    /// Changes the number of a parameter whose largest one stands for infinity.
    fn unlimited_as(&self, value: Value, change: impl Fn(f32) -> f32) -> Value {
        match value {
            Value::Number(v) if self.unlimited => Value::Number(change(v)),
            Value::Ramp(ramp) if self.unlimited => {
                Value::Ramp(ramp.constant().map_or(ramp, |v| change(v).into()))
            }
            value => value,
        }
    }

    /// Refuses a value that is out of range or of another kind. `of` names the settings.
    fn check(&self, of: &'static str, value: &Value) -> Result<()> {
        // Round the ends of the range to single precision, as the values are.
        let within = |v: f32| (self.min as f32..=self.max as f32).contains(&v);
        let fine = match (self.kind, value) {
            (Kind::Number, Value::Number(v)) => within(*v),
            (Kind::Count, Value::Count(v)) => (self.min..=self.max).contains(&(*v as f64)),
            (Kind::Switch, Value::Switch(_)) => true,
            (Kind::Vector, Value::Vector(v)) => v.to_array().into_iter().all(within),
            (Kind::Ramp, Value::Ramp(ramp)) => ramp.values().all(within),
            (Kind::Text, Value::Text(_)) => true,
            (Kind::Names, Value::Names(names)) => !names.is_empty(),
            (Kind::NameOrColor { .. }, Value::Vector(v)) => v.to_array().into_iter().all(within),
            (Kind::Choice { names, .. } | Kind::NameOrColor { names, .. }, Value::Choice(word)) => {
                names.contains(word)
            }
            _ => false,
        };
        if fine {
            return Ok(());
        }
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let (min, max) = (f64_text(self.min), f64_text(self.max));
        let expected = match self.kind {
            Kind::Number | Kind::Count | Kind::Ramp => format!("{min} to {max}{unit}"),
            Kind::Vector => format!("three numbers from {min} to {max}{unit}"),
            Kind::Switch => "true or false".into(),
            Kind::Text => "a string".into(),
            Kind::Names => "a string or a list of strings".into(),
            Kind::Choice { names, .. } => format!("one of {}", names.join(", ")),
            Kind::NameOrColor { names, .. } => {
                format!("one of {}, or three numbers from {min} to {max}", names.join(", "))
            }
        };
        Err(Error::Parameter { of, name: self.name, value: format!("{value}{unit}"), expected })
    }
}

/// Settings whose parameters can be listed, read and changed by name.
pub trait Parameters {
    /// What they are the settings of: a model, a contact, the fibre.
    fn of(&self) -> &'static str;
    /// All parameters, in the order in which they were declared.
    fn params(&self) -> Vec<&'static Param>;
    /// Visits all of them in that order, without allocation, up to the first error.
    fn try_each(&self, visit: &mut dyn FnMut(&'static Param) -> Result<()>) -> Result<()> {
        self.params().into_iter().try_for_each(visit)
    }
    /// The value of a parameter.
    fn get(&self, name: &str) -> Option<Value>;
    /// Changes a parameter. Refuses an unknown name and a value that is out of range.
    fn set(&mut self, name: &str, value: Value) -> Result<()>;
}

/// Returns an error for the first parameter that is out of its range.
#[doc(hidden)]
pub fn check(settings: &dyn Parameters) -> Result<()> {
    settings.try_each(&mut |param| match settings.get(param.name) {
        Some(value) => param.check(settings.of(), &value),
        None => Ok(()),
    })
}

/// The error for a name that settings do not have.
#[doc(hidden)]
pub fn unknown(settings: &dyn Parameters, name: &str) -> Error {
    let names: Vec<&str> = settings.params().iter().map(|p| p.name).collect();
    Error::UnknownName { kind: "parameter", name: name.into(), expected: names.join(", ") }
}

/// Declares settings: a struct with public fields, `Default`, `validate` and [`Parameters`].
///
/// A parameter is a doc comment, whose first paragraph is its description in scene files and in the reference, and
/// `field: type = default, "unit", min..=max;`. Switches and choices have neither unit nor range. `field as "key"`
/// gives it another name in scene files, `unlimited: true` after the range makes the largest number stand for infinity,
/// `absent: "..."` at the end says what happens without a parameter of type `Option`.
/// `also check` names a method that compares parameters with each other. `nested` are settings within settings,
/// whose parameters are listed with those of the outer settings; `fields` are not parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $Settings:ident of $of:tt $(, also $check:ident)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $key:literal)?: $type:ty = $default:expr
                    $(, $unit:literal, $range:expr $(, unlimited: $unlimited:literal)?)?
                    $(, absent: $absent:literal)?;
            )*
            $(nested {
                $($(#[doc = $nested_doc:literal])+ $nested:ident: $Nested:ty,)+
            })?
            $(fields {
                $($(#[doc = $plain_doc:literal])+ $plain:ident: $Plain:ty = $plain_default:expr,)+
            })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Settings {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[doc = $nested_doc])+ pub $nested: $Nested,)+)?
            $($($(#[doc = $plain_doc])+ pub $plain: $Plain,)+)?
        }

        impl Default for $Settings {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($nested: <$Nested>::default(),)+)?
                    $($($plain: $plain_default,)+)?
                }
            }
        }

        impl $Settings {
            #[allow(clippy::unnecessary_cast)]
            const PARAMS: &'static [$crate::params::Param] = &[$(
                $crate::params::Param {
                    $(
                        unit: $unit,
                        min: *($range).start() as f64,
                        max: *($range).end() as f64,
                        $(unlimited: $unlimited,)?
                    )?
                    $(absent: $absent,)?
                    ..$crate::params::Param::plain(
                        $crate::params::parameters!(@key $field $($key)?),
                        concat!($($doc, "\n"),+),
                        <$type as $crate::params::Field>::KIND,
                    )
                },
            )*];

            /// Returns an error for the first parameter that is out of its range.
            pub fn validate(&self) -> $crate::Result<()> {
                $crate::params::check(self)?;
                $(self.$check()?;)?
                Ok(())
            }
        }

        impl $crate::params::Parameters for $Settings {
            fn of(&self) -> &'static str {
                $of
            }

            fn params(&self) -> Vec<&'static $crate::params::Param> {
                #[allow(unused_mut)]
                let mut params: Vec<&'static $crate::params::Param> = Self::PARAMS.iter().collect();
                $($(params.extend($crate::params::Parameters::params(&self.$nested));)+)?
                params
            }

            fn try_each(
                &self,
                visit: &mut dyn FnMut(&'static $crate::params::Param) -> $crate::Result<()>,
            ) -> $crate::Result<()> {
                Self::PARAMS.iter().try_for_each(&mut *visit)?;
                $($($crate::params::Parameters::try_each(&self.$nested, visit)?;)+)?
                Ok(())
            }

            fn get(&self, name: &str) -> Option<$crate::params::Value> {
                let mut params = Self::PARAMS.iter();
                $(
                    let param = params.next()?;
                    if param.name == name {
                        let value = $crate::params::Field::value(&self.$field);
                        return value.map(|value| param.shown(value));
                    }
                )*
                $($(
                    if let Some(value) = $crate::params::Parameters::get(&self.$nested, name) {
                        return Some(value);
                    }
                )+)?
                None
            }

            fn set(&mut self, name: &str, value: $crate::params::Value) -> $crate::Result<()> {
                for param in Self::PARAMS.iter().filter(|p| p.name == name) {
                    let value = param.taken($of, value.clone())?;
                    $(
                        if name == $crate::params::parameters!(@key $field $($key)?)
                            && let Some(value) = $crate::params::Field::from_value(&value)
                        {
                            self.$field = value;
                        }
                    )*
                    return Ok(());
                }
                $($(
                    let params = $crate::params::Parameters::params(&self.$nested);
                    if params.iter().any(|param| param.name == name) {
                        return $crate::params::Parameters::set(&mut self.$nested, name, value);
                    }
                )+)?
                Err($crate::params::unknown(self, name))
            }
        }
    };
    (@key $field:ident $key:literal) => { $key };
    (@key $field:ident) => { stringify!($field) };
}

#[cfg(test)]
#[allow(dead_code, unreachable_pub)]
mod tests {
    use super::*;

    parameters! {
        /// Inner settings.
        #[derive(Copy)]
        pub struct Inner of "inner" {
            /// A direction.
            direction as "inner_direction": Vec3 = Vec3::X, "m", -1.0..=1.0;
        }
    }

    parameters! {
        /// Settings of a test.
        pub struct Settings of "test", also check_order {
            /// The lower one,
            /// in two lines.
            ///
            /// More for those who read the code.
            low: f32 = 0.1, "s", 0.1..=1000.0, unlimited: true;
            /// The upper one.
            high: u32 = 5, "", 1..=10;
            /// May be absent.
            max_count: Option<u32> = None, "", 1..=9, absent: "no limit";
            /// On or off.
            on: bool = true;
            nested {
                /// Within.
                inner: Inner,
            }
        }
    }

    impl Settings {
        fn check_order(&self) -> Result<()> {
            if self.on { Ok(()) } else { Err(unknown(self, "order")) }
        }
    }

    #[test]
    fn a_declaration_gives_table_default_and_check() {
        let mut s = Settings::default();
        let names: Vec<&str> = s.params().iter().map(|p| p.name).collect();
        assert_eq!(names, ["low", "high", "max_count", "on", "inner_direction"]);
        assert_eq!(s.params()[0].meaning(), "The lower one, in two lines.");
        assert_eq!(s.validate(), Ok(()));
        let values: Vec<String> =
            names.iter().map(|n| s.get(n).map(|v| v.to_string()).unwrap_or_default()).collect();
        assert_eq!(values, ["0.1", "5", "", "true", "[1, 0, 0]"]);
        assert_eq!((s.get("max_count"), s.params()[2].absent), (None, "no limit"));
        s.set("max_count", Value::Count(3)).unwrap();
        s.set("inner_direction", Value::Vector(Vec3::Y)).unwrap();
        assert_eq!((s.max_count, s.inner.direction), (Some(3), Vec3::Y));
        s.on = false;
        assert!(s.validate().is_err());
    }

    #[test]
    fn unlimited_makes_the_largest_number_stand_for_infinity() {
        let mut s = Settings::default();
        s.set("low", Value::Number(1000.0)).unwrap();
        assert_eq!(s.low, f32::INFINITY);
        assert_eq!(s.get("low"), Some(Value::Number(1000.0)));
        assert_eq!(s.validate(), Ok(()));
    }

    #[test]
    fn errors_name_the_parameter_with_unit_and_range() {
        let mut s = Settings::default();
        for wrong in [0.0, -1.0, f32::NAN] {
            let message = s.set("low", Value::Number(wrong)).unwrap_err().to_string();
            assert!(message.starts_with("test low is ") && message.ends_with("0.1 to 1000 s"));
            let message = Settings { low: wrong, ..s.clone() }.validate().unwrap_err().to_string();
            assert!(message.ends_with(" s: expected 0.1 to 1000 s"), "{message}");
        }
        assert_eq!(s, Settings::default());
        s.inner.direction.z = f32::INFINITY;
        let message = s.validate().unwrap_err().to_string();
        assert_eq!(
            message,
            "test inner_direction is [1, 0, inf] m: expected three numbers from -1 to 1 m"
        );
        assert!(s.set("high", Value::Switch(true)).is_err());
        let message = s.set("hihg", Value::Count(1)).unwrap_err().to_string();
        assert!(message.contains("expected one of low, high"), "{message}");
    }
}
