//! A function that has samples.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_profile::{FunctionTable, NONE, SampleTotal};
use perf_symbol::Guess;

use crate::pass::AddressCounts;

/// A function that has samples.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SampledFunction {
    /// Its name as people read it.
    pub name: Arc<[u8]>,
    /// Its name in the symbols of the file: mangled, if it is.
    pub raw_name: Arc<[u8]>,
    /// Why the name is a guess; `None` if it is not one.
    pub guess: Option<Guess>,
    /// The path of its file, or the name of what else has the code.
    pub dso: Arc<[u8]>,
    /// The name of the file as reports have it: without its folders.
    pub short_dso: Arc<[u8]>,
    /// The number of bytes; `None` if only DWARF knows the function.
    pub size: Option<u64>,
    /// Its samples, by the index of the event in [`Annotator::events`](crate::Annotator::events).
    pub totals: Vec<SampleTotal>,
    /// The offset of its start in the file, as [`Symbol::start`](perf_profile::Symbol::start); its address if it is in none.
    pub start: u64,
    /// The addresses of its samples, by their number in the table of frames.
    pub(crate) frames: Vec<u32>,
}

/// Sorts addresses into functions. Addresses without a symbol are in none; returns their totals by event, too.
pub(crate) fn of_counts(
    counts: &AddressCounts,
    names: &FunctionTable,
) -> (Vec<SampledFunction>, Vec<SampleTotal>) {
    let (frames, events) = (&counts.frames, counts.events.len());
    let mut functions: Vec<SampledFunction> = Vec::new();
    let mut by_symbol: HashMap<(u32, u32), usize> = HashMap::new();
    // By the number of the address.
    let mut function_of = Vec::with_capacity(frames.locations().len());
    for (place, frame) in frames.locations().iter().zip(0..) {
        let number = names.symbol_of(frame);
        let Some(symbol) = names.symbol(number).filter(|_| place.dso != NONE) else {
            function_of.push(None);
            continue;
        };
        let next = functions.len();
        let index = *by_symbol.entry((place.dso, number)).or_insert(next);
        if index == next {
            functions.push(SampledFunction {
                name: Arc::clone(&symbol.name),
                raw_name: Arc::clone(&symbol.raw_name),
                guess: symbol.guess,
                dso: frames.dsos().get(place.dso as usize).map_or_else(Arc::default, |dso| dso.path().into()),
                short_dso: names.short_name(symbol.dso).into(),
                size: symbol.size,
                totals: vec![SampleTotal::default(); events],
                start: symbol.start,
                frames: Vec::new(),
            });
        }
        if let Some(function) = functions.get_mut(index) {
            function.frames.push(frame);
        }
        function_of.push(Some(index));
    }
    let mut unnamed = vec![SampleTotal::default(); events];
    for (&(event, frame), total) in &counts.totals {
        let function = function_of.get(frame as usize).copied().flatten();
        let function = function.and_then(|index| functions.get_mut(index));
        let totals = function.map_or(&mut unnamed, |function| &mut function.totals);
        if let Some(to) = totals.get_mut(event) {
            to.add(*total);
        }
    }
    (functions, unnamed)
}
