//! See `fuzz::folder`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus { if fuzz::folder::run(data) { Corpus::Keep } else { Corpus::Reject } });
