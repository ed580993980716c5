//! What a session makes of records. Every sequence is written in both byte orders, which must give the same.

mod files;
mod guests;
mod kernel;
mod limits;
mod mappings;
mod remapped;
mod simpleperf;
mod stacks;
mod tasks;

use core::fmt::Debug;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::{EventRecord, Reader};
use perf_session::{Maps, Session, SessionLimits, Thread};
use testdata::Bytes;

/// Bits of `misc`: CPU modes, and the bit that MMAP, COMM and FORK have.
const KERNEL: u16 = 1;
const USER: u16 = 2;
const GUEST_KERNEL: u16 = 4;
const GUEST_USER: u16 = 5;
const BIT: u16 = 1 << 13;
const MMAP_BUILD_ID: u16 = 1 << 14;

/// Bits of the protection.
const READ: u32 = 1;
const EXEC: u32 = 4;

/// The threads that records made known: all but the idle one.
fn known(session: &Session) -> Vec<&Thread> {
    session.threads().filter(|thread| thread.tid() != 0).collect()
}

/// Records, end to end.
struct Records {
    big: bool,
    out: Vec<u8>,
}

impl Records {
    fn bytes(&self) -> Bytes {
        Bytes::new(self.big)
    }

    fn record(mut self, kind: u32, misc: u16, payload: Bytes) -> Self {
        self.out.extend(payload.record(kind, misc));
        self
    }

    fn fork(self, pid: i32, tid: i32, ppid: i32, ptid: i32) -> Self {
        self.fork_with(0, [pid, tid, ppid, ptid])
    }

    fn fork_with(self, misc: u16, [pid, tid, ppid, ptid]: [i32; 4]) -> Self {
        let payload = self.bytes().i32(pid).i32(ppid).i32(tid).i32(ptid).u64(0);
        self.record(7, misc, payload)
    }

    fn exit(self, pid: i32, tid: i32) -> Self {
        self.exit_with(0, pid, tid)
    }

    fn exit_with(self, misc: u16, pid: i32, tid: i32) -> Self {
        let payload = self.bytes().i32(pid).i32(1).i32(tid).i32(1).u64(0);
        self.record(4, misc, payload)
    }

    fn comm(self, pid: i32, tid: i32, name: &str) -> Self {
        self.comm_with(0, pid, tid, name)
    }

    fn exec(self, pid: i32, tid: i32, name: &str) -> Self {
        self.comm_with(BIT, pid, tid, name)
    }

    fn comm_with(self, misc: u16, pid: i32, tid: i32, name: &str) -> Self {
        let payload = text(self.bytes().i32(pid).i32(tid), name);
        self.record(3, misc, payload)
    }

    /// An executable mapping of a file from its start on.
    fn map(self, pid: i32, start: u64, end: u64, name: &str) -> Self {
        self.mmap2(USER, pid, (start, end - start, 0), &Id::Inode(7), (READ | EXEC, 2), name)
    }

    fn mmap(self, misc: u16, pid: i32, place: (u64, u64, u64), name: &str) -> Self {
        self.mmap_of(misc, (pid, pid), place, name)
    }

    fn mmap_of(
        self,
        misc: u16,
        (pid, tid): (i32, i32),
        (addr, len, pgoff): (u64, u64, u64),
        name: &str,
    ) -> Self {
        let payload = text(self.bytes().i32(pid).i32(tid).u64s(&[addr, len, pgoff]), name);
        self.record(1, misc, payload)
    }

    fn mmap2(
        self,
        misc: u16,
        pid: i32,
        (addr, len, pgoff): (u64, u64, u64),
        id: &Id,
        (prot, flags): (u32, u32),
        name: &str,
    ) -> Self {
        let fixed = self.bytes().i32(pid).i32(pid).u64s(&[addr, len, pgoff]);
        let (bit, identified) = match *id {
            Id::Inode(ino) => (0, fixed.u32(8).u32(1).u64(ino).u64(0)),
            Id::BuildId(bytes) => (MMAP_BUILD_ID, fixed.u8(bytes.len() as u8).zeros(3).padded(bytes, 20)),
        };
        self.record(10, misc | bit, text(identified.u32(prot).u32(flags), name))
    }

