//! Settings that are one of several alternatives, each with a key of its own; the last key that is set wins.

/// Declares an enum whose variants hold one value each, and its parameters: one per variant, those of the other
/// variants being absent. The default is the last variant with the default of its type.
macro_rules! either {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident of $of:literal {
            $(
                $(#[doc = $doc:literal])+
                $Variant:ident as $key:literal: $type:ty
                    $(, $unit:literal, $range:expr)? $(, absent: $absent:literal)?;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum $Name {
            $($(#[doc = $doc])+ $Variant($type),)+
        }

        impl $Name {
            const PARAMS: &'static [coif::params::Param] = &[$(
                coif::params::Param {
                    $(unit: $unit, min: *($range).start() as f64, max: *($range).end() as f64,)?
                    $(absent: $absent,)?
                    ..coif::params::Param::plain(
                        $key,
                        concat!($($doc, "\n"),+),
                        <$type as coif::params::Field>::KIND,
                    )
                },
            )+];
        }

        impl Default for $Name {
            fn default() -> Self {
                let all = [$(Self::$Variant(<$type>::default()),)+];
                all[all.len() - 1]
            }
        }

        impl coif::params::Parameters for $Name {
            fn of(&self) -> &'static str {
                $of
            }

            fn params(&self) -> Vec<&'static coif::params::Param> {
                Self::PARAMS.iter().collect()
            }

            fn get(&self, name: &str) -> Option<coif::params::Value> {
                match self {
                    $(Self::$Variant(value) if name == $key => coif::params::Field::value(value),)+
                    _ => None,
                }
            }

            fn set(&mut self, name: &str, value: coif::params::Value) -> coif::Result<()> {
                for param in Self::PARAMS.iter().filter(|param| param.name == name) {
                    let value = param.taken($of, value.clone())?;
                    $(
                        if name == $key && let Some(value) = coif::params::Field::from_value(&value) {
                            *self = Self::$Variant(value);
                        }
                    )+
                    return Ok(());
                }
                Err(coif::params::unknown(self, name))
            }
        }
    };
}
pub(super) use either;
