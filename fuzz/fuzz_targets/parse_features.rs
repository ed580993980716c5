//! See `bodies::parse_features`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::parse_features::run(data) { Corpus::Keep } else { Corpus::Reject }
});
