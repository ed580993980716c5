//! Decoded values as a tree, for records and sections that have many forms.

/// A value. A number is the same whatever its size and sign on the wire, so that a tree has only one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A field that is not there.
    Absent,
    /// A number; what has fractions is its bits.
    Number(i128),
    /// Bytes, or a string without its NUL and padding.
    Bytes(Vec<u8>),
    /// Values in their order.
    List(Vec<Value>),
    /// Named values in their order.
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
