//! Files and symbols as the entries of the two features that have them.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::protobuf::{IN_MESSAGE, take_message};
use super::stored_file::{StoredFile, StoredSymbol};
use super::{file, file2};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::feature::FieldValue;
use crate::feature::codec::{Fault, SectionField};

impl<'a> SectionField<'a> for StoredFile<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, context: u32) -> Result<Self, Error> {
        if context == IN_MESSAGE { file2::take::<O>(at) } else { file::take::<O>(at) }
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        file2::put::<O>(self, out)
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

/// Of FILE, unless the context says that the symbol is in a message of FILE2.
impl<'a> SectionField<'a> for StoredSymbol<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, context: u32) -> Result<Self, Error> {
        if context == IN_MESSAGE { take_message(at) } else { file::take_symbol::<O>(at) }
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        file::put_symbol::<O>(self, out)
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}
