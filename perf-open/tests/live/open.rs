//! Opening events: targets, refusals of the kernel, and the errors for them.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;

use crate::support::{software, touch};
use perf_open::abi::attr::{Attr, AttrFlags};
use perf_open::abi::branch::BranchSampleType;
use perf_open::abi::breakpoint::BreakpointType;
use perf_open::abi::event::{EventType, HwId, SwId};
use perf_open::abi::sample_type::SampleType;
use perf_open::{Builder, Error, EventSpec, Target, limits};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    the_file_descriptor_is_closed_at_exec_unless_told_otherwise,
    targets_of_threads,
    a_cpu_is_counted,
    a_cgroup_is_counted,
    a_target_that_is_none_is_refused_before_the_call,
    hardware_events_count,
    without_a_pmu_for_them_the_error_says_so,
    no_such_pmu,
    no_such_tracepoint,
    no_such_thread,
    no_such_cpu,
    too_high_a_frequency,
    too_deep_a_call_chain,
    what_the_hardware_lacks,
    what_is_no_cgroup,
    a_cgroup_of_another_controller,
    too_many_breakpoints,
    a_breakpoint_that_the_machine_cannot_have,
    a_member_of_a_group_that_is_elsewhere,
    a_probe_in_a_file_that_is_not_there,
    a_probe_whose_string_is_nowhere,
    a_uprobe_counts_calls,
    without_privilege_the_error_says_what_is_missing,
    too_many_files,
    every_switch_that_needs_nothing_else_is_taken,
    an_event_that_wants_the_most_precise_gets_what_there_is,
    an_events_terms_are_set,
];

fn refused(builder: &Builder, target: &Target<'_>) -> Error {
    builder.open(target).expect_err("the kernel accepted an event that it should refuse")
}

/// Returns a cpu that this thread may run on.
fn a_cpu() -> u32 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().parse().unwrap()
}

fn the_file_descriptor_is_closed_at_exec_unless_told_otherwise() {
    let flags = |builder: Builder| {
        let counter = builder.open(&Target::this_thread()).unwrap();
        // SAFETY: F_GETFD takes no argument and touches no memory; the descriptor is open.
        unsafe { libc::fcntl(counter.as_fd().as_raw_fd(), libc::F_GETFD) }
    };
    assert_eq!(flags(software(SwId::DUMMY)), libc::FD_CLOEXEC);
    assert_eq!(flags(software(SwId::DUMMY).cloexec(false)), 0);
}

fn targets_of_threads() {
    let clock = software(SwId::TASK_CLOCK);
    assert!(clock.open(&Target::this_thread()).unwrap().read().unwrap().value > 0);
    assert!(clock.open(&Target::this_thread_on(a_cpu())).is_ok());

    let (tell, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        // SAFETY: gettid takes nothing and touches no memory.
        tell.send(unsafe { libc::gettid() }).unwrap();
        ended.recv().unwrap();
        touch(64);
    });
    let pid = u32::try_from(told.recv().unwrap()).unwrap();
    let faults = software(SwId::PAGE_FAULTS).open(&Target::pid(pid)).unwrap();
    assert!(software(SwId::PAGE_FAULTS).open(&Target::pid_on(pid, a_cpu())).is_ok());
    end.send(()).unwrap();
    thread.join().unwrap();
    assert!(faults.read().unwrap().value >= 64);
}

fn a_cpu_is_counted() {
    needs::all(&[needs::Need::CpuEvents]);
    let clock = Builder::new(EventSpec::software(SwId::CPU_CLOCK));
    let counter = clock.open(&Target::cpu(a_cpu())).unwrap();
    touch(16);
    assert!(counter.read().unwrap().value > 0);
}

