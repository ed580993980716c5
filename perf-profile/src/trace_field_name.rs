//! Names of fields of tracepoints.

use perf_parse::tracepoint::{ElementType, Format, FormatField};

/// What a key of a field names: `FIELD` of any tracepoint, or `SYSTEM:EVENT.FIELD` or `EVENT.FIELD` of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFieldName {
    /// The word of the list.
    pub(crate) word: String,
    /// The number of characters before the name of the field.
    at: usize,
    /// The smallest number of characters of a column that has the field, as perf has it.
    pub(crate) least: usize,
}

impl TraceFieldName {
    /// Returns what a word names; `None` if no field can be named so.
    pub(crate) fn new(word: &str) -> Option<Self> {
        let is_name = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b':'))
        };
        let (event, field) = word.rsplit_once('.').unwrap_or(("", word));
        let is_possible = is_name(field)
            && !field.contains(':')
            && (event.is_empty() != word.contains('.') && (event.is_empty() || is_name(event)));
        is_possible.then(|| Self { word: word.to_owned(), at: word.len() - field.len(), least: 0 })
    }

    /// Returns the name of the field, which is the heading of its column.
    #[must_use]
    pub fn field(&self) -> &str {
        self.word.get(self.at..).unwrap_or_default()
    }

    /// Returns the field of a tracepoint; `None` if it has none, or is another one.
    pub(crate) fn of<'f, 'a>(&self, format: &'f Format<'a>) -> Option<&'f FormatField<'a>> {
        let event = self.word.get(..self.at.saturating_sub(1)).unwrap_or_default();
        let is_it = match event.split_once(':') {
            Some((system, name)) => system.as_bytes() == format.system && name.as_bytes() == format.name,
            None => event.is_empty() || event.as_bytes() == format.name,
        };
        if is_it { format.field(self.field()) } else { None }
    }

    /// Notes that a field has the name.
    ///
    /// perf: `hde_width`, `tools/perf/util/sort.c`.
    pub(crate) fn see(&mut self, field: &FormatField<'_>) {
        if field.element != ElementType::Char {
            // The digits of a number in hexadecimal.
            self.least = self.least.max((field.size as usize).saturating_mul(2).saturating_add(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_a_field_of_one_event_or_of_any() {
        let of = |word| TraceFieldName::new(word).map(|it| it.field().to_owned());
        for (word, field) in [
            ("prev_comm", "prev_comm"),
            ("sched_switch.prev_pid", "prev_pid"),
            ("sched:sched_switch.next-x", "next-x"),
        ] {
            assert_eq!(of(word).as_deref(), Some(field));
        }
        for word in ["", ".", "a.", ".a", "a:b", "a b", "a.b:c", "a/b", "\u{e9}"] {
            assert_eq!(of(word), None, "{word}");
        }
    }

    #[test]
    fn an_event_is_the_one_that_is_named() {
        let text = b"name: waits\nID: 7\nformat:\n\tfield:int pid;\toffset:0;\tsize:4;\tsigned:1;\n\n\
                     \tfield:char comm[16];\toffset:4;\tsize:16;\tsigned:0;\n\nprint fmt: \"\"\n";
        let format = Format::parse(b"sched", text, 8).unwrap();
        let name = |word: &str| TraceFieldName::new(word).unwrap();
        for word in ["comm", "waits.comm", "sched:waits.comm"] {
            assert!(name(word).of(&format).is_some(), "{word}");
        }
        for word in ["com", "wait.comm", "irq:waits.comm", "sched:wait.comm"] {
            assert!(name(word).of(&format).is_none(), "{word}");
        }
        for (word, least) in [("pid", 10), ("comm", 0)] {
            let mut name = name(word);
            name.see(&name.clone().of(&format).copied().unwrap());
            assert_eq!(name.least, least, "{word}");
        }
    }
}
