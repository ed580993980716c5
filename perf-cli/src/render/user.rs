//! The fields of the perf tool's own records, with perf's names.

use core::fmt::Write;

use perf_parse::record::UserRecord;
use perf_parse::record::user::{
    AuxtraceError, CpuMapData, Cpus, EventUpdate, EventUpdateData, IdIndex, TimeConv, UnwindingResult,
};

use super::attr::attr;
use super::name::{Name, name};
use super::{Scalars, Sink, given};

/// Passes the fields of a record to `sink`. Bytes after the known fields are `rest`, unless they are all zero.
pub(crate) fn user(record: &UserRecord<'_>, sink: &mut impl Sink) {
    match record {
        UserRecord::HeaderAttr(it) => {
            let read = it.attr();
            sink.object(name!("attr"), &|sink| {
                attr(&read.attr, sink);
                if !read.tail.is_empty() {
                    sink.blob(name!("tail"), read.tail);
                }
            });
            sink.addresses(name!("ids"), it.ids.iter());
        }
        UserRecord::HeaderEventType(it) => {
            sink.number(name!("event_id"), it.event_id);
            sink.string(name!("name"), it.name);
        }
        UserRecord::HeaderTracingData(it) => sink.number(name!("size"), u64::from(it.size)),
        UserRecord::HeaderBuildId(it) => {
            sink.task(name!("pid"), i64::from(it.pid));
            sink.blob(name!("build_id"), it.build_id);
            sink.string(name!("filename"), &it.filename);
        }
        UserRecord::IdIndex(it) => id_index(it, sink),
        UserRecord::AuxtraceInfo(it) => {
            sink.named(name!("type"), u64::from(it.kind.0), &it.kind);
            sink.addresses(name!("priv"), it.words.iter());
        }
        UserRecord::Auxtrace(it) => {
            sink.hex(name!("size"), it.size);
            sink.hex(name!("offset"), it.offset);
            sink.hex(name!("reference"), it.reference);
            sink.number(name!("idx"), u64::from(it.idx));
            sink.task(name!("tid"), i64::from(it.tid));
            sink.task(name!("cpu"), i64::from(it.cpu));
        }
        UserRecord::AuxtraceError(it) => auxtrace_error(it, sink),
        UserRecord::ThreadMap(it) => {
            sink.number(name!("nr"), it.entries.len() as u64);
            sink.list(name!("entries"), it.entries.len(), &|index, sink| {
                given(it.entries.get(index), |entry| {
                    sink.task(name!("pid"), entry.pid);
                    sink.string(name!("comm"), entry.comm());
                });
            });
        }
        UserRecord::CpuMap(it) => cpu_map(&it.data, sink),
        UserRecord::StatConfig(it) => {
            sink.number(name!("nr"), it.entries.len() as u64);
            sink.list(name!("data"), it.entries.len(), &|index, sink| {
                given(it.entries.get(index), |entry| {
                    sink.named(name!("tag"), entry.tag.0, &entry.tag);
                    sink.number(name!("val"), entry.val);
                });
            });
        }
        UserRecord::Stat(it) => {
            sink.number(name!("id"), it.id);
            sink.task(name!("cpu"), i64::from(it.cpu));
            sink.task(name!("thread"), i64::from(it.thread));
            sink.number(name!("val"), it.val);
            sink.number(name!("ena"), it.ena);
            sink.number(name!("run"), it.run);
        }
        UserRecord::StatRound(it) => {
            sink.named(name!("type"), it.kind.0, &it.kind);
            sink.time(name!("time"), it.time);
        }
        UserRecord::EventUpdate(it) => event_update(it, sink),
        UserRecord::TimeConv(it) => time_conv(it, sink),
        UserRecord::HeaderFeature(it) => {
            match it.feature() {
                Some(feature) => sink.named(name!("feat_id"), it.feat_id, &feature),
                None => sink.number(name!("feat_id"), it.feat_id),
            }
            sink.blob(name!("data"), it.data);
        }
        UserRecord::Compressed(data) => sink.blob(name!("data"), data),
        UserRecord::Compressed2(it) => {
            sink.number(name!("data_size"), it.data.len() as u64);
            sink.blob(name!("data"), it.data);
        }
        UserRecord::BpfMetadata(it) => {
            sink.string(name!("prog_name"), it.prog_name);
            sink.number(name!("nr_entries"), it.entries.len() as u64);
            sink.list(name!("entries"), it.entries.len(), &|index, sink| {
                sink.string(name!("key"), until_nul(&it.entries[index].key));
                sink.string(name!("value"), until_nul(&it.entries[index].value));
            });
        }
        UserRecord::SchedstatCpu(it) => {
            sink.number(name!("timestamp"), it.timestamp);
            sink.number(name!("cpu"), u64::from(it.cpu));
            sink.number(name!("version"), u64::from(it.version));
            it.counts().for_each(|(name, count)| sink.number(&Name::of(name), count));
        }
        UserRecord::SchedstatDomain(it) => {
            sink.number(name!("timestamp"), it.timestamp);
            sink.number(name!("cpu"), u64::from(it.cpu));
            sink.number(name!("version"), u64::from(it.version));
            sink.number(name!("domain"), u64::from(it.domain));
            it.counts().for_each(|(name, count)| sink.number(&Name::of(name), count));
        }
        UserRecord::KernelSymbol(it) => {
            sink.number(name!("kallsyms_size"), it.kallsyms.len() as u64);
            sink.string(name!("kallsyms"), it.kallsyms);
        }
        UserRecord::Dso(it) => {
            sink.number(name!("dso_type"), it.dso_type);
            sink.number(name!("dso_id"), it.dso_id);
            sink.hex(name!("min_vaddr"), it.min_vaddr);
            sink.string(name!("dso_name"), it.dso_name);
        }
        UserRecord::Symbol(it) => {
            sink.hex(name!("addr"), it.addr);
            sink.hex(name!("len"), it.len);
            sink.number(name!("dso_id"), it.dso_id);
            sink.string(name!("name"), it.name);
        }
        UserRecord::Split(data) => sink.blob(name!("data"), data),
        UserRecord::EventId(it) => {
            sink.number(name!("count"), it.entries.len() as u64);
            sink.list(name!("data"), it.entries.len(), &|index, sink| {
                given(it.entries.get(index), |entry| {
                    sink.number(name!("attr_id"), entry.attr_id);
                    sink.number(name!("event_id"), entry.event_id);
                });
            });
        }
        UserRecord::Callchain(it) => {
            sink.task(name!("pid"), i64::from(it.pid));
            sink.task(name!("tid"), i64::from(it.tid));
            sink.named(name!("chain_type"), it.chain_type.0, &it.chain_type);
            sink.time(name!("time"), it.time);
            sink.number(name!("ip_nr"), it.ips.len() as u64);
            sink.addresses(name!("ips"), it.ips.iter());
            sink.addresses(name!("sps"), it.sps.iter());
        }
        UserRecord::UnwindingResult(it) => unwinding_result(it, sink),
        UserRecord::TracingData(it) => {
            sink.number(name!("data_size"), it.data.len() as u64);
            sink.blob(name!("data"), it.data);
        }
        UserRecord::Debug(it) => {
            sink.time(name!("time"), it.time);
            sink.string(name!("s"), it.message);
        }
        UserRecord::Other(raw) => sink.blob(name!("raw"), raw.payload()),
        // FINISHED_ROUND, FINISHED_INIT and SPLIT_END have no content besides their type.
        _ => {}
    }
    if record.rest().iter().any(|&byte| byte != 0) {
        sink.blob(name!("rest"), record.rest());
    }
}

