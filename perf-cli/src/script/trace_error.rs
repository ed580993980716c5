//! AUX data that could not be decoded.

use perf_parse::record::user::AuxtraceError;

use crate::escape::{Seconds, print};
use crate::perf_text::print::push_name;

/// Appends an AUXTRACE_ERROR record, which perf always prints.
///
/// perf: `perf_event__fprintf_auxtrace_error`, `tools/perf/util/auxtrace.c`.
pub(super) fn push(out: &mut Vec<u8>, error: &AuxtraceError<'_>) {
    let AuxtraceError { kind, code, cpu, pid, tid, ip, .. } = *error;
    let name = if kind.0 == 1 { "instruction trace" } else { "unknown AUX" };
    print(out, format_args!(" {name} error type {}", kind.0));
    match error.time {
        Some(time) if time != 0 => print(out, format_args!(" time {}", Seconds(time))),
        _ => out.extend_from_slice(b" time 0"),
    }
    if let Some((machine_pid, vcpu)) = error.guest.filter(|guest| guest.0 != 0) {
        print(out, format_args!(" machine_pid {machine_pid} vcpu {vcpu}"));
    }
    // As C prints it: without a prefix if it is 0.
    let prefix = if ip == 0 { "" } else { "0x" };
    print(out, format_args!(" cpu {cpu} pid {pid} tid {tid} ip {prefix}{ip:x} code {code}: "));
    push_name(out, error.msg);
    out.push(b'\n');
}
