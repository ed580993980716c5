//! The pass that keeps what a program gets of each sample.

use std::collections::VecDeque;
use std::sync::Arc;

use perf_parse::FileError;
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::{ProfileError, Symbols};
use perf_session::{Dso, SampleContext};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Function, StackFrame};

use crate::error::perfdata_error;
use crate::event::NamedEvent;

/// What a program gets of a sample.
#[derive(Debug, Default)]
pub(crate) struct SampleRow {
    pub(crate) event: usize,
    pub(crate) pid: Option<i32>,
    pub(crate) tid: Option<i32>,
    pub(crate) cpu: Option<u32>,
    pub(crate) time: Option<u64>,
    pub(crate) ip: Option<u64>,
    pub(crate) addr: Option<u64>,
    pub(crate) period: u64,
    pub(crate) comm: Vec<u8>,
    pub(crate) frames: Vec<FrameRow>,
    pub(crate) end: Option<StackEnd>,
}

/// What a program gets of a frame.
#[derive(Debug)]
pub(crate) struct FrameRow {
    pub(crate) ip: u64,
    pub(crate) address: u64,
    pub(crate) file_offset: Option<u64>,
    pub(crate) mode: u8,
    pub(crate) is_guess: bool,
    pub(crate) dso: Option<Arc<Dso>>,
    pub(crate) name: Option<Arc<[u8]>>,
    pub(crate) file: Option<Arc<[u8]>>,
    pub(crate) line: u32,
    pub(crate) function_offset: Option<u64>,
    pub(crate) is_inlined: bool,
}

/// Keeps what a program gets of each sample.
#[derive(Debug)]
pub(crate) struct RowPass {
    symbols: Symbols,
    max_stack: usize,
    pub(crate) events: Vec<NamedEvent>,
    pub(crate) ready: VecDeque<Result<SampleRow, perfdata_error>>,
    /// The last sample, whose memory the next one uses.
    pub(crate) spare: Option<SampleRow>,
}

impl RowPass {
    pub(crate) fn new(symbols: Symbols, max_stack: usize) -> Self {
        let symbols = symbols.with_max_stack(max_stack);
        Self { symbols, max_stack, events: Vec::new(), ready: VecDeque::new(), spare: None }
    }

    /// Notes all events, if one is new.
    fn note_events(&mut self, counted: &CountedSample<'_>, context: &WalkContext<'_>) {
        let known = self.events.get(counted.event.index);
        if !known.is_some_and(|known| Arc::ptr_eq(&known.event, counted.event)) {
            self.events = context.events().iter().map(NamedEvent::new).collect();
        }
    }

    fn find(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
    ) -> Result<SampleRow, FileError> {
        let Self { symbols, max_stack, spare, .. } = self;
        let (stack, end) = counted.stack(at, symbols)?;
        let mut row = spare.take().unwrap_or_default();
        row.frames.clear();
        for it in stack.iter().take(*max_stack) {
            match symbols.functions(at, &it.frame, it.is_caller) {
                [] => row.frames.push(FrameRow::new(it, None)),
                functions => {
                    row.frames.extend(functions.iter().map(|function| FrameRow::new(it, Some(function))))
                }
            }
        }
        symbols.done(stack);
        let sample = at.sample();
        row.comm.clear();
        row.comm.extend_from_slice(at.thread().comm());
        Ok(SampleRow {
            event: counted.event.index,
            pid: sample.pid(),
            tid: sample.tid(),
            cpu: sample.cpu(),
            time: sample.time(),
            ip: sample.ip(),
            addr: sample.addr(),
            period: counted.period,
            end,
            ..row
        })
    }
}

impl FrameRow {
    fn new(it: &StackFrame<'_>, function: Option<&Function>) -> Self {
        let (frame, address) = (it.frame, it.shown());
        let back = frame.ip.wrapping_sub(address);
        let guess = it.guess().or_else(|| function?.guess);
        Self {
            ip: frame.ip,
            address,
            file_offset: frame.mapping.map(|mapping| mapping.offset_of(address)),
            mode: frame.mode.0,
            is_guess: guess.is_some(),
            dso: frame.mapping.map(|mapping| Arc::clone(mapping.dso())),
            name: function.and_then(|it| it.name.clone()),
            file: function.and_then(|it| it.file.clone()),
            line: function.and_then(|it| it.line).unwrap_or(0),
            function_offset: function.and_then(|it| it.offset).map(|offset| offset.wrapping_sub(back)),
            is_inlined: function.is_some_and(|it| it.is_inlined),
        }
    }

    /// Returns whether the frame is code of the kernel.
    pub(crate) fn is_kernel(&self) -> bool {
        self.dso.as_ref().is_some_and(|dso| dso.kind().is_kernel())
    }
}

impl<'r> SamplePass<'r> for RowPass {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        context: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.note_events(counted, context);
        let found = self.find(at, counted);
        let fault = found.as_ref().err().copied();
        self.ready.push_back(found.map_err(perfdata_error::from));
        fault.map_or(Ok(()), Err)
    }
}
