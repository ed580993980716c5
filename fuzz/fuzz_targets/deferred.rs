//! See `bodies::deferred`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::deferred::run(data) { Corpus::Keep } else { Corpus::Reject }
});
