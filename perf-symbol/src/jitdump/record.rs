//! The records of a jitdump.

use super::error::JitdumpError;
use super::fields::{FieldFault, RecordFields};

/// A record of a jitdump. Borrows the bytes of the file or of its reader.
///
/// perf: `union jr_entry`, `tools/perf/util/jitdump.h`.
#[derive(Clone, Copy, Debug)]
pub struct JitRecord<'a> {
    /// Offset of the record from the start of the file.
    pub offset: u64,
    /// Size of the record in bytes.
    pub size: u32,
    /// The time: nanoseconds of `CLOCK_MONOTONIC`, unless the header [says otherwise](super::JitdumpHeader::has_arch_times).
    pub time: u64,
    /// The content.
    pub body: JitRecordBody<'a>,
}

/// The content of a [`JitRecord`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum JitRecordBody<'a> {
    /// `JIT_CODE_LOAD`: code was generated.
    Load(JitLoad<'a>),
    /// `JIT_CODE_MOVE`: code was moved to another address.
    Move(JitMove),
    /// `JIT_CODE_DEBUG_INFO`: the lines of the code that is loaded next.
    DebugInfo(JitDebugInfo<'a>),
    /// `JIT_CODE_CLOSE`: the program ended as it should. No record follows.
    Close,
    /// `JIT_CODE_UNWINDING_INFO`: the tables to unwind the code that is loaded next.
    UnwindingInfo(JitUnwindingInfo<'a>),
    /// A record of a later version.
    Other {
        /// Type of the record.
        id: u32,
        /// The bytes after the prefix.
        bytes: &'a [u8],
    },
}

/// Code that was generated.
///
/// perf: `struct jr_code_load`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLoad<'a> {
    /// Process id of the program, as the program saw it.
    pub pid: u32,
    /// Thread id of the compiler, as the program saw it.
    pub tid: u32,
    /// Virtual address of the code.
    pub vma: u64,
    /// First address of the code; usually the same as `vma`.
    pub code_addr: u64,
    /// Size of the code in bytes.
    pub code_size: u64,
    /// A number that identifies the code in the file.
    pub code_index: u64,
    /// Name of the function, in any encoding.
    pub name: &'a [u8],
    /// The machine code; shorter than `code_size`, or empty, if the program wrote less.
    pub code: &'a [u8],
}

/// Code that was moved to another address.
///
/// perf: `struct jr_code_move`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitMove {
    /// Process id of the program, as the program saw it.
    pub pid: u32,
    /// Thread id of the program, as the program saw it.
    pub tid: u32,
    /// New virtual address of the code.
    pub vma: u64,
    /// First address before the move.
    pub old_code_addr: u64,
    /// First address after the move.
    pub new_code_addr: u64,
    /// Size of the code in bytes.
    pub code_size: u64,
    /// The number of its load.
    pub code_index: u64,
}

/// The lines of code.
///
/// perf: `struct jr_code_debug_info`.
#[derive(Clone, Copy, Debug)]
pub struct JitDebugInfo<'a> {
    /// First address of the code.
    pub code_addr: u64,
    /// Number of lines, as the program wrote it.
    pub nr_entry: u64,
    fields: RecordFields<'a>,
}

/// The line from which on code was made.
///
/// perf: `struct debug_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLine<'a> {
    /// The first address of the line.
    pub code_addr: u64,
    /// The line, from 1 on.
    pub line: u32,
    /// Discriminator of the line, or its column.
    pub discrim: u32,
    /// Path of the source.
    pub file: &'a [u8],
}

/// The tables to unwind code.
///
/// perf: `struct jr_code_unwinding_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitUnwindingInfo<'a> {
    /// Number of bytes that the tables take in the memory of the program; 0 if they are not mapped.
    pub mapped_size: u64,
    /// The content of a section `.eh_frame`. Addresses in it are relative to where the code and the tables are mapped.
    pub eh_frame: &'a [u8],
    /// The content of a section `.eh_frame_hdr`.
    // The specification has it before .eh_frame; writers and perf have it after (`jit_add_eh_frame_info`, `genelf.c`).
    pub eh_frame_hdr: &'a [u8],
}

const LOAD: u32 = 0;
const MOVE: u32 = 1;
const DEBUG_INFO: u32 = 2;
const CLOSE: u32 = 3;
const UNWINDING_INFO: u32 = 4;

/// Size of what each record begins with: type, size and time.
pub(super) const PREFIX: u32 = 16;

/// The path of a line whose path is that of the line before.
const SAME_FILE: &[u8] = b"\xff";

