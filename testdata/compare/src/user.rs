//! Records of the perf tool, as the values of the oracle.

use perf_abi::endian::Endian;
use perf_abi::record::Misc;
use perf_parse::record::UserRecord;
use perf_parse::record::user::{BuildId, CpuMapData, EventUpdateData};
use perf_parse::{Error, RawRecord, Record};
use testdata::fields;
use testdata::oracle::{self, Value};

use crate::attr;

/// Compares the decoder with the oracle on a record of the perf tool: both accept it with the same values, or refuse
/// it. Returns whether it was accepted.
///
/// # Panics
///
/// If they differ.
pub fn check<O: Endian>(raw: &RawRecord<'_, O>) -> bool {
    let expected = oracle::user(raw.kind().0, raw.misc().0, crate::is_big::<O>(), raw.payload());
    match (record(raw), expected) {
        (Ok(decoded), Ok(expected)) => {
            assert_eq!(decoded, expected, "{raw:?}");
            true
        }
        (Err(error), Err(_)) => {
            assert!(error.offset as usize <= raw.payload().len() + 8, "{error}");
            false
        }
        (decoded, expected) => panic!("{raw:?} is {decoded:?} and not {expected:?}"),
    }
}

/// Decodes a record. `None` if its type is unknown.
fn record<O: Endian>(raw: &RawRecord<'_, O>) -> Result<Option<Value>, Error> {
    let Record::User(record, kind) = raw.decode_user()? else { panic!("{raw:?} is a record of the kernel") };
    assert_eq!(kind, raw.kind());
    Ok(Some(match record {
        UserRecord::HeaderAttr(it) => {
            let read = it.attr();
            let ids = it.ids.iter().map(|id| id.get()).collect::<Value>();
            fields! { attr: attr(&read.attr), tail: read.tail, ids: ids }
        }
        UserRecord::HeaderEventType(it) => fields! { event_id: it.event_id, name: it.name },
        UserRecord::HeaderTracingData(it) => fields! { size: it.size.get(), rest: it.rest },
        UserRecord::HeaderBuildId(it) => build_id(&it),
        UserRecord::FinishedRound | UserRecord::FinishedInit => fields! {},
        UserRecord::IdIndex(it) => {
            let entry = |it: &perf_abi::record::IdIndexEntry<O>| {
                fields! { id: it.id.get(), idx: it.idx.get(), cpu: it.cpu.get(), tid: it.tid.get() }
            };
            let guest = |it: &perf_abi::record::IdIndexEntry2<O>| {
                fields! { machine_pid: it.machine_pid.get(), vcpu: it.vcpu.get() }
            };
            fields! {
                entries: it.entries.iter().map(entry).collect::<Value>(),
                guests: it.guests.map(|guests| guests.iter().map(guest).collect::<Value>()),
                rest: it.rest,
            }
        }
        UserRecord::AuxtraceInfo(it) => {
            let reserved = oracle::Reader::new(&raw.payload()[4..], crate::is_big::<O>()).u32("reserved__");
            let words = it.words.iter().map(|word| word.get()).collect::<Value>();
            fields! { kind: it.kind.0, reserved: reserved.unwrap(), words: words }
        }
        UserRecord::Auxtrace(it) => fields! {
            size: it.size.get(), offset: it.offset.get(), reference: it.reference.get(), idx: it.idx.get(),
            tid: it.tid.get(), cpu: it.cpu.get(), reserved: it.reserved.get(), rest: it.rest,
        },
        UserRecord::AuxtraceError(it) => {
            let guest = it
                .guest
                .map(|guest| fields! { machine_pid: guest.machine_pid.get(), vcpu: guest.vcpu.get() });
            fields! {
                kind: it.fields.kind.get(), code: it.fields.code.get(), cpu: it.fields.cpu.get(),
                pid: it.fields.pid.get(), tid: it.fields.tid.get(), fmt: it.fields.fmt.get(),
                ip: it.fields.ip.get(), time: it.time, msg: it.msg, guest: guest, rest: it.rest,
            }
        }
        UserRecord::ThreadMap(it) => {
            let entries = it.entries.iter().map(|it| fields! { pid: it.pid.get(), comm: &it.comm[..] });
            fields! { entries: entries.collect::<Value>(), rest: it.rest }
        }
        UserRecord::CpuMap(it) => fields! { data: cpu_map(&it.data), rest: it.rest },
        UserRecord::StatConfig(it) => {
            let entries = it.entries.iter().map(|it| fields! { tag: it.tag.get(), val: it.val.get() });
            fields! { entries: entries.collect::<Value>(), rest: it.rest }
        }
        UserRecord::Stat(it) => fields! {
            id: it.id.get(), cpu: it.cpu.get(), thread: it.thread.get(), val: it.val.get(), ena: it.ena.get(),
            run: it.run.get(), rest: it.rest,
        },
        UserRecord::StatRound(it) => {
            fields! { kind: it.kind.get(), time: it.time.get(), rest: it.rest }
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
                    cycles: it.time_cycles.get(), mask: it.time_mask.get(), cap_zero: it.cap_user_time_zero,
                    cap_short: it.cap_user_time_short,
                }
            });
            fields! {
                shift: it.scale.time_shift.get(), mult: it.scale.time_mult.get(), zero: it.scale.time_zero.get(),
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
            timestamp: it.fields.timestamp.get(), cpu: it.fields.cpu.get(), version: it.fields.version.get(),
            domain: Value::Absent, counts: it.counts.map(|_| counts(it.counts())), rest: it.rest,
        },
        UserRecord::SchedstatDomain(it) => fields! {
            timestamp: it.fields.timestamp.get(), cpu: it.fields.cpu.get(), version: it.fields.version.get(),
            domain: it.fields.domain.get(), counts: it.counts.map(|_| counts(it.counts())), rest: it.rest,
        },
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
    fields! { misc: misc, pid: it.pid, build_id: it.build_id, filename: it.filename }
}

fn cpu_map<O: Endian>(data: &CpuMapData<'_, O>) -> Value {
    match data {
        CpuMapData::Cpus(cpus) => fields! { cpus: cpus.iter().map(|it| it.get()).collect::<Value>() },
        CpuMapData::Mask32(mask) => fields! { mask32: mask.iter().map(|it| it.get()).collect::<Value>() },
        CpuMapData::Mask64(mask) => fields! { mask64: mask.iter().map(|it| it.get()).collect::<Value>() },
        CpuMapData::Range(it) => {
            fields! { any_cpu: it.any_cpu, start_cpu: it.start_cpu.get(), end_cpu: it.end_cpu.get() }
        }
        CpuMapData::Other { kind, data } => fields! { kind: kind.0, data: *data },
        data => panic!("{data:?}"),
    }
}
