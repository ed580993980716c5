//! A tracepoint, made ready to print its raw data.

use perf_abi::endian::Endian;
use perf_parse::tracepoint::{Field, Format, Place};
use perf_parse::{Error, ErrorKind};

use super::escape::{push_json, push_printable};
use super::name::Key;
use super::ready::Ready;

/// The format of a tracepoint, with the names of its fields escaped once.
#[derive(Clone, Debug)]
pub(crate) struct Tracepoint<'a> {
    format: Format<'a>,
    names: Vec<FieldName>,
    /// `    system:name:`, as eyes may see it.
    pub(crate) title: Ready,
    /// The slots of its fields' names, a bit each.
    pub(crate) slots: u64,
    /// Bytes of raw data that have all its fields in them; `None` if that depends on what they are.
    whole: Option<u64>,
}

/// The name of a tracepoint's field, in front of its value.
#[derive(Clone, Debug)]
pub(crate) struct FieldName {
    pub(crate) key: Key,
    /// `,"name":`
    pub(crate) member: Ready,
    /// ` name=`
    pub(crate) label: Ready,
}

impl FieldName {
    fn new(name: &[u8]) -> Self {
        let (mut member, mut label) = (b",".to_vec(), b" ".to_vec());
        push_json(&mut member, name);
        member.push(b':');
        push_printable(&mut label, name);
        label.push(b'=');
        let (member, label) = (Ready::new(member), Ready::new(label));
        Self { key: Key::of(name), member, label }
    }
}

impl<'a> Tracepoint<'a> {
    pub(crate) fn new(format: &Format<'a>) -> Self {
        let fields = || format.common_fields().iter().chain(format.own_fields());
        let names: Vec<_> = fields().map(|field| FieldName::new(field.name)).collect();
        let mut title = b"    ".to_vec();
        push_printable(&mut title, format.system);
        title.push(b':');
        push_printable(&mut title, format.name);
        title.push(b':');
        let slots = names.iter().fold(0, |all, name| all | name.key.bit());
        let whole = fields().map(end).try_fold(0, |all, end| Some(end?.max(all)));
        Self { format: format.clone(), names, title: Ready::new(title), slots, whole }
    }

    /// The `attr.config` of its events.
    pub(crate) fn id(&self) -> u32 {
        self.format.id
    }

    /// Its fields with their names.
    #[inline]
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&FieldName, &Field<'a>)> {
        self.common_fields().chain(self.own_fields())
    }

    /// Those that all tracepoints have.
    #[inline]
    fn common_fields(&self) -> impl Iterator<Item = (&FieldName, &Field<'a>)> {
        self.names.iter().zip(self.format.common_fields())
    }

    /// Those that are this tracepoint's own.
    #[inline]
    pub(crate) fn own_fields(&self) -> impl Iterator<Item = (&FieldName, &Field<'a>)> {
        let names = self.names.get(self.format.common_fields().len()..).unwrap_or_default();
        names.iter().zip(self.format.own_fields())
    }

    /// Whether raw data has all fields.
    ///
    /// # Errors
    ///
    /// What of the first that it has not is missing.
    #[inline]
    pub(crate) fn check<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        if self.whole.is_some_and(|whole| raw.len() as u64 >= whole) {
            return Ok(());
        }
        self.check_each::<O>(raw)
    }

    #[inline(never)]
    fn check_each<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        let Some(error) = self.format.fields::<O>(raw).find_map(|(_, value)| value.err()) else {
            return Ok(());
        };
        let needed = error.offset.saturating_add(error.needed);
        let kind = ErrorKind::Truncated { field: "raw", needed, available: error.available };
        Err(Error { kind, offset: 0 })
    }
}

/// Where a field ends in the raw data; `None` if the raw data tells.
fn end(field: &Field<'_>) -> Option<u64> {
    let start = u64::from(field.offset);
    match field.place {
        Place::Value | Place::Array { .. } => Some(start + u64::from(field.size)),
        Place::Rest => Some(start),
        _ => None,
    }
}
