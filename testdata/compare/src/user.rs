//! Records of the perf tool, as the values of the oracle.

use perf_abi::attr::Attr;
use perf_abi::endian::Endian;
use perf_abi::record::{Misc, RecordType};
use perf_parse::record::UserRecord;
use perf_parse::record::user::{BuildId, CpuMapData, EventUpdateData, IdIndexEntry, IdIndexGuest};
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{Error, RawRecord, Record, SampleLayout};
use testdata::fields;
use testdata::oracle::{self, Value};

use crate::attr;

/// Compares the decoder with the oracle on a record of the perf tool: both accept it with the same values, or refuse
/// it. Returns whether it was accepted. A record of simpleperf that is accepted is written again: in the same bytes, or, if
/// other bytes than padding follow a string, with the same values.
///
/// # Panics
///
/// If they differ.
pub fn check<O: Endian>(raw: &RawRecord<'_, O>) -> bool {
    let expected = oracle::user(raw.kind().0, raw.misc().0, crate::is_big::<O>(), raw.payload());
    match (record(raw), expected) {
        (Ok(decoded), Ok(expected)) => {
            assert_eq!(decoded, expected, "{raw:?}");
            if raw.kind().is_simpleperf() {
                check_written(raw);
            }
            true
        }
        (Err(error), Err(_)) => {
            assert!(error.offset as usize <= raw.payload().len() + 8, "{error}");
            false
        }
        (decoded, expected) => panic!("{raw:?} is {decoded:?} and not {expected:?}"),
    }
}

fn check_written<O: Endian>(raw: &RawRecord<'_, O>) {
    let layout = SampleLayout::new(&Attr::default()).unwrap();
    let decoded = raw.decode_user().unwrap();
    let mut bytes = vec![1, 2, 3];
    write::record(&mut bytes, &layout, raw.misc(), &decoded, &SampleIdFields::default()).unwrap();
    let (written, rest) = RawRecord::<O>::parse(&bytes[3..]).unwrap();
    assert!(rest.is_empty());
    let with_string = [RecordType::DSO, RecordType::SYMBOL, RecordType::DEBUG].contains(&raw.kind());
    if !with_string {
        assert_eq!(written.as_bytes(), raw.as_bytes(), "{raw:?}");
    }
    assert_eq!((written.kind(), record(&written)), (raw.kind(), record(raw)));
}

