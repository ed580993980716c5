//! What a drain costs, next to a bare walk over the headers of the same bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use perf_open::abi::endian::NativeEndian;
use perf_open::parse::{Record, Records};
use perf_open::ring::{loopback, page_bytes};

use crate::{attr, sample};

/// The shortest of several runs.
fn shortest(mut run: impl FnMut() -> u64) -> (Duration, u64) {
    let timed = |_| {
        let start = Instant::now();
        let sum = run();
        (start.elapsed(), black_box(sum))
    };
    (0..9).map(timed).min().unwrap()
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
    let (decoded, _) = shortest(|| {
        let mut drain = ring.read().unwrap();
        let mut sum = 0_u64;
        while let Some(decoded) = drain.next_decoded() {
            let Record::Sample(sample) = decoded.unwrap().record else { panic!("not a sample") };
            let fields = [sample.ip(), sample.time(), sample.period(), sample.cpu().map(u64::from)];
            let ids = [sample.pid(), sample.tid()].map(|id| id.map_or(0, |id| id as u64));
            sum = fields.into_iter().flatten().chain(ids).fold(sum, u64::wrapping_add);
        }
        drain.cancel();
        sum
    });
    assert_eq!((sizes, drained), (count * 48, count * 48));
    let each = |time: Duration| time.as_secs_f64() * 1e9 / count as f64;
    let ratio = decoded.as_secs_f64() / floor.as_secs_f64();
    println!(
        "{count} samples: headers {:.2} ns each, drained {:.2}, decoded {:.2}: ratio {ratio:.2}",
        each(floor),
        each(raw),
        each(decoded)
    );
    // Loose, as machines are shared: twice is what to expect.
    assert!(ratio < 4.0, "{ratio}");
}
