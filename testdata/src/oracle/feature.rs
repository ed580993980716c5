//! The feature sections of a file.
//!
//! perf: the functions `write_*` of `tools/perf/util/header.c`.

use super::attr::sized;
use super::reader::Reader;
use super::simpleperf;
use super::user::{build_id, string as until_nul};
use super::value::Value;
use crate::fields;

/// Decodes the section of the feature `number`, in a capture of a machine with `nr_cpus` CPUs. `None` for tracing data,
/// which [`tracing_data`](super::tracing_data) reads, and for features that no perf up to 7.3 has.
///
/// # Errors
///
/// A message with the field that needs more bytes than there are, or the number of bytes left over. For the
/// sections of build ids and event descriptions, the items before the fault are lost.
pub fn feature(number: u32, nr_cpus: u32, big: bool, section: &[u8]) -> Result<Option<Value>, String> {
    let r = &mut Reader::new(section, big);
    let value = match number {
        2 => build_ids(r)?,
        3 | 4 | 5 | 6 | 8 | 9 => string(r)?.into(),
        7 => fields! { available: r.u32("nr_cpus_available")?, online: r.u32("nr_cpus_online")? },
        10 => r.u64("total_mem")?.into(),
        11 => list(r, string)?.into(),
        12 => event_desc(r)?,
        13 => cpu_topology(r, section, nr_cpus)?,
        14 => list(r, |r| {
            Ok(fields! {
                node: r.u32("node")?, mem_total: r.u64("mem_total")?, mem_free: r.u64("mem_free")?,
                cpus: string(r)?,
            })
        })?
        .into(),
        15 | 19 => fields! {},
        16 => list(r, |r| Ok(fields! { kind: r.u32("type")?, name: string(r)? }))?.into(),
        17 => list(r, |r| {
            Ok(fields! {
                name: string(r)?, leader_idx: r.u32("leader_idx")?, nr_members: r.u32("nr_members")?,
            })
        })?
        .into(),
        // simpleperf leaves out the number of entries.
        18 if section.len().is_multiple_of(16)
            && !section.is_empty()
            && simpleperf::auxtrace(section, big).is_some() =>
        {
            let _all = r.rest();
            simpleperf::auxtrace(section, big).into()
        }
        18 => {
            let nr = r.u64("nr")?;
            items(r, nr, |r| Ok(fields! { file_offset: r.u64("file_offset")?, size: r.u64("size")? }))?.into()
        }
        20 => {
            version_1(r.u32("version")?.into())?;
            list(r, cache)?.into()
        }
        21 => fields! { first: r.u64("first")?, last: r.u64("last")? },
        22 => mem_topology(r)?,
        23 | 24 => r.u64("resolution_ns or version")?.into(),
        25 => list(r, bpf_prog_info)?.into(),
        26 => list(r, |r| {
            let (id, size) = (r.u32("id")?, r.u32("size")?);
            Ok(fields! { id: id, bytes: r.bytes("btf", size.into())? })
        })?
        .into(),
        27 => fields! {
            version: r.u32("version")?, kind: r.u32("type")?, level: r.u32("level")?, ratio: r.u32("ratio")?,
            mmap_len: r.u32("mmap_len")?,
        },
        28 => list(r, pair)?.into(),
        29 => {
            version_1(r.u32("version")?.into())?;
            fields! { clockid: r.u32("clockid")?, wall_ns: r.u64("wall_ns")?, clockid_ns: r.u64("clockid_ns")? }
        }
        30 => list(r, pair)?.into(),
        31 => list(r, |r| Ok(fields! { caps: list(r, pair)?, pmu_name: string(r)? }))?.into(),
        32 => cpu_domain_info(r, section)?,
        33 => fields! { e_machine: r.u32("e_machine")?, e_flags: r.u32("e_flags")? },
        34 => r.u32("cln_size")?.into(),
        128 => until_end(r, section, simpleperf::file)?.into(),
        129 => until_end(r, section, simpleperf::meta_info)?.into(),
        130 => simpleperf::debug_unwind(message(r, section))?,
        132 => until_end(r, section, simpleperf::file2)?.into(),
        133 => simpleperf::branch_list(message(r, section))?,
        134 => simpleperf::init_map(r, section)?,
        _ => return Ok(None),
    };
    if !r.ends(section) {
        return Err(format!("{} bytes left over", r.left()));
    }
    Ok(Some(value))
}

/// Reads items up to the end.
fn until_end<'a>(
    r: &mut Reader<'a>,
    section: &[u8],
    item: impl Fn(&mut Reader<'a>) -> Result<Value, String>,
) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    while !r.ends(section) {
        items.push(item(r)?);
    }
    Ok(items)
}

