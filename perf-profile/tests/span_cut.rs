//! Captures cut at a span of time: each sample finds the same processes and mappings as in the whole capture.

mod recording;

use std::collections::BTreeSet;
use std::io::Cursor;

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::ksymbol::{KsymbolFlags, KsymbolType};
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::record::{Cgroup, Comm, FileId, Ksymbol, Mmap2, Record, Task};
use perf_parse::rewrite::EditAccount;
use perf_parse::sample::Reading;
use perf_parse::write::SampleFields;
use perf_profile::edit::CaptureEdit;
use perf_profile::{Selection, Symbols};
use perf_session::{Mapping, SampleContext, Session};
use recording::Recording;

fn selection(first: u64, last: u64) -> Selection {
    let at = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    Selection { time: format!("{},{}", at(first), at(last)).parse().unwrap(), ..Selection::default() }
}

fn cut(reader: &Reader<'_>, first: u64, last: u64) -> Vec<u8> {
    let edit = CaptureEdit::new().select(selection(first, last));
    edit.write_file(reader, &Symbols::of(reader), Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

fn mapping(it: &Mapping) -> String {
    format!("{:x?} {:x} {} {} {:?}", it.range(), it.pgoff(), it.prot(), it.flags(), it.dso())
}

fn described(at: &SampleContext<'_, '_>, session: &Session) -> String {
    let thread = at.thread();
    let maps = session.maps(thread).map(|maps| maps.iter().map(mapping).collect::<Vec<_>>());
    let before = session.maps_before_exec(thread).map(|maps| maps.iter().map(mapping).collect::<Vec<_>>());
    let own = at.sample().ip().and_then(|ip| at.find(at.record().misc().cpumode(), ip)).map(mapping);
    let cgroup = at.sample().tail().unwrap().cgroup.map(|id| session.cgroup(id).map(<[u8]>::to_vec));
    let kernel = session.kernel_maps().iter().map(mapping).collect::<Vec<_>>();
    let (pid, tid, comm) = (thread.pid(), thread.tid(), String::from_utf8_lossy(thread.comm()));
    format!(
        "{pid}/{tid} {comm} {:?} {own:?} {maps:?} before {before:?} {cgroup:?} {kernel:?}",
        thread.is_named()
    )
    .replace("first: Unidentifying", "\n")
}

/// Returns what the samples of a span have of their threads.
fn samples(reader: &Reader<'_>, first: u64, last: u64) -> Vec<String> {
    let mut session = Session::new();
    session.add_features(reader.records().features());
    let mut all = Vec::new();
    for record in reader.records().in_time_order().flatten() {
        session.update(&record).unwrap();
        let time = record.time().unwrap_or(0);
        if let Some(at) = session.at(&record).filter(|_| (first..=last).contains(&time)) {
            all.push(format!("{time} {}", without_first(&described(&at, &session))));
        }
    }
    all
}

/// Removes the first mappings of DSOs, which are no part of their identity.
fn without_first(text: &str) -> String {
    let parts = text.split("\n(Some(FirstMapping {").enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once("}))").map_or(part, |it| it.1) })
        .collect()
}

#[test]
fn samples_of_a_span_are_as_they_were() {
    let named =
        ["everything.data", "system_wide.data", "tracing.pipe.data", "threads.dir", "touch.zstd.data"];
    let every = if testdata::is_thorough() { 1 } else { 9 };
    let (mut cuts, mut smaller) = (0, 0);
    for path in testdata::captures().into_iter().step_by(every).chain(named.map(testdata::path)) {
        if path.metadata().is_ok_and(|it| it.len() > 4 << 20) {
            continue;
        }
        let Ok(reader) = Reader::open(&path) else { continue };
        let times = reader.records().flatten().filter_map(|it| it.sample()?.time()).collect::<BTreeSet<_>>();
        let times: Vec<_> = times.into_iter().collect();
        let Some((&first, &last)) = times.get(times.len() / 3).zip(times.get(times.len() * 2 / 3)) else {
            continue;
        };
        // A sample that counts nothing is left out.
        let reads = reader.events().iter().any(|event| event.attr.sample_type.contains(SampleType::READ));
        if first == 0 || last == u64::MAX || reads {
            continue;
        }
        let result = cut(&reader, first, last);
        let edited = Reader::new(&result).unwrap();
        let (before, after) = (samples(&reader, first, last), samples(&edited, 0, u64::MAX));
        assert_eq!(before.len(), after.len(), "{}", path.display());
        for (before, after) in before.iter().zip(&after) {
            assert!(before == after, "{}:\n{before}\n{after}", path.display());
        }
        cuts += 1;
        let account = edited.feature(EditAccount::FEATURE).and_then(|it| EditAccount::of(&it));
        smaller += usize::from(account.is_some_and(|it| it.side_band_left_out > it.added));
        let again = cut(&edited, first, last);
        assert!(again == result, "{}: twice", path.display());
    }
    assert!(cuts > 5 && smaller > 0, "{smaller} of {cuts}");
}