fn id_index(it: &IdIndex<'_>, sink: &mut impl Sink) {
    sink.number(name!("nr"), it.entries.len() as u64);
    sink.list(name!("entries"), it.entries.len(), &|index, sink| {
        given(it.entries.get(index), |entry| {
            sink.number(name!("id"), entry.id);
            sink.number(name!("idx"), entry.idx);
            sink.task(name!("cpu"), entry.cpu);
            sink.task(name!("tid"), entry.tid);
        });
        given(it.guests.and_then(|guests| guests.get(index)), |guest| {
            sink.task(name!("machine_pid"), guest.machine_pid);
            sink.task(name!("vcpu"), guest.vcpu);
        });
    });
}

fn auxtrace_error(it: &AuxtraceError<'_>, sink: &mut impl Scalars) {
    sink.named(name!("type"), u64::from(it.kind.0), &it.kind);
    sink.number(name!("code"), u64::from(it.code));
    sink.task(name!("cpu"), i64::from(it.cpu));
    sink.task(name!("pid"), i64::from(it.pid));
    sink.task(name!("tid"), i64::from(it.tid));
    sink.number(name!("fmt"), u64::from(it.fmt));
    sink.hex(name!("ip"), it.ip);
    given(it.time, |time| sink.time(name!("time"), time));
    sink.string(name!("msg"), it.msg);
    given(it.guest, |(machine_pid, vcpu)| {
        sink.task(name!("machine_pid"), i64::from(machine_pid));
        sink.task(name!("vcpu"), i64::from(vcpu));
    });
}