fn a_cgroup_is_counted() {
    needs::all(&[needs::Need::CpuEvents]);
    let roots = ["/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let Some(root) = roots.into_iter().find(|root| std::path::Path::new(root).join("cgroup.procs").exists())
    else {
        needs::skip("cgroups", "no hierarchy is mounted at /sys/fs/cgroup");
    };
    let directory = File::open(root).unwrap();
    let target = Target::cgroup(&directory, a_cpu());
    let counter = Builder::new(EventSpec::software(SwId::CPU_CLOCK)).open(&target).unwrap();
    touch(16);
    assert!(counter.read().unwrap().value > 0);
}

fn a_target_that_is_none_is_refused_before_the_call() {
    for (pid, cpu, field) in [(-1, -1, "cpu"), (-2, 0, "pid"), (0, -2, "cpu"), (-2, -1, "pid")] {
        let error = Target::from_arguments(pid, cpu).unwrap_err();
        assert_eq!((error.errno(), error.fields()), (None, [field].as_slice()), "{error}");
    }
    let error = refused(&software(SwId::DUMMY), &Target::pid(u32::MAX));
    assert_eq!((error.errno(), error.fields()), (None, ["pid"].as_slice()));
    assert_eq!(Target::from_arguments(0, -1).unwrap().thread(), Some(0));
    assert_eq!(Target::from_arguments(-1, 3).unwrap().cpu_number(), Some(3));
    assert_eq!(Target::from_arguments(7, 3).unwrap().thread(), Some(7));
}

fn cycles() -> Builder {
    Builder::new(EventSpec::hardware(HwId::CPU_CYCLES)).exclude_kernel(true).exclude_hv(true)
}

fn hardware_events_count() {
    needs::all(&[needs::Need::Hardware]);
    assert!(cycles().open(&Target::this_thread()).unwrap().read().unwrap().value > 0);
}

fn without_a_pmu_for_them_the_error_says_so() {
    needs::all(&[needs::Need::NoHardware, needs::Need::Sysfs]);
    let error = refused(&cycles(), &Target::this_thread());
    assert_eq!(error.errno_name(), Some("ENOENT"), "{error}");
    assert_eq!(error.call(), "perf_event_open");
    assert!(error.advice().contains("no PMU of this machine counts this event"), "{error}");
    // The error lists the machine's PMUs.
    assert!(error.advice().contains("software, tracepoint"), "{error}");
    assert!(error.to_string().starts_with("perf_event_open: ENOENT (2): "), "{error}");
    let source = core::error::Error::source(&error).unwrap();
    let source = source.downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(source.raw_os_error(), Some(libc::ENOENT));
}

fn no_such_pmu() {
    let event = Builder::from(Attr { kind: EventType(4_000_000), ..Attr::default() }).exclude_kernel(true);
    let error = refused(&event, &Target::this_thread());
    assert_eq!(error.errno(), Some(libc::ENOENT));
    assert!(error.advice().starts_with("no PMU has the type 4000000"), "{error}");
}

fn no_such_tracepoint() {
    needs::all(&[needs::Need::KernelEvents]);
    let attr = Attr { kind: EventType::TRACEPOINT, config: 0xffff_ffff, ..Attr::default() };
    let error = refused(&Builder::from(attr), &Target::this_thread());
    assert!(error.advice().contains("tracepoint"), "{error}");
}

fn no_such_thread() {
    let error = refused(&software(SwId::DUMMY), &Target::pid(i32::MAX as u32));
    assert_eq!(error.errno_name(), Some("ESRCH"));
    assert!(error.advice().contains("no thread 2147483647"), "{error}");
}

fn no_such_cpu() {
    needs::all(&[needs::Need::Sysfs]);
    let error = refused(&software(SwId::DUMMY), &Target::this_thread_on(100_000));
    assert!(matches!(error.errno(), Some(libc::EINVAL | libc::ENODEV)), "{error}");
    assert!(error.advice().contains("cpu 100000"), "{error}");
}

fn too_high_a_frequency() {
    let rate = limits::max_sample_rate().unwrap();
    let event = software(SwId::CPU_CLOCK).sample_freq(u64::from(rate) + 1);
    let error = refused(&event, &Target::this_thread());
    assert_eq!(error.errno(), Some(libc::EINVAL));
    assert!(
        error.advice().ends_with(&format!("more than perf_event_max_sample_rate, which is {rate}")),
        "{error}"
    );
}

fn too_deep_a_call_chain() {
    let most = limits::max_stack().unwrap();
    let event = software(SwId::CPU_CLOCK).sample_period(1_000_000).sample_type(SampleType::CALLCHAIN);
    let error = refused(&event.sample_max_stack(u16::MAX), &Target::this_thread());
    assert_eq!(error.errno_name(), Some("EOVERFLOW"));
    assert!(error.advice().ends_with(&format!("perf_event_max_stack, which is {most}")), "{error}");
}

fn what_the_hardware_lacks() {
    let event = software(SwId::CPU_CLOCK)
        .sample_period(1_000_000)
        .sample_type(SampleType::BRANCH_STACK)
        .branch_sample_type(BranchSampleType::USER | BranchSampleType::ANY);
    let error = refused(&event, &Target::this_thread());
    assert_eq!(error.errno_name(), Some("EOPNOTSUPP"));
    assert!(error.advice().contains("PERF_SAMPLE_BRANCH_STACK"), "{error}");
}

fn what_is_no_cgroup() {
    needs::all(&[needs::Need::CpuEvents]);
    let file = File::open("/proc/self/stat").unwrap();
    let opened = Builder::new(EventSpec::software(SwId::CPU_CLOCK)).open(&Target::cgroup(&file, a_cpu()));
    let error = opened.unwrap_err();
    assert_eq!(error.errno_name(), Some("EBADF"), "{error}");
    assert!(
        error.advice().contains("the cgroup's directory is not one of the perf_event controller"),
        "{error}"
    );
}

/// A directory of another controller of version 1 is a cgroup, but not one of events.
fn a_cgroup_of_another_controller() {
    needs::all(&[needs::Need::CpuEvents]);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut others = fields.filter(|it| it[2] == "cgroup" && !it[3].split(',').any(|it| it == "perf_event"));
    let Some(other) = others.next() else { needs::skip("cgroups-v1", "no other controller is mounted") };
    let directory = File::open(other[1]).unwrap();
    let opened =
        Builder::new(EventSpec::software(SwId::CPU_CLOCK)).open(&Target::cgroup(&directory, a_cpu()));
    let error = opened.unwrap_err();
    assert_eq!(error.errno_name(), Some("ENOENT"), "{error}");
    assert!(
        error.advice().contains("the cgroup's directory is not one of the perf_event controller"),
        "{error}"
    );
}

fn too_many_breakpoints() {
    needs::all(&[needs::Need::Breakpoints]);
    let watched = [0_u64; 16];
    let mut open = Vec::new();
    let error = loop {
        let event = Builder::from(Attr { kind: EventType::BREAKPOINT, ..Attr::default() })
            .bp_type(BreakpointType::W)
            .bp_addr(&raw const watched[open.len()] as u64)
            .bp_len(8)
            .exclude_kernel(true);
        match event.open(&Target::this_thread()) {
            Ok(counter) => open.push(counter),
            Err(error) => break error,
        }
        assert!(open.len() < 16, "a machine with so many breakpoints is not known");
    };
    assert_eq!(error.errno_name(), Some("ENOSPC"), "{error}");
    assert!(error.advice().contains("breakpoint registers"), "{error}");
}

fn a_breakpoint_that_the_machine_cannot_have() {
    needs::all(&[needs::Need::Breakpoints]);
    let event = Builder::from(Attr { kind: EventType::BREAKPOINT, ..Attr::default() })
        .bp_type(BreakpointType::W)
        .bp_addr(0x1001)
        .bp_len(8)
        .exclude_kernel(true);
    let error = refused(&event, &Target::this_thread());
    assert_eq!(error.errno_name(), Some("EINVAL"));
    assert!(error.fields().is_empty());
    assert!(error.advice().contains("multiple of bp_len"), "{error}");
}

fn a_member_of_a_group_that_is_elsewhere() {
    let leader = software(SwId::DUMMY).open(&Target::this_thread()).unwrap();
    let error = software(SwId::DUMMY).open_in(&leader, &Target::this_thread_on(a_cpu())).unwrap_err();
    assert_eq!(error.errno_name(), Some("EINVAL"));
    assert!(error.advice().contains("the target and the clock of its leader"), "{error}");
}

/// Returns the type of the PMU `uprobe`.
fn uprobe() -> EventType {
    needs::all(&[needs::Need::Uprobes]);
    let kind = std::fs::read_to_string("/sys/bus/event_source/devices/uprobe/type").unwrap();
    EventType(kind.trim().parse().unwrap())
}

fn a_probe_in_a_file_that_is_not_there() {
    let kind = uprobe();
    let event = Builder::from(Attr { kind, ..Attr::default() }).uprobe_path(c"/no/such/file".into());
    let opened = event.open(&Target::this_thread());
    let error = opened.unwrap_err();
    assert_eq!(error.errno_name(), Some("ENOENT"), "{error}");
    assert!(error.advice().contains("file does not exist"), "{error}");
}

fn a_probe_whose_string_is_nowhere() {
    let kind = uprobe();
    let error =
        Builder::from(Attr { kind, config1: 8, ..Attr::default() }).open(&Target::this_thread()).unwrap_err();
    assert_eq!(error.errno_name(), Some("EFAULT"), "{error}");
}

/// The function with the uprobe.
#[inline(never)]
extern "C" fn probed(number: u64) -> u64 {
    core::hint::black_box(number.wrapping_mul(3))
}

fn a_uprobe_counts_calls() {
    let kind = uprobe();
    let address = probed as extern "C" fn(u64) -> u64 as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    // start-end perms offset dev inode path
    let offset = maps.lines().find_map(|line| {
        let mut columns = line.split_whitespace();
        let (start, end) = columns.next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        let within = (hex(start)?..hex(end)?).contains(&address);
        let offset = hex(columns.nth(1)?)?;
        within.then(|| address - hex(start).unwrap_or(0) + offset)
    });
    let path = std::env::current_exe().unwrap().into_os_string().into_encoded_bytes();
    let event = Builder::from(Attr { kind, ..Attr::default() })
        .uprobe_path(std::ffi::CString::new(path).unwrap())
        .probe_offset(offset.unwrap() as u64);
    let counter = event.open(&Target::this_thread()).unwrap();
    assert_eq!(counter.attr().config1, 0);
    for number in 0..7 {
        probed(number);
    }
    assert_eq!(counter.read().unwrap().value, 7);
}

fn without_privilege_the_error_says_what_is_missing() {
    let paranoid = limits::paranoid().unwrap();
    if paranoid < 2 {
        needs::skip("paranoid-2", &format!("perf_event_paranoid is {paranoid}: anyone may count the kernel"));
    }
    let errors = std::thread::spawn(|| {
        let nobody: libc::uid_t = 65_534;
        // SAFETY: the system call takes numbers and accesses no memory. Unlike the C library's function, it changes the
        // ids of this thread only. If it fails, the thread already has no privilege.
        unsafe { libc::syscall(libc::SYS_setresuid, nobody, nobody, nobody) };
        let kernel_too = Builder::new(EventSpec::software(SwId::CPU_CLOCK));
        [
            kernel_too.open(&Target::this_thread()).unwrap_err(),
            kernel_too.exclude_kernel(true).open(&Target::cpu(0)).unwrap_err(),
            software(SwId::DUMMY).open(&Target::pid(1)).unwrap_err(),
        ]
    });
    let [kernel, cpu, other] = errors.join().unwrap();
    for error in [&kernel, &cpu, &other] {
        assert_eq!(error.errno_name(), Some("EACCES"));
        assert!(error.advice().contains("CAP_PERFMON"));
        assert!(error.advice().contains(&format!("perf_event_paranoid is {paranoid}")));
    }
    assert!(kernel.advice().contains("set exclude_kernel"));
    assert!(cpu.advice().contains("perf_event_paranoid below 1"));
    assert!(other.advice().contains("another user"));
}

/// The environment variable that makes this program call only [`takes_all_descriptors`].
pub(crate) const TAKES_ALL_DESCRIPTORS: &str = "PERF_OPEN_TEST_TAKES_ALL_DESCRIPTORS";

/// Opens events until no descriptor is left. The test below runs this in a process with few file descriptors.
pub(crate) fn takes_all_descriptors() {
    let mut open = Vec::new();
    let error = loop {
        match software(SwId::DUMMY).open(&Target::this_thread()) {
            Ok(counter) => open.push(counter),
            Err(error) => break error,
        }
        assert!(open.len() < 64);
    };
    drop(open);
    assert_eq!(error.errno_name(), Some("EMFILE"), "{error}");
    assert!(error.advice().ends_with("RLIMIT_NOFILE is 32"), "{error}");
}

fn too_many_files() {
    let test = Command::new("sh")
        .args(["-c", "ulimit -n 32; exec \"$0\""])
        .arg(std::env::current_exe().unwrap())
        .env(TAKES_ALL_DESCRIPTORS, "1")
        .output()
        .unwrap();
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stderr));
}

