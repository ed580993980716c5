//! Captures that have a number of one kind of thing, and a sample or two of each.

use testdata::Bytes;

/// Makes a capture that has so many things.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The smallest number. The tests read up to 8 times as many.
    pub(crate) count: u64,
    make: fn(&mut Records, u64),
}

impl Kind {
    /// Returns the bytes of a capture with `count` things.
    pub(crate) fn capture(&self, count: u64) -> Vec<u8> {
        let mut records = Records::default();
        records.map(KERNEL, -1, KERNEL_START, 0x2000_0000, "[kernel.kallsyms]_text");
        records.map(USER, 1, CODE, CODE_SIZE, "/nonexistent/program");
        (self.make)(&mut records, count);
        records.file()
    }
}

const fn kind(name: &'static str, count: u64, make: fn(&mut Records, u64)) -> Kind {
    Kind { name, count, make }
}

pub(crate) const KINDS: [Kind; 11] = [
    // Stacks that share neither addresses nor callers: the most memory for a byte of input.
    kind("stacks of addresses of their own", 60, |it, count| {
        for stack in 0..count {
            let address = |frame: u64| CODE + (stack * DEPTH + frame).wrapping_mul(0x9e37_79b9) % CODE_SIZE;
            it.sample(USER, 1, 1, address(0), &(0..DEPTH).map(address).collect::<Vec<_>>());
        }
    }),
    kind("stacks of the same addresses", 60, |it, count| {
        for stack in 0..count {
            let address = |frame: u64| CODE + (stack * DEPTH + frame).wrapping_mul(0x9e37_79b9) % 1000 * 16;
            it.sample(USER, 1, 1, address(0), &(0..DEPTH).map(address).collect::<Vec<_>>());
        }
    }),
    kind("processes", 1000, |it, count| {
        for pid in PIDS..PIDS + count {
            it.fork(pid, 1, pid, 1);
            it.comm(pid, pid, &format!("process {pid}"));
            it.map(USER, pid as i32, CODE, CODE_SIZE, "/nonexistent/other");
            it.sample(USER, pid, pid, CODE + 16, &[CODE + 16, CODE + 32]);
        }
    }),
    kind("forks, each of the one before", 1000, |it, count| {
        for pid in PIDS..PIDS + count {
            let parent = if pid == PIDS { 1 } else { pid - 1 };
            it.fork(pid, parent, pid, parent);
            it.sample(USER, pid, pid, CODE + 16, &[CODE + 16, CODE + 32]);
        }
    }),
    kind("threads", 1000, |it, count| {
        for tid in PIDS..PIDS + count {
            it.fork(1, 1, tid, 1);
            it.sample(USER, 1, tid, CODE + 16, &[CODE + 16, CODE + 32]);
        }
    }),
    kind("names of a thread", 1000, |it, count| {
        for number in 0..count {
            it.comm(1, 1, &format!("name {number}"));
            it.sample(USER, 1, 1, CODE + 16, &[CODE + 16, CODE + 32]);
        }
    }),
    kind("modules of the kernel", 1000, |it, count| {
        for number in 0..count {
            let start = KERNEL_START - 0x10_0000 - number * 0x2000;
            it.map(KERNEL, -1, start, 0x1000, &format!("[module{number}]"));
            it.sample(KERNEL, 1, 1, start + 16, &[start + 16, start + 32]);
        }
    }),
    kind("guests", 1000, |it, count| {
        for pid in PIDS..PIDS + count {
            it.map(GUEST_USER, pid as i32, CODE, CODE_SIZE, &format!("/nonexistent/guest{pid}"));
            it.sample(GUEST_USER, pid, pid, CODE + 16, &[]);
        }
    }),
    kind("mappings of generated code", 1000, |it, count| {
        for number in 0..count {
            let start = 0x7f00_0000_0000 + number * 0x2000;
            it.map(USER, 1, start, 0x1000, "//anon");
            it.sample(USER, 1, 1, start + 16, &[start + 16, start + 32]);
        }
    }),
    kind("KSYMBOL records", 1000, |it, count| {
        for number in 0..count {
            let start = KERNEL_START - 0x10_0000 - number * 0x200;
            it.ksymbol(start, 0x100, &format!("bpf_prog_{number}"));
            it.sample(KERNEL, 1, 1, start + 16, &[start + 16, start + 32]);
        }
    }),
    kind("deferred chains", 1000, |it, count| {
        for cookie in 1..=count {
            it.sample(KERNEL, 1, 1, KERNEL_START + 16, &[KERNEL_START + 16, USER_DEFERRED, cookie]);
        }
        for cookie in 1..=count {
            it.deferred(1, 1, cookie, &[CODE + 16 * (cookie % 100), CODE + 32]);
        }
    }),
];

