//! Files in the order of their share of frames.

use core::cmp::Reverse;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::Session;
use perf_symbol::Symbolizer;

use crate::quality::times_of_frames;
use crate::stack_table::StackTable;
use crate::table::frames::NONE;

/// Loads the files that frames are in, one after the other, those with the most frames in samples first, if files may come from
/// [elsewhere](perf_symbol::Files::can_fetch). Otherwise does nothing: then [`FunctionTable`](crate::FunctionTable) loads them, on
/// several threads. What limits of fetching leave out is so what few samples are in.
///
/// `stacks` has the number of samples of each stack, `frames` that of frames that are in no stack; numbers may come several
/// times. `session` is that of the walk.
pub fn load_hottest_first(
    table: &StackTable,
    stacks: impl Iterator<Item = (u32, u64)>,
    frames: impl Iterator<Item = (u32, u64)>,
    session: &Session,
    symbolizer: Option<&Symbolizer>,
) {
    let Some(symbolizer) = symbolizer.filter(|symbolizer| symbolizer.finder().can_fetch()) else { return };
    let times = times_of_frames(table, stacks, frames);
    // The files of a guest are not those of the host.
    let mut shares: HashMap<(u32, bool), (u64, u32)> = HashMap::new();
    for ((place, &samples), frame) in table.frames.locations().iter().zip(&times).zip(0..) {
        if place.dso != NONE {
            let is_of_guest = matches!(place.mode, CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER);
            let (share, _) = shares.entry((place.dso, is_of_guest)).or_insert((0, frame));
            *share = share.saturating_add(samples);
        }
    }
    let mut order: Vec<_> = shares.into_values().filter(|&(share, _)| share > 0).collect();
    // Of two with the same share, the one whose first frame came first.
    order.sort_by_key(|&(share, frame)| (Reverse(share), frame));
    let mut symbolizer = symbolizer.clone();
    for (_, frame) in order {
        if let Some(mapping) = table.frames.mapping(frame) {
            symbolizer.has_file(session, mapping, table.frames.mode(frame));
        }
    }
}
