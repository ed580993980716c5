//! Functions shared by the tests of open events.
#![cfg(target_os = "linux")]

use perf_open::abi::event::SwId;
use perf_open::{Builder, Counter, EventSpec};

/// Returns a software event that every user may open on its own thread.
pub(crate) fn software(id: SwId) -> Builder {
    Builder::new(EventSpec::software(id)).exclude_kernel(true)
}

/// Returns the id of a tracepoint. Skips the test if the kernel has no tracepoint of that name.
pub(crate) fn tracepoint(path: &str) -> u64 {
    needs::all(&[needs::Need::Tracepoints]);
    let path = format!("/sys/kernel/tracing/events/{path}/id");
    match std::fs::read_to_string(&path) {
        Ok(id) => id.trim().parse().unwrap(),
        Err(error) => needs::skip("tracepoints", &format!("{path}: {error}")),
    }
}

/// Returns a tracepoint event that counts the calls of `getppid` by the calling thread.
pub(crate) fn getppid() -> Counter {
    use perf_open::abi::event::EventType;
    let id = tracepoint("syscalls/sys_enter_getppid");
    let event = Builder::from(perf_open::abi::attr::Attr::default()).kind(EventType::TRACEPOINT).config(id);
    event.disabled(true).open(&perf_open::Target::this_thread()).unwrap()
}

/// Makes the system call that the event of `getppid` counts.
pub(crate) fn call_getppid(times: u32) {
    for _ in 0..times {
        core::hint::black_box(std::os::unix::process::parent_id());
    }
}

/// Touches fresh pages, which causes at least as many page faults.
pub(crate) fn touch(pages: usize) {
    let page_bytes = perf_open::ring::page_bytes();
    let len = pages * page_bytes;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses addresses that nothing else uses.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), len, protection, flags, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    // A huge page would cause only one fault.
    // SAFETY: the range is the one just mapped; the advice changes no byte of it.
    unsafe { libc::madvise(start, len, libc::MADV_NOHUGEPAGE) };
    for page in 0..pages {
        let address = start.cast::<u8>().wrapping_add(page * page_bytes);
        // SAFETY: the address is within the range just mapped, which is writable, and nothing else accesses it.
        unsafe { address.write_volatile(1) };
    }
    // SAFETY: the range is the one mapped above, and nothing refers to it.
    unsafe { libc::munmap(start, len) };
}
