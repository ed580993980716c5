//! The twelve requests of an event, and the effect of each.
#![cfg(target_os = "linux")]

use core::ptr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::support::{call_getppid, getppid, software, touch, tracepoint};
use perf_open::abi::attr::Attr;
use perf_open::abi::breakpoint::BreakpointType;
use perf_open::abi::event::{EventType, SwId};
use perf_open::abi::ioctl::Request;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::{Builder, Counter, Error, Target};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    enable_and_disable,
    reset,
    the_flag_group_acts_on_all_of_the_group,
    refresh_enables_for_some_overflows,
    refresh_that_makes_no_sense_is_refused_before_the_call,
    period,
    periods_that_cannot_be,
    set_output,
    pause_output,
    without_a_number_of_samples_the_ring_wakes_at_half,
    id,
    set_filter,
    set_bpf_and_query_bpf,
    query_bpf_of_what_is_no_tracepoint,
    modify_attributes,
];

fn faults() -> Builder {
    software(SwId::PAGE_FAULTS).disabled(true)
}

fn here() -> Target<'static> {
    Target::this_thread()
}

fn value(counter: &Counter) -> u64 {
    counter.read().unwrap().value
}

/// Checks the request and the errno of an error, and that the advice contains a text.
fn says(error: &Error, request: Request, errno: &str, advice: &str) {
    assert_eq!((error.call(), error.errno_name()), (request.c_name, Some(errno)), "{error}");
    assert!(error.advice().contains(advice), "{error}");
}

/// A mapped ring of an event. Dropping it unmaps the ring.
struct Ring(*mut libc::c_void);

impl Ring {
    const LEN: usize = 2 * 4096;

    fn map(counter: &Counter) -> Self {
        let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, counter.as_fd().as_raw_fd());
        // SAFETY: the kernel chooses addresses that nothing else uses; nothing is read or written there.
        let start = unsafe { libc::mmap(ptr::null_mut(), Self::LEN, protection, libc::MAP_SHARED, fd, 0) };
        assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        Self(start)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length by `map`, and nothing refers to it.
        unsafe { libc::munmap(self.0, Self::LEN) };
    }
}

fn enable_and_disable() {
    let counter = faults().open(&here()).unwrap();
    touch(32);
    assert_eq!(value(&counter), 0);
    counter.enable().unwrap();
    touch(32);
    counter.disable().unwrap();
    let counted = value(&counter);
    assert!(counted >= 32);
    touch(32);
    assert_eq!(value(&counter), counted);
}

fn reset() {
    let times = ReadFormat::TOTAL_TIME_ENABLED;
    let counter = faults().disabled(false).read_format(times).open(&here()).unwrap();
    touch(32);
    counter.disable().unwrap();
    let before = counter.read().unwrap();
    counter.reset().unwrap();
    let after = counter.read().unwrap();
    assert!(before.value >= 32);
    assert_eq!((after.value, after.time_enabled), (0, before.time_enabled));
}

fn the_flag_group_acts_on_all_of_the_group() {
    let leader = faults().open(&here()).unwrap();
    let member = faults().open_in(&leader, &here()).unwrap();
    // Enabling only the leader leaves a disabled member disabled.
    leader.enable().unwrap();
    touch(32);
    assert_eq!(value(&member), 0);
    // Any event of the group enables the whole group.
    member.enable_group().unwrap();
    touch(32);
    member.disable_group().unwrap();
    assert!(value(&leader) >= 64 && value(&member) >= 32);
    let counted = value(&leader);
    touch(32);
    assert_eq!(value(&leader), counted);
    member.reset_group().unwrap();
    assert_eq!((value(&leader), value(&member)), (0, 0));
}

fn refresh_enables_for_some_overflows() {
    let counter = faults().sample_period(1).open(&here()).unwrap();
    counter.refresh(3).unwrap();
    touch(256);
    let counted = value(&counter);
    // The last overflow disables the event one interrupt later.
    assert!((3..200).contains(&counted), "{counted}");
    touch(32);
    assert_eq!(value(&counter), counted);
}

fn refresh_that_makes_no_sense_is_refused_before_the_call() {
    let sampling = faults().sample_period(1).open(&here()).unwrap();
    assert_eq!(sampling.refresh(0).unwrap_err().errno(), None);
    let counting = faults().open(&here()).unwrap();
    let error = counting.refresh(1).unwrap_err();
    assert_eq!((error.errno(), error.fields()), (None, ["sample_period"].as_slice()));
    let inherited = faults().sample_period(1).inherit(true).open(&here()).unwrap();
    says(&inherited.refresh(1).unwrap_err(), Request::REFRESH, "EINVAL", "inherited");
}

