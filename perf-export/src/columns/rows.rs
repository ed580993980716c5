//! The rows of a table, until they are a record batch.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, DictionaryArray, ListArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{ArrowError, SchemaRef};

use super::column::{self, Column, ColumnKind};
use super::context::Context;
use super::utf8::utf8;
use crate::text_table::TextTable;

/// The rows of a table. A row is written cell by cell, in the order of the columns.
#[derive(Debug)]
pub(super) struct TableRows {
    schema: SchemaRef,
    cells: Vec<ColumnCells>,
    /// Number of nulls at the end of each column that are not yet in `cells`. Most columns of a capture are null
    /// throughout.
    missing: Vec<usize>,
    /// The column of the next cell.
    next: usize,
    rows: usize,
}

/// The cells of a column.
#[derive(Debug)]
enum ColumnCells {
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
    Word(WordCells),
    Timestamp(TimestampMicrosecondBuilder),
    Integers(ListCells<Int64Builder>),
    Texts(ListCells<StringBuilder>),
    Structures(ListCells<TableRows>),
}

/// The cells of a column of lists.
#[derive(Debug)]
struct ListCells<T> {
    items: T,
    /// End of each list.
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl<T> ListCells<T> {
    fn new(items: T) -> Self {
        Self { items, ends: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    fn end(&mut self, len: usize) {
        self.ends.push(i32::try_from(len).unwrap_or(i32::MAX));
        self.nulls.append_non_null();
    }

    fn leave_out(&mut self, count: usize) {
        let end = self.ends.last().copied().unwrap_or(0);
        self.ends.resize(self.ends.len() + count, end);
        self.nulls.append_n_nulls(count);
    }

    fn finish(&mut self, items: ArrayRef) -> Result<ArrayRef, ArrowError> {
        let ends = core::mem::replace(&mut self.ends, vec![0]);
        let item = column::item(items.data_type().clone());
        let list = ListArray::try_new(item, OffsetBuffer::new(ends.into()), items, self.nulls.finish())?;
        Ok(Arc::new(list))
    }
}

/// Texts, each kept once.
#[derive(Debug, Default)]
struct WordCells {
    keys: Int32Builder,
    words: TextTable,
    /// Index of the text of the previous row, which often recurs.
    last: Option<u32>,
}

impl WordCells {
    fn push(&mut self, word: &str) {
        let last = self.last.filter(|&last| self.words.get(last) == word);
        let number = last.unwrap_or_else(|| self.words.number(word));
        self.last = Some(number);
        self.keys.append_value(number.cast_signed());
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let words = StringArray::from_iter_values(self.words.iter());
        self.words.clear();
        self.last = None;
        Ok(Arc::new(DictionaryArray::try_new(self.keys.finish(), Arc::new(words))?))
    }
}

impl ColumnCells {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Int32 => Self::Int32(Int32Builder::new()),
            ColumnKind::Int64 => Self::Int64(Int64Builder::new()),
            ColumnKind::Float64 => Self::Float64(Float64Builder::new()),
            ColumnKind::Boolean => Self::Boolean(BooleanBuilder::new()),
            ColumnKind::Text => Self::Text(StringBuilder::new()),
            ColumnKind::Word => Self::Word(WordCells::default()),
            ColumnKind::Timestamp => {
                Self::Timestamp(TimestampMicrosecondBuilder::new().with_data_type(kind.data_type()))
            }
            ColumnKind::Integers => Self::Integers(ListCells::new(Int64Builder::new())),
            ColumnKind::Texts => Self::Texts(ListCells::new(StringBuilder::new())),
            ColumnKind::Structures(columns) => Self::Structures(ListCells::new(TableRows::new(columns))),
        }
    }

    /// Writes cells without a value.
    fn leave_out(&mut self, count: usize) {
        match self {
            Self::Int32(cells) => cells.append_nulls(count),
            Self::Int64(cells) => cells.append_nulls(count),
            Self::Float64(cells) => cells.append_nulls(count),
            Self::Boolean(cells) => cells.append_nulls(count),
            Self::Text(cells) => cells.append_nulls(count),
            Self::Word(words) => words.keys.append_nulls(count),
            Self::Timestamp(cells) => cells.append_nulls(count),
            Self::Integers(list) => list.leave_out(count),
            Self::Texts(list) => list.leave_out(count),
            Self::Structures(list) => list.leave_out(count),
        }
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Int32(cells) => Arc::new(cells.finish()),
            Self::Int64(cells) => Arc::new(cells.finish()),
            Self::Float64(cells) => Arc::new(cells.finish()),
            Self::Boolean(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => Arc::new(cells.finish()),
            Self::Word(words) => words.finish()?,
            Self::Timestamp(cells) => Arc::new(cells.finish()),
            Self::Integers(list) => {
                let items = Arc::new(list.items.finish());
                list.finish(items)?
            }
            Self::Texts(list) => {
                let items = Arc::new(list.items.finish());
                list.finish(items)?
            }
            Self::Structures(list) => {
                let items = Arc::new(list.items.as_structures()?);
                list.finish(items)?
            }
        })
    }
}

