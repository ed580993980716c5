//! The two macros that define every open value of this crate.
//!
//! The kernel may send a value that is newer than this crate. Each open value is therefore a newtype over the
//! integer as it was written: an unknown value is kept, compares equal to itself and prints as its number.

/// A constant of the ABI: its name in the C headers, its name in this crate, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Name {
    /// The name in the kernel's or the perf tool's headers, as in `PERF_SAMPLE_IP`.
    pub c_name: &'static str,
    /// The name without its prefix, as this crate prints it: `IP`.
    pub name: &'static str,
    /// The value, zero-extended if the field is narrower than 64 bits.
    pub value: u64,
}

/// Returns the name under which a field prints: the kernel's name if one is given, else the name of the getter.
pub(crate) const fn shown(getter: &'static str, kernels: &[&'static str]) -> &'static str {
    match kernels {
        [name, ..] => name,
        [] => getter,
    }
}

/// Defines a newtype that holds one of several codes.
///
/// Each line is `NAME = value, "C_NAME";`. The type prints as the name of the code, or as the number if the
/// code has no name.
macro_rules! codes {
    (
        $(#[$meta:meta])*
        pub struct $Type:ident($repr:ty) {
            $( $(#[$cmeta:meta])* $NAME:ident = $value:expr, $c:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        pub struct $Type(pub $repr);

        impl $Type {
            $( $(#[$cmeta])* #[doc(alias = $c)] pub const $NAME: Self = Self($value); )*

            /// Every code that has a name, in the order of the C header.
            pub const NAMES: &'static [$crate::Name] = &[
                $( $crate::Name { c_name: $c, name: stringify!($NAME), value: Self::$NAME.0 as u64 }, )*
            ];

            /// Returns the name of this code without its prefix; `None` for a code that this
            /// crate does not know.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                $( if self.0 == Self::$NAME.0 { return Some(stringify!($NAME)); } )*
                None
            }
        }

        impl From<$repr> for $Type {
            fn from(value: $repr) -> Self {
                Self(value)
            }
        }

        impl From<$Type> for $repr {
            fn from(value: $Type) -> Self {
                value.0
            }
        }

        impl core::fmt::Display for $Type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => core::fmt::Display::fmt(&self.0, f),
                }
            }
        }

        impl core::fmt::Debug for $Type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($Type), "({})"), self)
            }
        }
    };
}

/// Defines a newtype that holds a set of flag bits, and numbers in bit-fields between them.
///
/// - `NAME = bit, "C_NAME";` defines a flag.
/// - `getter / setter: Type(int) = lsb, width;` defines a field. Its type is a `codes!` or `flags!` newtype
///   over `int`, or `int` itself. `, "name"` after the width gives the name that the field prints as.
/// - `reserved { lsb, width }` names the bits that C calls reserved. They count as unknown.
///
/// The type prints as the names of its flags joined by `|`, then each field that is not zero as
/// `getter=value`, then the remaining bits in hexadecimal.
macro_rules! flags {
    (
        $(#[$meta:meta])*
        pub struct $Type:ident($repr:ty) {
            $( $(#[$fmeta:meta])* $NAME:ident = $value:expr, $c:literal; )*
        }
        $( fields {
            $( $(#[$dmeta:meta])* $get:ident / $set:ident: $Field:ident($int:ty) = $lsb:literal, $width:literal $(, $shown:literal)?; )*
        } )?
        $( reserved { $rlsb:literal, $rwidth:literal } )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        pub struct $Type(pub $repr);

        impl $Type {
            $( $(#[$fmeta])* #[doc(alias = $c)] pub const $NAME: Self = Self($value); )*

            /// Every flag that has a name, in the order of the C header.
            pub const NAMES: &'static [$crate::Name] = &[
                $( $crate::Name { c_name: $c, name: stringify!($NAME), value: Self::$NAME.0 as u64 }, )*
            ];

            /// The bit-fields, including the reserved one, as (lowest bit, width).
            pub const FIELDS: &'static [(u32, u32)] = &[ $( $( ($lsb, $width), )* )? $( ($rlsb, $rwidth) )? ];

            /// No flag set.
            pub const NONE: Self = Self(0);

            /// Every bit that a name or a field of this crate covers.
            pub const KNOWN: Self = Self(0 $( | $value )* $( $( | (((1 << $width) - 1) << $lsb) )* )?);

            /// Returns the bits that no name and no field of this crate covers.
            #[must_use]
            pub const fn unknown(self) -> $repr {
                self.0 & !Self::KNOWN.0
            }

            /// Returns whether every bit of `flags` is set.
            #[must_use]
            pub const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }

            /// Returns whether any bit of `flags` is set.
            #[must_use]
            pub const fn intersects(self, flags: Self) -> bool {
                self.0 & flags.0 != 0
            }

            /// Returns these bits together with those of `flags`.
            #[must_use]
            pub const fn union(self, flags: Self) -> Self {
                Self(self.0 | flags.0)
            }

            /// Returns these bits without those of `flags`.
            #[must_use]
            pub const fn without(self, flags: Self) -> Self {
                Self(self.0 & !flags.0)
            }

            $( $(
                $(#[$dmeta])*
                #[must_use]
                #[inline]
                #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast,
                        reason = "the mask keeps the value within the field's width, which its type holds")]
                pub fn $get(self) -> $Field {
                    $Field::from(((self.0 >> $lsb) & ((1 << $width) - 1)) as $int)
                }

                #[doc = concat!("Returns this word with `", stringify!($get), "` replaced; drops the bits of `value` beyond the field's width.")]
                #[must_use]
                #[inline]
                #[allow(clippy::useless_conversion, reason = "some fields are plain integers")]
                pub fn $set(self, value: $Field) -> Self {
                    let mask: $repr = (1 << $width) - 1;
                    Self(self.0 & !(mask << $lsb) | ((<$repr>::from(<$int>::from(value)) & mask) << $lsb))
                }
            )* )?
        }

        impl From<$repr> for $Type {
            fn from(value: $repr) -> Self {
                Self(value)
            }
        }

        impl From<$Type> for $repr {
            fn from(value: $Type) -> Self {
                value.0
            }
        }

        impl core::ops::BitOr for $Type {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                self.union(other)
            }
        }

        impl core::ops::BitOrAssign for $Type {
            fn bitor_assign(&mut self, other: Self) {
                *self = self.union(other);
            }
        }

        impl core::fmt::Display for $Type {
            #[allow(unused_mut, unused_variables, unused_assignments, clippy::unnecessary_cast,
                    reason = "a word may have no flags or no fields")]
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut separator = "";
                $( if self.contains(Self::$NAME) {
                    f.write_str(separator)?;
                    f.write_str(stringify!($NAME))?;
                    separator = "|";
                } )*
                $( $( if (self.0 >> $lsb) & ((1 << $width) - 1) != 0 {
                    if !separator.is_empty() {
                        f.write_str(" ")?;
                    }
                    write!(f, "{}={}", $crate::macros::shown(stringify!($get), &[$($shown)?]), self.$get())?;
                    separator = " ";
                } )* )?
                if self.unknown() != 0 || self.0 == 0 {
                    write!(f, "{separator}{:#x}", self.unknown())?;
                }
                Ok(())
            }
        }

        impl core::fmt::Debug for $Type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($Type), "({})"), self)
            }
        }
    };
}
