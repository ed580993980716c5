//! Rings that the program writes itself, so that memory checkers see every access. Tests on the kernel's rings are in
//! `live`.
//!
//! `guard` runs in Miri (`.ci/all miri`). All but `speed` run under an address sanitizer and under valgrind:
//!
//! ```text
//! RUSTFLAGS=-Zsanitizer=address \
//!     cargo +nightly test -p perf-open --test ring --target x86_64-unknown-linux-gnu -- guard overwrite stress
//! cargo test -p perf-open --test ring --no-run
//! STRESS_RECORDS=50000 valgrind --error-exitcode=1 target/debug/deps/ring-HASH guard overwrite stress
//! ```

#![cfg(target_os = "linux")]

mod guard;
mod overwrite;
#[cfg(not(debug_assertions))]
mod speed;
mod stress;

use perf_open::abi::attr::{Attr, AttrFlags};
use perf_open::abi::event::EventType;
use perf_open::abi::record::RecordType;
use perf_open::abi::sample_type::SampleType;

/// Returns the attr of an event with 48-byte samples: ip, tid, time, cpu, period.
fn attr() -> Attr {
    let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
    Attr {
        kind: EventType::SOFTWARE,
        sample_type: fields,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    }
}

/// Returns a record with the payload `words`.
fn record(kind: RecordType, words: &[u64]) -> Vec<u8> {
    let size = u16::try_from(8 + 8 * words.len()).unwrap();
    let mut bytes = kind.0.to_ne_bytes().to_vec();
    bytes.extend(2_u16.to_ne_bytes());
    bytes.extend(size.to_ne_bytes());
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

/// Returns a sample of [`attr`] with the ip `number` and the time `time`.
fn sample(number: u64, time: u64) -> Vec<u8> {
    record(RecordType::SAMPLE, &[number, 7, time, 1, 1000])
}
