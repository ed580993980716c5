//! See `bodies::go_lines`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::go_lines::run(data) { Corpus::Keep } else { Corpus::Reject }
});
