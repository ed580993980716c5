//! See `bodies::parse_ring`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::parse_ring::run(data) { Corpus::Keep } else { Corpus::Reject }
});
