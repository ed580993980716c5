//! The raw data of samples that a decoder of processor traces made.

use perf_abi::event::SynthId;
use perf_aux::pt::RawEvent;

use crate::escape::print;

/// The width of the text, with a blank before it.
const WIDTH: usize = 34;

/// Appends the raw data of a sample, if it is whole.
///
/// perf: `perf_sample__fprintf_synth`, `tools/perf/builtin-script.c`.
pub(super) fn push(out: &mut Vec<u8>, id: SynthId, raw: &[u8]) {
    let Some(event) = RawEvent::parse(id, raw) else { return };
    let text = event.to_string();
    let after = match id {
        SynthId::INTEL_EVT | SynthId::INTEL_PSB | SynthId::INTEL_IFLAG_CHG => "",
        // perf prints an empty text after the number.
        SynthId::INTEL_PTWRITE if is_number_last(&text) => "  ",
        _ => " ",
    };
    let start = out.len();
    print(out, format_args!(" {text}{after}"));
    out.resize(out.len().max(start + WIDTH), b' ');
}

/// Returns whether there is no text after the payload.
fn is_number_last(text: &str) -> bool {
    text.split_once("payload: ").is_some_and(|(_, rest)| !rest.contains(' '))
}