/// Decodes a record. `None` if its type is unknown.
fn record<O: Endian>(raw: &RawRecord<'_, O>) -> Result<Option<Value>, Error> {
    let Record::User(record, kind) = raw.decode_user()? else { panic!("{raw:?} is a record of the kernel") };
    assert_eq!(kind, raw.kind());
    let reserved = |bytes| oracle::Reader::new(bytes, crate::is_big::<O>()).u32("reserved__").unwrap();
    Ok(Some(match record {
        UserRecord::HeaderAttr(it) => {
            let read = it.attr();
            let ids = it.ids.iter().collect::<Value>();
            fields! { attr: attr(&read.attr), tail: read.tail, ids: ids }
        }
        UserRecord::HeaderEventType(it) => fields! { event_id: it.event_id, name: it.name },
        UserRecord::HeaderTracingData(it) => fields! { size: it.size, rest: it.rest },
        UserRecord::HeaderBuildId(it) => build_id(&it),
        UserRecord::FinishedRound | UserRecord::FinishedInit => fields! {},
        UserRecord::IdIndex(it) => {
            let entry = |it: IdIndexEntry| {
                fields! { id: it.id, idx: it.idx, cpu: it.cpu, tid: it.tid }
            };
            let guest = |it: IdIndexGuest| {
                fields! { machine_pid: it.machine_pid, vcpu: it.vcpu }
            };
            fields! {
                entries: it.entries.iter().map(entry).collect::<Value>(),
                guests: it.guests.map(|guests| guests.iter().map(guest).collect::<Value>()),
                rest: it.rest,
            }
        }
        UserRecord::AuxtraceInfo(it) => {
            let reserved = reserved(&raw.payload()[4..]);
            let words = it.words.iter().collect::<Value>();
            fields! { kind: it.kind.0, reserved: reserved, words: words }
        }
        UserRecord::Auxtrace(it) => fields! {
            size: it.size, offset: it.offset, reference: it.reference, idx: it.idx,
            tid: it.tid, cpu: it.cpu, reserved: reserved(&raw.payload()[36..]), rest: it.rest,
        },
        UserRecord::AuxtraceError(it) => {
            let guest = it.guest.map(|(machine_pid, vcpu)| fields! { machine_pid: machine_pid, vcpu: vcpu });
            fields! {
                kind: it.kind.0, code: it.code, cpu: it.cpu,
                pid: it.pid, tid: it.tid, fmt: it.fmt,
                ip: it.ip, time: it.time, msg: it.msg, guest: guest, rest: it.rest,
            }
        }
        UserRecord::ThreadMap(it) => {
            let comms = it.entries.as_bytes().chunks_exact(24).map(|entry| &entry[8..]);
            let entries = it.entries.iter().zip(comms).map(|(it, comm)| {
                assert_eq!(it.comm(), until_nul(comm));
                fields! { pid: it.pid, comm: comm }
            });
            fields! { entries: entries.collect::<Value>(), rest: it.rest }
        }
        UserRecord::CpuMap(it) => fields! { data: cpu_map(&it.data), rest: it.rest },
        UserRecord::StatConfig(it) => {
            let entries = it.entries.iter().map(|it| fields! { tag: it.tag.0, val: it.val });
            fields! { entries: entries.collect::<Value>(), rest: it.rest }
        }
        UserRecord::Stat(it) => fields! {
            id: it.id, cpu: it.cpu, thread: it.thread, val: it.val, ena: it.ena,
            run: it.run, rest: it.rest,
        },
        UserRecord::StatRound(it) => {
            fields! { kind: it.kind.0, time: it.time, rest: it.rest }
        }
        UserRecord::EventUpdate(it) => {
            let data = match &it.data {
                EventUpdateData::Unit(unit) => fields! { unit: *unit },
                EventUpdateData::Scale(scale) => fields! { scale: scale.to_bits() },
                EventUpdateData::Name(name) => fields! { name: *name },
                EventUpdateData::Cpus(cpus) => cpu_map(cpus),
                EventUpdateData::Other { kind, data } => fields! { kind: kind.0, data: *data },
                data => panic!("{data:?}"),
            };
            fields! { id: it.id, data: data, rest: it.rest }
        }
        UserRecord::TimeConv(it) => {
            let short = it.short.map(|it| {
                fields! {
                    cycles: it.time_cycles, mask: it.time_mask, cap_zero: it.cap_user_time_zero,
                    cap_short: it.cap_user_time_short,
                }
            });
            fields! {
                shift: it.time_shift, mult: it.time_mult, zero: it.time_zero,
                short: short, rest: it.rest,
            }
        }
        UserRecord::HeaderFeature(it) => fields! { feat_id: it.feat_id, data: it.data },
        UserRecord::Compressed(data) => fields! { data: data },
        UserRecord::Compressed2(it) => fields! { data: it.data, rest: it.rest },
        UserRecord::BpfMetadata(it) => {
            let entries = it.entries.iter().map(|it| {
                let [key, value] = [&it.key[..], &it.value[..]].map(until_nul);
                fields! { key: key, value: value }
            });
            fields! { prog_name: it.prog_name, entries: entries.collect::<Value>(), rest: it.rest }
        }
        UserRecord::SchedstatCpu(it) => fields! {
            timestamp: it.timestamp, cpu: it.cpu, version: it.version,
            domain: Value::Absent, counts: it.counts().next().map(|_| counts(it.counts())), rest: it.rest,
        },
        UserRecord::SchedstatDomain(it) => fields! {
            timestamp: it.timestamp, cpu: it.cpu, version: it.version,
            domain: it.domain, counts: it.counts().next().map(|_| counts(it.counts())), rest: it.rest,
        },
        UserRecord::KernelSymbol(it) => fields! { data: it.kallsyms, rest: it.rest },
        UserRecord::TracingData(it) => fields! { data: it.data, rest: it.rest },
        UserRecord::Dso(it) => fields! {
            dso_type: it.dso_type, dso_id: it.dso_id, min_vaddr: it.min_vaddr, name: it.dso_name,
        },
        UserRecord::Symbol(it) => fields! { addr: it.addr, len: it.len, dso_id: it.dso_id, name: it.name },
        UserRecord::Split(data) => fields! { data: data },
        UserRecord::SplitEnd => fields! {},
        UserRecord::EventId(it) => {
            let ids = it.entries.iter().map(|it| fields! { attr_id: it.attr_id, event_id: it.event_id });
            fields! { ids: ids.collect::<Value>(), rest: it.rest }
        }
        UserRecord::Callchain(it) => fields! {
            pid: it.pid, tid: it.tid, kind: it.chain_type.0, time: it.time, ips: it.ips.iter().collect::<Value>(),
            sps: it.sps.iter().collect::<Value>(), rest: it.rest,
        },
        UserRecord::UnwindingResult(it) => {
            let state = it.state();
            let chain = state.chain.map(|(ips, sps)| {
                fields! { ips: ips.iter().collect::<Value>(), sps: sps.iter().collect::<Value>() }
            });
            fields! {
                time: it.time, used: it.used_time, code: it.error_code.0, addr: it.error_addr,
                start: it.stack_start, end: it.stack_end, abi: state.regs_abi.0, mask: state.regs_mask,
                regs: state.regs.iter().collect::<Value>(), stack: state.stack, dyn_size: state.dyn_size,
                chain: chain, rest: state.rest,
            }
        }
        UserRecord::Debug(it) => fields! { time: it.time, text: it.message },
        UserRecord::Other(_) => return Ok(None),
        record => panic!("{record:?}"),
    }))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn counts(counts: impl Iterator<Item = (&'static str, u64)>) -> Value {
    counts.map(|(name, count)| Value::List(vec![name.as_bytes().into(), count.into()])).collect()
}

/// Returns a build id, of a record or of an entry of the feature.
pub(crate) fn build_id(it: &BuildId<'_>) -> Value {
    let Misc(misc) = it.misc;
    fields! { misc: misc, pid: it.pid, build_id: it.build_id, filename: it.filename.as_bytes() }
}

fn cpu_map(data: &CpuMapData<'_>) -> Value {
    match data {
        CpuMapData::Cpus(cpus) => fields! { cpus: cpus.iter().collect::<Value>() },
        CpuMapData::Mask32(mask) => fields! { mask32: mask.iter().collect::<Value>() },
        CpuMapData::Mask64(mask) => fields! { mask64: mask.iter().collect::<Value>() },
        CpuMapData::Range { any_cpu, start_cpu, end_cpu } => {
            fields! { any_cpu: u8::from(*any_cpu), start_cpu: *start_cpu, end_cpu: *end_cpu }
        }
        CpuMapData::Other { kind, data } => fields! { kind: kind.0, data: *data },
        data => panic!("{data:?}"),
    }
}
