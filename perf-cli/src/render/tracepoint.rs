//! A tracepoint, made ready to print its raw data.

use perf_abi::endian::{Endian, U16, U32, U64};
use perf_parse::tracepoint::{Element, Field, FieldError, Format, Place, Value};
use perf_parse::{Error, ErrorKind};

use super::escape::{push_json, push_printable};
use super::name::Key;
use super::ready::Ready;

/// The format of a tracepoint, with the names of its fields escaped once.
#[derive(Clone, Debug)]
pub(crate) struct Tracepoint<'a> {
    format: Format<'a>,
    /// Those that all tracepoints have first.
    fields: Vec<TracepointField<'a>>,
    /// `    system:name:`, as eyes may see it.
    pub(crate) title: Ready,
    /// The slots of its fields' names, a bit each.
    pub(crate) slots: u64,
    /// Bytes of raw data that have all its fields in them, each byte in one at most; `None` if that depends on what they
    /// are, or fields share bytes.
    whole: Option<u64>,
}

/// A tracepoint's field, with its name as it stands in front of its value.
#[derive(Clone, Debug)]
pub(crate) struct TracepointField<'a> {
    field: Field<'a>,
    integer: Option<Integer>,
    pub(crate) key: Key,
    /// `,"name":`
    pub(crate) member: Ready,
    /// ` name=`
    pub(crate) label: Ready,
}

/// Where the one integer of a field is: it is read from there without a look at what the field is.
#[derive(Clone, Copy, Debug)]
struct Integer {
    at: usize,
    bytes: u8,
    signed: bool,
}

impl Integer {
    fn new(field: &Field<'_>) -> Option<Self> {
        match (field.place, field.element) {
            (Place::Value, Element::Integer { bytes }) => {
                Some(Self { at: usize::try_from(field.offset).ok()?, bytes, signed: field.signed })
            }
            _ => None,
        }
    }

    /// The integer; `None` if it is not in `raw`.
    #[inline(always)]
    fn value<'r, O: Endian>(&self, raw: &'r [u8]) -> Option<Value<'r, O>> {
        let bytes = raw.get(self.at..)?;
        let (number, sign) = match self.bytes {
            1 => bytes.first().map(|&byte| (u64::from(byte), i64::from(byte as i8)))?,
            2 => {
                let number = U16::<O>::from_bytes(*bytes.first_chunk()?).get();
                (u64::from(number), i64::from(number as i16))
            }
            4 => {
                let number = U32::<O>::from_bytes(*bytes.first_chunk()?).get();
                (u64::from(number), i64::from(number as i32))
            }
            8 => {
                let number = U64::<O>::from_bytes(*bytes.first_chunk()?).get();
                (number, number as i64)
            }
            _ => return None,
        };
        Some(if self.signed { Value::Signed(sign) } else { Value::Unsigned(number) })
    }
}

impl<'a> TracepointField<'a> {
    fn new(field: &Field<'a>) -> Self {
        let (mut member, mut label) = (b",".to_vec(), b" ".to_vec());
        push_json(&mut member, field.name);
        member.push(b':');
        push_printable(&mut label, field.name);
        label.push(b'=');
        let (member, label) = (Ready::new(member), Ready::new(label));
        Self { field: *field, integer: Integer::new(field), key: Key::of(field.name), member, label }
    }

    /// Its value in raw data.
    #[inline(always)]
    fn value<'r, O: Endian>(&self, raw: &'r [u8]) -> Result<Value<'r, O>, FieldError<'a>> {
        match self.integer.and_then(|integer| integer.value(raw)) {
            Some(value) => Ok(value),
            None => self.any_value(raw),
        }
    }

    #[inline(never)]
    fn any_value<'r, O: Endian>(&self, raw: &'r [u8]) -> Result<Value<'r, O>, FieldError<'a>> {
        self.field.value(raw)
    }
}

impl<'a> Tracepoint<'a> {
    pub(crate) fn new(format: &Format<'a>) -> Self {
        let fields = || format.common_fields().iter().chain(format.own_fields());
        let told: Vec<_> = fields().map(TracepointField::new).collect();
        let mut title = b"    ".to_vec();
        push_printable(&mut title, format.system);
        title.push(b':');
        push_printable(&mut title, format.name);
        title.push(b':');
        let slots = told.iter().fold(0, |all, field| all | field.key.bit());
        let whole = if share_bytes(fields()) {
            None
        } else {
            fields().map(end).try_fold(0, |all, end| Some(end?.max(all)))
        };
        Self { format: format.clone(), fields: told, title: Ready::new(title), slots, whole }
    }