    /// A mapping of the host's kernel, as perf synthesises them.
    fn kernel(self, start: u64, len: u64, pgoff: u64, name: &str) -> Self {
        self.mmap_of(KERNEL, (-1, 0), (start, len, pgoff), name)
    }

    fn ksymbol(self, addr: u64, len: u32, name: &str) -> Self {
        let payload = text(self.bytes().u64(addr).u32(len).u16(1).u16(0), name);
        self.record(17, 0, payload)
    }

    fn ksymbol_end(self, addr: u64, len: u32, name: &str) -> Self {
        let payload = text(self.bytes().u64(addr).u32(len).u16(1).u16(1), name);
        self.record(17, 0, payload)
    }

    fn cgroup(self, id: u64, path: &str) -> Self {
        let payload = text(self.bytes().u64(id), path);
        self.record(19, 0, payload)
    }

    /// A HEADER_BUILD_ID record, with a build id of 20 bytes.
    fn build_id(self, misc: u16, byte: u8, name: &str) -> Self {
        let payload = text(self.bytes().i32(-1).raw(&[byte; 20]).zeros(4), name);
        self.record(67, misc, payload)
    }

    /// A sample of [`attr`].
    fn sample(self, misc: u16, pid: i32, tid: i32) -> Self {
        let payload = self.bytes().u64(0x1000).i32(pid).i32(tid);
        self.record(9, misc, payload)
    }
}

/// What identifies the file of an MMAP2 record.
enum Id {
    Inode(u64),
    BuildId(&'static [u8]),
}

/// Appends a text with a NUL, padded to a multiple of 8.
fn text(bytes: Bytes, text: &str) -> Bytes {
    bytes.padded(text.as_bytes(), (text.len() + 1).next_multiple_of(8))
}

/// The event of the samples of [`Records::sample`].
fn attr() -> Attr {
    Attr { sample_type: SampleType::IP | SampleType::TID, ..Attr::default() }
}

/// Applies records, in both byte orders, and returns what `see` makes of the session and the last record.
fn play<T: PartialEq + Debug>(
    attr: &Attr,
    limits: &SessionLimits,
    records: impl Fn(Records) -> Records,
    see: impl Fn(&Session, &EventRecord<'_>) -> T,
) -> T {
    let [little, big] = [Endianness::Little, Endianness::Big].map(|endianness| {
        let data = records(Records { big: endianness == Endianness::Big, out: Vec::new() }).out;
        let events: Events = [(*attr, vec![])].into_iter().collect();
        let reader = Reader::from_records(events, endianness, &data);
        let (session, last) = updated(limits, &reader);
        (see(&session, &last), format!("{session:?}"))
    });
    assert_eq!(little, big);
    little.0
}

/// The session after all records of a capture, and the last of them. Apart from [`play`], which is built for each of its calls.
fn updated<'r>(limits: &SessionLimits, reader: &'r Reader<'_>) -> (Session, EventRecord<'r>) {
    let mut session = Session::within(limits);
    let mut last = None;
    for record in reader.records() {
        let record = record.unwrap();
        session.update(&record).unwrap();
        last = Some(record);
    }
    (session, last.unwrap())
}

/// Applies records and returns the session.
fn session(records: impl Fn(Records) -> Records) -> Session {
    session_within(&SessionLimits::default(), records)
}

fn session_within(limits: &SessionLimits, records: impl Fn(Records) -> Records) -> Session {
    let session = core::cell::RefCell::new(None);
    play(&attr(), limits, records, |it, _| {
        session.replace(Some(it.clone()));
    });
    session.into_inner().unwrap()
}

/// The mappings of a thread, a line each.
fn maps(session: &Session, tid: i32) -> Vec<String> {
    lines(session.maps(session.thread(tid).unwrap()).unwrap())
}

fn lines(maps: &Maps) -> Vec<String> {
    maps.iter()
        .map(|it| {
            let (range, name) = (it.range(), it.dso().name().escape_ascii());
            format!("{:x}-{:x} {:x} {name}", range.start, range.end, it.pgoff())
        })
        .collect()
}

/// The name of a thread.
fn comm(session: &Session, tid: i32) -> String {
    session.thread(tid).unwrap().comm().escape_ascii().to_string()
}
