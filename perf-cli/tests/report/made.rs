//! Captures made for one test.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Comm, FileId, Mmap, Mmap2, Task};
use perf_parse::tracepoint::TracingDataFields;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};

/// A capture of an event with call chains. Each record is 1 us after the one before it.
pub(crate) struct Made {
    attr: Attr,
    layout: SampleLayout,
    records: Vec<Vec<u8>>,
    /// Nanoseconds without a record.
    waited: u64,
    /// The format of the tracepoint, if the event is one.
    format: Option<String>,
    /// The format of `sched:sched_waking`, if the event is that one too.
    waking: Option<String>,
}

impl Made {
    pub(crate) fn new() -> Self {
        let sample_type =
            SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD | SampleType::CALLCHAIN;
        let flags = AttrFlags::SAMPLE_ID_ALL | AttrFlags::COMM | AttrFlags::MMAP;
        let attr =
            Attr { kind: EventType::SOFTWARE, sample_type, flags, sample_period: 1, ..Attr::default() };
        Self {
            attr,
            layout: SampleLayout::new(&attr).unwrap(),
            records: Vec::new(),
            waited: 0,
            format: None,
            waking: None,
        }
    }

    fn now(&self) -> u64 {
        1_000_000_000_000 + self.waited + 1000 * self.records.len() as u64
    }

    /// Makes the capture one of `--switch-events`.
    pub(crate) fn with_switches(mut self) -> Self {
        self.attr.flags |= AttrFlags::CONTEXT_SWITCH;
        self
    }

    /// Makes the event the tracepoint `sched:sched_switch`. `states` is how its print format writes `prev_state`.
    pub(crate) fn with_tracepoint(mut self, states: &str) -> Self {
        let fields = "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
            \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
            \tfield:long prev_state;\toffset:24;\tsize:8;\tsigned:1;\n\
            \tfield:pid_t next_pid;\toffset:32;\tsize:4;\tsigned:1;\n";
        let print = format!(
            "print fmt: \"prev_comm=%s prev_state=%s%s ==> next_pid=%d\", REC->prev_comm, {states}, REC->next_pid\n"
        );
        self.format = Some(format!("name: sched_switch\nID: 300\nformat:\n{fields}\n{print}"));
        (self.attr.kind, self.attr.config) = (EventType::TRACEPOINT, 300);
        self.attr.sample_type |= SampleType::RAW;
        self.layout = SampleLayout::new(&self.attr).unwrap();
        self
    }

    /// Makes each switch a waking too.
    pub(crate) fn with_wakings(mut self) -> Self {
        let fields = "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
            \tfield:pid_t pid;\toffset:36;\tsize:4;\tsigned:1;\n";
        let print = "print fmt: \"pid=%d\", REC->pid\n";
        self.waking = Some(format!("name: sched_waking\nID: 300\nformat:\n{fields}\n{print}"));
        self
    }

    /// A thread leaves the CPU in a state, and another one comes to it. `stack` is in the kernel, innermost first.
    pub(crate) fn traced(mut self, tid: i32, state: u64, next: i32, stack: &[u64]) -> Self {
        let chain = core::iter::once(CallchainContext::KERNEL.0).chain(stack.iter().copied());
        // A name that looks like a state is none.
        let mut raw =
            [&[0; 8], &b"prev_state=Z x\0\0"[..], &state.to_le_bytes(), &next.to_le_bytes()].concat();
        // The thread that leaves wakes another one up than the next.
        raw.extend_from_slice(&(tid - 3).to_le_bytes());
        raw.resize(44, 0);
        let fields = SampleFields {
            ip: stack.first().copied(),
            pid_tid: Some((tid, tid)),
            time: Some(self.now()),
            period: Some(1),
            callchain: Some(chain.collect()),
            raw: Some(raw),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &self.layout, Misc(1), &fields).unwrap();
        self.records.push(bytes);
        self
    }

    /// A thread starts, or ends.
    pub(crate) fn task(self, tid: i32, starts: bool) -> Self {
        let task = Task { pid: tid, ppid: 1, tid, ptid: 1, time: self.now() };
        self.record(tid, &if starts { Record::Fork(task) } else { Record::Exit(task) })
    }

    /// A thread leaves the CPU because another one takes it.
    pub(crate) fn preempted(self, tid: i32) -> Self {
        self.record_with(Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT, tid, &Record::Switch)
    }

    /// A thread leaves the CPU, or comes back to it.
    pub(crate) fn switch(self, tid: i32, is_out: bool) -> Self {
        let misc = if is_out { Misc::SWITCH_OUT } else { Misc(0) };
        self.record_with(misc, tid, &Record::Switch)
    }

    /// Nothing is recorded for so many microseconds.
    pub(crate) fn wait(mut self, microseconds: u64) -> Self {
        self.waited += microseconds * 1000;
        self
    }

