//! What Android's simpleperf adds: records, sections, and the messages in them.
//!
//! simpleperf: `record_file_reader.cpp`, `record_file.proto` and `branch_list.proto` of `system/extras/simpleperf`.

use super::reader::Reader;
use super::value::Value;
use crate::fields;

/// Decodes the payload of a record: `record.cpp`.
pub(super) fn record(kind: u32, r: &mut Reader<'_>) -> Result<Value, String> {
    Ok(match kind {
        // KERNEL_SYMBOL and TRACING_DATA
        32769 | 32777 => {
            let size = r.u32("size")?;
            fields! { data: r.bytes("data", size.into())?, rest: r.rest() }
        }
        // DSO
        32770 => fields! {
            dso_type: r.u64("dso_type")?, dso_id: r.u64("dso_id")?, min_vaddr: r.u64("min_vaddr")?,
            name: rest_string(r, "dso_name")?,
        },
        // SYMBOL
        32771 => fields! {
            addr: r.u64("addr")?, len: r.u64("len")?, dso_id: r.u64("dso_id")?, name: rest_string(r, "name")?,
        },
        // SPLIT
        32772 => fields! { data: r.rest() },
        // SPLIT_END
        32773 => {
            r.end()?;
            fields! {}
        }
        // EVENT_ID
        32774 => {
            let mut ids = Vec::new();
            for _ in 0..r.u64("count")? {
                ids.push(fields! { attr_id: r.u64("attr_id")?, event_id: r.u64("event_id")? });
            }
            fields! { ids: ids, rest: r.rest() }
        }
        // CALLCHAIN
        32775 => {
            let (pid, tid) = (r.i32("pid")?, r.i32("tid")?);
            let (kind, time, nr) = (r.u64("chain_type")?, r.u64("time")?, r.u64("ip_nr")?);
            let (ips, sps) = (r.words("ips", nr)?, r.words("sps", nr)?);
            fields! { pid: pid, tid: tid, kind: kind, time: time, ips: ips, sps: sps, rest: r.rest() }
        }
        32776 => unwinding_result(r)?,
        // DEBUG
        _ => fields! { time: r.u64("time")?, text: rest_string(r, "s")? },
    })
}

fn unwinding_result(r: &mut Reader<'_>) -> Result<Value, String> {
    let [time, used, code] = [r.u64("time")?, r.u64("used_time")?, r.u64("error_code")?];
    let [addr, start, end] = [r.u64("error_addr")?, r.u64("stack_start")?, r.u64("stack_end")?];
    let (abi, mask) = (r.u64("abi")?, r.u64("reg_mask")?);
    let regs = r.words("regs", mask.count_ones().into())?;
    let size = r.u64("stack size")?;
    let stack = r.bytes("stack", size)?;
    let dyn_size = if size > 0 { Some(r.u64("dyn_size")?) } else { None };
    let mut chain = None;
    if r.left() > 0 {
        let nr = r.u64("length")?;
        chain = Some(fields! { ips: r.words("ips", nr)?, sps: r.words("sps", nr)? });
    }
    Ok(fields! {
        time: time, used: used, code: code, addr: addr, start: start, end: end, abi: abi, mask: mask, regs: regs,
        stack: stack, dyn_size: dyn_size, chain: chain, rest: r.rest(),
    })
}

/// Reads a string that takes the rest of the record.
fn rest_string<'a>(r: &mut Reader<'a>, field: &str) -> Result<&'a [u8], String> {
    let text = string(r, field)?;
    let _padding = r.rest();
    Ok(text)
}

/// Reads the entries of AUXTRACE without their number: offsets, each with the size of a record, 48.
pub(super) fn auxtrace(section: &[u8], big: bool) -> Option<Vec<Value>> {
    let r = &mut Reader::new(section, big);
    let mut entries = Vec::new();
    while r.left() > 0 {
        let (file_offset, size) = (r.u64("file_offset").ok()?, r.u64("size").ok()?);
        if size != 48 {
            return None;
        }
        entries.push(fields! { file_offset: file_offset, size: size });
    }
    Some(entries)
}

/// Reads a string that ends with a NUL.
fn string<'a>(r: &mut Reader<'a>, field: &str) -> Result<&'a [u8], String> {
    let len = r.clone().rest().iter().position(|&byte| byte == 0).ok_or(format!("{field}: no NUL"))?;
    let text = r.bytes(field, len as u64)?;
    r.u8(field)?;
    Ok(text)
}

