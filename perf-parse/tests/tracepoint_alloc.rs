//! Allocations of tracepoints: a small multiple of the bytes read, and none for a sample.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "what a test does not expect fails it"
)]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

use perf_parse::abi::endian::LittleEndian;
use perf_parse::tracepoint::{Tracepoints, TracingData};

/// The system's allocator, with a count for each thread, because the test harness has a thread of its own.
struct Counting;

std::thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: both methods pass their arguments to the system's allocator; counting does not touch their memory and
// allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        LIVE.set(LIVE.get() + layout.size());
        PEAK.set(PEAK.get().max(LIVE.get()));
        // SAFETY: the caller keeps the contract of this same function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // Memory that another thread allocated was not counted here.
        LIVE.set(LIVE.get().saturating_sub(layout.size()));
        // SAFETY: the caller keeps the contract of this same function, and `at` is from the system's allocator.
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the peak of the bytes that `run` held, the number of its allocations, and its result.
fn measure<T>(run: impl FnOnce() -> T) -> (usize, usize, T) {
    let (live, calls) = (LIVE.get(), CALLS.get());
    PEAK.set(live);
    let result = run();
    (PEAK.get() - live, CALLS.get() - calls, result)
}

/// Makes tracing data with `count` copies of the same text.
fn repeated(text: &str, count: u32) -> Vec<u8> {
    let mut data = b"\x17\x08\x44tracing0.5\0\0\x08\0\x10\0\0header_page\0".to_vec();
    data.extend([0; 8]);
    data.extend(b"header_event\0");
    data.extend([0; 12]);
    data.extend(b"\x01\0\0\0s\0");
    data.extend(count.to_le_bytes());
    for _ in 0..count {
        data.extend((text.len() as u64).to_le_bytes());
        data.extend(text.as_bytes());
    }
    data.extend([0; 8]);
    data
}

#[test]
fn what_is_allocated_is_bounded() {
    let fields = "name:a\nID:1\n".to_owned() + &"field:a b;offset:0;size:0;\n".repeat(1000);
    for (what, text, count) in [
        ("faults", "", 10_000),
        ("formats", "ID:1\nname:", 10_000),
        ("fields", &fields, 10),
        ("formats with a field", "name:a\nID:1\nfield:a b;offset:0;size:0;\n", 10_000),
        ("unknown lines", &"\n".repeat(10_000), 10),
    ] {
        let data = repeated(text, count);
        let (peak, _, parsed) = measure(|| TracingData::parse(&data).unwrap());
        assert_eq!(peak, 0, "{what}");
        let (peak, _, tracepoints) = measure(|| Tracepoints::new(&parsed));
        let all = tracepoints.formats().len() as u64 + tracepoints.faults().len() as u64;
        assert_eq!(all + tracepoints.faults_omitted(), u64::from(count), "{what}");
        println!("{what}: {peak} bytes for {}", data.len());
        assert!(peak <= 16 * data.len() + (1 << 17), "{what}: {peak} bytes for {}", data.len());
    }

    let text = "name:a\nID:1\nfield:int a;offset:0;size:4;\nfield:char b[4];offset:4;size:4;\nfield:u16 c[2];offset:8;size:4;\n\
        field:__data_loc char[] d;offset:12;size:4;\nfield:u64 e;offset:16;size:8;\n";
    let data = repeated(text, 1);
    let tracepoints = Tracepoints::new(&TracingData::parse(&data).unwrap());
    let format = tracepoints.get(1).unwrap();
    let (_, calls, decoded) = measure(|| {
        let fields = format.fields::<LittleEndian>(&[1; 16]);
        fields.fold((0, 0), |(right, wrong), (_, value)| match value {
            Ok(_) => (right + 1, wrong),
            Err(_) => (right, wrong + 1),
        })
    });
    assert_eq!((calls, decoded), (0, (3, 2)));
}
