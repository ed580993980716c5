//! See `fuzz::parse_attr`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if fuzz::parse_attr::run(data) { Corpus::Keep } else { Corpus::Reject }
});
