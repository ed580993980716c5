//! See `bodies::edit`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus { if bodies::edit::run(data) { Corpus::Keep } else { Corpus::Reject } });