impl TableRows {
    pub(super) fn new(columns: &[Column]) -> Self {
        Self::of(column::schema(columns), columns.iter().map(|it| it.kind))
    }

    /// Makes the rows of a schema whose columns have these types.
    pub(super) fn of(schema: SchemaRef, kinds: impl Iterator<Item = ColumnKind>) -> Self {
        let cells: Vec<_> = kinds.map(ColumnCells::new).collect();
        let missing = vec![0; cells.len()];
        Self { schema, cells, missing, next: 0, rows: 0 }
    }

    /// Returns the number of rows that are complete.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Ends a row.
    pub(super) fn end(&mut self) {
        debug_assert_eq!(self.next, self.cells.len(), "{:?}", self.schema);
        self.next = 0;
        self.rows += 1;
    }

    /// Returns the rows, and starts again.
    ///
    /// # Errors
    ///
    /// If a column has other cells than the schema says, which is a fault of the caller.
    pub(super) fn finish(&mut self, _: &Context) -> Result<RecordBatch, ArrowError> {
        let arrays = self.arrays()?;
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }

    /// Returns the rows as structures, and starts again.
    fn as_structures(&mut self) -> Result<StructArray, ArrowError> {
        let (fields, len) = (self.schema.fields().clone(), self.rows);
        StructArray::try_new_with_length(fields, self.arrays()?, None, len)
    }

    /// Returns the columns, and starts again.
    ///
    /// # Errors
    ///
    /// If a column has other cells than the schema says, which is a fault of the caller.
    pub(super) fn arrays(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        for (cells, missing) in self.cells.iter_mut().zip(&mut self.missing) {
            cells.leave_out(core::mem::take(missing));
        }
        let arrays = self.cells.iter_mut().map(ColumnCells::finish).collect::<Result<Vec<_>, _>>()?;
        self.rows = 0;
        Ok(arrays)
    }

    /// Ends a row whose other cells have no value.
    #[inline]
    pub(super) fn end_without(&mut self) {
        if let Some(missing) = self.missing.get_mut(self.next..) {
            missing.iter_mut().for_each(|missing| *missing += 1);
        }
        self.next = self.cells.len();
        self.end();
    }

    /// Leaves a cell of the row to [`write_column`](Self::write_column).
    pub(super) fn leave(&mut self) {
        self.next += 1;
    }

    /// Writes the next cell of a column whose cells were left, between two rows.
    pub(super) fn write_column(&mut self, column: usize, write: impl FnOnce(&mut Self)) {
        self.next = column;
        write(self);
        self.next = 0;
    }

