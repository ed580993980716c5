//! See `bodies::print_fmt`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::print_fmt::run(data) { Corpus::Keep } else { Corpus::Reject }
});
