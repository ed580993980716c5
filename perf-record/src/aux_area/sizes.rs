//! The sizes of AUX areas, and how they are used.

use perf_open::ring::page_bytes;

use super::{Abilities, Tracer};
use crate::{Error, RecordOptions};

/// The use of an AUX area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuxMode {
    /// All data is recorded. Tracing stops while the area is full.
    Full,
    /// The area keeps the newest data. At most this many bytes are recorded when a snapshot is requested.
    Snapshot(usize),
    /// The area keeps the newest data, which samples of other events contain.
    Samples,
}

/// The sizes of an AUX area and its ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AuxSizes {
    pub(crate) mode: AuxMode,
    /// Pages of the AUX area.
    pub(crate) pages: usize,
    /// Pages of the ring, if the options do not say it; `None` for the usual size.
    pub(crate) ring: Option<usize>,
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

impl AuxSizes {
    /// Returns the sizes. `sample` is the size of the largest sample of the area, if samples have any.
    ///
    /// perf: `intel_pt_recording_options`, `arm_spe_recording_options` and the like.
    pub(crate) fn of(
        tracer: Tracer,
        options: &RecordOptions,
        sample: Option<u32>,
        abilities: &Abilities,
    ) -> Result<Self, Error> {
        let page = page_bytes();
        let request = |why: String| Error::Request(why);
        let pages_of = |bytes: usize| bytes.div_ceil(page).max(1).checked_next_power_of_two();
        let too_large = || request("the AUX area is larger than the address space".to_owned());
        let default = match tracer {
            _ if !abilities.privileged => 128 * KIB,
            Tracer::HisiPtt => 16 * MIB,
            _ => 4 * MIB,
        };
        let wanted = match (sample, options.aux_snapshot) {
            (Some(bytes), _) => usize::try_from(bytes).unwrap_or(usize::MAX),
            (None, Some(bytes)) if bytes > 0 => bytes,
            _ => default,
        };
        let pages = match options.aux_pages.filter(|&pages| pages > 0) {
            Some(pages) => pages,
            None => pages_of(wanted).ok_or_else(too_large)?,
        };
        let bytes = pages.checked_mul(page).ok_or_else(too_large)?;
        let mode = match (sample, options.aux_snapshot) {
            (Some(_), _) => AuxMode::Samples,
            (None, Some(0)) => AuxMode::Snapshot(bytes),
            (None, Some(newest)) => AuxMode::Snapshot(newest),
            (None, None) => AuxMode::Full,
        };
        let (what, most) = match mode {
            AuxMode::Snapshot(newest) => ("a snapshot", newest),
            AuxMode::Samples => ("a sample", wanted),
            AuxMode::Full => ("", 0),
        };
        if most > bytes {
            return Err(request(format!(
                "{what} of {most} bytes is larger than the AUX area of {bytes} bytes; take a larger area"
            )));
        }
        let keeps_newest = mode != AuxMode::Full && matches!(tracer, Tracer::IntelPt | Tracer::IntelBts);
        let least = if keeps_newest { 4 * KIB } else { 8 * KIB };
        if bytes < least || !pages.is_power_of_two() {
            return Err(request(format!(
                "an AUX area of {pages} pages: must be at least {} KiB, and a power of two",
                least / KIB
            )));
        }
        // What an ordinary user may lock is used up by the area.
        let shrinks = !abilities.privileged && options.aux_pages.is_none_or(|pages| pages == 0);
        Ok(Self { mode, pages, ring: shrinks.then_some((256 * KIB / page).max(1)) })
    }

    /// Returns after how many bytes of the area the recorder is woken; 0 for half of it.
    pub(crate) fn watermark(&self) -> u32 {
        let quarter = self.pages.saturating_mul(page_bytes()) / 4;
        if self.mode == AuxMode::Full { u32::try_from(quarter).unwrap_or(u32::MAX) } else { 0 }
    }
}
