//! The code that a jitdump loads, by time.

use core::ops::Range;

use hashbrown::HashMap;
use perf_symbol::SymbolLimits;
use perf_symbol::jitdump::{JitRecordBody, JitdumpHeader};

use super::address_set::AddressSet;
use super::image::ImageBuilder;

/// Code that was loaded to an address, or moved there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLoad {
    pub(super) time: u64,
    pub(super) address: u64,
    pub(super) size: u64,
    /// The offset of the code in the image.
    pub(super) offset: u64,
}

/// Adds the functions of a jitdump to an image, and returns their loads and moves in the order of time. What cannot be read is left
/// out, and so is what exceeds the limit of symbols.
pub(super) fn read<'a>(
    header: &JitdumpHeader,
    bytes: &'a [u8],
    limits: &SymbolLimits,
    image: &mut ImageBuilder<'a>,
) -> Vec<CodeLoad> {
    let mut loads = Vec::new();
    let mut by_index: HashMap<u64, CodeLoad> = HashMap::new();
    let (mut lines, mut frames) = (None, None);
    for record in header.records(bytes).flatten() {
        if loads.len() >= limits.symbols {
            break;
        }
        match record.body {
            JitRecordBody::DebugInfo(info) => lines = Some(info),
            JitRecordBody::UnwindingInfo(info) => frames = Some(info),
            JitRecordBody::Load(it) => {
                let (lines, frames) = (lines.take(), frames.take());
                let Some(offset) = image.function(it.name, it.code_size, it.code) else { continue };
                if let Some(info) = lines.filter(|lines| lines.code_addr == it.code_addr) {
                    image.lines(offset, it.code_size, info);
                }
                if let Some(info) = frames.filter(|_| usize::try_from(it.code_size) == Ok(it.code.len())) {
                    image.frames(offset, it.code_size, info.eh_frame);
                }
                let load = CodeLoad { time: record.time, address: it.code_addr, size: it.code_size, offset };
                by_index.insert(it.code_index, load);
                loads.push(load);
            }
            JitRecordBody::Move(it) => {
                let loaded = by_index.get(&it.code_index);
                loads.extend(loaded.map(|&loaded| CodeLoad {
                    time: record.time,
                    address: it.new_code_addr,
                    size: it.code_size.min(loaded.size),
                    offset: loaded.offset,
                }));
            }
            _ => {}
        }
    }
    loads.retain(|load| load.size > 0);
    loads.sort_by_key(|load| load.time);
    loads
}

/// The addresses at which code was loaded up to a time, which never goes back.
#[derive(Debug)]
pub(super) struct LoadedCode {
    /// In the order of time.
    loads: Vec<CodeLoad>,
    /// Number of loads up to the time.
    passed: usize,
    addresses: AddressSet,
}

impl LoadedCode {
    pub(super) fn new(loads: Vec<CodeLoad>) -> Self {
        Self { loads, passed: 0, addresses: AddressSet::default() }
    }

    /// Returns whether code was loaded to one of the addresses before `time`.
    pub(super) fn overlaps(&mut self, addresses: &Range<u64>, time: u64) -> bool {
        while let Some(load) = self.loads.get(self.passed).filter(|load| load.time < time) {
            self.addresses.insert(load.address..load.address.saturating_add(load.size));
            self.passed = self.passed.saturating_add(1);
        }
        self.addresses.overlaps(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_by_looking_at_each(
            loads in proptest::collection::vec((0u64..30, 0u64..40, 1u64..9), 0..20),
            asked in proptest::collection::vec((0u64..30, 0u64..40, 1u64..9), 0..20),
        ) {
            let mut loads: Vec<_> = loads
                .into_iter()
                .map(|(time, address, size)| CodeLoad { time, address, size, offset: 0 })
                .collect();
            loads.sort_by_key(|load| load.time);
            let mut asked = asked;
            asked.sort_unstable();
            let mut code = LoadedCode::new(loads.clone());
            for (time, start, size) in asked {
                let overlaps = |load: &CodeLoad| {
                    load.time < time && load.address < start + size && start < load.address + load.size
                };
                prop_assert_eq!(code.overlaps(&(start..start + size), time), loads.iter().any(overlaps));
            }
        }
    }
}