/// A capture that is being written, in one cgroup.
struct CgroupRecording(Recording);

impl CgroupRecording {
    fn new() -> Self {
        Self(Recording::new(Attr {
            sample_type: SampleType::TID | SampleType::TIME | SampleType::IP | SampleType::CGROUP,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..Attr::default()
        }))
    }

    fn at(&mut self, time: u64) -> &mut Self {
        self.0.at(time);
        self
    }

    fn record(&mut self, misc: Misc, record: Record<'_>) -> &mut Self {
        self.0.record(misc, record);
        self
    }

    fn sample(&mut self, misc: u16, (pid, tid): (i32, i32), ip: u64) -> &mut Self {
        let (pid_tid, cgroup) = (Some((pid, tid)), Some(5));
        self.0.sample(Misc(misc), SampleFields { pid_tid, ip: Some(ip), cgroup, ..SampleFields::default() });
        self
    }

    fn comm(&mut self, (pid, tid): (i32, i32), comm: &str, misc: Misc) -> &mut Self {
        self.record(misc, Record::Comm(Comm { pid, tid, comm: comm.as_bytes() }))
    }

    fn task(&mut self, (pid, tid): (i32, i32), (ppid, ptid): (i32, i32), is_exit: bool) -> &mut Self {
        let task = Task { pid, ppid, tid, ptid, time: self.0.time + 1 };
        self.record(Misc(0), if is_exit { Record::Exit(task) } else { Record::Fork(task) })
    }

    fn map(&mut self, pid: i32, start: u64, len: u64, prot: u32, filename: &str) -> &mut Self {
        let id = FileId::Inode { maj: 1, min: 2, ino: 3 + start, ino_generation: 4 };
        let filename = filename.as_bytes();
        let (prot_flags, reading) = (Some((prot, 2)), Reading::Certain);
        let record =
            Mmap2 { pid, tid: pid, addr: start, len, pgoff: start / 2, id, prot_flags, reading, filename };
        self.record(Misc(2), Record::Mmap2(record))
    }

    fn ksymbol(&mut self, addr: u64, name: &str, flags: KsymbolFlags) -> &mut Self {
        let (ksym_type, name) = (KsymbolType::BPF, name.as_bytes());
        self.record(Misc(1), Record::Ksymbol(Ksymbol { addr, len: 64, ksym_type, flags, name }))
    }

    fn finish(self) -> Vec<u8> {
        self.0.finish()
    }
}

