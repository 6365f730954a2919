//! Types that a parameter can have.

use glam::Vec3;

use super::{Kind, Ramp, Value};

/// A type that a parameter can have.
pub trait Field: Sized {
    /// The kind of its values.
    const KIND: Kind;
    /// Its value; `None` if there is none.
    fn value(&self) -> Option<Value>;
    /// From a value of its kind.
    fn from_value(value: &Value) -> Option<Self>;
}

/// Implements [`Field`] for a type that is one kind of value.
macro_rules! field {
    ($type:ty, $kind:ident, $to:expr, $from:expr) => {
        impl Field for $type {
            const KIND: Kind = Kind::$kind;

            fn value(&self) -> Option<Value> {
                Some(Value::$kind($to(self)))
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::$kind(value) => $from(value),
                    _ => None,
                }
            }
        }
    };
}

field!(f32, Number, |v: &f32| *v, |v: &f32| Some(*v));
field!(bool, Switch, |v: &bool| *v, |v: &bool| Some(*v));
field!(Vec3, Vector, |v: &Vec3| *v, |v: &Vec3| Some(*v));
field!(u32, Count, |v: &u32| u64::from(*v), |v: &u64| u32::try_from(*v).ok());
field!(u64, Count, |v: &u64| *v, |v: &u64| Some(*v));
field!(usize, Count, |v: &usize| *v as u64, |v: &u64| usize::try_from(*v).ok());
field!(String, Text, String::clone, |v: &String| Some(v.clone()));
field!(Vec<String>, Names, Vec::clone, |v: &Vec<String>| Some(v.clone()));

/// An optional parameter.
impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;

    fn value(&self) -> Option<Value> {
        self.as_ref().and_then(T::value)
    }

    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }
}

impl Field for Ramp {
    const KIND: Kind = Kind::Ramp;

    fn value(&self) -> Option<Value> {
        Some(Value::Ramp(self.clone()))
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
                planned: &[],
            };

            fn value(&self) -> Option<$crate::params::Value> {
                let named = <$type>::NAMES.iter().find(|(_, value)| value == self);
                named.map(|(name, _)| $crate::params::Value::Choice(name))
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
