//! Proof that perf-abi and perf-parse need neither std nor an allocator.
//!
//! A program without std has its own panic handler, and one without an allocator has no `#[global_allocator]`. So the
//! compiler refuses to build this one as soon as a dependency links `std` ("duplicate lang item `panic_impl`") or
//! `alloc` ("no global memory allocator found"), whether or not the program calls any of their functions.
//!
//! The program decodes one handmade attr and one handmade sample. It exits with 0, or with the number of the first
//! check that failed.

#![no_std]
#![no_main]

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::LittleEndian;
use perf_abi::event::EventType;
use perf_abi::record::{CpuMode, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::sample::ChainFrame;
use perf_parse::{RawRecord, Sample, SampleLayout};

/// A software cpu-clock event, as the first kernels laid it out.
#[rustfmt::skip]
static ATTR: [u8; 64] = [
    1, 0, 0, 0,                       // type: SOFTWARE
    64, 0, 0, 0,                      // size: VER0
    0, 0, 0, 0, 0, 0, 0, 0,           // config: CPU_CLOCK
    0x40, 0x42, 0x0f, 0, 0, 0, 0, 0,  // sample_period: 1000000
    0xa7, 0x05, 0, 0, 0, 0, 0, 0,     // sample_type: IP, TID, TIME, CALLCHAIN, CPU, PERIOD, RAW
    0, 0, 0, 0, 0, 0, 0, 0,           // read_format
    0, 0, 0, 0, 0, 0, 0, 0,           // flags
    1, 0, 0, 0,                       // wakeup_events
    0, 0, 0, 0,                       // bp_type
    0, 0, 0, 0, 0, 0, 0, 0,           // config1
];

/// A sample of that event.
#[rustfmt::skip]
static SAMPLE: [u8; 96] = [
    9, 0, 0, 0, 2, 0, 96, 0,                              // header: SAMPLE, in user space, 96 bytes
    0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0, 0,             // ip
    0x39, 0x30, 0, 0, 0xff, 0xff, 0xff, 0xff,             // pid: 12345, tid: -1
    8, 7, 6, 5, 4, 3, 2, 1,                               // time
    7, 0, 0, 0, 0, 0, 0, 0,                               // cpu, res
    0x40, 0x42, 0x0f, 0, 0, 0, 0, 0,                      // period: 1000000
    3, 0, 0, 0, 0, 0, 0, 0,                               // callchain: 3 words
    0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,          //   USER
    0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0, 0,
    0, 0x10, 0x40, 0, 0, 0, 0, 0,
    12, 0, 0, 0, b'r', b'a', b'w', 0, 0, 0, 0, 0, 0, 0, 0, 0, // raw: 12 bytes
];

#[link(name = "c")]
unsafe extern "C" {
    /// Ends the process by `SIGABRT`.
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    abort()
}

/// The function that unwinding would call. The distributed `core` refers to it. A program that aborts never unwinds.
// SAFETY: nothing else in the program has this name, which std would define.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// The entry point that the C start code calls.
// SAFETY: nothing else in the program is called `main`, and this is its C signature.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: i32, _argv: *const *const u8) -> i32 {
    match attr().and_then(|attr| sample(&attr)) {
        Ok(()) => 0,
        Err(check) => check,
    }
}

/// Returns the number of the check as an error unless the condition holds.
fn check(number: i32, holds: bool) -> Result<(), i32> {
    if holds { Ok(()) } else { Err(number) }
}

/// Reads the attr and compares it with the expected values.
fn attr() -> Result<Attr, i32> {
    let read = Attr::read::<LittleEndian>(core::hint::black_box(&ATTR)).map_err(|_| 1)?;
    check(2, read.tail.is_empty())?;
    let attr = read.attr;
    check(3, attr.kind == EventType::SOFTWARE)?;
    check(4, attr.sample_period == 1_000_000)?;
    let leading = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
    check(5, attr.sample_type == leading | SampleType::CALLCHAIN | SampleType::RAW)?;
    check(6, attr.write::<LittleEndian>(AttrVersion::VER0).is_ok_and(|bytes| bytes.starts_with(&ATTR)))?;
    Ok(attr)
}

/// Decodes the sample and compares it with the expected values.
fn sample(attr: &Attr) -> Result<(), i32> {
    let layout = SampleLayout::new(attr).map_err(|_| 10)?;
    let bytes = core::hint::black_box(&SAMPLE);
    let (record, rest) = RawRecord::<LittleEndian>::parse(bytes).map_err(|_| 11)?;
    check(12, rest.is_empty())?;
    check(13, record.kind() == RecordType::SAMPLE)?;
    check(14, record.misc().cpumode() == CpuMode::USER)?;
    let sample = Sample::parse(&layout, &record).map_err(|_| 15)?;
    check(16, sample.ip() == Some(0xba98_7654_3210))?;
    check(17, sample.pid() == Some(12345))?;
    check(18, sample.tid() == Some(-1))?;
    check(19, sample.time() == Some(0x0102_0304_0506_0708))?;
    check(20, sample.cpu() == Some(7))?;
    check(21, sample.period() == Some(1_000_000))?;
    check(22, sample.addr().is_none())?;
    let tail = sample.tail().map_err(|_| 23)?;
    check(24, tail.raw == Some(b"raw\0\0\0\0\0\0\0\0\0"))?;
    let chain = tail.callchain.ok_or(25)?;
    let context = Some(CallchainContext::USER);
    let frames =
        [ChainFrame::Ip { ip: 0xba98_7654_3210, context }, ChainFrame::Ip { ip: 0x40_1000, context }];
    check(26, chain.frames().eq(frames))?;
    let (short, _) = bytes.split_at(bytes.len() - 1);
    check(27, RawRecord::<LittleEndian>::parse(short).is_err())
}