fn event_update(it: &EventUpdate<'_>, sink: &mut impl Sink) {
    sink.named(name!("type"), it.kind().0, &it.kind());
    sink.number(name!("id"), it.id);
    match it.data {
        EventUpdateData::Unit(unit) => sink.string(name!("unit"), unit),
        // As text: the shortest that parses to the same number. JSON has no infinities.
        EventUpdateData::Scale(scale) => sink.string(name!("scale"), format!("{scale:?}").as_bytes()),
        EventUpdateData::Name(name) => sink.string(name!("name"), name),
        EventUpdateData::Cpus(cpus) => sink.object(name!("cpus"), &|sink| cpu_map(&cpus, sink)),
        EventUpdateData::Other { data, .. } => sink.blob(name!("data"), data),
        _ => {}
    }
}

fn time_conv(it: &TimeConv<'_>, sink: &mut impl Scalars) {
    sink.number(name!("time_shift"), it.time_shift);
    sink.number(name!("time_mult"), it.time_mult);
    sink.number(name!("time_zero"), it.time_zero);
    given(it.short, |short| {
        sink.number(name!("time_cycles"), short.time_cycles);
        sink.hex(name!("time_mask"), short.time_mask);
        sink.number(name!("cap_user_time_zero"), u64::from(short.cap_user_time_zero));
        sink.number(name!("cap_user_time_short"), u64::from(short.cap_user_time_short));
    });
}

fn unwinding_result(it: &UnwindingResult<'_>, sink: &mut impl Sink) {
    let state = it.state();
    sink.time(name!("time"), it.time);
    sink.number(name!("used_time"), it.used_time);
    sink.named(name!("error_code"), it.error_code.0, &it.error_code);
    sink.hex(name!("error_addr"), it.error_addr);
    sink.hex(name!("stack_start"), it.stack_start);
    sink.hex(name!("stack_end"), it.stack_end);
    sink.named(name!("regs_abi"), state.regs_abi.0, &state.regs_abi);
    sink.hex(name!("regs_mask"), state.regs_mask);
    sink.addresses(name!("regs"), state.regs.iter());
    sink.object(name!("stack_user"), &|sink| {
        sink.number(name!("size"), state.stack.len() as u64);
        given(state.dyn_size, |size| sink.number(name!("dyn_size"), size));
        sink.blob(name!("data"), state.stack);
    });
    given(state.chain, |(ips, sps)| {
        sink.addresses(name!("ips"), ips.iter());
        sink.addresses(name!("sps"), sps.iter());
    });
}

/// Passes a set of CPUs to `sink`: its encoding, and its members as a list.
fn cpu_map(it: &CpuMapData<'_>, sink: &mut (impl Scalars + ?Sized)) {
    sink.named(name!("type"), u64::from(it.kind().0), &it.kind());
    match it {
        CpuMapData::Cpus(list) => sink.number(name!("nr"), list.len() as u64),
        CpuMapData::Mask32(words) => mask(words.len(), 4, sink),
        CpuMapData::Mask64(words) => mask(words.len(), 8, sink),
        CpuMapData::Range { any_cpu, start_cpu, end_cpu } => {
            sink.number(name!("any_cpu"), u64::from(*any_cpu));
            sink.number(name!("start_cpu"), u64::from(*start_cpu));
            sink.number(name!("end_cpu"), u64::from(*end_cpu));
        }
        CpuMapData::Other { data, .. } => return sink.blob(name!("data"), data),
        _ => {}
    }
    sink.string(name!("cpus"), cpu_list(it.cpus()).as_bytes());
}

fn mask(nr: usize, long_size: u64, sink: &mut (impl Scalars + ?Sized)) {
    sink.number(name!("nr"), nr as u64);
    sink.number(name!("long_size"), long_size);
}

/// Returns CPUs as the kernel lists them, `0-3,8`, in the given order; -1 for any CPU.
fn cpu_list(cpus: Cpus<'_>) -> String {
    let mut list = String::new();
    let mut cpus = cpus.peekable();
    while let Some(first) = cpus.next() {
        let mut last = first;
        while let Some(next) = cpus.next_if(|&next| first >= 0 && next == last + 1) {
            last = next;
        }
        let comma = if list.is_empty() { "" } else { "," };
        // Writing to memory cannot fail.
        let _ = if first == last {
            write!(list, "{comma}{first}")
        } else {
            write!(list, "{comma}{first}-{last}")
        };
    }
    list
}

