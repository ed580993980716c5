//! A column without structure: the values of a field, and which rows and lists they belong to.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// The levels of the rows or items of a column.
#[derive(Clone, Debug)]
pub(super) enum Levels {
    /// So many that are equal.
    Same(u32, usize),
    Each(Vec<u32>),
}

impl Levels {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Same(_, count) => *count,
            Self::Each(levels) => levels.len(),
        }
    }

    /// Returns how many are `level`.
    pub(super) fn count(&self, level: u32) -> usize {
        match self {
            Self::Same(same, count) => {
                if *same == level {
                    *count
                } else {
                    0
                }
            }
            Self::Each(levels) => levels.iter().filter(|&&it| it == level).count(),
        }
    }
}

/// A column without structure.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    /// Number of rows.
    pub(super) rows: usize,
    /// For each item whether it goes on with the list of the item before. `None` if it is in no list.
    pub(super) repetitions: Option<Levels>,
    /// For each item how much of it there is: the largest level has a value.
    pub(super) definitions: Levels,
    /// The values that there are.
    pub(super) values: Values<'a>,
}

/// The values of a column, without those that are missing.
#[derive(Debug)]
pub(super) enum Values<'a> {
    Int32(Cow<'a, [i32]>),
    Int64(Cow<'a, [i64]>),
    Float64(Cow<'a, [f64]>),
    Booleans(Vec<bool>),
    Texts(Vec<&'a str>),
    /// Texts by their numbers.
    Words(Cow<'a, [i32]>, &'a StringArray),
}

/// Returns the leaves of a field. `None` if it has a type that no column has.
pub(super) fn leaves(array: &ArrayRef, is_nullable: bool) -> Option<Vec<Leaf<'_>>> {
    let Some(lists) = array.as_list_opt::<i32>() else {
        return Some(vec![leaf(array, is_nullable, None)?]);
    };
    let lists_of = Lists::new(lists.offsets(), lists.nulls(), is_nullable);
    let items = lists.values();
    let Some(structures) = items.as_struct_opt() else {
        return Some(vec![leaf(items, false, Some(&lists_of))?]);
    };
    let fields = structures.fields().iter().zip(structures.columns());
    fields.map(|(field, column)| leaf(column, field.is_nullable(), Some(&lists_of))).collect()
}

/// The lists of rows.
struct Lists {
    rows: usize,
    /// The items of all rows.
    items: core::ops::Range<usize>,
    repetitions: Levels,
    /// Of each item, and of each row without one.
    definitions: Levels,
    /// The level of an item.
    of_item: u32,
}

impl Lists {
    fn new(ends: &[i32], nulls: Option<&NullBuffer>, is_nullable: bool) -> Self {
        let rows = ends.len().saturating_sub(1);
        let at = |end: Option<&i32>| end.map_or(0, |&it| it as usize);
        let items = at(ends.first())..at(ends.last());
        let of_empty = u32::from(is_nullable);
        let of_item = of_empty + 1;
        if nulls.is_some_and(|nulls| nulls.null_count() == rows) {
            let (repetitions, definitions) = (Levels::Same(0, rows), Levels::Same(0, rows));
            return Self { rows, items: 0..0, repetitions, definitions, of_item };
        }
        let (mut repetitions, mut definitions) = (Vec::new(), Vec::new());
        for (row, list) in ends.windows(2).enumerate() {
            let &[start, end] = list else { continue };
            let count = (end - start) as usize;
            if count == 0 {
                let is_null = nulls.is_some_and(|nulls| nulls.is_null(row));
                repetitions.push(0);
                definitions.push(if is_null { 0 } else { of_empty });
                continue;
            }
            repetitions.push(0);
            repetitions.resize(repetitions.len() + count - 1, 1);
            definitions.resize(definitions.len() + count, of_item);
        }
        let (repetitions, definitions) = (Levels::Each(repetitions), Levels::Each(definitions));
        Self { rows, items, repetitions, definitions, of_item }
    }

    /// Returns the definition levels of items that may be missing.
    fn definitions(&self, nulls: Option<&NullBuffer>, is_nullable: bool) -> Levels {
        let mut definitions = self.definitions.clone();
        if let Levels::Each(levels) = &mut definitions
            && is_nullable
        {
            let items = levels.iter_mut().filter(|level| **level == self.of_item);
            for (index, level) in items.enumerate() {
                *level += u32::from(nulls.is_none_or(|nulls| nulls.is_valid(index)));
            }
        }
        definitions
    }
}

fn leaf<'a>(array: &'a ArrayRef, is_nullable: bool, lists: Option<&Lists>) -> Option<Leaf<'a>> {
    // A list of the first row may begin after the first item.
    let range = lists.map_or(0..array.len(), |lists| lists.items.clone());
    let nulls = array.nulls().map(|nulls| nulls.slice(range.start, range.len()));
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let values = values(array, range.clone(), nulls.as_ref())?;
    let Some(lists) = lists else {
        let definitions = match &nulls {
            Some(nulls) if nulls.null_count() < range.len() => {
                Levels::Each(nulls.iter().map(u32::from).collect())
            }
            Some(_) => Levels::Same(0, range.len()),
            None => Levels::Same(u32::from(is_nullable), range.len()),
        };
        return Some(Leaf { rows: range.len(), repetitions: None, definitions, values });
    };
    let definitions = lists.definitions(nulls.as_ref(), is_nullable);
    Some(Leaf { rows: lists.rows, repetitions: Some(lists.repetitions.clone()), definitions, values })
}

fn values<'a>(
    array: &'a ArrayRef,
    range: core::ops::Range<usize>,
    nulls: Option<&NullBuffer>,
) -> Option<Values<'a>> {
    Some(match array.data_type() {
        DataType::Int32 => Values::Int32(there(array.as_primitive::<Int32Type>().values(), range, nulls)),
        DataType::Int64 => Values::Int64(there(array.as_primitive::<Int64Type>().values(), range, nulls)),
        DataType::Timestamp(..) => {
            Values::Int64(there(array.as_primitive_opt::<TimestampMicrosecondType>()?.values(), range, nulls))
        }
        DataType::Float64 => {
            Values::Float64(there(array.as_primitive::<Float64Type>().values(), range, nulls))
        }
        DataType::Boolean => {
            let booleans: &BooleanArray = array.as_boolean();
            Values::Booleans(indices(range, nulls).map(|index| booleans.value(index)).collect())
        }
        DataType::Utf8 => {
            let texts: &StringArray = array.as_string::<i32>();
            Values::Texts(indices(range, nulls).map(|index| texts.value(index)).collect())
        }
        DataType::Dictionary(..) => {
            let words = array.as_dictionary_opt::<Int32Type>()?;
            Values::Words(there(words.keys().values(), range, nulls), words.values().as_string_opt::<i32>()?)
        }
        _ => return None,
    })
}

/// Returns the values of a range that are not null.
fn there<'a, T: Copy>(
    values: &'a [T],
    range: core::ops::Range<usize>,
    nulls: Option<&NullBuffer>,
) -> Cow<'a, [T]> {
    let values = values.get(range).unwrap_or_default();
    match nulls {
        None => Cow::Borrowed(values),
        Some(nulls) => {
            Cow::Owned(nulls.valid_indices().filter_map(|index| values.get(index)).copied().collect())
        }
    }
}

/// Returns the indices of a range that are not null.
fn indices<'a>(
    range: core::ops::Range<usize>,
    nulls: Option<&'a NullBuffer>,
) -> impl Iterator<Item = usize> + use<'a> {
    let start = range.start;
    range.filter(move |index| nulls.is_none_or(|nulls| nulls.is_valid(index - start)))
}