    /// Returns the column of the next cell, which has a value.
    #[inline]
    fn cell(&mut self) -> Option<&mut ColumnCells> {
        let next = self.next;
        self.next += 1;
        let cells = self.cells.get_mut(next)?;
        if let Some(missing) = self.missing.get_mut(next)
            && *missing > 0
        {
            cells.leave_out(core::mem::take(missing));
        }
        Some(cells)
    }

    /// Writes a cell without a value.
    #[inline]
    fn leave_out(&mut self) {
        if let Some(missing) = self.missing.get_mut(self.next) {
            *missing += 1;
        }
        self.next += 1;
    }

    /// Writes a number of 32 bits.
    #[inline]
    pub(super) fn int32(&mut self, value: impl Into<Option<i32>>) {
        let Some(value) = value.into() else { return self.leave_out() };
        if let Some(ColumnCells::Int32(cells)) = self.cell() {
            cells.append_value(value);
        }
    }

    /// Writes a number of 64 bits, as the same bits with a sign.
    #[inline]
    pub(super) fn int64(&mut self, value: impl Into<Option<u64>>) {
        let Some(value) = value.into() else { return self.leave_out() };
        if let Some(ColumnCells::Int64(cells)) = self.cell() {
            cells.append_value(value.cast_signed());
        }
    }

    pub(super) fn float64(&mut self, value: Option<f64>) {
        let Some(value) = value else { return self.leave_out() };
        if let Some(ColumnCells::Float64(cells)) = self.cell() {
            cells.append_value(value);
        }
    }

    pub(super) fn boolean(&mut self, value: impl Into<Option<bool>>) {
        let Some(value) = value.into() else { return self.leave_out() };
        if let Some(ColumnCells::Boolean(cells)) = self.cell() {
            cells.append_value(value);
        }
    }

    /// Writes a time in microseconds since 1970.
    #[inline]
    pub(super) fn timestamp(&mut self, value: Option<i64>) {
        let Some(value) = value else { return self.leave_out() };
        if let Some(ColumnCells::Timestamp(cells)) = self.cell() {
            cells.append_value(value);
        }
    }

    /// Writes a text, of either kind.
    #[inline]
    pub(super) fn text<'t>(&mut self, value: impl Into<Option<&'t str>>) {
        let Some(value) = value.into() else { return self.leave_out() };
        match self.cell() {
            Some(ColumnCells::Word(words)) => words.push(value),
            Some(ColumnCells::Text(cells)) => cells.append_value(value),
            _ => {}
        }
    }

    /// Writes bytes as a text.
    #[inline]
    pub(super) fn bytes<'t>(&mut self, value: impl Into<Option<&'t [u8]>>) {
        let value = value.into().map(utf8);
        self.text(value.as_deref());
    }

    pub(super) fn integers(&mut self, values: Option<impl Iterator<Item = u64>>) {
        let Some(values) = values else { return self.leave_out() };
        if let Some(ColumnCells::Integers(list)) = self.cell() {
            values.for_each(|value| list.items.append_value(value.cast_signed()));
            let len = arrow_array::builder::ArrayBuilder::len(&list.items);
            list.end(len);
        }
    }

    pub(super) fn texts<'t>(&mut self, values: Option<impl Iterator<Item = Cow<'t, str>>>) {
        let Some(values) = values else { return self.leave_out() };
        if let Some(ColumnCells::Texts(list)) = self.cell() {
            values.for_each(|value| list.items.append_value(value));
            let len = arrow_array::builder::ArrayBuilder::len(&list.items);
            list.end(len);
        }
    }

    /// Writes a list of structures; `push` writes each as a row.
    pub(super) fn structures<T>(
        &mut self,
        values: Option<impl Iterator<Item = T>>,
        mut push: impl FnMut(&mut Self, T),
    ) {
        let Some(values) = values else { return self.leave_out() };
        if let Some(ColumnCells::Structures(list)) = self.cell() {
            for value in values {
                push(&mut list.items, value);
                list.items.end();
            }
            let len = list.items.len();
            list.end(len);
        }
    }
}