fn every_switch_that_needs_nothing_else_is_taken() {
    let every = AttrFlags::NAMES.iter().map(|flag| AttrFlags(flag.value));
    let needy = AttrFlags::FREQ // a frequency
        | AttrFlags::AUX_OUTPUT // an AUX PMU
        | AttrFlags::INHERIT_THREAD // inherit
        | AttrFlags::SIGTRAP // remove_on_exec
        | AttrFlags::NAMESPACES // privilege
        | AttrFlags::CGROUP // a kernel built so
        | AttrFlags::DEFER_CALLCHAIN // Linux 6.19
        | AttrFlags::DEFER_OUTPUT;
    for flag in every.filter(|&flag| !needy.contains(flag)) {
        let flags = flag | AttrFlags::EXCLUDE_KERNEL;
        let attr = Attr { kind: EventType::SOFTWARE, config: SwId::DUMMY.0, flags, ..Attr::default() };
        let counter = Builder::from(attr).open(&Target::this_thread());
        assert_eq!(counter.map(|counter| counter.attr().flags).ok(), Some(flags), "{flag}");
    }
    let here = Target::this_thread();
    assert!(software(SwId::DUMMY).inherit(true).inherit_thread(true).open(&here).is_ok());
    assert!(software(SwId::DUMMY).remove_on_exec(true).sigtrap(true).sig_data(7).open(&here).is_ok());
    assert!(software(SwId::CPU_CLOCK).sample_freq(100).open(&here).is_ok());
}