/// Returns a name from a field of fixed size, up to its NUL.
fn until_nul(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use perf_abi::endian::LittleEndian;
    use perf_abi::record::RecordType;
    use perf_parse::{RawRecord, Record};

    use super::super::json::Json;

    /// Returns the fields, in JSON, of a little-endian record with this payload.
    fn json(kind: RecordType, payload: &[&[u8]]) -> String {
        let payload = payload.concat();
        let mut bytes = kind.0.to_le_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(u16::try_from(8 + payload.len()).unwrap().to_le_bytes());
        bytes.extend(payload);
        let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
        let Record::User(record, _) = raw.decode_user().unwrap() else { panic!("not a user record") };
        let mut out = Vec::new();
        Json::object(&mut out, |json| super::user(&record, json));
        String::from_utf8(out).unwrap()
    }

    fn w(value: u64) -> [u8; 8] {
        value.to_le_bytes()
    }

    #[test]
    fn of_a_header() {
        let attr = [&[1, 0, 0, 0, 72, 0, 0, 0, 9][..], &[0; 63], &w(7), &w(u64::MAX)];
        let attr = json(RecordType::HEADER_ATTR, &attr);
        assert!(attr.starts_with(r#"{"attr":{"type":1,"size":72,"config":9,"sample_period":0,"#), "{attr}");
        assert!(attr.ends_with(r#""config4":0},"ids":[7,18446744073709551615]}"#), "{attr}");
        let name = json(RecordType::HEADER_EVENT_TYPE, &[&w(3), b"cycles\0\0"]);
        assert_eq!(name, r#"{"event_id":3,"name":"cycles"}"#);
        assert_eq!(json(RecordType::HEADER_TRACING_DATA, &[&w(5368)]), r#"{"size":5368}"#);
        let build_id = json(RecordType::HEADER_BUILD_ID, &[&[255; 4], &[0xab; 20], &[0; 4], b"/a\0"]);
        let id = "ab".repeat(20);
        assert_eq!(build_id, format!(r#"{{"pid":-1,"build_id":"{id}","filename":"/a"}}"#));
        assert_eq!(json(RecordType::HEADER_FEATURE, &[&w(3), b"\x01"]), r#"{"feat_id":3,"data":"01"}"#);
        let feature = json(RecordType::HEADER_FEATURE, &[&w(1 << 40)]);
        assert_eq!(feature, r#"{"feat_id":1099511627776,"data":""}"#);
        assert_eq!(json(RecordType::FINISHED_INIT, &[]), "{}");
    }

    #[test]
    fn of_cpus() {
        let cpus = |words: &[u16]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            json(RecordType::CPU_MAP, &[&bytes])
        };
        let any = u16::MAX;
        assert_eq!(cpus(&[0, 1, any, 0]), r#"{"type":0,"nr":1,"cpus":"-1"}"#);
        assert_eq!(
            cpus(&[0, 8, any, any, 0, 1, 2, 9, 8, 8]),
            r#"{"type":0,"nr":8,"cpus":"-1,-1,0-2,9,8,8"}"#
        );
        assert_eq!(cpus(&[1, 1, 4, 0x0f11, 0]), r#"{"type":1,"nr":1,"long_size":4,"cpus":"0,4,8-11"}"#);
        assert_eq!(
            cpus(&[2, 1, 2, 5]),
            r#"{"type":2,"any_cpu":1,"start_cpu":2,"end_cpu":5,"cpus":"-1,2-5"}"#
        );
        assert_eq!(cpus(&[3, 0x201]), r#"{"type":3,"data":"0102"}"#);
    }

    #[test]
    fn of_an_event() {
        let update = |kind: u64, data: &[u8]| json(RecordType::EVENT_UPDATE, &[&w(kind), &w(5), data]);
        assert_eq!(update(0, b"msec\0\0\0\0"), r#"{"type":0,"id":5,"unit":"msec"}"#);
        assert_eq!(update(1, &1e-6_f64.to_le_bytes()), r#"{"type":1,"id":5,"scale":"1e-6"}"#);
        assert_eq!(update(1, &f64::INFINITY.to_le_bytes()), r#"{"type":1,"id":5,"scale":"inf"}"#);
        assert_eq!(update(2, b"a\xff\0"), r#"{"type":2,"id":5,"name":"a\\xff"}"#);
        let cpus = r#"{"type":3,"id":5,"cpus":{"type":0,"nr":1,"cpus":"3"}}"#;
        assert_eq!(update(3, &[0, 0, 1, 0, 3, 0]), cpus);
        assert_eq!(update(4, b"\x01\x02"), r#"{"type":4,"id":5,"data":"0102"}"#);
    }

    /// Bytes after the known fields are printed, unless they are padding.
    #[test]
    fn of_a_newer_perf() {
        let round = |rest: &[u8]| json(RecordType::STAT_ROUND, &[&w(1), &w(9), rest]);
        assert_eq!(round(&[0; 8]), r#"{"type":1,"time":9}"#);
        assert_eq!(round(&[0, 1]), r#"{"type":1,"time":9,"rest":"0001"}"#);
        let data = json(RecordType::COMPRESSED2, &[&w(2), b"\x0a\x0b", &[0; 6]]);
        assert_eq!(data, r#"{"data_size":2,"data":"0a0b"}"#);
    }

    #[test]
    fn of_simpleperf() {
        let kallsyms = json(RecordType::KERNEL_SYMBOL, &[&[4, 0, 0, 0], b"0 T\n", &[0; 4]]);
        assert_eq!(kallsyms, r#"{"kallsyms_size":4,"kallsyms":"0 T\n"}"#);
        let dso = json(RecordType::DSO, &[&w(2), &w(7), &w(4096), b"/a\0"]);
        assert_eq!(dso, r#"{"dso_type":2,"dso_id":7,"min_vaddr":4096,"dso_name":"/a"}"#);
        let symbol = json(RecordType::SYMBOL, &[&w(1), &w(2), &w(7), b"f\0"]);
        assert_eq!(symbol, r#"{"addr":1,"len":2,"dso_id":7,"name":"f"}"#);
        assert_eq!(json(RecordType::SPLIT, &[b"\x0a"]), r#"{"data":"0a"}"#);
        assert_eq!(json(RecordType::SPLIT_END, &[]), "{}");
        let ids = json(RecordType::EVENT_ID, &[&w(1), &w(0), &w(9)]);
        assert_eq!(ids, r#"{"count":1,"data":[{"attr_id":0,"event_id":9}]}"#);
        let chain = [&[1, 0, 0, 0, 2, 0, 0, 0][..], &w(2), &w(5), &w(1), &w(16), &w(32)];
        let expected = r#"{"pid":1,"tid":2,"chain_type":2,"time":5,"ip_nr":1,"ips":[16],"sps":[32]}"#;
        assert_eq!(json(RecordType::CALLCHAIN, &chain), expected);
        let numbers: Vec<u8> = [5, 6, 2, 3, 16, 24, 2, 1, 77, 8].iter().flat_map(|&word| w(word)).collect();
        let result =
            json(RecordType::UNWINDING_RESULT, &[&numbers, &[0xab; 8], &w(4), &w(1), &w(16), &w(32)]);
        let data = "ab".repeat(8);
        assert_eq!(
            result,
            format!(
                r#"{{"time":5,"used_time":6,"error_code":2,"error_addr":3,"stack_start":16,"stack_end":24,"regs_abi":2,"regs_mask":1,"regs":[77],"stack_user":{{"size":8,"dyn_size":4,"data":"{data}"}},"ips":[16],"sps":[32]}}"#
            )
        );
        let formats = json(RecordType::TRACING_DATA, &[&[1, 0, 0, 0], b"\xff", &[0; 63]]);
        assert_eq!(formats, r#"{"data_size":1,"data":"ff"}"#);
        assert_eq!(json(RecordType::DEBUG, &[&w(3), b"text\0"]), r#"{"time":3,"s":"text"}"#);
    }

    #[test]
    fn of_bpf_and_the_scheduler() {
        let metadata =
            [&b"prog"[..], &[0; 508], &w(1), b"k", &[0; 63], b"v", &[0; 255]].map(<[u8]>::to_vec).concat();
        let metadata = json(RecordType::BPF_METADATA, &[&metadata]);
        assert_eq!(metadata, r#"{"prog_name":"prog","nr_entries":1,"entries":[{"key":"k","value":"v"}]}"#);
        let head = [&w(8)[..], &[2, 0, 0, 0, 17, 0, 1, 0]].concat();
        let cpu = json(RecordType::SCHEDSTAT_CPU, &[&head, &[0; 40], &w(u64::MAX)]);
        assert!(cpu.starts_with(r#"{"timestamp":8,"cpu":2,"version":17,"yld_count":0,"#), "{cpu}");
        assert!(cpu.ends_with(r#""run_delay":0,"pcount":18446744073709551615}"#), "{cpu}");
        let domain = json(RecordType::SCHEDSTAT_DOMAIN, &[&head, &[1; 180]]);
        let start = r#"{"timestamp":8,"cpu":2,"version":17,"domain":1,"busy_lb_count":16843009,"#;
        assert!(domain.starts_with(start), "{domain}");
        assert!(domain.ends_with(r#""ttwu_move_balance":16843009}"#), "{domain}");
    }
}
