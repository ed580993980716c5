//! The stacks at which threads wait, as texts.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::FileError;
use perf_session::SampleContext;

use crate::off_cpu::SchedulerFrames;
use crate::samples::pass::CountedSample;
use crate::stack_table::has_stacks;
use crate::symbols::Symbols;

/// The functions of stacks, each stack once.
#[derive(Debug)]
pub(super) struct WaitStacks {
    symbols: Symbols,
    scheduler: SchedulerFrames,
    /// By the process and the addresses.
    known: HashMap<Box<[u64]>, u32>,
    texts: Vec<Arc<[u8]>>,
    by_text: HashMap<Arc<[u8]>, u32>,
    max_stack: usize,
}

/// The number of the stack without frames.
pub(super) const NO_STACK: u32 = 0;

/// The most different stacks by address. Others have no frames.
const STACKS: usize = 1 << 18;

impl WaitStacks {
    pub(super) fn new(symbols: Symbols, max_stack: usize) -> Self {
        let empty: Arc<[u8]> = Arc::default();
        Self {
            symbols,
            scheduler: SchedulerFrames::default(),
            known: HashMap::new(),
            texts: vec![Arc::clone(&empty)],
            by_text: HashMap::from([(empty, NO_STACK)]),
            max_stack,
        }
    }

    /// Returns the number of a sample's stack, without the frames of the scheduler if `is_switch` is set.
    pub(super) fn number(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        is_switch: bool,
    ) -> Result<u32, FileError> {
        if self.max_stack == 0 || !has_stacks(counted.event) {
            return Ok(NO_STACK);
        }
        let (stack, _) = counted.stack(at, &mut self.symbols)?;
        let first = if is_switch { self.scheduler.count(at, &stack, &mut self.symbols) } else { 0 };
        let frames = stack.get(first..).unwrap_or_default();
        let frames = frames.get(..self.max_stack).unwrap_or(frames);
        let key: Box<[u64]> =
            [at.thread().process_key()].into_iter().chain(frames.iter().map(|it| it.frame.ip)).collect();
        if let Some(&number) = self.known.get(&key) {
            self.symbols.done(stack);
            return Ok(number);
        }
        if self.known.len() >= STACKS {
            self.symbols.done(stack);
            return Ok(NO_STACK);
        }
        let mut text = Vec::new();
        for it in frames {
            let functions = self.symbols.functions(at, &it.frame, it.is_caller);
            let names = functions.iter().map(|function| function.name.as_deref().unwrap_or(b"[unknown]"));
            let unknown = functions.is_empty().then_some(&b"[unknown]"[..]);
            for name in names.chain(unknown) {
                text.extend_from_slice(name);
                text.push(0);
            }
        }
        self.symbols.done(stack);
        let next = self.texts.len() as u32;
        let text: Arc<[u8]> = text.into();
        let number = *self.by_text.entry(Arc::clone(&text)).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        self.known.insert(key, number);
        Ok(number)
    }

    /// Returns the texts by their numbers: each function, innermost first, is followed by a zero.
    pub(super) fn into_texts(self) -> Vec<Arc<[u8]>> {
        self.texts
    }
}
