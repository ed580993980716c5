//! Sessions into each kind of sink.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, id};
use std::sync::Arc;

use perf_record::open::abi::event::SwId;
use perf_record::open::abi::record::RecordType;
use perf_record::open::workload::Workload;
use perf_record::open::{EventGroup, EventSpec};
use perf_record::parse::{RawRecord, Reader, Record};
use perf_record::{
    CallbackSink, Error, FileSink, PipeSink, ReaderThreads, RecordOptions, Recorder, RecordingSink,
    SidebandSink, Summary, Targets, ThreadSpec, online,
};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    this_process_to_a_file,
    this_process_to_a_pipe,
    this_process_to_a_callback,
    a_command_from_its_exec,
    snapshots_of_the_newest_records,
    a_callback_can_end_it,
    a_delayed_recording_has_the_mappings_from_the_start,
    rings_are_as_large_as_those_of_perf,
    threads_read_the_rings_of_their_cpus,
    a_thread_whose_sink_fails_is_noticed,
];

/// Every page fault of user space.
fn faults() -> Vec<EventGroup> {
    let mut faults = EventSpec::software(SwId::PAGE_FAULTS);
    faults.attr.flags |= perf_record::open::abi::attr::AttrFlags::EXCLUDE_KERNEL;
    vec![faults.into()]
}

fn options() -> RecordOptions {
    RecordOptions { count: Some(1), ..RecordOptions::default() }
}

fn this() -> Recorder {
    Recorder::open(faults(), Targets::Threads(vec![id()]), None, options()).unwrap()
}

/// Touches fresh pages, which causes at least as many page faults.
fn touch(pages: usize) {
    // Memory that was freed before would be given out again, without a page fault. So much memory is always new: glibc's allocator
    // has a threshold of at most 32 MiB.
    let mut touched = Vec::with_capacity(33 << 20);
    touched.resize(pages << 12, 1_u8);
    core::mem::forget(core::hint::black_box(touched));
}

/// Records page faults of this thread; a test may run in any thread of this process.
fn this_thread() -> Recorder {
    let tid = std::fs::read_link("/proc/thread-self").unwrap();
    let tid = tid.file_name().unwrap().to_str().unwrap().parse().unwrap();
    Recorder::open(faults(), Targets::Threads(vec![tid]), None, options()).unwrap()
}

/// Records page faults of this thread.
fn record<S: RecordingSink>(sink: &mut S) -> Summary {
    let mut recorder = this_thread();
    recorder.begin(sink).unwrap();
    touch(50);
    recorder.start().unwrap();
    touch(300);
    recorder.drain(sink).unwrap();
    recorder.stop().unwrap();
    touch(50);
    let summary = recorder.finish(sink).unwrap();
    assert!((300..345).contains(&summary.samples), "{summary:?}");
    summary
}

/// Returns the number of records of each type.
fn kinds(bytes: &[u8]) -> BTreeMap<RecordType, u64> {
    let reader = Reader::new(bytes).unwrap();
    assert_eq!(reader.events().len(), 1);
    let mut kinds = BTreeMap::new();
    for record in reader.records() {
        let record = record.unwrap();
        record.decode().unwrap();
        *kinds.entry(record.kind()).or_default() += 1;
    }
    kinds
}

fn this_process_to_a_file() {
    let mut sink = FileSink::new(Cursor::new(Vec::new()));
    let summary = record(&mut sink);
    let bytes = sink.into_inner().unwrap().into_inner();
    let kinds = kinds(&bytes);
    assert_eq!(kinds[&RecordType::SAMPLE], summary.samples);
    for kind in [
        RecordType::COMM,
        RecordType::MMAP2,
        RecordType::ID_INDEX,
        RecordType::THREAD_MAP,
        RecordType::CPU_MAP,
        RecordType::FINISHED_INIT,
        RecordType::FINISHED_ROUND,
    ] {
        assert!(kinds.contains_key(&kind), "{kind}: {kinds:?}");
    }
}

fn this_process_to_a_pipe() {
    let mut sink = PipeSink::new(Vec::new());
    let summary = record(&mut sink);
    assert_eq!(kinds(&sink.into_inner().unwrap())[&RecordType::SAMPLE], summary.samples);
}

fn this_process_to_a_callback() {
    let mut kinds: BTreeMap<RecordType, u64> = BTreeMap::new();
    let mut sink = CallbackSink(|record: &RawRecord<'_, _>| {
        *kinds.entry(record.kind()).or_default() += 1;
        Ok(())
    });
    let summary = record(&mut sink);
    assert_eq!(kinds[&RecordType::SAMPLE], summary.samples);
    assert!(kinds[&RecordType::MMAP2] > 1);
}

fn a_command_from_its_exec() {
    let mut workload = Workload::prepare("sh".as_ref(), ["-c".into(), "true; exit 3".into()]).unwrap();
    let targets = Targets::Command;
    let mut recorder = Recorder::open(faults(), targets, Some(workload.pid()), options()).unwrap();
    let mut execs = Vec::new();
    let mut sink = CallbackSink(|record: &RawRecord<'_, _>| {
        execs.extend((record.kind() == RecordType::COMM).then(|| record.as_bytes().to_vec()));
        Ok(())
    });
    recorder.begin(&mut sink).unwrap();
    recorder.start().unwrap();
    workload.start().unwrap();
    assert_eq!(workload.wait().unwrap().code(), Some(3));
    let summary = recorder.finish(&mut sink).unwrap();
    assert!(summary.samples > 10, "{summary:?}");
    assert!(execs.iter().any(|comm| comm[16..].starts_with(b"sh\0")), "{execs:?}");
}

