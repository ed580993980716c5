//! See `fuzz::tracepoint_format`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if fuzz::tracepoint_format::run(data) { Corpus::Keep } else { Corpus::Reject }
});
