//! The stacks at which threads wait, as texts.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::FileError;
use perf_session::SampleContext;
use perf_symbol::StackFrame;

use crate::samples::pass::CountedSample;
use crate::stack_table::has_stacks;
use crate::symbols::Symbols;

/// The functions of stacks, each stack once.
#[derive(Debug)]
pub(crate) struct WaitStacks {
    symbols: Symbols,
    /// By the process and the addresses.
    known: HashMap<Box<[u64]>, u32>,
    texts: Vec<Arc<[u8]>>,
    by_text: HashMap<Arc<[u8]>, u32>,
    max_stack: usize,
}

/// The number of the stack without frames.
pub(crate) const NO_STACK: u32 = 0;

/// The most different stacks by address. Others have no frames.
const STACKS: usize = 1 << 18;

impl WaitStacks {
    pub(crate) fn new(symbols: Symbols, max_stack: usize) -> Self {
        let empty: Arc<[u8]> = Arc::default();
        Self {
            symbols,
            known: HashMap::new(),
            texts: vec![Arc::clone(&empty)],
            by_text: HashMap::from([(empty, NO_STACK)]),
            max_stack,
        }
    }

    /// Returns the number of a sample's stack, without as many of its innermost frames as `left_out` returns.
    pub(crate) fn number(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        left_out: impl FnOnce(&[StackFrame<'_>], &mut Symbols) -> usize,
    ) -> Result<u32, FileError> {
        if self.max_stack == 0 || !has_stacks(counted.event) {
            return Ok(NO_STACK);
        }
        let (stack, _) = counted.stack(at, &mut self.symbols)?;
        let first = left_out(&stack, &mut self.symbols);
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

    /// Returns the innermost function of a stack; empty if it has no frames.
    pub(crate) fn innermost(&self, number: u32) -> Arc<[u8]> {
        let text = self.texts.get(number as usize).map_or(&b""[..], |text| text);
        text.split(|&byte| byte == 0).next().unwrap_or_default().into()
    }

    /// Returns the functions of all stacks.
    pub(crate) fn into_texts(self) -> StackTexts {
        StackTexts { texts: self.texts }
    }
}

/// The functions of stacks, by their numbers.
#[derive(Debug)]
pub(crate) struct StackTexts {
    /// Each function, innermost first, is followed by a zero.
    texts: Vec<Arc<[u8]>>,
}

impl StackTexts {
    /// Returns the functions of a stack, innermost first.
    pub(crate) fn functions(&self, number: u32) -> impl Iterator<Item = &[u8]> {
        let text = self.texts.get(number as usize).filter(|_| number != NO_STACK);
        let text = text.and_then(|text| text.strip_suffix(&[0]));
        text.into_iter().flat_map(|text| text.split(|&byte| byte == 0))
    }
}
