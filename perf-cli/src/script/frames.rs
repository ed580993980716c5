//! The addresses of a sample, with their names: its instruction pointer, its stack, its data.

use core::fmt::Write;

use perf_abi::callchain::CallchainContext;
use perf_parse::FileError;
use perf_profile::Symbols;
use perf_profile::samples::pass::SampleStack;
use perf_session::{DsoKind, Frame, Mapping, SampleContext};
use perf_symbol::{Function, Guess, StackFrame};

use super::dso::push_dso;
use super::fields::Fields;
use super::{Options, ScriptEvent};
use crate::names::file_name;
use crate::perf_text::print::{TextBuffer, push_hex_to, push_name};
use crate::render::digits::push_decimal;

/// Appends the address of a sample or, from the next line on, its stack.
pub(super) fn push_ip(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    known: &ScriptEvent,
    of_sample: &SampleStack<'_>,
    options: &Options<'_>,
    names: &mut Symbols,
) -> Result<(), FileError> {
    if known.has_callchain && options.shows_chains {
        out.push(b'\n');
        if !has_unknown_marker(at, of_sample.deferred(), options.max_stack)? {
            let (stack, _) = of_sample.find(at, names)?;
            for frame in stack.iter().take(options.max_stack) {
                push_frame(out, at, frame, known, names);
            }
            names.done(stack);
        }
    } else {
        out.push(b' ');
        let ip = at.sample().ip().unwrap_or(0);
        push_hex_to(out, ip, 16);
        push_place(out, at, at.find(at.mode(), ip), ip, known, names);
    }
    Ok(())
}

/// Returns whether a word of the call chain looks like a context marker that perf does not know. perf then prints no
/// frame of the stack.
///
/// perf: `add_callchain_ip`, `tools/perf/util/machine.c`.
fn has_unknown_marker(
    at: &SampleContext<'_, '_>,
    deferred: Option<&[u64]>,
    max_stack: usize,
) -> Result<bool, FileError> {
    let Some(chain) = at.record().callchain()? else { return Ok(false) };
    let mut frames = 0;
    let own = chain.words().len() - usize::from(chain.deferred_cookie().is_some());
    for word in chain.words().iter().take(own).chain(deferred.into_iter().flatten().copied()) {
        // perf does not look at the words after the last frame that it prints.
        if frames >= max_stack {
            break;
        }
        match CallchainContext::of(word) {
            None => frames += 1,
            Some(marker) if marker.name().is_none() => return Ok(true),
            Some(_) => {}
        }
    }
    Ok(false)
}

/// Appends a frame: a line for each function that was inlined at its address, and one for the function itself.
///
/// perf: `sample__fprintf_callchain`, `tools/perf/util/evsel_fprintf.c`.
fn push_frame(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    it: &StackFrame<'_>,
    known: &ScriptEvent,
    names: &mut Symbols,
) {
    let frame = it.frame;
    let ip = it.shown();
    let back = frame.ip.wrapping_sub(ip);
    let is_in_file = |mapping: &&Mapping| known.shows_offsets && !mapping.dso().kind().is_kernel();
    let shown = frame.mapping.filter(is_in_file).map_or(ip, |mapping| mapping.offset_of(ip));
    let needs_names = known.fields.has(Fields::SYM.with(Fields::SRCLINE));
    let functions = if needs_names { names.functions(at, &frame, it.is_caller) } else { &[] };
    let offset = functions.last().and_then(|it| it.offset);
    let offset = offset.map(|offset| offset.wrapping_sub(back));
    let (inlined, function) = match functions.split_last() {
        Some((function, inlined)) => (inlined, Some(function)),
        None => (&[][..], None),
    };
    for inlined in inlined {
        push_address(out, shown);
        push_function(out, Some(inlined), offset, it.guess(), known);
        push_line(out, Some(inlined), known);
        out.extend_from_slice(b" (inlined)\n");
    }
    push_address(out, shown);
    push_function(out, function, offset, it.guess(), known);
    push_file(out, frame.mapping, ip, known);
    push_line(out, function, known);
    out.push(b'\n');
}

fn push_address(out: &mut Vec<u8>, shown: u64) {
    out.push(b'\t');
    push_hex_to(out, shown, 16);
}

/// Appends the function and the file of an address that is in no stack.
pub(super) fn push_place(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    mapping: Option<&Mapping>,
    addr: u64,
    known: &ScriptEvent,
    names: &mut Symbols,
) {
    let needs_names = known.fields.has(Fields::SYM.with(Fields::SRCLINE));
    let frame = names.in_kernel(at, Frame { ip: addr, mode: at.mode(), mapping });
    let functions = if needs_names { names.functions(at, &frame, false) } else { &[] };
    let function = functions.last();
    push_function(out, function, function.and_then(|it| it.offset), None, known);
    push_file(out, frame.mapping, addr, known);
    push_line(out, functions.first(), known);
}

/// Appends the function at an address. `guess` is that of the frame.
///
/// perf: `__symbol__fprintf_symname_offs`, `tools/perf/util/symbol_fprintf.c`.
fn push_function(
    out: &mut Vec<u8>,
    function: Option<&Function>,
    offset: Option<u64>,
    guess: Option<Guess>,
    known: &ScriptEvent,
) {
    if !known.fields.has(Fields::SYM) {
        return;
    }
    out.push(b' ');
    let guess = guess.or_else(|| function?.guess);
    let mark = if guess.is_some() { Guess::MARK } else { "" };
    match function.and_then(|it| it.name.as_deref()) {
        None => {
            out.extend_from_slice(b"[unknown]");
            out.extend_from_slice(mark.as_bytes());
        }
        Some(name) => {
            push_name(out, name);
            out.extend_from_slice(mark.as_bytes());
            if let Some(offset) = offset.filter(|_| known.fields.has(Fields::SYMOFF)) {
                let _ = write!(TextBuffer(out), "+0x{offset:x}");
            }
        }
    }
}

fn push_file(out: &mut Vec<u8>, mapping: Option<&Mapping>, addr: u64, known: &ScriptEvent) {
    let fields = known.fields;
    if fields.has(Fields::DSO) {
        out.extend_from_slice(b" (");
        push_dso(out, mapping, known);
        let has_file = |kind| matches!(kind, DsoKind::File | DsoKind::Vdso | DsoKind::Module);
        if let Some(mapping) = mapping.filter(|it| fields.has(Fields::DSOFF) && has_file(it.dso().kind())) {
            let _ = write!(TextBuffer(out), "+0x{:x}", mapping.offset_of(addr));
        }
        out.push(b')');
    }
}

/// Appends the source line, on a line of its own.
///
/// perf: `map__fprintf_srcline`, `tools/perf/util/map.c`.
fn push_line(out: &mut Vec<u8>, function: Option<&Function>, known: &ScriptEvent) {
    if !known.fields.has(Fields::SRCLINE) {
        return;
    }
    let Some((path, line)) = function.and_then(|it| it.file.as_deref().zip(it.line)) else { return };
    out.extend_from_slice(b"\n  ");
    push_name(out, file_name(path));
    out.push(b':');
    push_decimal(out, line.into());
}