fn snapshots_of_the_newest_records() {
    let mut workload = Workload::prepare("sh".as_ref(), ["-c".into(), "true; true".into()]).unwrap();
    let options = RecordOptions { overwrite: true, mmap_pages: Some(1), ..options() };
    let mut recorder = Recorder::open(faults(), Targets::Command, Some(workload.pid()), options).unwrap();
    assert!(recorder.overwrites());
    let mut kept = SidebandSink::default();
    recorder.begin(&mut kept).unwrap();
    workload.start().unwrap();
    workload.wait().unwrap();
    recorder.drain(&mut kept).unwrap();
    let frozen = recorder.freeze().unwrap();
    assert!(!frozen.dumps().is_empty());
    let mut sink = FileSink::new(Cursor::new(Vec::new()));
    let summary = frozen.take().unwrap().write(&kept, &mut sink).unwrap();
    let bytes = sink.into_inner().unwrap().into_inner();
    let reader = Reader::new(&bytes).unwrap();
    let mut times = Vec::new();
    for record in reader.records() {
        if let Record::Sample(sample) = record.unwrap().decode().unwrap() {
            times.push(sample.time().unwrap());
        }
    }
    assert!(!times.is_empty() && times.len() as u64 == summary.samples);
    assert!(!kept.is_full());
}

fn a_callback_can_end_it() {
    let mut recorder = this();
    let mut sink = CallbackSink(|_: &RawRecord<'_, _>| Err("enough".into()));
    let error = recorder.begin(&mut sink).unwrap_err();
    assert_eq!(error.to_string(), "enough");
}

fn a_delayed_recording_has_the_mappings_from_the_start() {
    let mut workload = Workload::prepare("sh".as_ref(), ["-c".into(), "cat; cat".into()]).unwrap();
    let options = RecordOptions { delayed: true, ..options() };
    let mut recorder = Recorder::open(faults(), Targets::Command, Some(workload.pid()), options).unwrap();
    let mut sink = FileSink::new(Cursor::new(Vec::new()));
    recorder.begin(&mut sink).unwrap();
    workload.start().unwrap();
    let _ = workload.wait().unwrap();
    let summary = recorder.finish(&mut sink).unwrap();
    assert_eq!(summary.samples, 0, "it was never started");
    let bytes = sink.into_inner().unwrap().into_inner();
    let reader = Reader::new(&bytes).unwrap();
    let maps = reader.records().flatten().filter(|it| it.kind() == RecordType::MMAP2).count();
    assert!(maps > 3, "{maps}");
}

/// perf prints the size of its rings, including the control page.
fn rings_are_as_large_as_those_of_perf() {
    needs::all(&[needs::Need::PERF]);
    let perf = Command::new("perf")
        .args(["record", "-vv", "-N", "-B", "-e", "page-faults:u", "-o"])
        .arg(needs::folder().join("perf.data"))
        .args(["--", "true"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&perf.stderr).into_owned();
    let size = text.lines().find_map(|line| line.strip_prefix("mmap size ")?.strip_suffix('B'));
    let expected: usize = size.unwrap_or_else(|| panic!("{text}")).parse().unwrap();
    let ours = this().dumps().first().unwrap().len();
    // Other rings of an ordinary user count against the limit, too.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    assert!(ours == expected || !is_root && ours < expected, "{ours} bytes, perf has {expected}");
}

/// Starts a thread for each cpu. `sink` gets the records of each ring.
fn on_threads<S: RecordingSink + Send + 'static>(
    recorder: &mut Recorder,
    sink: impl FnMut(usize) -> Result<S, Error>,
    notify: impl Fn() + Clone + Send + 'static,
) -> ReaderThreads {
    let masks = ThreadSpec::Cpu.masks(&online().unwrap()).unwrap();
    ReaderThreads::start(recorder, masks, sink, Duration::from_millis(10), notify).unwrap()
}

fn threads_read_the_rings_of_their_cpus() {
    let mut recorder = this_thread();
    let samples = Arc::new(AtomicU64::new(0));
    let mut data = PipeSink::new(Vec::new());
    recorder.begin(&mut data).unwrap();
    let counted = samples.clone();
    let sink = move |_| {
        let samples = counted.clone();
        Ok(CallbackSink(move |record: &RawRecord<'_, _>| {
            if record.kind() == RecordType::SAMPLE {
                samples.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }))
    };
    let threads = on_threads(&mut recorder, sink, || {});
    recorder.start().unwrap();
    touch(400);
    recorder.stop().unwrap();
    assert!(!threads.has_failed());
    let readers = threads.end().unwrap();
    assert_eq!(readers.len(), online().unwrap().len());
    recorder.join(readers);
    let summary = recorder.finish(&mut data).unwrap();
    let samples = samples.load(Ordering::Relaxed);
    assert!(samples >= 300 && summary.samples == samples, "{samples} {summary:?}");
}

fn a_thread_whose_sink_fails_is_noticed() {
    let mut recorder = this_thread();
    recorder.begin(&mut PipeSink::new(Vec::new())).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let sink = |_| Ok(CallbackSink(|_: &RawRecord<'_, _>| Err("full".into())));
    let threads = on_threads(&mut recorder, sink, move || sender.send(()).unwrap_or_default());
    recorder.start().unwrap();
    touch(300);
    receiver.recv_timeout(Duration::from_secs(10)).unwrap();
    recorder.stop().unwrap();
    let error = threads.end().unwrap_err();
    assert!(matches!(error, Error::Callback(_)) && error.to_string() == "full", "{error}");
    let refused = |_| Err::<PipeSink<Vec<u8>>, _>(Error::Request("no file".to_owned()));
    let masks = ThreadSpec::Cpu.masks(&online().unwrap()).unwrap();
    let started = ReaderThreads::start(&mut this(), masks, refused, Duration::from_millis(10), || {});
    assert_eq!(started.unwrap_err().to_string(), "no file");
}
