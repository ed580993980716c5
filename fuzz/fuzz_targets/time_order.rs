//! See `bodies::time_order`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::time_order::run(data) { Corpus::Keep } else { Corpus::Reject }
});
