//! See `bodies::write_read`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::write_read::run(data) { Corpus::Keep } else { Corpus::Reject }
});
