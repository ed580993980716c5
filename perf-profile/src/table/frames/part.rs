//! The frames of one of several threads: see [`StackPart`](crate::StackPart).

use std::sync::Arc;

use perf_session::{Dso, Mapping, Session};
use perf_symbol::Function;

use super::{FrameLocation, FrameTable, NONE};

/// How much of the frames of a part another one has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    dsos: usize,
    mappings: usize,
    generated: usize,
    places: usize,
}

/// What is new in the frames of a part.
#[derive(Debug)]
pub(crate) struct NewFrames {
    dsos: Vec<Arc<Dso>>,
    mappings: Vec<Mapping>,
    /// The functions of those of `places` that are generated code, in their order.
    generated: Vec<Vec<Function>>,
    places: Vec<FrameLocation>,
    /// The frames that turned out to be at several addresses.
    moved: Vec<u32>,
}

/// What is known of the frames of a part, by their numbers there.
#[derive(Debug, Default)]
pub(crate) struct FramesPart {
    dsos: Vec<Arc<Dso>>,
    mappings: Vec<Mapping>,
    /// The numbers of the frames; [`NONE`] where there was no room.
    numbers: Vec<u32>,
    has_gaps: bool,
}

impl FramesPart {
    /// Returns the number of a frame of the part; `None` if there was no room for it.
    #[inline]
    pub(crate) fn number(&self, frame: u32) -> Option<u32> {
        self.numbers.get(frame as usize).copied().filter(|&number| number != NONE)
    }

    /// Returns whether there was no room for some frame.
    pub(crate) fn has_gaps(&self) -> bool {
        self.has_gaps
    }
}

impl FrameTable {
    /// Returns what is new since `taken`, which it counts.
    pub(crate) fn take_new(&mut self, taken: &mut Counts) -> NewFrames {
        NewFrames {
            dsos: since(&self.dsos, &mut taken.dsos),
            mappings: since(&self.mappings, &mut taken.mappings),
            generated: since(&self.generated, &mut taken.generated),
            places: since(&self.list, &mut taken.places),
            moved: core::mem::take(&mut self.moved),
        }
    }

    /// Takes over what is new in a part. `limit` is that of [`number`](Self::number).
    pub(crate) fn take_over(
        &mut self,
        part: &mut FramesPart,
        new: NewFrames,
        session: &Session,
        limit: usize,
    ) {
        let NewFrames { dsos, mappings, generated, places, moved } = new;
        part.dsos.extend(dsos);
        part.mappings.extend(mappings);
        let mut generated = generated.into_iter();
        for place in places {
            let functions = if place.generated == NONE { None } else { generated.next() };
            let number = self.enter_of_part(part, place, functions.as_deref(), session, limit);
            part.has_gaps |= number.is_none();
            part.numbers.push(number.unwrap_or(NONE));
        }
        for frame in moved.into_iter().filter_map(|frame| part.number(frame)) {
            if let Some(place) = self.list.get_mut(frame as usize) {
                place.is_at_several = true;
            }
        }
    }

    /// Returns the number of a frame of a part; `None` if there is no room for it.
    fn enter_of_part(
        &mut self,
        part: &FramesPart,
        place: FrameLocation,
        functions: Option<&[Function]>,
        session: &Session,
        limit: usize,
    ) -> Option<u32> {
        let dso = match part.dsos.get(place.dso as usize) {
            Some(dso) => self.dso(session, place.mode, dso, limit)?,
            None => NONE,
        };
        let mapping = part.mappings.get(place.mapping as usize);
        let place = FrameLocation { dso, mapping: NONE, generated: NONE, is_at_several: false, ..place };
        self.enter(place, mapping, functions, limit)
    }
}

/// Returns the entries of a list after the first `taken`, and counts them.
fn since<T: Clone>(list: &[T], taken: &mut usize) -> Vec<T> {
    let new = list.get(*taken..).unwrap_or_default().to_vec();
    *taken = list.len();
    new
}