pub(super) fn meta_info(r: &mut Reader<'_>) -> Result<Value, String> {
    Ok(fields! { key: string(r, "key")?, value: string(r, "value")? })
}

/// Reads a file of FILE.
pub(super) fn file(r: &mut Reader<'_>) -> Result<Value, String> {
    let size = r.u32("size")?;
    let r = &mut Reader::new(r.bytes("file", size.into())?, r.is_big());
    let (path, kind, min_vaddr) = (string(r, "path")?, r.u32("type")?, r.u64("min_vaddr")?);
    let mut symbols = Vec::new();
    for _ in 0..r.u32("symbol_count")? {
        symbols.push(fields! { vaddr: r.u64("vaddr")?, len: r.u32("len")?, name: string(r, "name")? });
    }
    let mut offsets = Vec::new();
    if kind == 3 {
        for _ in 0..r.u32("dex_file_offset_count")? {
            offsets.push(r.u64("dex_file_offset")?);
        }
    }
    let mut last = |wanted| if kind == wanted && r.left() > 0 { r.u64("offset").map(Some) } else { Ok(None) };
    let (in_file, in_memory) = (last(2)?, last(1)?);
    r.end()?;
    Ok(fields! {
        path: path, kind: kind, min_vaddr: min_vaddr, symbols: symbols, dex: offsets, in_file: in_file,
        in_memory: in_memory,
    })
}

/// A field of a message: a number, or bytes.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

fn varint(r: &mut Reader<'_>) -> Result<u64, String> {
    let mut bits: u128 = 0;
    for byte in 0..10 {
        let next = r.u8("varint")?;
        bits |= u128::from(next & 127) << (7 * byte);
        if next < 128 {
            return u64::try_from(bits).map_err(|_| "varint: too large".into());
        }
        if byte == 9 {
            break;
        }
    }
    Err("varint: too long".into())
}

/// Reads all fields of a message.
fn message(bytes: &[u8]) -> Result<Vec<(u64, Wire<'_>)>, String> {
    let r = &mut Reader::new(bytes, false);
    let mut all = Vec::new();
    while r.left() > 0 {
        let tag = varint(r)?;
        if tag < 8 {
            return Err("tag: field 0".into());
        }
        let value = match tag % 8 {
            0 => Wire::Number(varint(r)?),
            1 => r.bytes("fixed", 8).map(|_| Wire::Other)?,
            2 => {
                let len = varint(r)?;
                Wire::Bytes(r.bytes("bytes", len)?)
            }
            5 => r.bytes("fixed", 4).map(|_| Wire::Other)?,
            other => return Err(format!("tag: wire type {other}")),
        };
        all.push((tag / 8, value));
    }
    Ok(all)
}

pub(super) fn is_message(bytes: &[u8]) -> bool {
    message(bytes).is_ok()
}

/// The last bytes of a field.
fn last_bytes<'a>(all: &[(u64, Wire<'a>)], field: u64) -> Option<&'a [u8]> {
    all.iter().rev().find_map(|it| match it {
        (number, Wire::Bytes(bytes)) if *number == field => Some(*bytes),
        _ => None,
    })
}

/// The bytes of a repeated field.
fn repeated<'a>(all: &[(u64, Wire<'a>)], field: u64) -> Vec<&'a [u8]> {
    let of = |it: &(u64, Wire<'a>)| match it {
        (number, Wire::Bytes(bytes)) if *number == field => Some(*bytes),
        _ => None,
    };
    all.iter().filter_map(of).collect()
}

