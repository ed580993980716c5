//! `BPF_BTF`: the types of BPF programs.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::codec::{Fault, SectionField, number, put_count, put_number};
use super::{FieldValue, Fields};
use crate::cursor::Cursor;
use crate::error::Error;

/// Types of BPF programs, in the BPF Type Format.
///
/// perf: `write_bpf_btf`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfBtf<'a> {
    /// The kernel's id of the types: `btf_id`, which comes after the fields of [`BpfProgram`](super::BpfProgram).
    pub id: u32,
    /// The types, beginning with the magic number 0xeb9f.
    pub bytes: &'a [u8],
}

impl<'a> SectionField<'a> for BpfBtf<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, _: u32) -> Result<Self, Error> {
        let id = number::<O>(at, "id")?;
        let size = number::<O>(at, "size")?;
        Ok(Self { id, bytes: at.bytes(u64::from(size), "btf")? })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        put_number::<O>(out, self.id);
        put_count::<O>(out, self.bytes.len(), "btf")?;
        out.extend_from_slice(self.bytes);
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for BpfBtf<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("id", FieldValue::Number(self.id.into()));
        to("data", FieldValue::Bytes(self.bytes));
    }
}
