//! The time that a drain takes, compared with a walk over only the headers of the same bytes.

use core::hint::black_box;
use std::time::{Duration, Instant};

use perf_open::abi::endian::NativeEndian;
use perf_open::abi::record::RecordType;
use perf_open::parse::{Record, Records, Sample};
use perf_open::ring::{loopback, page_bytes};

use crate::{attr, sample};

/// Returns the shortest time of several runs.
fn shortest(mut run: impl FnMut() -> u64) -> (Duration, u64) {
    let timed = |_| {
        let start = Instant::now();
        let sum = run();
        (start.elapsed(), black_box(sum))
    };
    (0..9).map(timed).min().unwrap()
}

/// Reads every field of a sample.
#[inline]
fn fields(sample: &Sample<'_, NativeEndian>) -> u64 {
    let tid = u64::from(sample.pid().unwrap_or(0).unsigned_abs() ^ sample.tid().unwrap_or(0).unsigned_abs());
    let cpu = u64::from(sample.cpu().unwrap_or(0));
    sample.ip().unwrap_or(0) ^ sample.time().unwrap_or(0) ^ sample.period().unwrap_or(0) ^ tid ^ cpu
}

#[test]
fn a_drain_costs_little_more_than_the_bytes() {
    let (mut ring, mut writer) = loopback::ring(&attr(), (32 << 20) / page_bytes()).unwrap();
    let mut count = 0;
    while writer.write(&sample(count, count)) {
        count += 1;
    }
    let dump = ring.dump();
    let bytes = &dump[page_bytes()..][..count as usize * 48];

    let (floor, sizes) = shortest(|| {
        Records::<NativeEndian>::new(bytes).map(|record| u64::from(record.unwrap().size())).sum()
    });
    let (raw, drained) = shortest(|| {
        let mut drain = ring.read().unwrap();
        let mut sum = 0;
        while let Some(record) = drain.next_record() {
            sum += u64::from(record.unwrap().size());
        }
        drain.cancel();
        sum
    });
    let layout = ring.events()[0].layout;
    let (viewed, by_view) = shortest(|| {
        let mut drain = ring.read().unwrap();
        let mut sum = 0_u64;
        while let Some(record) = drain.next_record() {
            let record = record.unwrap();
            if record.kind() == RecordType::SAMPLE {
                sum = sum.wrapping_add(fields(&Sample::parse(&layout, &record).unwrap()));
            }
        }
        drain.cancel();
        sum
    });
    let (decoded, by_record) = shortest(|| {
        let mut drain = ring.read().unwrap();
        let mut sum = 0_u64;
        while let Some(record) = drain.next_with_event() {
            let Record::Sample(sample) = record.unwrap().decode().unwrap() else { panic!("not a sample") };
            sum = sum.wrapping_add(fields(&sample));
        }
        drain.cancel();
        sum
    });
    assert_eq!(by_view, by_record);
    assert_eq!((sizes, drained), (count * 48, count * 48));
    let each = |time: Duration| time.as_secs_f64() * 1e9 / count as f64;
    let ratio = decoded.as_secs_f64() / floor.as_secs_f64();
    println!(
        "{count} samples: headers {:.2} ns each, drained {:.2}, viewed {:.2}, decoded {:.2}: ratios {:.2}, {ratio:.2}",
        each(floor),
        each(raw),
        each(viewed),
        each(decoded),
        viewed.as_secs_f64() / floor.as_secs_f64(),
    );
    // The limits are loose, because other programs may slow down the machine.
    assert!(viewed < 4 * floor && decoded < 5 * floor, "{viewed:?}, {decoded:?}, {floor:?}");
}
