//! The samples of a capture one by one, with the functions of their stacks.

use std::collections::VecDeque;
use std::iter::FusedIterator;
use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_parse::event::Event;
use perf_parse::file::Account;
use perf_session::{Mapping, SampleContext, Thread};
use perf_symbol::Function;
use perf_symbol::unwind::StackEnd;

use super::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use super::{PassSteps, Samples};
use crate::error::ProfileError;
use crate::symbols::Symbols;

/// A sample with its thread, and with the functions of its stack. It owns all it has.
#[derive(Clone, Debug)]
pub struct NamedSample {
    event: Arc<Event>,
    thread: Thread,
    time: Option<u64>,
    cpu: Option<u32>,
    period: u64,
    stack: Vec<NamedFrame>,
    end: Option<StackEnd>,
}

/// A frame of a stack: a function, or one that is inlined into the function of the next frame.
#[derive(Clone, Debug)]
pub struct NamedFrame {
    ip: u64,
    mode: CpuMode,
    mapping: Option<Mapping>,
    function: Option<Function>,
}

impl NamedSample {
    /// Returns the event.
    #[must_use]
    pub fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Returns the thread, as it was at the time of the sample.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Returns the time in nanoseconds of the capture's clock; `None` if it was not recorded.
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        self.time
    }

    /// Returns the CPU; `None` if it was not recorded.
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the number of events that the sample stands for.
    #[must_use]
    pub fn period(&self) -> u64 {
        self.period
    }

    /// Returns the stack, innermost frame first, with inlined functions as frames of their own. Of a sample without a recorded
    /// stack, it is its own address.
    #[must_use]
    pub fn stack(&self) -> &[NamedFrame] {
        &self.stack
    }

    /// Returns how the stack ends; `None` if it is a call chain, or the sample's own address.
    #[must_use]
    pub fn stack_end(&self) -> Option<StackEnd> {
        self.end
    }
}

impl NamedFrame {
    /// Returns the address, as recorded: a return address in all frames but the innermost one.
    #[must_use]
    pub fn ip(&self) -> u64 {
        self.ip
    }

    /// Returns whose code it is.
    #[must_use]
    pub fn mode(&self) -> CpuMode {
        self.mode
    }

    /// Returns the mapping that has the address; `None` if none has it.
    #[must_use]
    pub fn mapping(&self) -> Option<&Mapping> {
        self.mapping.as_ref()
    }

    /// Returns the name of the function; `None` if it is unknown.
    #[must_use]
    pub fn function(&self) -> Option<&[u8]> {
        self.function.as_ref()?.name.as_deref()
    }

    /// Returns the source file, as the compiler recorded its path; `None` if it is unknown.
    #[must_use]
    pub fn file(&self) -> Option<&[u8]> {
        self.function.as_ref()?.file.as_deref()
    }

    /// Returns the line in that file; `None` if it is unknown.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.function.as_ref()?.line
    }

    /// Returns whether the function is inlined into that of the next frame.
    #[must_use]
    pub fn is_inlined(&self) -> bool {
        self.function.as_ref().is_some_and(|it| it.is_inlined)
    }

    /// Returns all that is known of the function; `None` if nothing is.
    #[must_use]
    pub fn symbol(&self) -> Option<&Function> {
        self.function.as_ref()
    }
}

/// The samples of a capture one by one. Made by [`Samples::named`].
#[derive(Debug)]
pub struct NamedSamples<'a> {
    /// `None` after the last record, and after an error of the selection.
    steps: Option<PassSteps<'a, NamedPass>>,
    ready: VecDeque<Result<NamedSample, ProfileError>>,
    /// The account of all records, after the last one.
    total: Option<Account>,
}

/// Finds the functions of samples.
#[derive(Debug)]
struct NamedPass {
    symbols: Symbols,
    ready: VecDeque<Result<NamedSample, ProfileError>>,
}

impl<'a> Samples<'a> {
    /// Returns the samples one by one, with the functions of their stacks. A sample that reads several counters is returned once
    /// for each.
    ///
    /// The iterator finds the functions of a frame when it returns the sample, and remembers those of the last addresses:
    /// [`profile`](Self::profile) finds those of each address once, on all processors.
    ///
    /// Its items are an error of the selection, once, and faults of samples. Faults of other records are in
    /// [`NamedSamples::account`].
    #[must_use]
    pub fn named(self, symbols: &Symbols) -> NamedSamples<'a> {
        let pass = NamedPass { symbols: symbols.clone(), ready: VecDeque::new() };
        match self.steps(symbols.clone(), pass) {
            Ok(steps) => NamedSamples { steps: Some(steps), ready: VecDeque::new(), total: None },
            Err(error) => NamedSamples { steps: None, ready: VecDeque::from([Err(error)]), total: None },
        }
    }
}

impl NamedSamples<'_> {
    /// Returns the account of all records so far; `None` if the selection is wrong.
    #[must_use]
    pub fn account(&self) -> Option<&Account> {
        self.steps.as_ref().map(PassSteps::account).or(self.total.as_ref())
    }
}

impl Iterator for NamedSamples<'_> {
    type Item = Result<NamedSample, ProfileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(sample) = self.ready.pop_front() {
                return Some(sample);
            }
            let steps = self.steps.as_mut()?;
            let may_be_more = steps.step();
            core::mem::swap(&mut self.ready, &mut steps.pass().ready);
            if !may_be_more {
                self.total = self.steps.take().map(|steps| steps.end().1.account().clone());
            }
        }
    }
}

impl FusedIterator for NamedSamples<'_> {}

impl NamedPass {
    fn find(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
    ) -> Result<NamedSample, FileError> {
        let Self { symbols, .. } = self;
        let (stack, end) = counted.stack(at, symbols)?;
        let mut frames = Vec::with_capacity(stack.len());
        for it in &stack {
            let (ip, mode, mapping) = (it.frame.ip, it.frame.mode, it.frame.mapping);
            let frame = |function| NamedFrame { ip, mode, mapping: mapping.cloned(), function };
            match symbols.functions(at, &it.frame, it.is_caller) {
                [] => frames.push(frame(None)),
                functions => frames.extend(functions.iter().map(|function| frame(Some(function.clone())))),
            }
        }
        symbols.done(stack);
        let sample = at.sample();
        Ok(NamedSample {
            event: Arc::clone(counted.event),
            thread: at.thread().clone(),
            time: sample.time(),
            cpu: sample.cpu(),
            period: counted.period,
            stack: frames,
            end,
        })
    }
}

impl<'r> SamplePass<'r> for NamedPass {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let found = self.find(at, counted);
        let fault = found.as_ref().err().copied();
        self.ready.push_back(found.map_err(ProfileError::from));
        fault.map_or(Ok(()), Err)
    }
}
