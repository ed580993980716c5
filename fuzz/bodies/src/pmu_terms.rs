//! The texts of sysfs and perf's event strings. The bits of a value are where the format puts them; an error has an
//! offset within the text.

use std::sync::LazyLock;

use perf_open::abi::attr::Attr;
use perf_open::event::EventParser;
use perf_open::pmu::{Pmus, TextError, parse_cpus, parse_format, parse_scale, parse_terms};
use perf_open::tracepoint::Tracefs;

/// Folders like those of a machine's PMUs and tracepoints.
const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../machine");

static PARSER: LazyLock<EventParser> = LazyLock::new(|| {
    EventParser::at(Pmus::at(format!("{MACHINE}/pmus")), Tracefs::at(format!("{MACHINE}/tracing")))
});

/// The first byte of `data` selects the grammar. The other bytes are text.
pub fn run(data: &[u8]) -> bool {
    let Some((grammar, text)) = data.split_first() else { return false };
    let Ok(text) = core::str::from_utf8(text) else { return false };
    let fault = match grammar % 8 {
        0 => parse_format(text).map(|format| placed(format.mask, |value| format.place(value))).err(),
        1 => parse_terms(text).map(|terms| assert!(terms.iter().all(|term| term.offset < text.len()))).err(),
        2 => parse_cpus(text).map(|cpus| assert!(cpus.is_sorted())).err(),
        3 => parse_scale(text).map(|scale| assert!(scale.is_finite())).err(),
        _ => {
            events(text);
            None
        }
    };
    if let Some(TextError { offset, expected, .. }) = fault {
        assert!(offset <= text.len() && text.is_char_boundary(offset), "{offset}: {expected}");
    }
    true
}

/// Checks that each bit of a value goes to the next bit of the mask.
fn placed(mask: u64, place: impl Fn(u64) -> Option<u64>) {
    let bits: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 != 0).collect();
    for (index, bit) in bits.iter().enumerate() {
        assert_eq!(place(1 << index), Some(1 << bit));
    }
    if bits.len() < 64 {
        assert_eq!(place(1 << bits.len()), None);
    }
}

fn events(text: &str) {
    let groups = match PARSER.parse(text) {
        Ok(groups) => groups,
        Err(error) => {
            assert!(error.offset() <= text.len() && text.is_char_boundary(error.offset()), "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
            return;
        }
    };
    for event in groups.iter().flat_map(|group| &group.events) {
        assert!(!event.name.is_empty());
        // The caller that opens the event decides how to sample.
        let Attr { size, sample_period, sample_type, read_format, sample_regs_user, .. } = event.attr;
        assert_eq!((size, sample_period, sample_type.0, read_format.0, sample_regs_user), (0, 0, 0, 0, 0));
        assert!(event.terms.period.is_none() || event.terms.freq.is_none());
    }
}
