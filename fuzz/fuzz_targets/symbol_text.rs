//! See `bodies::symbol_text`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::symbol_text::run(data) { Corpus::Keep } else { Corpus::Reject }
});
