//! The functions that take locks, which are not what waits for them.

use core::ops::Range;

use perf_abi::record::CpuMode;
use perf_session::SampleContext;
use perf_symbol::StackFrame;

use crate::symbols::Symbols;

/// Finds the frames at the inner end of a stack that take a lock or wait for it.
#[derive(Clone, Debug)]
pub(crate) struct LockFunctions {
    /// Whether those of the tracepoint are left out too.
    of_tracepoint: bool,
    /// The addresses in the kernel, once they were looked up.
    ranges: Option<Vec<Range<u64>>>,
}

/// The sections of the kernel that have the functions of locks and of the scheduler, by the symbols at their starts and ends.
///
/// Linux: `__sched` and `__lockfunc`, `include/linux/sched/debug.h`, `include/linux/spinlock.h`.
const SECTIONS: [(&[u8], &[u8]); 2] =
    [(b"__sched_text_start", b"__sched_text_end"), (b"__lock_text_start", b"__lock_text_end")];

/// The functions of the tracepoint, which are between the lock and its caller on some kernels.
const TRACEPOINT: [&[u8]; 2] = [b"__traceiter_contention_begin", b"trace_contention_begin"];

impl LockFunctions {
    /// Finds those that perf leaves out: of the tracepoint since Linux 6.9.
    pub(crate) fn new(of_tracepoint: bool) -> Self {
        Self { of_tracepoint, ranges: None }
    }

    /// Returns whether an address is in a function of the kernel that takes locks. Without symbols of the kernel, none is.
    ///
    /// perf: `machine__is_lock_function`, `tools/perf/util/machine.c`.
    pub(crate) fn contains(
        &mut self,
        at: &SampleContext<'_, '_>,
        symbols: &mut Symbols,
        address: u64,
    ) -> bool {
        let of_tracepoint = self.of_tracepoint;
        let ranges = self.ranges.get_or_insert_with(|| ranges(of_tracepoint, at, symbols));
        ranges.iter().any(|range| range.contains(&address))
    }

    /// Returns the number of innermost frames that are left out of a stack of a wait for a lock of the kernel, or for a futex. One
    /// frame at least is not counted, so that each stack keeps one.
    pub(crate) fn count(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        is_futex: bool,
        symbols: &mut Symbols,
    ) -> usize {
        let but_one = stack.split_last().map_or(&[][..], |(_, frames)| frames);
        if !is_futex {
            let is_one = |it: &&StackFrame<'_>| {
                it.frame.mode == CpuMode::KERNEL && self.contains(at, symbols, it.frame.ip)
            };
            return but_one.iter().take_while(is_one).count();
        }
        let of_kernel = but_one.iter().take_while(|it| it.frame.mode == CpuMode::KERNEL).count();
        let of_process = but_one.get(of_kernel..).unwrap_or_default();
        of_kernel + of_process.iter().take_while(|it| takes_futex(at, it, symbols)).count()
    }
}

fn ranges(of_tracepoint: bool, at: &SampleContext<'_, '_>, symbols: &mut Symbols) -> Vec<Range<u64>> {
    let Some(symbolizer) = symbols.symbolizer_mut() else { return Vec::new() };
    let mut find = |name: &[u8]| symbolizer.kernel_symbol(at.session(), name);
    let sections: Vec<_> =
        SECTIONS.iter().filter_map(|(start, end)| Some(find(start)?.start..find(end)?.start)).collect();
    // perf needs the first one.
    if sections.is_empty() || !of_tracepoint {
        return sections;
    }
    sections.into_iter().chain(TRACEPOINT.iter().filter_map(|name| find(name))).collect()
}

/// Returns whether a frame of a process is of a function that takes a lock by a futex: of the C library, or of the runtime of a
/// language.
fn takes_futex(at: &SampleContext<'_, '_>, it: &StackFrame<'_>, symbols: &mut Symbols) -> bool {
    let file = it.frame.mapping.map_or(&b""[..], |mapping| mapping.dso().name());
    let file = file.rsplit(|&byte| byte == b'/').next().unwrap_or(file);
    if LIBRARIES.iter().any(|library| file.starts_with(library)) {
        return true;
    }
    let function = symbols.functions(at, &it.frame, it.is_caller).last();
    let name = function.and_then(|it| it.name.as_deref()).unwrap_or_default();
    FUNCTIONS.iter().any(|start| name.starts_with(start))
}

/// The starts of the file names of libraries whose functions take locks for programs.
const LIBRARIES: [&[u8]; 6] = [b"libc.", b"libc-", b"libpthread", b"ld-musl", b"libstdc++", b"libc++"];

/// The starts of the names of functions that take locks, in programs that have them in their own file.
const FUNCTIONS: [&[u8]; 16] = [
    b"pthread_",
    b"__pthread_",
    b"___pthread_",
    b"__lll_",
    b"__futex_",
    b"futex",
    b"syscall",
    b"std::sys::",
    b"std::sync::",
    b"std::thread::park",
    b"parking_lot",
    b"lock_api::",
    b"runtime.futex",
    b"runtime.lock",
    b"runtime.note",
    b"sync.(*",
];