    fn record(self, tid: i32, record: &Record<'_, LittleEndian>) -> Self {
        self.record_with(Misc(2), tid, record)
    }

    fn record_with(mut self, misc: Misc, tid: i32, record: &Record<'_, LittleEndian>) -> Self {
        let trailer = SampleIdFields { pid: tid, tid, time: self.now(), ..SampleIdFields::default() };
        let mut bytes = Vec::new();
        write::record::<LittleEndian>(&mut bytes, &self.layout, misc, record, &trailer).unwrap();
        self.records.push(bytes);
        self
    }

    pub(crate) fn comm(self, tid: i32, name: &str) -> Self {
        self.record(tid, &Record::Comm(Comm { pid: tid, tid, comm: name.as_bytes() }))
    }

    /// Maps a file, or `//anon`, at 0x1000 to 0x9000.
    pub(crate) fn map(self, tid: i32, name: &str) -> Self {
        let (pid, addr, len, pgoff, filename) = (tid, 0x1000, 0x8000, 0, name.as_bytes());
        self.record(tid, &Record::Mmap(Mmap { pid, tid, addr, len, pgoff, filename }))
    }

    /// Adds a sample with the addresses of a stack of user code, innermost first.
    pub(crate) fn sample(self, tid: i32, period: u64, stack: &[u64]) -> Self {
        self.sample_of(Misc(2), CallchainContext::USER, tid, period, stack)
    }

    /// Adds a sample with the addresses of a stack of the kernel, innermost first.
    pub(crate) fn kernel_sample(self, tid: i32, stack: &[u64]) -> Self {
        self.sample_of(Misc(1), CallchainContext::KERNEL, tid, 1, stack)
    }

    fn sample_of(
        mut self,
        misc: Misc,
        context: CallchainContext,
        tid: i32,
        period: u64,
        stack: &[u64],
    ) -> Self {
        let chain = core::iter::once(context.0).chain(stack.iter().copied());
        let fields = SampleFields {
            ip: stack.first().copied(),
            pid_tid: Some((tid, tid)),
            time: Some(self.now()),
            period: Some(period),
            callchain: Some(chain.collect()),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &self.layout, misc, &fields).unwrap();
        self.records.push(bytes);
        self
    }

    /// Makes the samples those of memory accesses.
    pub(crate) fn with_accesses(mut self) -> Self {
        self.attr.sample_type = SampleType::IP
            | SampleType::TID
            | SampleType::TIME
            | SampleType::ADDR
            | SampleType::PERIOD
            | SampleType::DATA_SRC
            | SampleType::WEIGHT_STRUCT
            | SampleType::TRANSACTION
            | SampleType::PHYS_ADDR
            | SampleType::DATA_PAGE_SIZE
            | SampleType::CODE_PAGE_SIZE;
        self.attr.flags |= AttrFlags::MMAP2 | AttrFlags::MMAP_DATA;
        self.layout = SampleLayout::new(&self.attr).unwrap();
        self
    }

    /// Maps what a record tells, for the process `tid`.
    pub(crate) fn map2(self, tid: i32, mapped: Mmap2<'_>) -> Self {
        let has_build_id = matches!(mapped.id, FileId::BuildId { .. });
        let misc = if has_build_id { Misc(2) | Misc::MMAP_BUILD_ID } else { Misc(2) };
        self.record_with(misc, tid, &Record::Mmap2(Mmap2 { pid: tid, tid, ..mapped }))
    }

    /// Maps the kernel.
    pub(crate) fn kernel(self, mapped: Mmap2<'_>) -> Self {
        self.record_with(Misc(1), -1, &Record::Mmap2(mapped))
    }

    /// Adds a sample of a memory access.
    pub(crate) fn access(mut self, tid: i32, mode: Misc, fields: SampleFields) -> Self {
        let fields = SampleFields { pid_tid: Some((tid, tid)), time: Some(self.now()), ..fields };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &self.layout, mode, &fields).unwrap();
        self.records.push(bytes);
        self
    }

    /// Writes the capture as a file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let out = Cursor::new(Vec::new());
        let events = [EventFields { attr: self.attr, ..EventFields::default() }];
        let mut writer = FileWriter::new(out, &events, &WriteOptions::default()).unwrap();
        self.records.iter().for_each(|record| writer.record(record).unwrap());
        if let Some(format) = &self.format {
            let formats = core::iter::once(format).chain(&self.waking).map(|it| it.clone().into_bytes());
            let systems = vec![(b"sched".to_vec(), formats.collect())];
            let data =
                TracingDataFields { long_size: 8, page_size: 4096, systems, ..TracingDataFields::default() };
            let mut payload = Vec::new();
            data.write(&mut payload, Endianness::Little).unwrap();
            writer.features().raw(Feature::TRACING_DATA, &payload).unwrap();
        }
        let path = needs::folder().join(name);
        fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
        path
    }
}