    /// The `attr.config` of its events.
    pub(crate) fn id(&self) -> u32 {
        self.format.id
    }

    /// Its fields, those that all tracepoints have first.
    #[inline]
    pub(crate) fn fields(&self) -> &[TracepointField<'a>] {
        &self.fields
    }

    /// Those that are this tracepoint's own.
    #[inline]
    pub(crate) fn own_fields(&self) -> &[TracepointField<'a>] {
        self.fields.get(self.format.common_fields().len()..).unwrap_or_default()
    }

    /// Those of `fields` that raw data has, with their values. One that is not in it is left out, and so are those that
    /// come when all that was given has more values than the raw data has bytes: fields that share bytes would multiply
    /// them.
    #[inline]
    pub(crate) fn values<'t, 'r, O: Endian>(
        &self,
        fields: impl Iterator<Item = &'t TracepointField<'a>>,
        raw: &'r [u8],
    ) -> impl Iterator<Item = (&'t TracepointField<'a>, Value<'r, O>)>
    where
        'a: 't,
    {
        let mut room = Room::of(self, raw);
        fields.filter_map(move |field| {
            let value = field.value(raw).ok()?;
            room.has(&value).then_some((field, value))
        })
    }

    /// Whether raw data has all fields.
    ///
    /// # Errors
    ///
    /// How many bytes the first field needs that is not in it; or that the fields have more values than it has bytes.
    #[inline]
    pub(crate) fn check<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        if self.whole.is_some_and(|whole| raw.len() as u64 >= whole) {
            return Ok(());
        }
        self.check_each::<O>(raw)
    }

    #[inline(never)]
    fn check_each<O: Endian>(&self, raw: &[u8]) -> Result<(), Error> {
        let mut room = Room::of(self, raw);
        for field in &self.fields {
            let kind = match field.value::<O>(raw) {
                Ok(value) if room.has(&value) => continue,
                Ok(value) => {
                    let max = raw.len() as u64;
                    let value = max.saturating_add(Room::needed(&value) as u64);
                    ErrorKind::OutOfRange { field: "raw", value, max }
                }
                Err(error) => {
                    let needed = error.offset.saturating_add(error.needed);
                    ErrorKind::Truncated { field: "raw", needed, available: error.available }
                }
            };
            return Err(Error { kind, offset: 0 });
        }
        Ok(())
    }
}

/// How many values may still be given of raw data.
struct Room(usize);

impl Room {
    /// Fields without bytes that are given besides: an array at the end that is empty, a string that is.
    const EMPTY: usize = 64;

    fn of(tracepoint: &Tracepoint<'_>, raw: &[u8]) -> Self {
        // Fields whose places are known and that share no bytes need not be counted.
        Self(if tracepoint.whole.is_some() { usize::MAX } else { raw.len() + Self::EMPTY })
    }

    /// Values in a value: its bytes, or its elements, which have bytes of their own each.
    fn needed<O: Endian>(value: &Value<'_, O>) -> usize {
        match value {
            Value::Str(bytes) | Value::Bytes(bytes) => bytes.len().max(1),
            Value::Array(array) => array.len().max(1),
            _ => 1,
        }
    }

    /// Whether there is room for a value, which is then taken.
    #[inline]
    fn has<O: Endian>(&mut self, value: &Value<'_, O>) -> bool {
        if self.0 == usize::MAX {
            return true;
        }
        let left = self.0.checked_sub(Self::needed(value));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Whether fields have bytes in common. One without bytes counts as one of a byte, so that there are not many of them.
fn share_bytes<'f, 'a: 'f>(fields: impl Iterator<Item = &'f Field<'a>>) -> bool {
    let place = |field: &Field<'_>| (field.offset, u64::from(field.offset) + u64::from(field.size.max(1)));
    let mut places: Vec<_> = fields.map(place).collect();
    places.sort_unstable();
    let mut end_before = 0;
    places.iter().any(|&(start, end)| {
        let shares = u64::from(start) < end_before;
        end_before = end.max(end_before);
        shares
    })
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