/// The last number of a field.
fn last(all: &[(u64, Wire<'_>)], field: u64) -> u64 {
    let of = |it: &(u64, Wire<'_>)| match it {
        (number, Wire::Number(value)) if *number == field => Some(*value),
        _ => None,
    };
    all.iter().rev().find_map(of).unwrap_or(0)
}

/// The last 32-bit number of a field. None of the numbers may be larger.
fn last_u32(all: &[(u64, Wire<'_>)], field: u64) -> Result<u64, String> {
    let is_too_large = |it: &(u64, Wire<'_>)| matches!(it, (number, Wire::Number(value)) if *number == field && *value >> 32 != 0);
    if all.iter().any(is_too_large) { Err(format!("field {field}: too large")) } else { Ok(last(all, field)) }
}

/// The number in a message of one field. All such messages of the enclosing one are read.
fn inner(all: &[(u64, Wire<'_>)], field: u64) -> Result<Option<u64>, String> {
    let mut found = None;
    for bytes in repeated(all, field) {
        found = Some(last(&message(bytes)?, 1));
    }
    Ok(found)
}

fn text(all: &[(u64, Wire<'_>)], field: u64) -> Value {
    last_bytes(all, field).unwrap_or_default().into()
}

/// Reads a file of FILE2.
pub(super) fn file2(r: &mut Reader<'_>) -> Result<Value, String> {
    let size = r.u32("size")?;
    let all = message(r.bytes("file", size.into())?)?;
    let mut symbols = Vec::new();
    for bytes in repeated(&all, 4) {
        let symbol = message(bytes)?;
        symbols.push(fields! { vaddr: last(&symbol, 1), len: last_u32(&symbol, 2)?, name: text(&symbol, 3) });
    }
    let mut offsets = Vec::new();
    for bytes in repeated(&all, 5) {
        offsets = dex_file_offsets(&message(bytes)?)?;
    }
    Ok(fields! {
        path: text(&all, 1), kind: last_u32(&all, 2)?, min_vaddr: last(&all, 3), symbols: symbols, dex: offsets,
        in_file: inner(&all, 6)?, in_memory: inner(&all, 7)?,
    })
}

/// Reads offsets: one packed list, or a field for each.
fn dex_file_offsets(all: &[(u64, Wire<'_>)]) -> Result<Vec<u64>, String> {
    let lists = repeated(all, 1);
    let mut alone = Vec::new();
    for it in all {
        if let (1, Wire::Number(offset)) = it {
            alone.push(*offset);
        }
    }
    match lists[..] {
        [] => Ok(alone),
        [list] if alone.is_empty() => {
            let r = &mut Reader::new(list, false);
            let mut offsets = Vec::new();
            while r.left() > 0 {
                offsets.push(varint(r)?);
            }
            Ok(offsets)
        }
        _ => Err("dex_file_offset: several lists".into()),
    }
}

pub(super) fn debug_unwind(bytes: &[u8]) -> Result<Value, String> {
    let file =
        |bytes: &[u8]| message(bytes).map(|file| fields! { path: text(&file, 1), size: last(&file, 2) });
    let files: Result<Vec<_>, _> = repeated(&message(bytes)?, 1).into_iter().map(file).collect();
    Ok(files?.into())
}

pub(super) fn branch_list(bytes: &[u8]) -> Result<Value, String> {
    let list = message(bytes)?;
    let mut binaries = Vec::new();
    for bytes in repeated(&list, 2) {
        let binary = message(bytes)?;
        let mut addrs = Vec::new();
        for bytes in repeated(&binary, 3) {
            let addr = message(bytes)?;
            let mut branches = Vec::new();
            for bytes in repeated(&addr, 2) {
                let it = message(bytes)?;
                branches.push(fields! { branch: text(&it, 1), size: last_u32(&it, 2)?, count: last(&it, 3) });
            }
            addrs.push(fields! { addr: last(&addr, 1), branches: branches });
        }
        binaries.push(fields! {
            path: text(&binary, 1), build_id: text(&binary, 2), addrs: addrs, kind: last_u32(&binary, 4)?,
            kernel: inner(&binary, 5)?,
        });
    }
    Ok(fields! { magic: text(&list, 1), binaries: binaries })
}

/// Reads the headers of the records.
pub(super) fn init_map(r: &mut Reader<'_>, section: &[u8]) -> Result<Value, String> {
    let mut records = Vec::new();
    while r.left() > 0 && !r.ends(section) {
        let all = r.clone().rest();
        let (kind, high, low) = (r.u32("type")?, r.u16("misc")?, r.u16("size")?);
        let size =
            if (32768..65536).contains(&kind) { u64::from(high) << 16 | u64::from(low) } else { low.into() };
        r.bytes("record", size.checked_sub(8).ok_or("size: below 8")?)?;
        records.push(&all[..usize::try_from(size).unwrap()]);
    }
    Ok(records.into())
}
