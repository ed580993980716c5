//! A function that has samples.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_profile::{FrameTable, FunctionTable, NONE, SampleTotal};
use perf_symbol::Guess;

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
pub(crate) fn of_frames(
    frames: &FrameTable,
    names: &FunctionTable,
    totals: &[Vec<SampleTotal>],
) -> (Vec<SampledFunction>, Vec<SampleTotal>) {
    let mut functions: Vec<SampledFunction> = Vec::new();
    let mut by_symbol: HashMap<(u32, u32), usize> = HashMap::new();
    let mut unnamed = vec![SampleTotal::default(); totals.len()];
    for (place, frame) in frames.locations().iter().zip(0..) {
        let add = |to: &mut [SampleTotal]| {
            for (to, of_event) in to.iter_mut().zip(totals) {
                to.add(of_event.get(frame as usize).copied().unwrap_or_default());
            }
        };
        let number = names.symbol_of(frame);
        let Some(symbol) = names.symbol(number).filter(|_| place.dso != NONE) else {
            add(&mut unnamed);
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
                totals: vec![SampleTotal::default(); totals.len()],
                start: symbol.start,
                frames: Vec::new(),
            });
        }
        if let Some(function) = functions.get_mut(index) {
            add(&mut function.totals);
            function.frames.push(frame);
        }
    }
    (functions, unnamed)
}
