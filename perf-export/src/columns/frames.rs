//! `frames`: the functions at the addresses of stacks.

use perf_profile::text::mode_name;
use perf_profile::{FrameLocation, SourceLine, Symbol};
use perf_symbol::{Guess, NameSource};

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::utf8::utf8;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    frame_id: Int64, "", "Number of the frame in the capture. A frame may come again under another number.";
    dso_id ? Int64, "", "What is mapped at the address: see `dsos`. Null where nothing is mapped.";
    file_offset: Int64, "bytes", "Place of the address in the file; the address itself for what has no file, and where nothing is mapped.";
    ip: Int64, "address", "The address as it was recorded first. Other processes may have it elsewhere.";
    mode: Word, "", "Whose code it is, as in `samples.mode`.";
    is_caller: Boolean, "", "Whether the address is a return address.";
    function ? Text, "", "Name of the function as people read it. Null if it is not known.";
    function_raw ? Text, "", "The name as it is in the file: mangled, if it is.";
    file ? Text, "", "Path of the source file, as the compiler recorded it.";
    line ? Int32, "", "Line in the source file, from 1 on.";
    inline_depth: Int32, "", "0 for a function of its own; for an inlined function, how many functions it is inlined into.";
    symbol_offset ? Int64, "bytes", "How far the address is from the start of the symbol, which for an inlined function is that of the function around it.";
    symbol_source ? Word, "", "Where the name was found: `symtab`, `mini-debuginfo`, `dynsym`, `plt`, `dwarf`, `gopclntab`, `kallsyms`, `perf-map`, `jitdump` or `ksymbol`.";
    guess ? Word, "", "Why the frame or its name is a guess: `scanned` (found on the stack without unwind information), `completed` (taken from another stack of the thread), `file` (a file that may have changed), `clock` (a jitdump with another clock) or `remapped` (a file that memory was laid over). Null for what is not a guess.";
};

/// A function at the address of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameRow<'a> {
    pub(super) frame_id: u64,
    pub(super) dso_id: Option<u64>,
    pub(super) place: &'a FrameLocation,
    pub(super) symbol: Option<&'a Symbol>,
    pub(super) line: Option<&'a SourceLine>,
    pub(super) inline_depth: i32,
}

pub(super) fn push(rows: &mut TableRows, context: &Context, frame: &FrameRow<'_>) {
    let FrameRow { frame_id, dso_id, place, symbol, line, inline_depth } = *frame;
    rows.text(context.capture.as_str());
    rows.int64(frame_id);
    rows.int64(dso_id);
    rows.int64(place.offset);
    rows.int64(place.ip);
    rows.text(mode_name(place.mode));
    rows.boolean(place.is_caller);
    rows.text(symbol.map(|it| utf8(&it.name)).as_deref());
    rows.text(symbol.map(|it| utf8(&it.raw_name)).as_deref());
    rows.text(line.and_then(|it| context.path(&it.file)).as_deref());
    rows.int32(line.map(|it| it.line.cast_signed()));
    rows.int32(inline_depth);
    rows.int64(symbol.map(|it| place.offset.wrapping_sub(it.start)));
    rows.text(symbol.and_then(|it| it.source).map(NameSource::name));
    rows.text(symbol.and_then(|it| it.guess).or(place.guess).map(Guess::name));
    rows.end();
}
