//! Leaf columns: the values of a field, with their repetition and definition levels.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// Repetition or definition levels.
#[derive(Clone, Debug)]
pub(super) enum LeafLevels {
    /// A level, and how often it recurs.
    Same(u32, usize),
    Each(Vec<u32>),
}

impl LeafLevels {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Same(_, count) => *count,
            Self::Each(levels) => levels.len(),
        }
    }

    /// Returns the number of levels equal to `level`.
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

/// A leaf column.
#[derive(Debug)]
pub(super) struct LeafColumn<'a> {
    /// Number of rows.
    pub(super) rows: usize,
    /// Repetition level of each item; `None` outside of lists.
    pub(super) repetitions: Option<LeafLevels>,
    /// Definition level of each item: the largest has a value.
    pub(super) definitions: LeafLevels,
    /// The values that are not null.
    pub(super) values: LeafValues<'a>,
}

/// The values of a leaf column that are not null.
#[derive(Debug)]
pub(super) enum LeafValues<'a> {
    Int32(Cow<'a, [i32]>),
    Int64(Cow<'a, [i64]>),
    Float64(Cow<'a, [f64]>),
    Booleans(Vec<bool>),
    Texts(Vec<&'a str>),
    /// Keys of a dictionary, and its texts.
    Words(Cow<'a, [i32]>, &'a StringArray),
}

/// Returns the leaf columns of a field; `None` for a type that no column has.
pub(super) fn leaves(array: &ArrayRef, is_nullable: bool) -> Option<Vec<LeafColumn<'_>>> {
    let Some(lists) = array.as_list_opt::<i32>() else {
        return Some(vec![leaf(array, is_nullable, None)?]);
    };
    let lists_of = ListLevels::new(lists.offsets(), lists.nulls(), is_nullable);
    let items = lists.values();
    let Some(structures) = items.as_struct_opt() else {
        return Some(vec![leaf(items, false, Some(&lists_of))?]);
    };
    let fields = structures.fields().iter().zip(structures.columns());
    fields.map(|(field, column)| leaf(column, field.is_nullable(), Some(&lists_of))).collect()
}

/// The lists of rows.
struct ListLevels {
    rows: usize,
    /// The items of all rows.
    items: core::ops::Range<usize>,
    repetitions: LeafLevels,
    /// Of each item, and of each row without one.
    definitions: LeafLevels,
    /// The level of an item.
    of_item: u32,
}

impl ListLevels {
    fn new(ends: &[i32], nulls: Option<&NullBuffer>, is_nullable: bool) -> Self {
        let rows = ends.len().saturating_sub(1);
        let at = |end: Option<&i32>| end.map_or(0, |&it| it as usize);
        let items = at(ends.first())..at(ends.last());
        let of_empty = u32::from(is_nullable);
        let of_item = of_empty + 1;
        if nulls.is_some_and(|nulls| nulls.null_count() == rows) {
            let (repetitions, definitions) = (LeafLevels::Same(0, rows), LeafLevels::Same(0, rows));
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
        let (repetitions, definitions) = (LeafLevels::Each(repetitions), LeafLevels::Each(definitions));
        Self { rows, items, repetitions, definitions, of_item }
    }

    /// Returns the definition levels of items that may be missing.
    fn definitions(&self, nulls: Option<&NullBuffer>, is_nullable: bool) -> LeafLevels {
        let mut definitions = self.definitions.clone();
        if let LeafLevels::Each(levels) = &mut definitions
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

fn leaf<'a>(array: &'a ArrayRef, is_nullable: bool, lists: Option<&ListLevels>) -> Option<LeafColumn<'a>> {
    // A list of the first row may begin after the first item.
    let range = lists.map_or(0..array.len(), |lists| lists.items.clone());
    let nulls = array.nulls().map(|nulls| nulls.slice(range.start, range.len()));
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let values = values(array, range.clone(), nulls.as_ref())?;
    let Some(lists) = lists else {
        let definitions = match &nulls {
            Some(nulls) if nulls.null_count() < range.len() => {
                LeafLevels::Each(nulls.iter().map(u32::from).collect())
            }
            Some(_) => LeafLevels::Same(0, range.len()),
            None => LeafLevels::Same(u32::from(is_nullable), range.len()),
        };
        return Some(LeafColumn { rows: range.len(), repetitions: None, definitions, values });
    };
    let definitions = lists.definitions(nulls.as_ref(), is_nullable);
    Some(LeafColumn { rows: lists.rows, repetitions: Some(lists.repetitions.clone()), definitions, values })
}

fn values<'a>(
    array: &'a ArrayRef,
    range: core::ops::Range<usize>,
    nulls: Option<&NullBuffer>,
) -> Option<LeafValues<'a>> {
    Some(match array.data_type() {
        DataType::Int32 => LeafValues::Int32(there(array.as_primitive::<Int32Type>().values(), range, nulls)),
        DataType::Int64 => LeafValues::Int64(there(array.as_primitive::<Int64Type>().values(), range, nulls)),
        DataType::Timestamp(..) => LeafValues::Int64(there(
            array.as_primitive_opt::<TimestampMicrosecondType>()?.values(),
            range,
            nulls,
        )),
        DataType::Float64 => {
            LeafValues::Float64(there(array.as_primitive::<Float64Type>().values(), range, nulls))
        }
        DataType::Boolean => {
            let booleans: &BooleanArray = array.as_boolean();
            LeafValues::Booleans(indices(range, nulls).map(|index| booleans.value(index)).collect())
        }
        DataType::Utf8 => {
            let texts: &StringArray = array.as_string::<i32>();
            LeafValues::Texts(indices(range, nulls).map(|index| texts.value(index)).collect())
        }
        DataType::Dictionary(..) => {
            let words = array.as_dictionary_opt::<Int32Type>()?;
            LeafValues::Words(
                there(words.keys().values(), range, nulls),
                words.values().as_string_opt::<i32>()?,
            )
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
