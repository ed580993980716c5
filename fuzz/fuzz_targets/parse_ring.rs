//! See `fuzz::parse_ring`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if fuzz::parse_ring::run(data) { Corpus::Keep } else { Corpus::Reject }
});
