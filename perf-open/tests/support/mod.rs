//! What the tests of open events share.
#![allow(dead_code, reason = "each test binary uses its part")]

use perf_open::abi::event::SwId;
use perf_open::{Builder, Counter, Error, Event};

/// A software event that anyone may open on himself.
pub(crate) fn software(id: SwId) -> Builder {
    Builder::new(Event::software(id)).exclude_kernel(true)
}

/// The event, or nothing and a message where this user may not have it.
pub(crate) fn permitted<T>(opened: Result<T, Error>) -> Option<T> {
    match opened {
        Ok(event) => Some(event),
        Err(error) if matches!(error.errno(), Some(libc::EACCES | libc::EPERM)) => {
            eprintln!("skipped, needs privilege: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The id of a tracepoint, or nothing and a message where tracefs is not there or not readable.
pub(crate) fn tracepoint(path: &str) -> Option<u64> {
    for root in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
        if let Ok(id) = std::fs::read_to_string(format!("{root}/events/{path}/id")) {
            return id.trim().parse().ok();
        }
    }
    eprintln!("skipped, needs tracefs at /sys/kernel/tracing and the right to read it: {path}");
    None
}

/// A tracepoint that counts the calling thread's `getppid`s.
pub(crate) fn getppid() -> Option<Counter> {
    use perf_open::abi::event::EventType;
    let id = tracepoint("syscalls/sys_enter_getppid")?;
    let event = Builder::from(perf_open::abi::attr::Attr::default()).kind(EventType::TRACEPOINT).config(id);
    permitted(event.disabled(true).open(&perf_open::Target::this_thread()))
}

/// Calls the system call that `getppid` counts.
pub(crate) fn call_getppid(times: u32) {
    for _ in 0..times {
        core::hint::black_box(std::os::unix::process::parent_id());
    }
}

/// Touches fresh pages: as many page faults at least.
pub(crate) fn touch(pages: usize) {
    let len = pages * 4096;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses addresses that nothing else uses.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), len, protection, flags, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    // A huge page would be one fault.
    // SAFETY: the range is the one just mapped; the advice changes no byte of it.
    unsafe { libc::madvise(start, len, libc::MADV_NOHUGEPAGE) };
    for page in 0..pages {
        let address = start.cast::<u8>().wrapping_add(page * 4096);
        // SAFETY: the address is within the range just mapped, which can be written and is reached by nothing else.
        unsafe { address.write_volatile(1) };
    }
    // SAFETY: the range is the one mapped above, and nothing refers to it.
    unsafe { libc::munmap(start, len) };
}
