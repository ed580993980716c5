//! See `bodies::parse_file`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::parse_file::run(data) { Corpus::Keep } else { Corpus::Reject }
});
