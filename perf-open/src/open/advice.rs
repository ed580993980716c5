//! The meaning of an errno of `perf_event_open`, for the attr and the target it was returned for.

use std::fs;

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::event::{EventType, SwId};
use perf_abi::open::OpenFlags;
use perf_abi::sample_type::SampleType;

use crate::limits;
use crate::pmu::parse_cpus;
use crate::sys::open::{OpenArguments, filtered, perf_event_open};
use crate::sys::rlimit;
use crate::target::Target;

const DEVICES: &str = "/sys/bus/event_source/devices";

/// The arguments of a call that failed.
pub(super) struct OpenAttempt<'a> {
    pub(super) attr: &'a Attr,
    pub(super) target: &'a Target<'a>,
    pub(super) in_group: bool,
    /// The string that `config1` pointed to.
    pub(super) string: Option<&'a core::ffi::CStr>,
}

impl OpenAttempt<'_> {
    /// Returns what to do about `errno`; empty if there is nothing to add.
    pub(super) fn advice(&self, errno: i32) -> String {
        match errno {
            libc::EACCES | libc::EPERM => self.permission(errno),
            libc::EBADF => self.descriptor(),
            libc::EBUSY => {
                "another event has exclusive use of the PMU, or of a part of the PMU that this event needs"
                    .to_owned()
            }
            libc::EFAULT => "config1 or config2 is an address that cannot be read".to_owned(),
            libc::EINTR => "ftrace already uses the uprobe, and perf cannot share it".to_owned(),
            libc::EINVAL => self.invalid(),
            libc::EMFILE => descriptors(),
            libc::ENFILE => "the system has no more file descriptors: /proc/sys/fs/file-max".to_owned(),
            libc::ENODEV => self.no_device(),
            libc::ENOENT => self.no_event(),
            libc::ENOMEM => "the kernel has no memory for the event or for call chains".to_owned(),
            libc::ENOSPC => self.no_room(),
            libc::ENOSYS => self.not_built(),
            libc::EOPNOTSUPP => self.not_supported(),
            libc::EOVERFLOW => self.too_deep(),
            libc::ESRCH => match self.target.thread() {
                Some(pid) => format!("there is no thread {pid}; it may have ended"),
                None => "the task has ended".to_owned(),
            },
            _ => String::new(),
        }
    }

    fn has(&self, flag: AttrFlags) -> bool {
        self.attr.flags.contains(flag)
    }

    fn permission(&self, errno: i32) -> String {
        if filtered() == Some(errno) {
            return FILTERED.to_owned();
        }
        let attr = self.attr;
        let paranoid = limits::paranoid().ok();
        let mut why = Vec::new();
        if self.target.thread().is_none() && paranoid.is_none_or(|level| level > 0) {
            why.push("counting all tasks of a cpu needs perf_event_paranoid below 1".to_owned());
        }
        if !self.has(AttrFlags::EXCLUDE_KERNEL) && paranoid.is_none_or(|level| level > 1) {
            why.push(
                "counting the kernel needs perf_event_paranoid below 2; set exclude_kernel to count only user space".to_owned(),
            );
        }
        if attr.kind == EventType::TRACEPOINT {
            why.push(
                "raw data of tracepoints, and the function tracepoint, need perf_event_paranoid -1"
                    .to_owned(),
            );
        }
        if self.has(AttrFlags::NAMESPACES) {
            why.push("namespaces needs the privilege".to_owned());
        }
        if attr.kind == EventType::BREAKPOINT {
            why.push("a breakpoint on a kernel address needs the privilege".to_owned());
        }
        if attr.sample_type.contains(SampleType::PHYS_ADDR) {
            why.push("physical addresses need the permission to count the kernel".to_owned());
        }
        if self.target.thread().is_some_and(|pid| pid != 0) {
            why.push("the thread may belong to another user, or may not be traceable".to_owned());
        }
        if self.string.is_some() {
            why.push("probes need the privilege".to_owned());
        }
        if errno == libc::EPERM && attr.flags.intersects(EXCLUDE) {
            why.push("the PMU may be unable to exclude what the exclude_* flags name".to_owned());
        }
        if paranoid.is_some_and(|level| level > 2) {
            why.push("distribution kernels with a level above 2 may forbid every event".to_owned());
        }
        let mut advice = match paranoid {
            Some(level) => format!(
                "not permitted without CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8) while perf_event_paranoid is {level}"
            ),
            None => "not permitted without CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8)".to_owned(),
        };
        for reason in why {
            advice.push_str("; ");
            advice.push_str(&reason);
        }
        advice
    }

    fn descriptor(&self) -> String {
        if self.target.is_cgroup() {
            return NOT_A_CGROUP.to_owned();
        }
        "the leader's file descriptor is not an event".to_owned()
    }

    fn invalid(&self) -> String {
        let attr = self.attr;
        let mut why = Vec::new();
        let rate = limits::max_sample_rate().ok();
        if let (Some(freq), Some(rate)) = (attr.sample_freq(), rate)
            && freq > u64::from(rate)
        {
            return format!("sample_freq {freq} is more than perf_event_max_sample_rate, which is {rate}");
        }
        if let (Some(cpu), Ok(possible)) =
            (self.target.cpu_number(), fs::read_to_string("/sys/devices/system/cpu/possible"))
        {
            let possible = possible.trim();
            if parse_cpus(possible).is_ok_and(|cpus| !cpus.contains(&cpu)) {
                return format!("there is no cpu {cpu}; the possible cpus are {possible}");
            }
        }
        if self.in_group {
            why.push(
                "a group member needs the target and the clock of its leader, the leader cannot be a member itself, \
                 and the whole group must fit on the PMU at once"
                    .to_owned(),
            );
        }
        if attr.sample_type.contains(SampleType::CGROUP) || self.has(AttrFlags::CGROUP) {
            why.push("cgroup needs a kernel built with CONFIG_CGROUP_PERF".to_owned());
        }
        if self.has(AttrFlags::INHERIT) {
            why.push(
                "inherit cannot be combined with PERF_FORMAT_GROUP before Linux 6.12, nor with PERF_SAMPLE_READ \
                 without PERF_SAMPLE_TID since"
                    .to_owned(),
            );
        }
        if self.has(AttrFlags::USE_CLOCKID) {
            why.push(format!(
                "clockid {} must be MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME or TAI; a PMU that interrupts with \
                 an NMI accepts only the first two",
                attr.clockid
            ));
        }
        if attr.flags.intersects(AttrFlags::AUX_OUTPUT) || attr.sample_type.contains(SampleType::AUX) {
            why.push("AUX data needs a group whose leader is an event of a PMU with AUX support".to_owned());
        }
        match attr.kind {
            EventType::BREAKPOINT => why.push(
                "bp_len must be 1, 2, 4 or 8, or the size of a long for execution; bp_addr must be a multiple of \
                 bp_len; and the machine must support the access: x86 has no breakpoints for reads alone"
                    .to_owned(),
            ),
            EventType::TRACEPOINT => {
                why.push(format!("no tracepoint that perf can use has the id {}", attr.config));
            }
            EventType::SOFTWARE if attr.config < SwId::MAX => {}
            _ if self.string.is_some() => why.push(
                "the probe's function or file may not exist, or may have no instruction at that offset".to_owned(),
            ),
            _ => why.push("config may have a value or a bit that the PMU reserves".to_owned()),
        }
        if why.is_empty() {
            return "the kernel does not report the cause; it knows each bit of the attr".to_owned();
        }
        format!(
            "the kernel does not report the cause; it knows each bit of the attr. Possible causes: {}",
            why.join("; ")
        )
    }

    fn too_deep(&self) -> String {
        let depth = self.attr.sample_max_stack;
        match limits::max_stack() {
            Ok(most) => {
                format!("sample_max_stack {depth} is more than perf_event_max_stack, which is {most}")
            }
            Err(_) => format!("sample_max_stack {depth} is more than perf_event_max_stack"),
        }
    }

    fn no_device(&self) -> String {
        let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        match self.target.cpu_number() {
            Some(cpu) => format!(
                "cpu {cpu} is not online (online: {}), or this CPU does not support the event",
                online.trim()
            ),
            None => "this CPU does not support the event".to_owned(),
        }
    }

    fn no_event(&self) -> String {
        if self.target.is_cgroup() && self.refuses_every_event() {
            return NOT_A_CGROUP.to_owned();
        }
        let pmus = pmus();
        match self.attr.kind {
            EventType::HARDWARE | EventType::HW_CACHE | EventType::RAW => format!(
                "no PMU of this machine counts this event. A virtual machine often has no hardware PMU, and not every PMU \
                 has every generalised event. PMUs in {DEVICES}: {pmus}. Software events and tracepoints need no PMU"
            ),
            EventType::SOFTWARE => {
                format!("this kernel has no software event {}", self.attr.config)
            }
            EventType::TRACEPOINT => {
                format!("no tracepoint has the id {}, or its module is not loaded", self.attr.config)
            }
            EventType::BREAKPOINT => "this kernel has no hardware breakpoints".to_owned(),
            _ if self.string.is_some() => {
                "the probe's function or file does not exist, or the kernel lacks the PMU".to_owned()
            }
            kind => format!(
                "no PMU has the type {kind}, or that PMU does not know this event. PMUs in {DEVICES}: {pmus}"
            ),
        }
    }

    /// Returns whether the target refuses an event that every kernel has, with the errno of an event that does not exist.
    fn refuses_every_event(&self) -> bool {
        let flags = AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        let attr = Attr { kind: EventType::SOFTWARE, config: SwId::CPU_CLOCK.0, flags, ..Attr::default() };
        let Ok((pid, cpu, flags)) = self.target.arguments() else { return false };
        let place = OpenArguments { pid, cpu, group: None, flags: flags | OpenFlags::FD_CLOEXEC };
        let refusal = perf_event_open(&attr, AttrVersion::VER0, None, place).err();
        refusal.is_some_and(|refusal| refusal.error.raw_os_error() == Some(libc::ENOENT))
    }

    fn no_room(&self) -> String {
        if self.attr.kind == EventType::BREAKPOINT {
            return "all breakpoint registers of the CPU are in use".to_owned();
        }
        "there is no room on the PMU for the event".to_owned()
    }

    fn not_built(&self) -> String {
        if !limits::is_supported() {
            return "this kernel has no perf_event: it was built without CONFIG_PERF_EVENTS".to_owned();
        }
        if filtered() == Some(libc::ENOSYS) {
            return FILTERED.to_owned();
        }
        let copies = SampleType::REGS_USER | SampleType::REGS_INTR | SampleType::STACK_USER;
        if self.attr.sample_type.intersects(copies) {
            return "on this architecture the kernel cannot record registers or the user stack in samples"
                .to_owned();
        }
        String::new()
    }

    fn not_supported(&self) -> String {
        let attr = self.attr;
        let mut why = Vec::new();
        if attr.flags.precise_ip() > 0 {
            why.push(format!("precise_ip {}: try a lower one", attr.flags.precise_ip()));
        }
        if attr.sample_type.contains(SampleType::BRANCH_STACK) {
            why.push("PERF_SAMPLE_BRANCH_STACK: the PMU records no branches, or not this kind".to_owned());
        }
        if attr.sample_type.intersects(SampleType::REGS_USER | SampleType::REGS_INTR) {
            why.push("sample_regs_*: only some PMUs record vector registers".to_owned());
        }
        if self.has(AttrFlags::AUX_OUTPUT) {
            why.push("aux_output: the PMU cannot write into an AUX area".to_owned());
        }
        if attr.aux_action.0 != 0 {
            why.push("aux_start_paused, aux_pause, aux_resume: the AUX PMU cannot pause".to_owned());
        }
        if attr.sample_period != 0 && attr.kind != EventType::SOFTWARE {
            why.push("sample_period: the PMU has no interrupt, so it can count but not sample".to_owned());
        }
        if attr.flags.intersects(EXCLUDE) && attr.kind != EventType::SOFTWARE {
            why.push("exclude_*: the PMU cannot exclude these modes".to_owned());
        }
        if why.is_empty() {
            return "the hardware or its driver does not support the event".to_owned();
        }
        format!("the hardware or its driver does not support the event. Possible causes: {}", why.join("; "))
    }
}

