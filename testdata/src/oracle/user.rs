//! The perf tool's own records, with types from 64 on, and those of simpleperf.
//!
//! perf: `tools/lib/perf/include/perf/event.h`.

use super::attr::{KNOWN, sized};
use super::reader::Reader;
use super::simpleperf;
use super::value::Value;
use crate::fields;

const PERF_RECORD_MISC_BUILD_ID_SIZE: u16 = 1 << 15;

/// Decodes the payload of a record of the type `kind`. `None` if no perf up to 7.3 and no simpleperf has such a type.
///
/// # Errors
///
/// A message with the field that needs more bytes than there are, or whose value is impossible.
pub fn user(kind: u32, misc: u16, big: bool, payload: &[u8]) -> Result<Option<Value>, String> {
    let r = &mut Reader::new(payload, big);
    Ok(Some(match kind {
        64 => header_attr(r)?,
        65 => fields! { event_id: r.u64("event_id")?, name: until_nul(r.rest()) },
        66 => fields! { size: r.u32("size")?, rest: r.rest() },
        67 => build_id(misc, r)?,
        68 | 82 => {
            r.end()?;
            fields! {}
        }
        69 => id_index(r)?,
        70 => fields! { kind: r.u32("type")?, reserved: r.u32("reserved__")?, words: words(r)? },
        71 => fields! {
            size: r.u64("size")?,
            offset: r.u64("offset")?,
            reference: r.u64("reference")?,
            idx: r.u32("idx")?,
            tid: r.i32("tid")?,
            cpu: r.i32("cpu")?,
            reserved: r.u32("reserved__")?,
            rest: r.rest(),
        },
        72 => auxtrace_error(r)?,
        73 => fields! {
            entries: list(r, |r| Ok(fields! { pid: r.i64("pid")?, comm: r.bytes("comm", 16)? }))?,
            rest: r.rest(),
        },
        74 => fields! { data: cpu_map(r)?, rest: r.rest() },
        75 => fields! {
            entries: list(r, |r| Ok(fields! { tag: r.u64("tag")?, val: r.u64("val")? }))?,
            rest: r.rest(),
        },
        76 => fields! {
            id: r.u64("id")?,
            cpu: r.i32("cpu")?,
            thread: r.i32("thread")?,
            val: r.u64("val")?,
            ena: r.u64("ena")?,
            run: r.u64("run")?,
            rest: r.rest(),
        },
        77 => fields! { kind: r.u64("type")?, time: r.u64("time")?, rest: r.rest() },
        78 => event_update(r)?,
        79 => time_conv(r)?,
        80 => fields! { feat_id: r.u64("feat_id")?, data: r.rest() },
        81 => fields! { data: r.rest() },
        83 => {
            let data_size = r.u64("data_size")?;
            fields! { data: r.bytes("data", data_size)?, rest: r.rest() }
        }
        84 => {
            let prog_name = until_nul(r.bytes("prog_name", 512)?);
            let entry = |r: &mut Reader<'_>| {
                let [key, value] = [r.bytes("key", 64)?, r.bytes("value", 256)?].map(until_nul);
                Ok(fields! { key: key, value: value })
            };
            fields! { prog_name: prog_name, entries: list(r, entry)?, rest: r.rest() }
        }
        85 | 86 => schedstat(kind == 86, r)?,
        32769..=32778 => simpleperf::record(kind, r)?,
        _ => return Ok(None),
    }))
}

/// Returns the bytes before the first NUL, or all.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Reads a string that takes the rest of the record and must have a NUL.
pub(super) fn string<'a>(r: &mut Reader<'a>, field: &str) -> Result<&'a [u8], String> {
    let bytes = r.rest();
    let end = bytes.iter().position(|&byte| byte == 0).ok_or_else(|| format!("{field}: no NUL"))?;
    Ok(&bytes[..end])
}

/// Reads all words that are left. The last word must be complete.
fn words(r: &mut Reader<'_>) -> Result<Vec<u64>, String> {
    let words = r.words("words", (r.left() / 8) as u64)?;
    r.end()?;
    Ok(words)
}

