//! See `bodies::parse_attr`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::parse_attr::run(data) { Corpus::Keep } else { Corpus::Reject }
});