fn period() {
    let counter = faults().sample_period(1 << 40).open(&here()).unwrap();
    // The period is so long that the event never overflows, so it stays enabled.
    counter.refresh(3).unwrap();
    touch(256);
    assert!(value(&counter) >= 256);
    counter.disable().unwrap();
    counter.reset().unwrap();
    counter.period(1).unwrap();
    counter.enable().unwrap();
    touch(256);
    assert!(value(&counter) < 200, "the overflows that were left have turned it off");
}

fn periods_that_cannot_be() {
    let sampling = faults().sample_period(7).open(&here()).unwrap();
    says(&sampling.period(0).unwrap_err(), Request::PERIOD, "EINVAL", "fit in 63 bits");
    says(&sampling.period(1 << 63).unwrap_err(), Request::PERIOD, "EINVAL", "fit in 63 bits");
    let by_frequency = faults().sample_freq(7).open(&here()).unwrap();
    by_frequency.period(9).unwrap();
    let error = by_frequency.period(1 << 40).unwrap_err();
    says(&error, Request::PERIOD, "EINVAL", "perf_event_max_sample_rate");
    let counting = faults().open(&here()).unwrap();
    says(&counting.period(7).unwrap_err(), Request::PERIOD, "EINVAL", "does not sample");
}

fn set_output() {
    let events = [(); 2].map(|()| faults().sample_period(1).wakeup_events(1).open(&here()).unwrap());
    let [first, second] = &events;
    let error = second.set_output(Some(first)).unwrap_err();
    assert_eq!(error.errno_name(), Some("EINVAL"), "the first has no ring yet: {error}");
    assert!(second.poll(Some(core::time::Duration::ZERO)).unwrap().hangup);
    let _ring = Ring::map(first);
    second.set_output(Some(first)).unwrap();
    second.enable().unwrap();
    touch(8);
    // The records of the second event are in the ring of the first.
    assert!(first.poll(Some(core::time::Duration::ZERO)).unwrap().records);
    second.set_output(None).unwrap();
    assert!(second.poll(Some(core::time::Duration::ZERO)).unwrap().hangup);

    let backward = faults().sample_period(1).write_backward(true).open(&here()).unwrap();
    says(
        &backward.set_output(Some(first)).unwrap_err(),
        Request::SET_OUTPUT,
        "EINVAL",
        "the same write_backward",
    );
}

fn pause_output() {
    let counter = faults().sample_period(1).wakeup_events(1).open(&here()).unwrap();
    says(&counter.pause_output(true).unwrap_err(), Request::PAUSE_OUTPUT, "EINVAL", "no ring");
    let _ring = Ring::map(&counter);
    let ready = || counter.poll(Some(core::time::Duration::ZERO)).unwrap().records;
    counter.pause_output(true).unwrap();
    counter.enable().unwrap();
    touch(8);
    assert!(!ready(), "a ring that is paused takes nothing");
    counter.pause_output(false).unwrap();
    touch(8);
    assert!(ready());
}

fn without_a_number_of_samples_the_ring_wakes_at_half() {
    let counter = faults().sample_period(1).sample_type(SampleType::IP).open(&here()).unwrap();
    let _ring = Ring::map(&counter);
    let ready = || counter.poll(Some(core::time::Duration::ZERO)).unwrap().records;
    counter.enable().unwrap();
    // Each record has 16 bytes, and the ring has 4096.
    touch(100);
    assert!(!ready());
    touch(60);
    assert!(ready());
}

fn id() {
    let format = ReadFormat::ID;
    let events = [(); 2].map(|()| faults().read_format(format).open(&here()).unwrap());
    for event in &events {
        assert_eq!(event.read().unwrap().id, Some(event.id().unwrap()));
    }
    let [first, second] = &events;
    assert_ne!(first.id().unwrap(), second.id().unwrap());
}

fn set_filter() {
    let counter = getppid();
    counter.enable().unwrap();
    counter.set_filter(c"common_pid == 0").unwrap();
    call_getppid(5);
    assert_eq!(value(&counter), 0);
    let second = counter.set_filter(c"common_pid != 0").unwrap_err();
    says(&second, Request::SET_FILTER, "EEXIST", "open another");
    let counter = getppid();
    counter.enable().unwrap();
    counter.set_filter(c"common_pid != 0").unwrap();
    call_getppid(5);
    assert_eq!(value(&counter), 5);
    let counter = getppid();
    says(&counter.set_filter(c"nonsense == 0").unwrap_err(), Request::SET_FILTER, "EINVAL", "names a field");
    let clock = software(SwId::CPU_CLOCK).open(&here()).unwrap();
    says(
        &clock.set_filter(c"common_pid == 0").unwrap_err(),
        Request::SET_FILTER,
        "EINVAL",
        "does not accept this filter",
    );
}

