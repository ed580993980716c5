//! See `bodies::intel_pt`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::intel_pt::run(data) { Corpus::Keep } else { Corpus::Reject }
});
