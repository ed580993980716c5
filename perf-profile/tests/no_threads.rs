//! A system that starts no thread, as WebAssembly: the work is done on the caller's.

use std::num::NonZero;
use std::process::Command;
use std::thread;

use perf_abi::regs::Arch;
use perf_parse::Reader;
use perf_profile::work::both::both;
use perf_profile::work::in_order::in_order;
use perf_profile::work::sorting::sort_by_key;
use perf_profile::work::waves::each_part;
use perf_profile::{Limits, NamingOptions, Profile, ProfileBuilder, SampleDetail};
use perf_session::Session;
use perf_symbol::{LoadAhead, StackFinder, SymbolOptions, Symbolizer};

const WITHOUT_THREADS: &str = "TEST_WITHOUT_THREADS";
const THREADS: NonZero<usize> = NonZero::new(4).unwrap();

/// Size of a stack that no thread gets: three quarters of all addresses.
const STACK: usize = usize::MAX / 4 * 3;

#[test]
fn work_is_done_on_one_thread() {
    if std::env::var_os(WITHOUT_THREADS).is_some() {
        assert!(thread::Builder::new().spawn(|| {}).is_err());
        return all();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "work_is_done_on_one_thread", "--test-threads=1", "--nocapture"]);
    let output = command.env(WITHOUT_THREADS, "1").env("RUST_MIN_STACK", STACK.to_string()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}

fn all() {
    assert_eq!(both(THREADS, || 1, || "a"), (1, "a"));
    let mut list: Vec<u32> = (0..100_000_u32).map(|it| it.wrapping_mul(2_654_435_761)).collect();
    sort_by_key(&mut list, THREADS, |&it| it);
    assert!(list.is_sorted());
    let mut taken = Vec::new();
    each_part(&list, 1000, THREADS, <[u32]>::to_vec, |part| {
        taken.extend(part);
        Ok(())
    })
    .unwrap();
    assert!(taken == list);
    let (mut next, mut squares, mut worked) = (0, Vec::new(), 0_u64);
    let ended: Result<(), ()> = in_order(
        THREADS,
        &mut worked,
        |block: &mut u64| {
            *block = next;
            next += 1;
            next < 100
        },
        |worked, block| {
            *worked += 1;
            *block *= *block;
        },
        |_, block| {
            squares.push(*block);
            Ok(true)
        },
        |worked, other| *worked += other,
    );
    assert!(ended.is_ok() && worked == 100 && squares.into_iter().eq((0..100).map(|it| it * it)));
    let names = |threads| {
        let profile = profile(NamingOptions { inlines: true, threads });
        let named = profile.function_table();
        let name = |number| named.symbol(named.symbol_of(number)).map(|symbol| symbol.name.to_vec());
        (0..).zip(profile.frames().locations()).map(|(number, _)| name(number)).collect::<Vec<_>>()
    };
    assert!(names(THREADS) == names(NonZero::<usize>::MIN));
}

/// A capture with many files, some of which this machine has perhaps.
fn profile(naming: NamingOptions) -> Profile {
    let reader = Reader::open(testdata::path("system_wide.data")).unwrap();
    let mut session = Session::new();
    session.add_features(reader.features());
    let symbolizer = Symbolizer::new(SymbolOptions::default());
    let ahead = LoadAhead::new(&symbolizer);
    let mut stacks = StackFinder::new(Arch::X86, 127, symbolizer.finder().clone());
    let mut builder = ProfileBuilder::new(SampleDetail::default(), Limits::default());
    for record in reader.records().in_time_order() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else { continue };
        let Some(event) = record.event() else { continue };
        let mut stack = Vec::new();
        let end = stacks.push(&at, None, &mut stack).unwrap();
        for frame in &stack {
            if let Some(mapping) = frame.frame.mapping {
                ahead.add(at.session(), mapping.dso(), frame.frame.mode);
            }
        }
        builder.sample(&at, event, event.attr.sample_period, &stack, end, None);
    }
    builder.finish(&session, &mut stacks, Some(&symbolizer), naming, &mut |_, _| {})
}