/// Processes that were forked with generated code, exec that is under way, moved code, and what ended before the cut.
fn busy() -> Vec<u8> {
    let mut capture = CgroupRecording::new();
    let start = |it: &mut CgroupRecording, pid: i32, name: &str| {
        it.comm((pid, pid), name, Misc(0)).map(pid, 0x1000, 0x3000, 5, &format!("/bin/{name}"));
    };
    start(&mut capture, 10, "jit");
    capture.map(10, 0x10_000, 0x1000, 7, "//anon").task((20, 20), (10, 10), false);
    capture.map(20, 0x20_000, 0x1000, 7, "//anon").task((30, 30), (20, 20), false);
    capture.map(30, 0x30_000, 0x1000, 7, "//anon").task((30, 31), (30, 30), false);
    // The name of a thread, and of the process that it was forked from.
    capture.comm((30, 31), "worker", Misc(0)).comm((20, 20), "middle", Misc(0));
    capture.task((10, 10), (1, 1), true);
    // Code moved to memory, in its middle.
    start(&mut capture, 40, "moved");
    capture.map(40, 0x2000, 0x1000, 5, "//anon").task((41, 41), (40, 40), false);
    capture.task((40, 40), (1, 1), true);
    // An exec whose new image has not run.
    start(&mut capture, 50, "shell");
    capture.comm((50, 50), "new", Misc::COMM_EXEC).map(50, 0x5000, 0x1000, 5, "/bin/new");
    // A leader that has exited, and a process that has.
    start(&mut capture, 60, "leader");
    capture.task((60, 61), (60, 60), false).task((60, 60), (1, 1), true);
    start(&mut capture, 70, "gone");
    capture.task((70, 70), (1, 1), true);
    let cgroup = |path| Record::Cgroup(Cgroup { id: 5, path });
    capture.record(Misc(0), cgroup(b"/old")).record(Misc(0), cgroup(b"/new"));
    capture.ksymbol(0xffff_0000_0000_0000, "ended", KsymbolFlags(0));
    capture.ksymbol(0xffff_0000_0000_0000, "ended", KsymbolFlags::UNREGISTER);
    capture.ksymbol(0xffff_0000_0000_1000, "runs", KsymbolFlags(0));
    capture.at(10_000_000_000).sample(1, (50, 50), 0xffff_0000_0000_1004);
    for (ids, ip) in [
        ((20, 20), 0x10_004),
        ((20, 20), 0x20_004),
        ((30, 31), 0x10_004),
        ((30, 30), 0x20_004),
        ((30, 31), 0x30_004),
        ((41, 41), 0x2004),
        ((41, 41), 0x1004),
        ((50, 50), 0x5004),
        ((60, 61), 0x1004),
    ] {
        capture.sample(2, ids, ip);
    }
    capture.at(20_000_000_000).comm((60, 61), "later", Misc(0)).sample(2, (60, 61), 0x1004);
    capture.finish()
}

#[test]
fn a_span_begins_with_the_state_there() {
    let bytes = busy();
    let reader = Reader::new(&bytes).unwrap();
    let (first, last) = (10_000_000_000, 15_000_000_000);
    let result = cut(&reader, first, last);
    let edited = Reader::new(&result).unwrap();
    let (before, after) = (samples(&reader, first, last), samples(&edited, 0, u64::MAX));
    assert_eq!(before.len(), 10);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    let mut kept = BTreeSet::new();
    for record in edited.records().flatten() {
        let is_in_place = matches!(record.kind(), RecordType::CGROUP | RecordType::KSYMBOL);
        assert!(is_in_place || (first..=last).contains(&record.time().unwrap()), "{:?}", record.kind());
        if let Ok(Record::Comm(it)) = record.decode() {
            kept.insert(String::from_utf8_lossy(it.comm).into_owned());
        }
    }
    // What had ended is not there, nor what comes later.
    assert!(kept.contains("middle") && !kept.contains("gone") && !kept.contains("later"), "{kept:?}");
    let account = EditAccount::of(&edited.feature(EditAccount::FEATURE).unwrap()).unwrap();
    assert!(account.side_band_left_out > 20 && account.added > 10, "{account:?}");
    assert!(cut(&edited, first, last) == result);
}

#[test]
fn an_open_span_is_cut_on_one_side() {
    let bytes = busy();
    let reader = Reader::new(&bytes).unwrap();
    let account = |result: &[u8]| {
        let reader = Reader::new(result).unwrap();
        EditAccount::of(&reader.feature(EditAccount::FEATURE).unwrap()).unwrap()
    };
    let to_end = account(&cut(&reader, 0, 15_000_000_000));
    assert_eq!((to_end.side_band_left_out, to_end.added), (1, 0));
    let from_start = account(&cut(&reader, 10_000_000_000, u64::MAX));
    assert!(from_start.side_band_left_out > 20 && from_start.added > 10);
}
