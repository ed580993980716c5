//! Lists of columns as text, as `--sort` and `--fields` have them.

use core::fmt;
use core::str::FromStr;

use super::sort_key::{KeyMeaning, NAMES, ReportColumn};
use crate::trace_field_name::TraceFieldName;

/// A list of columns: keys, and numbers.
///
/// # Examples
///
/// ```
/// use perf_profile::report::{KeyList, SortKey};
///
/// let list: KeyList = "+cpu,sym".parse()?;
/// assert!(list.is_addition());
/// assert_eq!(list.columns().collect::<Vec<_>>(), [SortKey::Cpu.into(), SortKey::Symbol.into()]);
/// # Ok::<(), perf_profile::report::KeyListError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyList {
    words: Vec<KeyWord>,
    is_addition: bool,
}

/// A column and the word that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyWord {
    pub(super) text: String,
    /// `None` for what may be a field of a tracepoint.
    pub(super) column: Option<ReportColumn>,
}

impl KeyList {
    /// Returns the columns in the order of the list, without fields of tracepoints: the capture tells whether it has them.
    pub fn columns(&self) -> impl Iterator<Item = ReportColumn> {
        self.words.iter().filter_map(|word| word.column)
    }

    /// Returns whether the list is added to the default, and does not replace it.
    #[must_use]
    pub fn is_addition(&self) -> bool {
        self.is_addition
    }

    /// Returns whether a word may be a field of a tracepoint.
    pub(super) fn may_have_fields(&self) -> bool {
        self.words.iter().any(|word| word.column.is_none())
    }

    pub(super) fn words(&self) -> &[KeyWord] {
        &self.words
    }

    /// Returns whether a word has this part.
    pub(super) fn mentions(&self, part: &str) -> bool {
        self.words.iter().any(|word| word.text.contains(part))
    }
}

/// The list has no other columns than these.
impl<C: Into<ReportColumn>> FromIterator<C> for KeyList {
    fn from_iter<I: IntoIterator<Item = C>>(columns: I) -> Self {
        let word = |column: C| {
            let column = column.into();
            KeyWord { text: column.name().to_owned(), column: Some(column) }
        };
        Self { words: columns.into_iter().map(word).collect(), is_addition: false }
    }
}

/// Parses names of perf that are separated by commas or blanks. Each may be shortened. A list that begins with `+` is
/// added to the default. Another word may be a field of a tracepoint, `FIELD` or `EVENT.FIELD`; `trace_fields` are
/// all fields of all tracepoints.
///
/// perf: `setup_sort_list`, `tools/perf/util/sort.c`.
impl FromStr for KeyList {
    type Err = KeyListError;

    /// # Errors
    ///
    /// The first word that can be no key.
    fn from_str(text: &str) -> Result<Self, KeyListError> {
        let more = text.strip_prefix('+');
        let list = more.unwrap_or(text);
        let words = list.split([',', ' ', '{', '}']).filter(|word| !word.is_empty());
        let words = words.map(word).collect::<Result<Vec<_>, _>>()?;
        if words.is_empty() {
            return Err(KeyListError::Empty { list: list.to_owned() });
        }
        Ok(Self { words, is_addition: more.is_some() })
    }
}

fn word(text: &str) -> Result<KeyWord, KeyListError> {
    let lower = text.to_ascii_lowercase();
    // A whole name comes first: unlike in perf, `weight` is never another key that begins with it.
    let whole = NAMES.iter().find(|(name, _)| *name == lower);
    match whole.or_else(|| NAMES.iter().find(|(name, _)| name.starts_with(&lower))) {
        Some((_, KeyMeaning::Column(column, ..))) => {
            Ok(KeyWord { text: text.to_owned(), column: Some(*column) })
        }
        Some((name, KeyMeaning::Refused(instead))) => {
            Err(KeyListError::Refused { word: text.to_owned(), name, instead })
        }
        None if TraceFieldName::new(text).is_some() => Ok(KeyWord { text: text.to_owned(), column: None }),
        None => Err(KeyListError::Unknown { word: text.to_owned() }),
    }
}

/// A text that is no list of columns. Displayed with the word that is wrong first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyListError {
    /// The list has no key.
    #[non_exhaustive]
    Empty {
        /// The list.
        list: String,
    },
    /// There is no such key.
    #[non_exhaustive]
    Unknown {
        /// The word of the list.
        word: String,
    },
    /// perf has the key, but reports of this library do not.
    #[non_exhaustive]
    Refused {
        /// The word of the list.
        word: String,
        /// perf's name of the key.
        name: &'static str,
        /// Why it is missing.
        instead: &'static str,
    },
}

impl fmt::Display for KeyListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { list } => write!(f, "{list}: there must be a key; {KeyNames}"),
            Self::Unknown { word } => write!(f, "{word}: there is no such key; {KeyNames}"),
            Self::Refused { word, name, instead } => {
                write!(f, "{word}: perfdata report has no key {name}; {instead}")
            }
        }
    }
}

impl core::error::Error for KeyListError {}

/// The names of all keys, as the end of an error.
pub(super) struct KeyNames;

impl fmt::Display for KeyNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keys are")?;
        let names = NAMES.iter().filter(|(_, meaning)| !matches!(meaning, KeyMeaning::Refused(_)));
        names.into_iter().try_for_each(|(name, _)| write!(f, " {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SortKey;

    #[test]
    fn each_name_is_its_column_and_each_column_has_its_name() {
        for (name, meaning) in NAMES {
            let KeyMeaning::Column(column, _, heading) = *meaning else { continue };
            let list: KeyList = name.parse().unwrap();
            assert_eq!(list.columns().collect::<Vec<_>>(), [column], "{name}");
            assert_eq!((column.name(), column.heading()), (*name, heading));
            assert!(!heading.is_empty(), "{name}");
            assert_eq!([column].into_iter().collect::<KeyList>(), list);
        }
    }

    #[test]
    fn the_first_name_that_begins_with_a_word_counts() {
        let of = |text: &str| text.parse::<KeyList>().unwrap().columns().collect::<Vec<_>>();
        assert_eq!(of("sym"), [SortKey::Symbol.into()]);
        assert_eq!(
            of("{C,overhead_c} t"),
            [SortKey::Comm.into(), ReportColumn::Children, SortKey::Transaction.into()]
        );
    }

    #[test]
    fn other_words_may_be_fields() {
        let list: KeyList = "comm,prev_comm,sched:sched_switch.next_pid".parse().unwrap();
        assert_eq!(list.columns().collect::<Vec<_>>(), [SortKey::Comm.into()]);
        assert_eq!(list.words().iter().filter(|word| word.column.is_none()).count(), 2);
    }

    #[test]
    fn words_that_are_no_key() {
        let of = |text: &str| text.parse::<KeyList>().unwrap_err();
        assert_eq!(of("comm,nope!"), KeyListError::Unknown { word: "nope!".to_owned() });
        assert!(of("nope!").to_string().starts_with("nope!: there is no such key; the keys are pid comm "));
        assert_eq!(of("+"), KeyListError::Empty { list: String::new() });
        assert!(of(",").to_string().starts_with(",: there must be a key; the keys are pid"));
        assert!(matches!(of("ipc_l"), KeyListError::Refused { name: "ipc_lbr", .. }));
        assert!(
            of("ipc_l").to_string().starts_with("ipc_l: perfdata report has no key ipc_lbr; instructions")
        );
    }
}
