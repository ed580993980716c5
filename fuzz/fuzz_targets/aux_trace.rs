//! See `bodies::aux_trace`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::aux_trace::run(data) { Corpus::Keep } else { Corpus::Reject }
});
