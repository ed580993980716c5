//! Bounds: the minimum and maximum of a page or of a column chunk.

use ::parquet::basic::{BoundaryOrder, Type};
use ::parquet::data_type::ByteArray;
use ::parquet::file::statistics::{Statistics, ValueStatistics};

/// Maximum number of bytes of a text as a bound. A page with a longer minimum or maximum has no bounds.
const LONGEST: usize = 64;

/// Minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageBounds {
    Integers(i64, i64),
    Booleans(bool, bool),
    Texts(Vec<u8>, Vec<u8>),
}

impl PageBounds {
    pub(super) fn of_integers(values: impl Iterator<Item = i64>) -> Option<Self> {
        let bounds = values.fold((i64::MAX, i64::MIN), |(min, max), it| (min.min(it), max.max(it)));
        (bounds.0 <= bounds.1).then_some(Self::Integers(bounds.0, bounds.1))
    }

    pub(super) fn of_booleans(values: &[bool]) -> Option<Self> {
        let has = |value: bool| values.contains(&value);
        (!values.is_empty()).then(|| Self::Booleans(!has(false), has(true)))
    }

    pub(super) fn of_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (min, max) = texts.fold(None, |bounds: Option<(&str, &str)>, it| match bounds {
            Some((min, max)) => Some((min.min(it), max.max(it))),
            None => Some((it, it)),
        })?;
        (min.len() <= LONGEST && max.len() <= LONGEST).then(|| Self::Texts(min.into(), max.into()))
    }

    /// Returns the bounds of several pages, each given with whether it has values. `None` if a page with values has no bounds.
    pub(super) fn of_pages<'a>(pages: impl Iterator<Item = (Option<&'a Self>, bool)>) -> Option<Self> {
        let mut all: Option<Self> = None;
        for (bounds, _) in pages.filter(|(_, has_values)| *has_values) {
            let bounds = bounds?;
            all = Some(all.map_or_else(|| bounds.clone(), |all| all.and(bounds)));
        }
        all
    }

    fn and(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Integers(min, max), &Self::Integers(least, most)) => {
                Self::Integers(min.min(least), max.max(most))
            }
            (Self::Booleans(min, max), &Self::Booleans(least, most)) => {
                Self::Booleans(min & least, max | most)
            }
            (Self::Texts(min, max), Self::Texts(least, most)) => {
                Self::Texts(min.min(least.clone()), max.max(most.clone()))
            }
            (bounds, _) => bounds,
        }
    }

    /// Returns whether the bounds of no page are before those of the page before it, or none after it.
    pub(super) fn order<'a>(pages: impl Iterator<Item = &'a Self> + Clone) -> BoundaryOrder {
        let pairs = || pages.clone().zip(pages.clone().skip(1));
        if pairs().all(|(one, next)| one.is_at_most(next)) {
            BoundaryOrder::ASCENDING
        } else if pairs().all(|(one, next)| next.is_at_most(one)) {
            BoundaryOrder::DESCENDING
        } else {
            BoundaryOrder::UNORDERED
        }
    }

    fn is_at_most(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integers(min, max), Self::Integers(least, most)) => min <= least && max <= most,
            (Self::Booleans(min, max), Self::Booleans(least, most)) => min <= least && max <= most,
            (Self::Texts(min, max), Self::Texts(least, most)) => min <= least && max <= most,
            _ => false,
        }
    }

    /// Returns the bounds as Parquet has values of a type.
    pub(super) fn bytes(&self, kind: Type) -> (Vec<u8>, Vec<u8>) {
        match self {
            Self::Integers(min, max) if kind == Type::INT32 => {
                ((*min as i32).to_le_bytes().into(), (*max as i32).to_le_bytes().into())
            }
            Self::Integers(min, max) => (min.to_le_bytes().into(), max.to_le_bytes().into()),
            Self::Booleans(min, max) => (vec![u8::from(*min)], vec![u8::from(*max)]),
            Self::Texts(min, max) => (min.clone(), max.clone()),
        }
    }

    /// Returns the statistics of a column chunk.
    pub(super) fn statistics(bounds: Option<Self>, kind: Type, missing: u64) -> Statistics {
        let nulls = Some(missing);
        match (bounds, kind) {
            (Some(Self::Integers(min, max)), Type::INT32) => {
                let bounds = (Some(min as i32), Some(max as i32));
                let known = ValueStatistics::new(bounds.0, bounds.1, None, nulls, false);
                known.with_backwards_compatible_min_max(true).into()
            }
            (Some(Self::Integers(min, max)), _) => {
                let known = ValueStatistics::new(Some(min), Some(max), None, nulls, false);
                known.with_backwards_compatible_min_max(true).into()
            }
            (Some(Self::Booleans(min, max)), _) => {
                Statistics::boolean(Some(min), Some(max), None, nulls, false)
            }
            (Some(Self::Texts(min, max)), _) => {
                let text = |it: Vec<u8>| Some(ByteArray::from(it));
                Statistics::byte_array(text(min), text(max), None, nulls, false)
            }
            (None, Type::BOOLEAN) => Statistics::boolean(None, None, None, nulls, false),
            (None, Type::INT32) => Statistics::int32(None, None, None, nulls, false),
            (None, Type::INT64) => Statistics::int64(None, None, None, nulls, false),
            (None, Type::DOUBLE) => Statistics::double(None, None, None, nulls, false),
            (None, _) => Statistics::byte_array(None, None, None, nulls, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_pages() {
        let one = PageBounds::of_integers([3, -5, 4].into_iter()).unwrap();
        let other = PageBounds::of_integers([i64::MIN].into_iter()).unwrap();
        assert_eq!(one, PageBounds::Integers(-5, 4));
        assert_eq!(PageBounds::of_integers(core::iter::empty()), None);
        let both =
            PageBounds::of_pages([(Some(&one), true), (None, false), (Some(&other), true)].into_iter());
        assert_eq!(both, Some(PageBounds::Integers(i64::MIN, 4)));
        assert_eq!(PageBounds::of_pages([(Some(&one), true), (None, true)].into_iter()), None);
        assert_eq!(PageBounds::order([&one, &other].into_iter()), BoundaryOrder::DESCENDING);
        assert_eq!(PageBounds::order([&other, &one, &other].into_iter()), BoundaryOrder::UNORDERED);
        assert_eq!(PageBounds::order([&one].into_iter()), BoundaryOrder::ASCENDING);
        assert_eq!(one.bytes(Type::INT32), ((-5_i32).to_le_bytes().to_vec(), 4_i32.to_le_bytes().to_vec()));
        assert_eq!(PageBounds::of_booleans(&[true, true]), Some(PageBounds::Booleans(true, true)));
        assert_eq!(PageBounds::of_booleans(&[false, true]), Some(PageBounds::Booleans(false, true)));
        let long = "x".repeat(65);
        assert_eq!(PageBounds::of_texts(["a", &long].into_iter()), None);
        assert_eq!(
            PageBounds::of_texts(["b", "", "c"].into_iter()),
            Some(PageBounds::Texts(vec![], b"c".to_vec()))
        );
    }
}
