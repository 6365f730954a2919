//! Types that a parameter can have.

use glam::Vec3;

use super::{Kind, Ramp, Value};

/// A type that a parameter can have.
pub trait Field: Sized {
    /// Which values it takes.
    const KIND: Kind;
    /// Its value.
    fn value(&self) -> Value;
    /// From a value of its kind.
    fn from_value(value: &Value) -> Option<Self>;
}

/// A type that is one kind of value.
macro_rules! field {
    ($type:ty, $kind:ident, $to:expr, $from:expr) => {
        impl Field for $type {
            const KIND: Kind = Kind::$kind;

            fn value(&self) -> Value {
                Value::$kind($to(*self))
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::$kind(value) => $from(*value),
                    _ => None,
                }
            }
        }
    };
}

field!(f32, Number, |v| v, Some);
field!(bool, Switch, |v| v, Some);
field!(Vec3, Vector, |v| v, Some);
field!(u32, Count, u64::from, |v| u32::try_from(v).ok());
field!(usize, Count, |v| v as u64, |v| usize::try_from(v).ok());
// None is 0.
field!(Option<u32>, Count, |v: Option<u32>| v.unwrap_or(0).into(), |v: u64| u32::try_from(v)
    .ok()
    .map(|v| (v > 0).then_some(v)));

impl Field for Ramp {
    const KIND: Kind = Kind::Ramp;

    fn value(&self) -> Value {
        Value::Ramp(self.clone())
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Ramp(ramp) => Some(ramp.clone()),
            Value::Number(number) => Some((*number).into()),
            _ => None,
        }
    }
}

/// Makes an enum with a list `NAMES` of names and values a type that a parameter can have.
macro_rules! choice {
    ($type:ty, $what:literal) => {
        impl $crate::params::Field for $type {
            const KIND: $crate::params::Kind = $crate::params::Kind::Choice {
                what: $what,
                names: &{
                    let mut words = [""; <$type>::NAMES.len()];
                    let mut i = 0;
                    while i < words.len() {
                        words[i] = <$type>::NAMES[i].0;
                        i += 1;
                    }
                    words
                },
            };

            fn value(&self) -> $crate::params::Value {
                let named = <$type>::NAMES.iter().find(|(_, value)| value == self);
                $crate::params::Value::Choice(named.map_or("", |(name, _)| name))
            }

            fn from_value(value: &$crate::params::Value) -> Option<Self> {
                let $crate::params::Value::Choice(word) = value else { return None };
                let named = <$type>::NAMES.iter().find(|(name, _)| name == word);
                named.map(|(_, value)| *value)
            }
        }
    };
}
pub(crate) use choice;
