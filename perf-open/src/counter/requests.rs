//! The meaning of an errno of an `ioctl` or a `read`, for the event it was returned for.

use perf_abi::attr::Attr;
use perf_abi::event::EventType;
use perf_abi::ioctl::Request;

use crate::limits;

/// Returns what to do about `errno` of `request`; empty if there is nothing to add.
pub(super) fn advice(request: Request, attr: &Attr, errno: Option<i32>) -> String {
    let text = match (request, errno) {
        (_, Some(libc::ENOTTY)) => "this kernel does not know the request",
        (Request::PERIOD, Some(libc::EINVAL)) => return period(attr),
        (Request::REFRESH, Some(libc::EINVAL)) => "the event is inherited, or does not sample",
        (Request::SET_OUTPUT, Some(libc::EINVAL)) => {
            "both events must have the same cpu or the same task, the same clock and the same write_backward, and this \
             event must not have a ring of its own"
        }
        (Request::SET_OUTPUT, Some(libc::EBADF)) => "the other file descriptor is not an event",
        (Request::SET_FILTER, Some(libc::EINVAL)) => match attr.kind {
            EventType::TRACEPOINT => {
                "the filter cannot be parsed, or names a field that the tracepoint lacks"
            }
            _ => {
                "the event does not accept this filter; only tracepoints and PMUs that trace into an AUX area have filters"
            }
        },
        (Request::SET_FILTER, Some(libc::EEXIST)) => {
            "the event already has a filter, which cannot be replaced: open another event"
        }
        (Request::SET_FILTER, Some(libc::EACCES)) => "the filter names a file that may not be read",
        (Request::SET_BPF, Some(libc::EINVAL)) => {
            "the program has the wrong type: it must be TRACEPOINT for tracepoints, KPROBE for probes, PERF_EVENT for \
             events that sample"
        }
        (Request::SET_BPF, Some(libc::EEXIST)) => "the event already has a program",
        (Request::SET_BPF, Some(libc::EBADF)) => "the file descriptor is not a BPF program",
        (Request::SET_BPF, Some(libc::EACCES)) => "the program reads beyond the data of the tracepoint",
        (Request::SET_BPF | Request::QUERY_BPF, Some(libc::EPERM)) => {
            "needs CAP_PERFMON (since Linux 5.8) or CAP_SYS_ADMIN"
        }
        (Request::SET_BPF, Some(libc::EOPNOTSUPP)) => "the event's records cannot be filtered by a program",
        (Request::QUERY_BPF, Some(libc::EINVAL)) => "only tracepoints have a list of programs",
        (Request::PAUSE_OUTPUT, Some(libc::EINVAL)) => "the event has no ring: map it first",
        (Request::MODIFY_ATTRIBUTES, Some(libc::EOPNOTSUPP)) => "only breakpoints can be changed",
        (Request::MODIFY_ATTRIBUTES, Some(libc::EINVAL)) => {
            "only bp_addr, bp_len, bp_type and disabled may differ, and the machine must support the access"
        }
        (_, Some(libc::ENODEV)) => "the event no longer exists, because its PMU was removed",
        _ => "",
    };
    text.to_owned()
}

fn period(attr: &Attr) -> String {
    match (attr.sample_period, attr.sample_freq(), limits::max_sample_rate()) {
        (0, None, _) => "the event does not sample, so it has no period".to_owned(),
        (_, Some(_), Ok(rate)) => {
            format!("the frequency must be 1 to perf_event_max_sample_rate, which is {rate}")
        }
        _ => "the period must not be 0 and must fit in 63 bits".to_owned(),
    }
}

/// Returns what to do about `errno` of a `read`; empty if there is nothing to add.
pub(super) fn read(errno: Option<i32>) -> &'static str {
    match errno {
        Some(libc::ENOSPC) => "the buffer is too small for the events of the group",
        Some(libc::ENODEV) => "the event no longer exists, because its PMU was removed",
        _ => "",
    }
}
