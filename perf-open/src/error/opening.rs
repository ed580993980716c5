//! The meaning of an errno of `perf_event_open`, for the attr and the target it was returned for.

use std::fs;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::{EventType, SwId};
use perf_abi::sample_type::SampleType;

use crate::limits;
use crate::pmu::parse_cpus;
use crate::target::Target;

const DEVICES: &str = "/sys/bus/event_source/devices";

/// The arguments of a call that failed.
pub(crate) struct Attempt<'a> {
    pub(crate) attr: &'a Attr,
    pub(crate) target: &'a Target<'a>,
    pub(crate) in_group: bool,
    /// The string that `config1` pointed to.
    pub(crate) string: Option<&'a core::ffi::CStr>,
}

impl Attempt<'_> {
    /// Returns what to do about `errno`; empty if there is nothing to add.
    pub(crate) fn advice(&self, errno: i32) -> String {
        match errno {
            libc::EACCES | libc::EPERM => self.permission(errno),
            libc::EBADF => self.descriptor(),
            libc::EBUSY => "another event has the PMU, or what it needs of it, for itself alone".to_owned(),
            libc::EFAULT => {
                "config1 or config2 is an address, and there is nothing that can be read".to_owned()
            }
            libc::EINTR => {
                "the uprobe is already in use by ftrace, with which perf cannot share it".to_owned()
            }
            libc::EINVAL => self.invalid(),
            libc::EMFILE => self.descriptors(),
            libc::ENFILE => "the system has no more file descriptors: /proc/sys/fs/file-max".to_owned(),
            libc::ENODEV => self.no_device(),
            libc::ENOENT => self.no_event(),
            libc::ENOMEM => {
                "the kernel has no memory for the event, or for the call chains of all events".to_owned()
            }
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
        let attr = self.attr;
        let paranoid = limits::paranoid().ok();
        let mut why = Vec::new();
        if self.target.thread().is_none() && paranoid.is_none_or(|level| level > 0) {
            why.push("all tasks of a cpu are counted only with perf_event_paranoid below 1".to_owned());
        }
        if !self.has(AttrFlags::EXCLUDE_KERNEL) && paranoid.is_none_or(|level| level > 1) {
            why.push(
                "the kernel is counted only with perf_event_paranoid below 2: set exclude_kernel".to_owned(),
            );
        }
        if attr.kind == EventType::TRACEPOINT {
            why.push(
                "raw data of tracepoints, and the function tracepoint, take perf_event_paranoid -1"
                    .to_owned(),
            );
        }
        if self.has(AttrFlags::NAMESPACES) {
            why.push("namespaces takes the privilege".to_owned());
        }
        if attr.kind == EventType::BREAKPOINT {
            why.push("a breakpoint on a kernel address takes the privilege".to_owned());
        }
        if attr.sample_type.contains(SampleType::PHYS_ADDR) {
            why.push("physical addresses are given where the kernel may be counted".to_owned());
        }
        if self.target.thread().is_some_and(|pid| pid != 0) {
            why.push("a thread of another user, or one that may not be traced, is out of reach".to_owned());
        }
        if self.string.is_some() {
            why.push("probes take the privilege".to_owned());
        }
        if errno == libc::EPERM && attr.flags.intersects(EXCLUDE) {
            why.push("the PMU may be unable to exclude what exclude_* says".to_owned());
        }
        if paranoid.is_some_and(|level| level > 2) {
            why.push("this kernel's distribution forbids all of it above 2".to_owned());
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
            return "the cgroup's file descriptor is not open on a directory of a cgroup of the perf_event \
                    controller (or of the unified hierarchy)"
                .to_owned();
        }
        "the leader's file descriptor is no event".to_owned()
    }

    fn invalid(&self) -> String {
        let attr = self.attr;
        let mut why = Vec::new();
        let rate = limits::max_sample_rate().ok();
        if let (Some(freq), Some(rate)) = (attr.sample_freq(), rate) {
            if freq > u64::from(rate) {
                return format!(
                    "sample_freq {freq} is more than perf_event_max_sample_rate, which is {rate}"
                );
            }
        }
        if let (Some(cpu), Ok(possible)) =
            (self.target.cpu_number(), fs::read_to_string("/sys/devices/system/cpu/possible"))
        {
            let possible = possible.trim();
            if parse_cpus(possible).is_ok_and(|cpus| !cpus.contains(&cpu)) {
                return format!("there is no cpu {cpu}; possible are {possible}");
            }
        }
        if self.in_group {
            why.push(
                "a member has to have its leader's target and clock, its leader may not be a member itself, and all \
                 of the group have to fit on the PMU at once"
                    .to_owned(),
            );
        }
        if attr.sample_type.contains(SampleType::CGROUP) || self.has(AttrFlags::CGROUP) {
            why.push("cgroup needs a kernel built with CONFIG_CGROUP_PERF".to_owned());
        }
        if self.has(AttrFlags::INHERIT) {
            why.push(
                "inherit excludes reading a group's counters: PERF_FORMAT_GROUP before Linux 6.12, and \
                 PERF_SAMPLE_READ without PERF_SAMPLE_TID since"
                    .to_owned(),
            );
        }
        if self.has(AttrFlags::USE_CLOCKID) {
            why.push(format!(
                "clockid {} may be none of MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME, TAI, or, where \
                 only those may be used that are safe in an NMI, neither of the first two",
                attr.clockid
            ));
        }
        if attr.flags.intersects(AttrFlags::AUX_OUTPUT) || attr.sample_type.contains(SampleType::AUX) {
            why.push("AUX data take a group that an event of an AUX-capable PMU leads".to_owned());
        }
        match attr.kind {
            EventType::BREAKPOINT => why.push(
                "a breakpoint's bp_addr has to be a multiple of its bp_len, 1, 2, 4 or 8, and the machine has to \
                 know that access: x86 has none of reads alone; one of execution has the length of a long"
                    .to_owned(),
            ),
            EventType::TRACEPOINT => {
                why.push(format!("{} is the id of no tracepoint that perf can use", attr.config));
            }
            EventType::SOFTWARE if attr.config < SwId::MAX => {}
            _ if self.string.is_some() => why.push(
                "the probe's function or file may not exist, or may have no instruction at that offset".to_owned(),
            ),
            _ => why.push("config may have a value or a bit that the PMU reserves".to_owned()),
        }
        if why.is_empty() {
            return "the kernel does not say which part; each bit of the attr is one it knows".to_owned();
        }
        format!(
            "the kernel does not say which part; each bit of the attr is one it knows. Possible: {}",
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

    fn descriptors(&self) -> String {
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let soft = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))
            .and_then(|rest| rest.split_whitespace().next().map(ToOwned::to_owned));
        format!(
            "each event takes a file descriptor, and the process has all it may: RLIMIT_NOFILE is {}",
            soft.as_deref().unwrap_or("not known")
        )
    }

    fn no_device(&self) -> String {
        let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        match self.target.cpu_number() {
            Some(cpu) => format!(
                "cpu {cpu} is not online (online: {}), or this CPU does not support what the event asks for",
                online.trim()
            ),
            None => "this CPU does not support what the event asks for".to_owned(),
        }
    }

    fn no_event(&self) -> String {
        let pmus = pmus();
        match self.attr.kind {
            EventType::HARDWARE | EventType::HW_CACHE | EventType::RAW => format!(
                "no PMU here counts this event: a virtual machine often has no hardware PMU, and not every PMU has \
                 every generalised event. In {DEVICES}: {pmus}. Software events and tracepoints work without"
            ),
            EventType::SOFTWARE => {
                format!("this kernel has no software event {}", self.attr.config)
            }
            EventType::TRACEPOINT => {
                format!("no tracepoint has the id {}, or its module is not loaded", self.attr.config)
            }
            EventType::BREAKPOINT => "this kernel has no hardware breakpoints".to_owned(),
            _ if self.string.is_some() => {
                "the probe's function or file does not exist, or the PMU is not there".to_owned()
            }
            kind => format!(
                "no PMU has the type {kind}, or the one that has does not know this event. In {DEVICES}: {pmus}"
            ),
        }
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
        "this architecture's kernel does not give registers or the user stack in samples".to_owned()
    }

    fn not_supported(&self) -> String {
        let attr = self.attr;
        let mut why = Vec::new();
        if attr.flags.precise_ip() > 0 {
            why.push(format!("precise_ip {}: try a lower one", attr.flags.precise_ip()));
        }
        if attr.sample_type.contains(SampleType::BRANCH_STACK) {
            why.push(
                "PERF_SAMPLE_BRANCH_STACK: no branch records, or not of this kind, or not by this PMU"
                    .to_owned(),
            );
        }
        if attr.sample_type.intersects(SampleType::REGS_USER | SampleType::REGS_INTR) {
            why.push("sample_regs_*: vector registers come from some PMUs alone".to_owned());
        }
        if self.has(AttrFlags::AUX_OUTPUT) {
            why.push("aux_output: the PMU cannot write into an AUX area".to_owned());
        }
        if attr.aux_action.0 != 0 {
            why.push("aux_start_paused, aux_pause, aux_resume: the AUX PMU cannot pause".to_owned());
        }
        if attr.sample_period != 0 && attr.kind != EventType::SOFTWARE {
            why.push("sample_period: the PMU has no interrupt, so it counts and does not sample".to_owned());
        }
        if attr.flags.intersects(EXCLUDE) && attr.kind != EventType::SOFTWARE {
            why.push("exclude_*: the PMU cannot tell these apart".to_owned());
        }
        if why.is_empty() {
            return "the hardware, or its driver, lacks what the event asks for".to_owned();
        }
        format!("the hardware, or its driver, lacks what the event asks for. Possible: {}", why.join("; "))
    }
}

/// The flags that exclude a privilege level, a host or a guest.
const EXCLUDE: AttrFlags = AttrFlags(
    AttrFlags::EXCLUDE_USER.0
        | AttrFlags::EXCLUDE_KERNEL.0
        | AttrFlags::EXCLUDE_HV.0
        | AttrFlags::EXCLUDE_IDLE.0
        | AttrFlags::EXCLUDE_HOST.0
        | AttrFlags::EXCLUDE_GUEST.0,
);

/// Returns the names of the machine's PMUs, separated by commas.
fn pmus() -> String {
    let mut names: Vec<String> = fs::read_dir(DEVICES)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