/// Reads the number of items, then the items.
fn list<T>(
    r: &mut Reader<'_>,
    item: impl Fn(&mut Reader<'_>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let nr = r.u64("nr")?;
    (0..nr).map(|_| item(r)).collect()
}

fn header_attr(r: &mut Reader<'_>) -> Result<Value, String> {
    let mut head = r.clone();
    let _kind = head.u32("attr.type")?;
    let size = head.u32("attr.size")?;
    let bytes = r.bytes("attr", if size == 0 { 64 } else { size.into() })?;
    let tail = bytes.get(KNOWN..).unwrap_or_default();
    Ok(fields! { attr: sized(bytes, r.is_big())?, tail: tail, ids: words(r)? })
}

/// Reads a build id, as a record or as an entry of the feature `BUILD_ID`.
pub(super) fn build_id(misc: u16, r: &mut Reader<'_>) -> Result<Value, String> {
    let pid = r.i32("pid")?;
    let bytes = r.bytes("build_id", 20)?;
    let recorded = r.u8("size")?;
    r.bytes("reserved", 3)?;
    let size = if misc & PERF_RECORD_MISC_BUILD_ID_SIZE != 0 { recorded } else { 20 };
    let build_id = bytes.get(..size.into()).ok_or("build_id.size: is above 20")?;
    Ok(fields! { misc: misc, pid: pid, build_id: build_id, filename: string(r, "filename")? })
}

fn id_index(r: &mut Reader<'_>) -> Result<Value, String> {
    let entries = list(r, |r| {
        Ok(fields! { id: r.u64("id")?, idx: r.u64("idx")?, cpu: r.i64("cpu")?, tid: r.i64("tid")? })
    })?;
    let mut guests = None;
    if !entries.is_empty() && r.left() >= 16 * entries.len() {
        let guest = |r: &mut Reader<'_>| {
            Ok::<_, String>(fields! { machine_pid: r.i64("machine_pid")?, vcpu: r.i64("vcpu")? })
        };
        guests = Some(entries.iter().map(|_| guest(r)).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(fields! { entries: entries, guests: guests, rest: r.rest() })
}

fn auxtrace_error(r: &mut Reader<'_>) -> Result<Value, String> {
    let kind = r.u32("type")?;
    let code = r.u32("code")?;
    let [cpu, pid, tid] = [r.i32("cpu")?, r.i32("pid")?, r.i32("tid")?];
    let (fmt, ip) = (r.u32("fmt")?, r.u64("ip")?);
    let time = if fmt >= 1 { Some(r.u64("time")?) } else { None };
    // A record of format 2 that is too short for it is read as one of format 1.
    let (msg, guest) = if fmt >= 2 && r.left() >= 64 + 8 {
        let msg = until_nul(r.bytes("msg", 64)?);
        (msg, Some(fields! { machine_pid: r.i32("machine_pid")?, vcpu: r.i32("vcpu")? }))
    } else {
        (string(r, "msg")?, None)
    };
    Ok(fields! {
        kind: kind, code: code, cpu: cpu, pid: pid, tid: tid, fmt: fmt, ip: ip, time: time, msg: msg,
        guest: guest, rest: r.rest(),
    })
}

/// Reads a set of CPUs: its encoding, and its numbers or the words of its mask.
fn cpu_map(r: &mut Reader<'_>) -> Result<Value, String> {
    let kind = r.u16("type")?;
    let whole = r.clone();
    match kind {
        0 => {
            let nr = r.u16("nr")?;
            let cpus = (0..nr).map(|_| r.u16("cpu")).collect::<Result<Vec<_>, _>>()?;
            return Ok(fields! { cpus: cpus });
        }
        1 => {
            let (nr, long_size) = (r.u16("nr")?, r.u16("long_size")?);
            if long_size == 4 {
                let mask = (0..nr).map(|_| r.u32("mask")).collect::<Result<Vec<_>, _>>()?;
                return Ok(fields! { mask32: mask });
            }
            if long_size == 8 {
                r.bytes("pad", 4)?;
                return Ok(fields! { mask64: r.words("mask", nr.into())? });
            }
        }
        2 => {
            let (any_cpu, _pad) = (r.u8("any_cpu")?, r.u8("pad")?);
            let (start_cpu, end_cpu) = (r.u16("start_cpu")?, r.u16("end_cpu")?);
            return Ok(fields! { any_cpu: u8::from(any_cpu != 0), start_cpu: start_cpu, end_cpu: end_cpu });
        }
        _ => {}
    }
    *r = whole;
    Ok(fields! { kind: kind, data: r.rest() })
}

fn event_update(r: &mut Reader<'_>) -> Result<Value, String> {
    let (kind, id) = (r.u64("type")?, r.u64("id")?);
    let data = match kind {
        0 => fields! { unit: string(r, "unit")? },
        1 => fields! { scale: r.u64("scale")? },
        2 => fields! { name: string(r, "name")? },
        3 => cpu_map(r)?,
        _ => fields! { kind: kind, data: r.rest() },
    };
    Ok(fields! { id: id, data: data, rest: r.rest() })
}

fn time_conv(r: &mut Reader<'_>) -> Result<Value, String> {
    let [shift, mult, zero] = [r.u64("time_shift")?, r.u64("time_mult")?, r.u64("time_zero")?];
    // perf wrote only these until 5.9.
    let mut short = None;
    if r.left() > 0 {
        let (cycles, mask) = (r.u64("time_cycles")?, r.u64("time_mask")?);
        let caps = [r.u8("cap_user_time_zero")?, r.u8("cap_user_time_short")?];
        r.bytes("reserved", 6)?;
        short = Some(fields! { cycles: cycles, mask: mask, cap_zero: caps[0], cap_short: caps[1] });
    }
    Ok(fields! { shift: shift, mult: mult, zero: zero, short: short, rest: r.rest() })
}

/// The 32-bit counts of a CPU, which precede three 64-bit counts.
const CPU: [&str; 6] = ["yld_count", "array_exp", "sched_count", "sched_goidle", "ttwu_count", "ttwu_local"];

/// The counts of load balancing while the CPU is busy, idle, or about to be idle.
const BALANCE: [&str; 8] =
    ["count", "balanced", "failed", "imbalance", "gained", "hot_gained", "nobusyq", "nobusyg"];

/// The parts of `imbalance` since version 17.
const IMBALANCE: [&str; 4] = ["imbalance_load", "imbalance_util", "imbalance_task", "imbalance_misfit"];

/// The counts after those of load balancing.
const OTHERS: [&str; 12] = [
    "alb_count",
    "alb_failed",
    "alb_pushed",
    "sbe_count",
    "sbe_balanced",
    "sbe_pushed",
    "sbf_count",
    "sbf_balanced",
    "sbf_pushed",
    "ttwu_wake_remote",
    "ttwu_move_affine",
    "ttwu_move_balance",
];

fn schedstat(domain: bool, r: &mut Reader<'_>) -> Result<Value, String> {
    let (timestamp, cpu) = (r.u64("timestamp")?, r.u32("cpu")?);
    let (version, index) = (r.u16("version")?, r.u16("domain")?);
    let mut counts = None;
    if (15..=17).contains(&version) {
        let mut read = Vec::new();
        let mut count = |r: &mut Reader<'_>, name: String, is_wide: bool| {
            let value = if is_wide { r.u64(&name)? } else { r.u32(&name)?.into() };
            read.push(Value::List(vec![name.as_bytes().into(), value.into()]));
            Ok::<_, String>(())
        };
        if domain {
            // Version 16 has the first two in the other order.
            let groups =
                if version == 15 { ["idle", "busy", "newidle"] } else { ["busy", "idle", "newidle"] };
            for group in groups {
                for name in BALANCE {
                    let parts = if version == 17 && name == "imbalance" { &IMBALANCE[..] } else { &[name] };
                    for part in parts {
                        count(r, format!("{group}_lb_{part}"), false)?;
                    }
                }
            }
            for name in OTHERS {
                count(r, name.to_string(), false)?;
            }
        } else {
            for name in CPU {
                count(r, name.to_string(), false)?;
            }
            for name in ["rq_cpu_time", "run_delay", "pcount"] {
                count(r, name.to_string(), true)?;
            }
        }
        counts = Some(read);
    }
    let index = domain.then_some(index);
    Ok(fields! {
        timestamp: timestamp, cpu: cpu, version: version, domain: index, counts: counts, rest: r.rest(),
    })
}
