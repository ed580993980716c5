//! Decoded values as a tree, for records and sections that have many forms.

/// A value. Numbers of all sizes and signs have the same form, so equal values have equal trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An absent field.
    Absent,
    /// A number; for a floating-point number, its bits.
    Number(i128),
    /// Bytes, or a string without its NUL and padding.
    Bytes(Vec<u8>),
    /// A list of values, in order.
    List(Vec<Value>),
    /// A list of named values, in order.
    Fields(Vec<(&'static str, Value)>),
}

/// Makes a [`Value`] of named values, which are evaluated in the order in which they are written.
#[macro_export]
macro_rules! fields {
    ($($name:ident: $value:expr),* $(,)?) => {
        $crate::oracle::Value::Fields(vec![$((stringify!($name), $crate::oracle::Value::from($value))),*])
    };
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl From<$number> for Value {
            fn from(value: $number) -> Self {
                Self::Number(value.into())
            }
        })*
    };
}
numbers![u8 u16 u32 i32 u64 i64];

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, T::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(T::into).collect())
    }
}
