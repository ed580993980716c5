//! JSON documents written piece by piece, on several threads.

use std::io::{self, Write};
use std::num::NonZero;
use std::ops::Range;

use perf_profile::work::waves::each_range;
use serde::Serialize;

/// Number of places in the unit of work of a thread.
const PLACES: usize = 1 << 12;

/// The values of an array, computed when they are written.
pub(crate) trait JsonColumn: Sync {
    /// Returns the number of values.
    fn count(&self) -> usize;

    /// Appends some values, with commas between them.
    fn push(&self, range: Range<usize>, out: &mut Vec<u8>);
}

impl<T: Serialize + Sync> JsonColumn for &[T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn push(&self, range: Range<usize>, out: &mut Vec<u8>) {
        push_values(self.get(range).unwrap_or_default(), out);
    }
}

/// A column whose values are all the same.
pub(crate) struct RepeatedValue<T>(pub(crate) T, pub(crate) usize);

impl<T: Serialize + Sync> JsonColumn for RepeatedValue<T> {
    fn count(&self) -> usize {
        self.1
    }

    fn push(&self, range: Range<usize>, out: &mut Vec<u8>) {
        push_values(range.map(|_| &self.0), out);
    }
}

/// A column of values that are computed from others.
pub(crate) struct ComputedValues<'a, M, F>(pub(crate) &'a [M], pub(crate) F);

impl<M: Copy + Sync, T: Serialize, F: Fn(M) -> T + Sync> JsonColumn for ComputedValues<'_, M, F> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn push(&self, range: Range<usize>, out: &mut Vec<u8>) {
        push_values(self.0.get(range).unwrap_or_default().iter().map(|&it| (self.1)(it)), out);
    }
}

/// Appends values, with commas between them.
fn push_values<T: Serialize>(values: impl IntoIterator<Item = T>, out: &mut Vec<u8>) {
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push(&value, out);
    }
}

fn push(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}

/// A part of a document, whose columns are not written yet.
#[derive(Default)]
pub(crate) struct JsonDocument<'a> {
    columns: Vec<TextAndColumn<'a>>,
    /// The text after the last column.
    text: Vec<u8>,
    /// Number of places: one for each value of a column, and one for each text.
    places: usize,
}

/// A column, and what is before it.
struct TextAndColumn<'a> {
    text: Vec<u8>,
    column: Box<dyn JsonColumn + 'a>,
    /// The text has the first place, and each value has one.
    places: Range<usize>,
}

impl<'a> JsonDocument<'a> {
    /// Begins an object, or an array.
    pub(crate) fn open(&mut self, bracket: u8) {
        self.separate();
        self.text.push(bracket);
    }

    /// Ends an object, or an array.
    pub(crate) fn close(&mut self, bracket: u8) {
        self.text.push(bracket);
    }

    /// Begins a field of an object.
    pub(crate) fn key(&mut self, key: &str) {
        self.separate();
        push(key, &mut self.text);
        self.text.push(b':');
    }

    /// Adds a field.
    pub(crate) fn field(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        self.key(key);
        push(value, &mut self.text);
    }

    /// Adds a field that is an array.
    pub(crate) fn column(&mut self, key: &str, column: impl JsonColumn + 'a) {
        self.key(key);
        self.text.push(b'[');
        let start = self.places;
        self.places += column.count() + 1;
        let (text, column) = (std::mem::take(&mut self.text), Box::new(column));
        self.columns.push(TextAndColumn { text, column, places: start..self.places });
        self.text.push(b']');
    }

    /// Adds a field that is a table: its number of rows, and its columns.
    pub(crate) fn table(&mut self, key: &str, length: usize, columns: impl FnOnce(&mut Self)) {
        self.key(key);
        self.open(b'{');
        self.field("length", &length);
        columns(self);
        self.close(b'}');
    }

    /// Begins another element, unless it is the first one.
    fn separate(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
    }

    /// Writes the part on several threads.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub(crate) fn write(&self, threads: NonZero<usize>, out: &mut dyn Write) -> io::Result<()> {
        let text = |places| self.text_of(places);
        each_range(self.places, PLACES, threads, text, |text| out.write_all(&text))?;
        out.write_all(&self.text)
    }

    /// Returns the text at some places.
    fn text_of(&self, places: Range<usize>) -> Vec<u8> {
        let mut out = Vec::new();
        let first = self.columns.partition_point(|it| it.places.end <= places.start);
        let columns = self.columns.iter().skip(first);
        for TextAndColumn { text, column, places: own } in
            columns.take_while(|it| it.places.start < places.end)
        {
            let before = own.start + 1;
            if places.contains(&own.start) {
                out.extend_from_slice(text);
            }
            let values = places.start.saturating_sub(before)..places.end.min(own.end) - before;
            if values.start > 0 {
                out.push(b',');
            }
            column.push(values, &mut out);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_those_of_one_thread() {
        let numbers: Vec<u32> = (0..3 * PLACES as u32).collect();
        let mut document = JsonDocument::default();
        document.open(b'{');
        document.field("a", "b");
        for count in [0, 1, PLACES - 2, PLACES - 1, 0, 0, PLACES, 3 * PLACES] {
            document.table("c", count, |table| {
                table.column("d", &numbers[..count]);
                table.column("e", RepeatedValue((), count));
                table.column("f", ComputedValues(&numbers[..count], |number: u32| number.to_string()));
            });
        }
        document.close(b'}');
        let written = |threads| {
            let mut out = Vec::new();
            document.write(NonZero::new(threads).unwrap(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let mut expected = String::from("{\"a\":\"b\"");
        for count in [0, 1, PLACES - 2, PLACES - 1, 0, 0, PLACES, 3 * PLACES] {
            let of = |value: &dyn Fn(usize) -> String| (0..count).map(value).collect::<Vec<_>>().join(",");
            let [d, e, f] = [of(&|it| it.to_string()), of(&|_| "null".into()), of(&|it| format!("\"{it}\""))];
            expected += &format!(",\"c\":{{\"length\":{count},\"d\":[{d}],\"e\":[{e}],\"f\":[{f}]}}");
        }
        expected += "}";
        for threads in [1, 2, 3, 5] {
            assert!(written(threads) == expected, "{threads}");
        }
    }
}
