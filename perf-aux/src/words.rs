//! The macros of open values: numbers that the hardware or perf defines.

/// Defines a set of flag bits. Each line is `NAME = value, "C_NAME";`. Unknown bits are kept.
macro_rules! flag_word {
    (
        $(#[$meta:meta])*
        pub struct $Type:ident($repr:ty) {
            $( $(#[$fmeta:meta])* $NAME:ident = $value:expr, $c:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Type(pub $repr);

        impl $Type {
            $( $(#[$fmeta])* #[doc(alias = $c)] pub const $NAME: Self = Self($value); )*

            /// No flag set.
            pub const NONE: Self = Self(0);

            /// Returns whether every bit of `flags` is set.
            #[must_use]
            #[inline]
            pub const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }

            /// Returns whether any bit of `flags` is set.
            #[must_use]
            #[inline]
            pub const fn intersects(self, flags: Self) -> bool {
                self.0 & flags.0 != 0
            }

            /// Returns these bits together with those of `flags`.
            #[must_use]
            #[inline]
            pub const fn union(self, flags: Self) -> Self {
                Self(self.0 | flags.0)
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

        /// Prints the names of the flags joined by `|`, then the bits without a name.
        impl core::fmt::Display for $Type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let known = [$( (stringify!($NAME), $value) ),*];
                let mut rest = self.0;
                let mut separator = "";
                for (name, bits) in known {
                    if self.0 & bits != 0 {
                        write!(f, "{separator}{name}")?;
                        separator = "|";
                        rest &= !bits;
                    }
                }
                if rest != 0 || self.0 == 0 {
                    write!(f, "{separator}{rest:#x}")?;
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

/// Defines a newtype that holds one of several codes. Each line is `NAME = value, "C_NAME";`.
macro_rules! code_word {
    (
        $(#[$meta:meta])*
        pub struct $Type:ident($repr:ty) {
            $( $(#[$cmeta:meta])* $NAME:ident = $value:expr, $c:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Type(pub $repr);

        impl $Type {
            $( $(#[$cmeta])* #[doc(alias = $c)] pub const $NAME: Self = Self($value); )*
        }
    };
}