const KERNEL: u16 = 1;
const USER: u16 = 2;
const GUEST_USER: u16 = 5;

const KERNEL_START: u64 = 0xffff_ffff_8000_0000;
const CODE: u64 = 0x40_0000;
const CODE_SIZE: u64 = 0x4000_0000;
const DEPTH: u64 = 127;
const PIDS: u64 = 10;

/// Kernel: `PERF_CONTEXT_KERNEL`, `PERF_CONTEXT_USER`, `PERF_CONTEXT_USER_DEFERRED`.
const CONTEXT_KERNEL: u64 = 0u64.wrapping_sub(128);
const CONTEXT_USER: u64 = 0u64.wrapping_sub(512);
const USER_DEFERRED: u64 = 0u64.wrapping_sub(640);

/// `IP`, `TID`, `TIME`, `CALLCHAIN`, `PERIOD`.
const SAMPLE_TYPE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8;

/// `sample_id_all`.
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// Records in the order of time.
#[derive(Default)]
pub(crate) struct Records {
    data: Vec<u8>,
    time: u64,
}

impl Records {
    fn time(&mut self) -> u64 {
        self.time += 1000;
        self.time
    }

    /// Adds a record with the fields that follow those of its own: thread and time.
    fn add(&mut self, kind: u32, misc: u16, body: Bytes, pid: u64, tid: u64) {
        let time = self.time();
        self.data.extend(body.i32(pid as i32).i32(tid as i32).u64(time).record(kind, misc));
    }

    fn map(&mut self, mode: u16, pid: i32, start: u64, size: u64, name: &str) {
        let offset = if mode == KERNEL { start } else { 0 };
        let body = Bytes::new(false).i32(pid).i32(pid.max(0)).u64s(&[start, size, offset]);
        self.add(1, mode, named(body, name), pid.max(0) as u64, pid.max(0) as u64);
    }

    fn comm(&mut self, pid: u64, tid: u64, name: &str) {
        self.add(3, 0, named(Bytes::new(false).i32(pid as i32).i32(tid as i32), name), pid, tid);
    }

    fn fork(&mut self, pid: u64, ppid: u64, tid: u64, ptid: u64) {
        let time = self.time + 1000;
        let ids = [pid, ppid, tid, ptid].map(|id| id as i32);
        let body = ids.into_iter().fold(Bytes::new(false), Bytes::i32).u64(time);
        self.add(7, 0, body, pid, tid);
    }

    fn ksymbol(&mut self, start: u64, size: i32, name: &str) {
        // `PERF_RECORD_KSYMBOL_TYPE_BPF`.
        self.add(17, KERNEL, named(Bytes::new(false).u64(start).i32(size).i32(1), name), 0, 0);
    }

    fn deferred(&mut self, pid: u64, tid: u64, cookie: u64, chain: &[u64]) {
        let body = Bytes::new(false).u64s(&[cookie, chain.len() as u64]).u64s(chain);
        self.add(22, USER, body, pid, tid);
    }

    fn sample(&mut self, mode: u16, pid: u64, tid: u64, ip: u64, chain: &[u64]) {
        let context = if mode == KERNEL { CONTEXT_KERNEL } else { CONTEXT_USER };
        let context = if chain.is_empty() { &[][..] } else { &[context] };
        let time = self.time();
        let body = Bytes::new(false).u64(ip).i32(pid as i32).i32(tid as i32).u64(time).u64(1000);
        let body = body.u64((context.len() + chain.len()) as u64).u64s(context).u64s(chain);
        self.data.extend(body.record(9, mode));
    }

    /// Returns a file with one event.
    fn file(self) -> Vec<u8> {
        let words = |words: &[u64]| Bytes::new(false).u64s(words).out;
        // A software event, `cpu-clock`, with the oldest and smallest attr.
        let attr = words(&[64 << 32 | 1, 0, 1000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL, 0, 0, 104, 0]);
        let sections = [104, attr.len(), 104 + attr.len(), self.data.len(), 0, 0, 0, 0, 0, 0];
        let sections = words(&sections.map(|word| word as u64));
        [&b"PERFILE2"[..], &words(&[104, 80]), &sections, &attr, &self.data].concat()
    }
}

fn named(body: Bytes, name: &str) -> Bytes {
    body.padded(name.as_bytes(), (name.len() + 1).next_multiple_of(8))
}
