//! See `fuzz::deferred`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if fuzz::deferred::run(data) { Corpus::Keep } else { Corpus::Reject }
});