/// Loads a BPF program that returns `result`. Skips the test if the kernel refuses the program.
fn program(kind: u32, result: i32) -> OwnedFd {
    const BPF_PROG_LOAD: libc::c_int = 5;
    // r0 = result; exit
    let code: [u64; 2] = [0xb7 | (result as u64) << 32, 0x95];
    let licence = c"GPL";
    // The head of `union bpf_attr`: prog_type, insn_cnt, insns, license; the rest is zero.
    let mut attr = [0_u64; 16];
    attr[0] = u64::from(kind) | 2 << 32;
    attr[1] = code.as_ptr().expose_provenance() as u64;
    attr[2] = licence.as_ptr().expose_provenance() as u64;
    if cfg!(target_endian = "big") {
        attr[0] = attr[0].rotate_left(32);
    }
    // SAFETY: the kernel reads the attr, whose size is passed, and the two instructions and the string at the addresses
    // in the attr. All of them outlive the call.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_LOAD, attr.as_ptr(), size_of_val(&attr)) };
    let Ok(fd @ 0..) = i32::try_from(fd) else {
        needs::skip("bpf", &format!("BPF_PROG_LOAD: {}", std::io::Error::last_os_error()));
    };
    // SAFETY: the system call has just returned this descriptor, so it is open and has no other owner.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

const BPF_PROG_TYPE_TRACEPOINT: u32 = 5;
const BPF_PROG_TYPE_PERF_EVENT: u32 = 7;

fn set_bpf_and_query_bpf() {
    // Use a tracepoint that no other test uses, because a program acts on all events of a tracepoint.
    let tracepoint = tracepoint("syscalls/sys_enter_getpgid");
    let event = Builder::from(Attr { kind: EventType::TRACEPOINT, config: tracepoint, ..Attr::default() });
    let counter = event.open(&here()).unwrap();
    // SAFETY: getpgid takes a number and touches no memory.
    let call = || unsafe { libc::getpgid(0) };
    call();
    assert_eq!((value(&counter), counter.query_bpf().unwrap()), (1, vec![]));

    let dropping = program(BPF_PROG_TYPE_TRACEPOINT, 0);
    counter.set_bpf(&dropping).unwrap();
    call();
    assert_eq!(value(&counter), 1, "the program returns 0: the hit is not counted");
    assert_eq!(counter.query_bpf().unwrap().len(), 1);
    says(&counter.set_bpf(&dropping).unwrap_err(), Request::SET_BPF, "EEXIST", "already has a program");

    let other = event.open(&here()).unwrap();
    assert_eq!(other.query_bpf().unwrap(), counter.query_bpf().unwrap());
    let of_another_kind = program(BPF_PROG_TYPE_PERF_EVENT, 0);
    says(&other.set_bpf(&of_another_kind).unwrap_err(), Request::SET_BPF, "EINVAL", "wrong type");
}

fn query_bpf_of_what_is_no_tracepoint() {
    let error = faults().open(&here()).unwrap().query_bpf().unwrap_err();
    if error.errno() == Some(libc::EPERM) {
        needs::skip("bpf", &error.to_string());
    }
    says(&error, Request::QUERY_BPF, "EINVAL", "only tracepoints");
}

fn modify_attributes() {
    needs::all(&[needs::Need::Breakpoints]);
    let mut watched = [0_u64; 2];
    let (first, second) = (&raw mut watched[0], &raw mut watched[1]);
    let on = |word: *mut u64| {
        Builder::from(Attr { kind: EventType::BREAKPOINT, ..Attr::default() })
            .bp_type(BreakpointType::W)
            .bp_addr(word as u64)
            .bp_len(8)
            .exclude_kernel(true)
    };
    // SAFETY: `word` is one of the two above. They outlive the closure, and nothing else accesses them.
    let write = |word: *mut u64| unsafe { word.write_volatile(1) };
    let mut counter = on(first).open(&here()).unwrap();
    write(first);
    write(second);
    assert_eq!(value(&counter), 1);
    counter.modify_attributes(&on(second)).unwrap();
    assert_eq!(counter.attr().breakpoint(), Some((second as u64, 8)));
    write(first);
    assert_eq!(value(&counter), 1);
    write(second);
    assert_eq!(value(&counter), 2);

    let mut faults = faults().open(&here()).unwrap();
    let error = faults.modify_attributes(&software(SwId::DUMMY)).unwrap_err();
    says(&error, Request::MODIFY_ATTRIBUTES, "EOPNOTSUPP", "only breakpoints");
}