/// Takes the whole section, which is a message, without padding. No field of a message begins with a zero.
fn message<'a>(r: &mut Reader<'a>, section: &[u8]) -> &'a [u8] {
    let all = r.rest();
    let zeros = all.iter().rev().take_while(|&&byte| byte == 0).count();
    // Zeros at the end may belong to the last field.
    (0..=zeros.min(7))
        .map(|padding| &all[..all.len() - padding])
        .find(|bytes| section.len().is_multiple_of(8) && simpleperf::is_message(bytes))
        .unwrap_or(all)
}

/// Reads a string: a length that includes NUL and padding, and the bytes.
fn string<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], String> {
    let len = r.u32("string length")?;
    let bytes = r.bytes("string", len.into())?;
    let end = bytes.iter().position(|&byte| byte == 0).ok_or("string: no NUL")?;
    Ok(&bytes[..end])
}

fn list<'a, T>(
    r: &mut Reader<'a>,
    item: impl FnMut(&mut Reader<'a>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let nr = r.u32("nr")?;
    items(r, nr.into(), item)
}

fn items<'a, T>(
    r: &mut Reader<'a>,
    nr: u64,
    mut item: impl FnMut(&mut Reader<'a>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    (0..nr).map(|_| item(r)).collect()
}

fn pair(r: &mut Reader<'_>) -> Result<Value, String> {
    Ok(fields! { name: string(r)?, value: string(r)? })
}

fn version_1(version: u64) -> Result<(), String> {
    if version == 1 { Ok(()) } else { Err(format!("version: {version} is not 1")) }
}

/// Reads records of build ids. The first versions of perf wrote no `pid`. With the newer layout, their names would be
/// read from 4 bytes too late; the name of the kernel shows whether this is the case.
fn build_ids(r: &mut Reader<'_>) -> Result<Value, String> {
    let mut records = Vec::new();
    let big = r.is_big();
    let mut fault = None;
    while r.left() > 0 {
        match build_id_record(r) {
            Ok(record) => records.push(record),
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    let is_old =
        records.iter().any(|(_, it)| it.get(28..).is_some_and(|it| it.starts_with(b"nel.kallsyms]")));
    let mut entries = Vec::new();
    for (misc, payload) in records {
        let r = &mut Reader::new(payload, big);
        entries.push(if is_old {
            let (build_id, _pad) = (r.bytes("build_id", 20)?, r.u32("pad")?);
            // The CPU modes of guests are 4 and 5.
            let pid = if matches!(misc & 7, 4 | 5) { 0 } else { -1 };
            fields! { misc: misc, pid: pid, build_id: build_id, filename: until_nul(r, "filename")? }
        } else {
            build_id(misc, r)?
        });
    }
    fault.map_or(Ok(entries.into()), Err)
}

/// Reads `header.misc` and the payload of a record. perf writes 0 as the type of the record.
fn build_id_record<'a>(r: &mut Reader<'a>) -> Result<(u16, &'a [u8]), String> {
    let (_kind, misc, size) = (r.u32("header.type")?, r.u16("header.misc")?, r.u16("header.size")?);
    let size = u64::from(size).checked_sub(8).ok_or("header.size: is below 8")?;
    Ok((misc, r.bytes("build id", size)?))
}

fn event_desc(r: &mut Reader<'_>) -> Result<Value, String> {
    let (nr, attr_size) = (r.u32("nr")?, r.u32("attr_size")?);
    let big = r.is_big();
    let event = |r: &mut Reader<'_>| {
        let attr = sized(r.bytes("attr", attr_size.into())?, big)?;
        let nr_ids = r.u32("nr_ids")?;
        Ok(fields! { attr: attr, name: string(r)?, ids: r.words("ids", nr_ids.into())? })
    };
    Ok(items(r, nr.into(), event)?.into())
}

/// Reads `CPU_TOPOLOGY`. The first versions of perf wrote only the siblings, and later ones no dies.
fn cpu_topology(r: &mut Reader<'_>, section: &[u8], nr_cpus: u32) -> Result<Value, String> {
    let (cores, threads) = (list(r, string)?, list(r, string)?);
    let (mut cpus, mut dies, mut die_ids) = (Vec::new(), None, Vec::new());
    if !r.ends(section) {
        cpus = items(r, nr_cpus.into(), |r| {
            Ok(fields! { core_id: r.u32("core_id")?, socket_id: r.u32("socket_id")? })
        })?;
    }
    if !r.ends(section) {
        dies = Some(list(r, string)?);
        die_ids = items(r, cpus.len() as u64, |r| r.u32("die_id"))?;
    }
    Ok(fields! { cores: cores, threads: threads, cpus: cpus, dies: dies, die_ids: die_ids })
}