fn an_event_that_wants_the_most_precise_gets_what_there_is() {
    let mut event = EventSpec::software(SwId::CPU_CLOCK);
    event.precise_max = true;
    let here = Target::this_thread();
    let counter = Builder::new(event).exclude_kernel(true).sample_period(1_000_000).open(&here).unwrap();
    // No software event is precise. Some kernels accept `precise_ip` and ignore it.
    let taken = counter.attr().flags.precise_ip();
    let refused =
        |precise| software(SwId::CPU_CLOCK).sample_period(1_000_000).precise_ip(precise).open(&here).is_err();
    assert!((taken + 1..=3).all(refused), "{taken}");
}

fn an_events_terms_are_set() {
    let mut event = EventSpec::software(SwId::CPU_CLOCK);
    event.terms.period = Some(77);
    event.terms.inherit = Some(true);
    event.terms.max_stack = Some(5);
    event.terms.time = Some(true);
    let attr = *Builder::new(event.clone()).attr();
    assert_eq!((attr.sample_period, attr.sample_max_stack), (77, 5));
    assert_eq!((attr.flags, attr.sample_type), (AttrFlags::INHERIT, SampleType::TIME));
    event.terms.period = None;
    event.terms.freq = Some(99);
    assert_eq!(Builder::new(event).attr().sample_freq(), Some(99));
}
