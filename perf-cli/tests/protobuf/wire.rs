//! A reader of protobuf that knows no messages.

use std::str;

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

/// A message: its fields, by number, in the order in which they were written.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a>(Vec<(u64, Value<'a>)>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

fn fixed(bytes: &mut &[u8]) -> u64 {
    let (number, rest) = bytes.split_at(8);
    *bytes = rest;
    u64::from_le_bytes(number.try_into().unwrap())
}

impl<'a> Message<'a> {
    pub(crate) fn new(mut bytes: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let value = match tag & 7 {
                0 => Value::Number(varint(&mut bytes)),
                1 => Value::Fixed(fixed(&mut bytes)),
                2 => {
                    let size = varint(&mut bytes) as usize;
                    let (content, rest) = bytes.split_at(size);
                    bytes = rest;
                    Value::Bytes(content)
                }
                kind => panic!("wire type {kind}"),
            };
            fields.push((tag >> 3, value));
        }
        Self(fields)
    }

    fn values(&self, field: u64) -> impl Iterator<Item = Value<'a>> + '_ {
        self.0.iter().filter(move |(number, _)| *number == field).map(|(_, value)| *value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number; 0 if it is not there.
    pub(crate) fn number(&self, field: u64) -> u64 {
        match self.values(field).last() {
            None => 0,
            Some(Value::Number(number) | Value::Fixed(number)) => number,
            Some(Value::Bytes(_)) => panic!("field {field} is no number"),
        }
    }

    /// Repeated numbers, which are packed.
    pub(crate) fn numbers(&self, field: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for mut bytes in self.bytes(field) {
            while !bytes.is_empty() {
                numbers.push(varint(&mut bytes));
            }
        }
        numbers
    }

    /// Repeated numbers, each a field of its own.
    pub(crate) fn unpacked(&self, field: u64) -> Vec<u64> {
        let of = |value| match value {
            Value::Number(number) => number,
            _ => panic!("field {field} is no number"),
        };
        self.values(field).map(of).collect()
    }

    /// A number; `None` if it is not there.
    pub(crate) fn optional(&self, field: u64) -> Option<u64> {
        self.unpacked(field).pop()
    }

    /// Repeated numbers of 8 bytes each.
    pub(crate) fn fixed(&self, field: u64) -> Vec<u64> {
        self.bytes(field).flat_map(|bytes| bytes.chunks(8)).map(|mut bytes| fixed(&mut bytes)).collect()
    }

    fn bytes(&self, field: u64) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.values(field).map(move |value| match value {
            Value::Bytes(bytes) => bytes,
            _ => panic!("field {field} is a number"),
        })
    }

    /// Bytes; empty if they are not there.
    pub(crate) fn content(&self, field: u64) -> &'a [u8] {
        self.bytes(field).last().unwrap_or_default()
    }

    pub(crate) fn messages(&self, field: u64) -> Vec<Message<'a>> {
        self.bytes(field).map(Message::new).collect()
    }

    pub(crate) fn message(&self, field: u64) -> Message<'a> {
        self.messages(field).pop().unwrap_or(Message(Vec::new()))
    }

    pub(crate) fn texts(&self, field: u64) -> Vec<&'a str> {
        self.bytes(field).map(|bytes| str::from_utf8(bytes).expect("strings are UTF-8")).collect()
    }

    pub(crate) fn text(&self, field: u64) -> &'a str {
        self.texts(field).pop().unwrap_or("")
    }
}