/// Returns the size of the record that begins with these bytes; `None` if they are too few.
///
/// # Errors
///
/// [`JitdumpError::RecordSize`].
pub(super) fn size_of(fields: &RecordFields<'_>, offset: u64) -> Result<Option<u32>, JitdumpError> {
    let Ok(size) = fields.u32(4, "total_size") else { return Ok(None) };
    if size < PREFIX { Err(JitdumpError::RecordSize { offset, size }) } else { Ok(Some(size)) }
}

/// Returns whether a record closes its file.
pub(super) fn is_close(fields: &RecordFields<'_>) -> bool {
    fields.u32(0, "id") == Ok(CLOSE)
}

/// Decodes a record of this size.
pub(super) fn decode<'a>(
    fields: RecordFields<'a>,
    offset: u64,
    size: u32,
) -> Result<JitRecord<'a>, JitdumpError> {
    let record = || {
        let (id, time) = (fields.u32(0, "id")?, fields.u64(8, "timestamp")?);
        let body = match id {
            LOAD => JitRecordBody::Load(load(&fields)?),
            MOVE => JitRecordBody::Move(moved(&fields)?),
            DEBUG_INFO => JitRecordBody::DebugInfo(JitDebugInfo {
                code_addr: fields.u64(16, "code_addr")?,
                nr_entry: fields.u64(24, "nr_entry")?,
                fields,
            }),
            CLOSE => JitRecordBody::Close,
            UNWINDING_INFO => JitRecordBody::UnwindingInfo(unwinding_info(&fields)?),
            id => JitRecordBody::Other { id, bytes: fields.rest(PREFIX as usize) },
        };
        Ok(JitRecord { offset, size, time, body })
    };
    record().map_err(|fault: FieldFault| JitdumpError::in_record(offset, fault))
}

fn load<'a>(fields: &RecordFields<'a>) -> Result<JitLoad<'a>, FieldFault> {
    const NAME: usize = 56;
    let code_size = fields.u64(40, "code_size")?;
    let name = fields.text(NAME, "function name")?;
    let rest = fields.rest(NAME.saturating_add(name.len()).saturating_add(1));
    let code = usize::try_from(code_size).ok().and_then(|size| rest.get(..size)).unwrap_or(rest);
    Ok(JitLoad {
        pid: fields.u32(16, "pid")?,
        tid: fields.u32(20, "tid")?,
        vma: fields.u64(24, "vma")?,
        code_addr: fields.u64(32, "code_addr")?,
        code_size,
        code_index: fields.u64(48, "code_index")?,
        name,
        code,
    })
}

fn moved(fields: &RecordFields<'_>) -> Result<JitMove, FieldFault> {
    Ok(JitMove {
        pid: fields.u32(16, "pid")?,
        tid: fields.u32(20, "tid")?,
        vma: fields.u64(24, "vma")?,
        old_code_addr: fields.u64(32, "old_code_addr")?,
        new_code_addr: fields.u64(40, "new_code_addr")?,
        code_size: fields.u64(48, "code_size")?,
        code_index: fields.u64(56, "code_index")?,
    })
}

fn unwinding_info<'a>(fields: &RecordFields<'a>) -> Result<JitUnwindingInfo<'a>, FieldFault> {
    let size = |at, field| Ok::<_, FieldFault>(usize::try_from(fields.u64(at, field)?).unwrap_or(usize::MAX));
    let unwinding_size = size(16, "unwind_data_size")?;
    let header_size = size(24, "eh_frame_hdr_size")?;
    let mapped_size = fields.u64(32, "mapped_size")?;
    let tables = fields.rest(40).get(..unwinding_size).ok_or(("unwind_data_size", "within the record"))?;
    let at =
        unwinding_size.checked_sub(header_size).ok_or(("eh_frame_hdr_size", "within unwind_data_size"))?;
    let (eh_frame, eh_frame_hdr) = tables.split_at_checked(at).unwrap_or((tables, &[]));
    Ok(JitUnwindingInfo { mapped_size, eh_frame, eh_frame_hdr })
}

impl<'a> JitDebugInfo<'a> {
    /// Returns the lines, in the order of the file. They end where the record ends, if it has fewer than
    /// [`nr_entry`](Self::nr_entry).
    pub fn lines(&self) -> impl Iterator<Item = JitLine<'a>> + use<'a> {
        let (fields, mut left) = (self.fields, self.nr_entry);
        let (mut at, mut file) = (32_usize, &b""[..]);
        core::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let code_addr = fields.u64(at, "").ok()?;
            let line = fields.u32(at.checked_add(8)?, "").ok()?;
            let discrim = fields.u32(at.checked_add(12)?, "").ok()?;
            let path = at.checked_add(16)?;
            let text = fields.text(path, "").ok()?;
            at = path.checked_add(text.len())?.checked_add(1)?;
            if text != SAME_FILE {
                file = text;
            }
            Some(JitLine { code_addr, line, discrim, file })
        })
    }
}