/// The advice where the directory is of no cgroup that events can be bound to. For other controllers of version 1, the errno
/// is `ENOENT`; for other directories, `EBADF`. Linux: `perf_cgroup_connect`, `kernel/events/core.c`.
const NOT_A_CGROUP: &str = "the cgroup's directory is not one of the perf_event controller or of the unified hierarchy \
                            (cgroup2), which are the ones that events can be bound to";

/// The advice where a filter of system calls answers for the kernel.
const FILTERED: &str = "a filter of system calls (seccomp) refuses every perf_event_open, as in many containers; allow \
                        the call in the filter: in Docker by --cap-add PERFMON or another --security-opt seccomp=FILE, \
                        in a systemd unit by SystemCallFilter";

/// The flags that exclude a privilege level, a host or a guest.
const EXCLUDE: AttrFlags = AttrFlags(
    AttrFlags::EXCLUDE_USER.0
        | AttrFlags::EXCLUDE_KERNEL.0
        | AttrFlags::EXCLUDE_HV.0
        | AttrFlags::EXCLUDE_IDLE.0
        | AttrFlags::EXCLUDE_HOST.0
        | AttrFlags::EXCLUDE_GUEST.0,
);

fn descriptors() -> String {
    let limit = rlimit::open_files().map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    format!(
        "each event takes a file descriptor, and the process has reached its limit: RLIMIT_NOFILE is {limit}"
    )
}

/// Returns the names of the machine's PMUs, separated by commas.
fn pmus() -> String {
    let mut names: Vec<String> = fs::read_dir(DEVICES)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