fn cache(r: &mut Reader<'_>) -> Result<Value, String> {
    Ok(fields! {
        level: r.u32("level")?, line_size: r.u32("line_size")?, sets: r.u32("sets")?, ways: r.u32("ways")?,
        kind: string(r)?, size: string(r)?, map: string(r)?,
    })
}

fn mem_topology(r: &mut Reader<'_>) -> Result<Value, String> {
    version_1(r.u64("version")?)?;
    let (block_size, nr) = (r.u64("block_size_bytes")?, r.u64("nr")?);
    let node = |r: &mut Reader<'_>| {
        let (node, size, nbits) = (r.u64("node")?, r.u64("size")?, r.u64("nbits")?);
        let words = r.words("bitmap", nbits.div_ceil(64))?;
        let is_set = |bit: &u64| words[(bit / 64) as usize] & 1 << (bit % 64) != 0;
        Ok(
            fields! { node: node, size: size, nbits: nbits, blocks: (0..nbits).filter(is_set).collect::<Value>() },
        )
    };
    Ok(fields! { block_size: block_size, nodes: items(r, nr, node)? })
}

fn bpf_prog_info(r: &mut Reader<'_>) -> Result<Value, String> {
    let (info_len, data_len, arrays) = (r.u32("info_len")?, r.u32("data_len")?, r.u64("arrays")?);
    let big = r.is_big();
    let mut info = Reader::new(r.bytes("info", info_len.into())?, big);
    let data = r.bytes("data", data_len.into())?;
    let (kind, id, tag) = (info.u32("type")?, info.u32("id")?, info.bytes("tag", 8)?);
    let [jited_len, xlated_len] = [info.u32("jited_prog_len")?, info.u32("xlated_prog_len")?];
    let [jited, xlated] = [info.u64("jited_prog_insns")?, info.u64("xlated_prog_insns")?];
    let (load_time, uid) = (info.u64("load_time")?, info.u32("created_by_uid")?);
    let (nr_map_ids, map_ids) = (info.u32("nr_map_ids")?, info.u64("map_ids")?);
    let name = info.bytes("name", 16)?.split(|&byte| byte == 0).next();
    let [ifindex, gpl] = [info.u32("ifindex")?, info.u32("gpl_compatible")?];
    let [netns_dev, netns_ino] = [info.u64("netns_dev")?, info.u64("netns_ino")?];
    let [nr_ksyms, nr_lens] = [info.u32("nr_jited_ksyms")?, info.u32("nr_jited_func_lens")?];
    let [ksyms, lens] = [info.u64("jited_ksyms")?, info.u64("jited_func_lens")?];
    // A pointer is the offset of an array in `data` if the bit of the array is set.
    let array = |bit: u32, offset: u64, nr: u32, width: usize| {
        let start = usize::try_from(offset).ok().filter(|_| arrays & 1 << bit != 0)?;
        data.get(start..)?.get(..(nr as usize).checked_mul(width)?)
    };
    let numbers = |bytes: Option<&[u8]>, width: usize| {
        let number = |bytes: &[u8]| {
            let mut r = Reader::new(bytes, big);
            if width == 4 { r.u32("item").map(u64::from) } else { r.u64("item") }.unwrap_or_default()
        };
        bytes.map(|bytes| bytes.chunks(width).map(number).collect::<Value>())
    };
    Ok(fields! {
        kind: kind, id: id, tag: tag, load_time: load_time, uid: uid, name: name, ifindex: ifindex, gpl: gpl,
        netns_dev: netns_dev, netns_ino: netns_ino,
        jited: array(0, jited, jited_len, 1), xlated: array(1, xlated, xlated_len, 1),
        map_ids: numbers(array(2, map_ids, nr_map_ids, 4), 4),
        ksyms: numbers(array(3, ksyms, nr_ksyms, 8), 8), lens: numbers(array(4, lens, nr_lens, 4), 4),
        newer: info.rest(), arrays: arrays, data: data,
    })
}

fn cpu_domain_info(r: &mut Reader<'_>, section: &[u8]) -> Result<Value, String> {
    let (version, max_domains) = (r.u32("schedstat_version")?, r.u32("max_sched_domains")?);
    let domain = |r: &mut Reader<'_>| {
        let domain = r.u32("domain")?;
        let name = if version >= 17 { Some(string(r)?) } else { None };
        Ok(fields! { domain: domain, name: name, cpumask: string(r)?, cpulist: string(r)? })
    };
    let mut cpus = Vec::new();
    while !r.ends(section) {
        cpus.push(fields! { cpu: r.u32("cpu")?, domains: list(r, domain)? });
    }
    Ok(fields! { version: version, max_domains: max_domains, cpus: cpus })
}
