//! The names of what is mapped.

use perf_session::{DsoKind, Mapping};

use super::event::ScriptEvent;
use crate::perf_text::print::push_name;

/// Appends the name of what is mapped: of a module whose build id the capture lists, its path.
///
/// perf: `map__fprintf_dsoname`, `tools/perf/util/map.c`; the name is the one that was known first.
pub(super) fn push_dso(out: &mut Vec<u8>, mapping: Option<&Mapping>, known: &ScriptEvent) {
    let Some(dso) = mapping.map(Mapping::dso) else {
        out.extend_from_slice(b"[unknown]");
        return;
    };
    let is_listed = dso.kind() == DsoKind::Module && known.modules.contains(dso.path());
    push_name(out, if is_listed { dso.path() } else { dso.name() });
}
