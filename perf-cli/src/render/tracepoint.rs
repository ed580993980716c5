//! A tracepoint, made ready to print its raw data.

use perf_abi::endian::Endian;
use perf_parse::tracepoint::{Field, FieldError, Format, Place, Value};
use perf_parse::{Error, ErrorKind};

use super::escape::{push_json, push_printable};
use super::name::slot;

/// The format of a tracepoint, with the names of its fields escaped once.
#[derive(Clone, Debug)]
pub(crate) struct Tracepoint<'a> {
    format: Format<'a>,
    names: Vec<FieldName<'a>>,
    /// `system:name:`, as eyes may see it.
    pub(crate) title: Vec<u8>,
    /// The places of its fields' names, a bit each.
    pub(crate) slots: u64,
    /// Bytes of raw data that have all its fields in them; `None` if that depends on what they are.
    whole: Option<u64>,
}

/// The name of a tracepoint's field, in front of its value.
#[derive(Clone, Debug)]
pub(crate) struct FieldName<'a> {
    /// `None` where it is not UTF-8: nobody can ask for it.
    pub(crate) text: Option<&'a str>,
    pub(crate) slot: usize,
    /// `,"name":`
    pub(crate) member: Vec<u8>,
    /// ` name=`
    pub(crate) label: Vec<u8>,
}

impl<'a> FieldName<'a> {
    fn new(name: &'a [u8]) -> Self {
        let (mut member, mut label) = (b",".to_vec(), b" ".to_vec());
        push_json(&mut member, name);
        member.push(b':');
        push_printable(&mut label, name);
        label.push(b'=');
        Self { text: core::str::from_utf8(name).ok(), slot: slot(name), member, label }
    }
}

impl<'a> Tracepoint<'a> {
    pub(crate) fn new(format: &Format<'a>) -> Self {
        let fields = || format.common_fields().iter().chain(format.own_fields());
        let names: Vec<_> = fields().map(|field| FieldName::new(field.name)).collect();
        let mut title = Vec::new();
        push_printable(&mut title, format.system);
        title.push(b':');
        push_printable(&mut title, format.name);
        title.push(b':');
        let slots = names.iter().fold(0, |all, name| all | 1 << name.slot);
        let whole = fields().map(end).try_fold(0, |all, end| Some(end?.max(all)));
        Self { format: format.clone(), names, title, slots, whole }
    }

    /// The `attr.config` of its events.
    pub(crate) fn id(&self) -> u32 {
        self.format.id
    }

    /// Its fields with their names and their values in raw data, which is in byte order `O`.
    pub(crate) fn fields<'s, 'r, O: Endian>(
        &'s self,
        raw: &'r [u8],
    ) -> impl Iterator<Item = (&'s FieldName<'a>, Result<Value<'r, O>, FieldError<'a>>)> {
        let fields = self.format.common_fields().iter().chain(self.format.own_fields());
        self.names.iter().zip(fields).map(move |(name, field)| (name, field.value(raw)))
    }

    /// As [`fields`](Self::fields), without those that all tracepoints have.
    pub(crate) fn own_fields<'s, 'r, O: Endian>(
        &'s self,
        raw: &'r [u8],
    ) -> impl Iterator<Item = (&'s FieldName<'a>, Result<Value<'r, O>, FieldError<'a>>)> {
        let names = self.names.iter().skip(self.format.common_fields().len());
        names.zip(self.format.own_fields()).map(move |(name, field)| (name, field.value(raw)))
    }

    /// Whether raw data has all fields.
    ///
    /// # Errors
    ///
    /// What of the first that it has not is missing.
    pub(crate) fn check<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        if self.whole.is_some_and(|whole| raw.len() as u64 >= whole) {
            return Ok(());
        }
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
