//! The instructions of an annotation.

use core::ffi::c_int;

use perf_profile::annotation::{AnnotatedInstruction, AnnotatedTarget};

use crate::annotation::perfdata_annotation;
use crate::annotation_totals::at;
use crate::error::perfdata_error;
use crate::profile_tables::PERFDATA_NONE;
use crate::row::row;
use crate::string::perfdata_string;
use crate::versioned::versioned;

/// The instruction branches to an address that is in its bytes: the fields that begin with `target_`.
pub const PERFDATA_INSTRUCTION_TARGET: u32 = 1;
/// The branch is a call.
pub const PERFDATA_INSTRUCTION_CALL: u32 = 1 << 1;
/// The instruction loads, stores or computes an address relative to its own: the fields that begin with `data_`.
pub const PERFDATA_INSTRUCTION_DATA: u32 = 1 << 2;
/// The compiler recommends the instruction as the place of a breakpoint for its line.
pub const PERFDATA_INSTRUCTION_IS_STMT: u32 = 1 << 3;

/// An instruction.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_annotation_instruction_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Its address, as `start` of the annotation.
    pub address: u64,
    /// Its bytes.
    pub bytes: perfdata_string,
    /// Its mnemonic and operands; `(bad)` for bytes that are no instruction.
    pub text: perfdata_string,
    /// The address that it branches to, with PERFDATA_INSTRUCTION_TARGET.
    pub target_address: u64,
    /// The function there; empty if it is unknown, NULL without a target.
    pub target_name: perfdata_string,
    /// The offset of the target in that function.
    pub target_offset: u64,
    /// The address that it uses, with PERFDATA_INSTRUCTION_DATA.
    pub data_address: u64,
    /// The function or variable there; empty if it is unknown, NULL without data.
    pub data_name: perfdata_string,
    /// The offset of the data in that function or variable.
    pub data_offset: u64,
    /// Tells blocks of the same line apart; 0 if there is one.
    pub discriminator: u64,
    /// The index of its source line; PERFDATA_NONE if it is unknown.
    pub line: u32,
    /// The column of that line, from 1 on; 0 if it is unknown.
    pub column: u32,
    /// The index of its innermost function.
    pub function: u32,
    /// PERFDATA_INSTRUCTION_* bits.
    pub flags: u32,
}

versioned!(perfdata_annotation_instruction_row);

/// Writes an instruction of an annotation by its index. Instructions are in the order of their addresses, without gaps.
///
/// # Safety
///
/// `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_annotation_instruction(
    annotation: *const perfdata_annotation,
    index: u32,
    out: *mut perfdata_annotation_instruction_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |it: &perfdata_annotation| Ok(to_c(at("instruction", &it.annotation.instructions, index)?));
    // SAFETY: as the caller promises.
    unsafe { row(annotation, out, error, "perfdata_annotation_instruction_row", make) }
}

fn to_c(it: &AnnotatedInstruction) -> perfdata_annotation_instruction_row {
    let (target, data) = (it.target.as_ref(), it.data.as_ref());
    let name = |it: Option<&AnnotatedTarget>| match it {
        Some(it) => perfdata_string::of(&it.name),
        None => perfdata_string::NONE,
    };
    let flags = [
        (PERFDATA_INSTRUCTION_TARGET, target.is_some()),
        (PERFDATA_INSTRUCTION_CALL, target.is_some_and(|it| it.is_call)),
        (PERFDATA_INSTRUCTION_DATA, data.is_some()),
        (PERFDATA_INSTRUCTION_IS_STMT, it.is_stmt),
    ];
    perfdata_annotation_instruction_row {
        size: 0,
        address: it.address,
        bytes: perfdata_string::of(&it.bytes),
        text: perfdata_string::of(it.text.as_bytes()),
        target_address: target.map_or(0, |it| it.address),
        target_name: name(target),
        target_offset: target.map_or(0, |it| it.offset),
        data_address: data.map_or(0, |it| it.address),
        data_name: name(data),
        data_offset: data.map_or(0, |it| it.offset),
        discriminator: it.discriminator,
        line: it.line.unwrap_or(PERFDATA_NONE),
        column: it.column.unwrap_or(0),
        function: it.function,
        flags: flags.iter().filter(|(_, has)| *has).map(|(bit, _)| bit).sum(),
    }
}
