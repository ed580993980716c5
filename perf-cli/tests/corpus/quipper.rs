//! The fields of quipper's `PerfDataProto`, and the corresponding output of `perfdata`.
//!
//! The goldens are messages of perf_data.proto of google/perf_data_converter, as its serializer writes them.

use serde_json::{Value, json};

use crate::compare::How::{
    Absent, Bit, Bytes, Ignored, Len, Message, Messages, Number, Numbers, OrZero, Pid, Pid64, Text, Texts,
};
use crate::compare::{At, Comparison, How, Object, Table, hex, printed};
use crate::output::{Output, Record};
use crate::proto::{self, Scalar};
use crate::walk::word;
use crate::{features, parsed};

/// Records that quipper skips. Some of them are the header of a pipe.
const OMITTED: [&str; 6] =
    ["CPU_MAP", "EVENT_UPDATE", "FINISHED_INIT", "HEADER_ATTR", "HEADER_EVENT_TYPE", "HEADER_FEATURE"];

const MD5: How = Ignored("only in quipper: a digest of the string in the same message");

/// The whole message except `events`, which are compared record by record; see [`summary`].
const SUMMARY: Table = Table {
    fields: &[
        ("file_attrs", Messages("attrs", &FILE_ATTR)),
        ("event_types", Messages("attrs", &EVENT_TYPE)),
        ("timestamp_sec", Ignored("quipper's own: when it wrote the golden")),
        ("stats", Message("stats", &STATS)),
        ("metadata_mask", Numbers("metadata_mask")),
        ("build_ids", Messages("build_ids", &BUILD_ID)),
        ("uint32_metadata", Messages("uint32_metadata", &METADATA)),
        ("uint64_metadata", Messages("uint64_metadata", &METADATA)),
        ("cpu_topology", Message("cpu_topology", &CPU_TOPOLOGY)),
        ("pmu_mappings", Messages("pmu_mappings", &PMU)),
        ("group_desc", Messages("group_desc", &GROUP)),
        ("hybrid_topology", Messages("hybrid_topology", &HYBRID_PMU)),
        ("numa_topology", Messages("numa_topology", &NUMA_NODE)),
        ("string_metadata", Message("string_metadata", &STRINGS)),
    ],
    json_only: &[],
};

const FILE_ATTR: Table = Table {
    fields: &[("attr", Message("attr", &ATTR)), ("ids", Numbers("ids"))],
    json_only: &["config", "name"],
};

const EVENT_TYPE: Table = Table {
    fields: &[("id", Number(&["config"])), ("name", Text("name")), ("name_md5_prefix", MD5)],
    json_only: &["attr", "ids"],
};

/// quipper calls the words `sample_period` and `wakeup_events` even if `freq` and `watermark` change their meaning. It
/// lacks the newer flags and fields; an older quipper lacks even `ksymbol`.
const ATTR: Table = Table {
    fields: &[
        ("type", Number(&["type"])),
        ("size", Ignored("quipper's own: the size of its struct, whatever the file has")),
        ("config", Number(&["config"])),
        ("sample_period", Number(&["sample_period", "sample_freq"])),
        ("sample_type", Number(&["sample_type"])),
        ("read_format", Number(&["read_format"])),
        ("disabled", Number(&["disabled"])),
        ("inherit", Number(&["inherit"])),
        ("pinned", Number(&["pinned"])),
        ("exclusive", Number(&["exclusive"])),
        ("exclude_user", Number(&["exclude_user"])),
        ("exclude_kernel", Number(&["exclude_kernel"])),
        ("exclude_hv", Number(&["exclude_hv"])),
        ("exclude_idle", Number(&["exclude_idle"])),
        ("mmap", Number(&["mmap"])),
        ("comm", Number(&["comm"])),
        ("freq", Number(&["freq"])),
        ("inherit_stat", Number(&["inherit_stat"])),
        ("enable_on_exec", Number(&["enable_on_exec"])),
        ("task", Number(&["task"])),
        ("watermark", Number(&["watermark"])),
        ("precise_ip", Number(&["precise_ip"])),
        ("mmap_data", Number(&["mmap_data"])),
        ("sample_id_all", Number(&["sample_id_all"])),
        ("exclude_host", Number(&["exclude_host"])),
        ("exclude_guest", Number(&["exclude_guest"])),
        ("exclude_callchain_kernel", Number(&["exclude_callchain_kernel"])),
        ("exclude_callchain_user", Number(&["exclude_callchain_user"])),
        ("mmap2", Number(&["mmap2"])),
        ("comm_exec", Number(&["comm_exec"])),
        ("use_clockid", Number(&["use_clockid"])),
        ("context_switch", Number(&["context_switch"])),
        ("write_backward", Number(&["write_backward"])),
        ("namespaces", Number(&["namespaces"])),
        ("ksymbol", Number(&["ksymbol"])),
        ("cgroup", Number(&["cgroup"])),
        ("wakeup_events", Number(&["wakeup_events", "wakeup_watermark"])),
        ("bp_type", Number(&["bp_type"])),
        ("bp_addr", Number(&["config1", "bp_addr"])),
        ("bp_len", Number(&["config2", "bp_len"])),
        ("branch_sample_type", Number(&["branch_sample_type"])),
        ("sample_regs_user", Number(&["sample_regs_user"])),
        ("sample_stack_user", Number(&["sample_stack_user"])),
    ],
    json_only: &[
        "size",
        "ksymbol",
        "bpf_event",
        "aux_output",
        "text_poke",
        "build_id",
        "inherit_thread",
        "remove_on_exec",
        "sigtrap",
        "defer_callchain",
        "defer_output",
        "clockid",
        "sample_regs_intr",
        "aux_watermark",
        "sample_max_stack",
        "aux_sample_size",
        "aux_action",
        "sig_data",
        "config3",
        "config4",
    ],
};

const STATS: Table = Table {
    fields: &[
        ("num_sample_events", Number(&["SAMPLE"])),
        ("num_mmap_events", Number(&["MMAP"])),
        ("num_fork_events", Number(&["FORK"])),
        ("num_exit_events", Number(&["EXIT"])),
        ("num_sample_events_mapped", Number(&["mapped"])),
        ("did_remap", Ignored("quipper's own: whether it replaced addresses, which none of the goldens has")),
    ],
    json_only: &[],
};

/// `size` is present if `misc` has `BUILD_ID_SIZE`.
const BUILD_ID: Table = Table {
    fields: &[
        ("misc", Number(&["misc"])),
        ("pid", Pid("pid")),
        ("build_id_hash", Bytes("build_id")),
        ("size", Len("build_id")),
        ("filename", Text("filename")),
        ("filename_md5_prefix", MD5),
    ],
    json_only: &[],
};

const METADATA: Table =
    Table { fields: &[("type", Number(&["type"])), ("data", Numbers("data"))], json_only: &[] };

const CPU_TOPOLOGY: Table = Table {
    fields: &[
        ("core_siblings", Texts("core_siblings")),
        ("core_siblings_md5_prefix", MD5),
        ("thread_siblings", Texts("thread_siblings")),
        ("thread_siblings_md5_prefix", MD5),
        ("available_cpus", Messages("cpus", &CPU)),
    ],
    json_only: &["die_siblings"],
};

const CPU: Table = Table {
    fields: &[("core_id", Number(&["core_id"])), ("socket_id", Number(&["socket_id"]))],
    json_only: &["die_id"],
};

const PMU: Table = Table {
    fields: &[("type", Number(&["type"])), ("name", Text("name")), ("name_md5_prefix", MD5)],
    json_only: &[],
};

const GROUP: Table = Table {
    fields: &[
        ("name", Text("name")),
        ("name_md5_prefix", MD5),
        ("leader_idx", Number(&["leader_idx"])),
        ("num_members", Number(&["nr_members"])),
    ],
    json_only: &[],
};

const HYBRID_PMU: Table = Table {
    fields: &[
        ("pmu_name", Text("pmu_name")),
        ("pmu_name_md5_prefix", MD5),
        ("cpus", Text("cpus")),
        ("cpus_md5_prefix", MD5),
        ("cpu_list", Numbers("cpu_list")),
    ],
    json_only: &[],
};

const NUMA_NODE: Table = Table {
    fields: &[
        ("id", Number(&["node"])),
        ("total_memory", Number(&["mem_total"])),
        ("free_memory", Number(&["mem_free"])),
        ("cpu_list", Text("cpus")),
        ("cpu_list_md5_prefix", MD5),
    ],
    json_only: &[],
};

const STRINGS: Table = Table {
    fields: &[
        ("hostname", Message("hostname", &STRING)),
        ("kernel_version", Message("kernel_version", &STRING)),
        ("perf_version", Message("perf_version", &STRING)),
        ("architecture", Message("architecture", &STRING)),
        ("cpu_description", Message("cpu_description", &STRING)),
        ("cpu_id", Message("cpu_id", &STRING)),
        ("perf_command_line_token", Messages("perf_command_line_token", &STRING)),
        ("perf_command_line_whole", Message("perf_command_line_whole", &STRING)),
    ],
    json_only: &[],
};

const STRING: Table =
    Table { fields: &[("value", Text("value")), ("value_md5_prefix", MD5)], json_only: &[] };

/// A record of quipper's, without the fields of its type.
const HEADER: Table = Table {
    fields: &[("type", Number(&["type_id"])), ("misc", Number(&["misc"])), ("size", Number(&["size"]))],
    json_only: &["offset", "event"],
};

/// The fields that quipper has for a record type.
struct Kind {
    type_id: u64,
    name: &'static str,
    /// The golden field; `None` if there is nothing to compare.
    golden: Option<&'static str>,
    table: &'static Table,
}

const fn kind(type_id: u64, name: &'static str, golden: &'static str, table: &'static Table) -> Kind {
    Kind { type_id, name, golden: Some(golden), table }
}

const KINDS: [Kind; 20] = [
    kind(1, "MMAP", "mmap_event", &MMAP),
    kind(3, "COMM", "comm_event", &COMM),
    kind(4, "EXIT", "exit_event", &TASK),
    kind(5, "THROTTLE", "throttle_event", &THROTTLE),
    kind(6, "UNTHROTTLE", "throttle_event", &THROTTLE),
    kind(7, "FORK", "fork_event", &TASK),
    kind(9, "SAMPLE", "sample_event", &SAMPLE),
    kind(10, "MMAP2", "mmap_event", &MMAP),
    kind(11, "AUX", "aux_event", &AUX),
    kind(12, "ITRACE_START", "itrace_start_event", &ITRACE_START),
    kind(13, "LOST_SAMPLES", "lost_samples_event", &LOST_SAMPLES),
    kind(14, "SWITCH", "context_switch_event", &SWITCH),
    kind(15, "SWITCH_CPU_WIDE", "context_switch_event", &SWITCH),
    kind(16, "NAMESPACES", "namespaces_event", &NAMESPACES),
    Kind { type_id: 68, name: "FINISHED_ROUND", golden: None, table: &NOTHING },
    kind(69, "ID_INDEX", "id_index_event", &ID_INDEX),
    kind(70, "AUXTRACE_INFO", "auxtrace_info_event", &AUXTRACE_INFO),
    kind(71, "AUXTRACE", "auxtrace_event", &AUXTRACE),
    kind(73, "THREAD_MAP", "thread_map_event", &THREAD_MAP),
    kind(79, "TIME_CONV", "time_conv_event", &TIME_CONV),
];

const NOTHING: Table = Table { fields: &[], json_only: &[] };

const SAMPLE_ID: Table = Table {
    fields: &[
        ("pid", Pid("pid")),
        ("tid", Pid("tid")),
        ("sample_time_ns", Number(&["time"])),
        ("id", Number(&["id", "identifier"])),
        ("cpu", Number(&["cpu"])),
    ],
    json_only: &[],
};

const SAMPLE_INFO: (&str, How) = ("sample_info", Message("sample_id", &SAMPLE_ID));

const MMAP: Table = Table {
    fields: &[
        ("pid", Pid("pid")),
        ("tid", Pid("tid")),
        ("start", Number(&["addr"])),
        ("len", Number(&["len"])),
        ("pgoff", Number(&["pgoff"])),
        ("maj", Number(&["maj"])),
        ("min", Number(&["min"])),
        ("ino", Number(&["ino"])),
        ("ino_generation", Number(&["ino_generation"])),
        ("prot", Number(&["prot"])),
        ("flags", Number(&["flags"])),
        ("filename", Text("filename")),
        ("filename_md5_prefix", MD5),
        ("root_path", Ignored("quipper's own: the beginning of the file name")),
        ("root_path_md5_prefix", MD5),
        SAMPLE_INFO,
    ],
    json_only: &[],
};

const COMM: Table = Table {
    fields: &[
        ("pid", Pid("pid")),
        ("tid", Pid("tid")),
        ("comm", Text("comm")),
        ("comm_md5_prefix", MD5),
        SAMPLE_INFO,
    ],
    json_only: &[],
};

const TASK: Table = Table {
    fields: &[
        ("pid", Pid("pid")),
        ("ppid", Pid("ppid")),
        ("tid", Pid("tid")),
        ("ptid", Pid("ptid")),
        ("fork_time_ns", Number(&["time"])),
        SAMPLE_INFO,
    ],
    json_only: &[],
};

/// `entries` and `hw_idx` come from `branch_stack`; see [`body`].
const SAMPLE: Table = Table {
    fields: &[
        ("ip", Number(&["ip"])),
        ("pid", Pid("pid")),
        ("tid", Pid("tid")),
        ("sample_time_ns", Number(&["time"])),
        ("id", Number(&["id", "identifier"])),
        ("cpu", Number(&["cpu"])),
        ("period", Number(&["period"])),
        ("raw", Bytes("raw")),
        ("raw_size", Len("raw")),
        ("callchain", Numbers("callchain")),
        ("no_hw_idx", Absent("hw_idx")),
        ("branch_stack_hw_idx", OrZero("hw_idx")),
        ("branch_stack", Messages("entries", &BRANCH)),
    ],
    json_only: &[],
};

/// Goldens of older quippers have no `type` and `spec`; none has `new_type` and `priv`.
const BRANCH: Table = Table {
    fields: &[
        ("from_ip", Number(&["from"])),
        ("to_ip", Number(&["to"])),
        ("mispredicted", Number(&["mispred"])),
        ("predicted", Number(&["predicted"])),
        ("in_transaction", Number(&["in_tx"])),
        ("abort", Number(&["abort"])),
        ("cycles", Number(&["cycles"])),
        ("type", Number(&["type"])),
        ("spec", Number(&["spec"])),
    ],
    json_only: &["type", "spec", "new_type", "priv"],
};

const AUX: Table = Table {
    fields: &[
        ("aux_offset", Number(&["aux_offset"])),
        ("aux_size", Number(&["aux_size"])),
        ("is_truncated", Bit("flags", 0)),
        ("is_overwrite", Bit("flags", 1)),
        ("is_partial", Bit("flags", 2)),
        SAMPLE_INFO,
    ],
    json_only: &[],
};

const ITRACE_START: Table =
    Table { fields: &[("pid", Pid("pid")), ("tid", Pid("tid")), SAMPLE_INFO], json_only: &[] };

const LOST_SAMPLES: Table = Table { fields: &[("num_lost", Number(&["lost"])), SAMPLE_INFO], json_only: &[] };

const SWITCH: Table = Table {
    fields: &[
        ("is_out", Bit("misc", 13)),
        ("next_prev_pid", Pid("next_prev_pid")),
        ("next_prev_tid", Pid("next_prev_tid")),
        SAMPLE_INFO,
    ],
    json_only: &[],
};

const THROTTLE: Table = Table {
    fields: &[
        ("time_ns", Number(&["time"])),
        ("id", Number(&["id"])),
        ("stream_id", Number(&["stream_id"])),
        SAMPLE_INFO,
    ],
    json_only: &[],
};

const NAMESPACES: Table = Table {
    fields: &[
        ("pid", Pid("pid")),
        ("tid", Pid("tid")),
        ("link_info", Messages("namespaces", &NAMESPACE)),
        SAMPLE_INFO,
    ],
    json_only: &["nr_namespaces"],
};

const NAMESPACE: Table =
    Table { fields: &[("dev", Number(&["dev"])), ("ino", Number(&["ino"]))], json_only: &[] };

const ID_INDEX: Table = Table { fields: &[("entries", Messages("entries", &ID_ENTRY))], json_only: &["nr"] };

const ID_ENTRY: Table = Table {
    fields: &[
        ("id", Number(&["id"])),
        ("idx", Number(&["idx"])),
        ("cpu", Number(&["cpu"])),
        ("tid", Pid64("tid")),
    ],
    json_only: &[],
};

const AUXTRACE_INFO: Table = Table {
    fields: &[("type", Number(&["type"])), ("unparsed_binary_blob_priv_data", Numbers("priv"))],
    json_only: &[],
};

/// `data` follows the record in the file; see [`body`].
const AUXTRACE: Table = Table {
    fields: &[
        ("size", Number(&["size"])),
        ("offset", Number(&["offset"])),
        ("reference", Number(&["reference"])),
        ("idx", Number(&["idx"])),
        ("tid", Pid("tid")),
        ("cpu", Number(&["cpu"])),
        ("trace_data", Bytes("data")),
    ],
    json_only: &[],
};

const THREAD_MAP: Table = Table { fields: &[("entries", Messages("entries", &THREAD))], json_only: &["nr"] };

const THREAD: Table = Table {
    fields: &[("pid", Pid64("pid")), ("comm", Text("comm")), ("comm_md5_prefix", MD5)],
    json_only: &[],
};

const TIME_CONV: Table = Table {
    fields: &[
        ("time_shift", Number(&["time_shift"])),
        ("time_mult", Number(&["time_mult"])),
        ("time_zero", Number(&["time_zero"])),
        ("time_cycles", Number(&["time_cycles"])),
        ("time_mask", Number(&["time_mask"])),
        ("cap_user_time_zero", Number(&["cap_user_time_zero"])),
        ("cap_user_time_short", Number(&["cap_user_time_short"])),
    ],
    json_only: &[],
};

/// Compares a golden with the dump of its capture.
///
/// `is_parsed`: the golden has the records after quipper's parser.
pub(crate) fn compare(
    mut golden: proto::Message,
    mut output: Output,
    file: &[u8],
    is_parsed: bool,
    comparison: &mut Comparison,
) {
    let events = golden.0.remove("events").unwrap_or_default();
    let (records, mapped) = parsed::parse(output.records.clone());
    if is_parsed {
        output.records = records;
    }
    comparison.message(&At::root("PerfDataProto"), &SUMMARY, &golden, &summary(&output, file, mapped));
    let records: Vec<_> =
        output.records.into_iter().filter(|record| !OMITTED.contains(&&*record.name)).collect();
    let at = At::root("events");
    comparison.expect(&at, &events.len().into(), Some(&records.len().into()));
    for (index, (event, record)) in events.iter().zip(records).enumerate() {
        match event {
            Scalar::Message(event) => compare_event(&at.index(index), event, record, file, comparison),
            other => comparison.fail(&at.index(index), format_args!("golden is no message: {other:?}")),
        }
    }
}

fn compare_event(
    at: &At<'_>,
    event: &proto::Message,
    record: Record,
    file: &[u8],
    comparison: &mut Comparison,
) {
    let Some(kind) = KINDS.iter().find(|kind| Some(kind.type_id) == record.number("type_id")) else {
        return comparison.fail(at, format_args!("no table for a {}", record.name));
    };
    comparison.records += 1;
    comparison.expect(&at.field("type"), &kind.name.into(), Some(&record.name.clone().into()));
    let time = json!(record.time().unwrap_or(0));
    let mut header = record.header.clone();
    // What the data of a trace contains; quipper keeps the data as it is.
    header.remove("packets");
    let body = body(record, file);
    let mut has_body = false;
    for (name, values) in &event.0 {
        let at = at.field(name);
        match (&**name, &values[..]) {
            ("header", [Scalar::Message(golden)]) => comparison.message(&at, &HEADER, golden, &header),
            ("timestamp", [Scalar::Int(golden)]) => match u64::try_from(*golden) {
                Ok(golden) => comparison.expect(&at, &golden.into(), Some(&time)),
                Err(error) => comparison.fail(&at, error),
            },
            (name, [Scalar::Message(golden)]) if Some(name) == kind.golden => {
                has_body = true;
                comparison.message(&at, kind.table, golden, &body);
            }
            _ => comparison.fail(&at, format_args!("not expected in the golden of a {}", kind.name)),
        }
    }
    if !has_body {
        match kind.golden {
            Some(golden) => comparison.fail(at, format_args!("golden has no {golden}")),
            None => comparison.message(at, kind.table, &proto::Message::default(), &body),
        }
    }
}

/// Returns the fields of a record in quipper's shape: with the fields of the trailer, the branch stack expanded, `misc`
/// if it describes a switch, and the data after an AUXTRACE record.
fn body(record: Record, file: &[u8]) -> Object {
    let misc = record.number("misc");
    let payload = record.number("offset").zip(record.number("size")).and_then(|(offset, size)| {
        let start = usize::try_from(offset + size).ok()?;
        let len = usize::try_from(record.fields.get("size")?.as_u64()?).ok()?;
        file.get(start..start.checked_add(len)?)
    });
    let mut body = record.fields;
    match &*record.name {
        "SAMPLE" => {
            if let Some(Value::Object(stack)) = body.remove("branch_stack") {
                body.extend(stack);
            }
        }
        "SWITCH" | "SWITCH_CPU_WIDE" => body.extend(misc.map(|misc| ("misc".to_owned(), misc.into()))),
        "AUXTRACE" => body.extend(payload.map(|payload| ("data".to_owned(), hex(payload).into()))),
        _ => {}
    }
    body.extend(record.sample_id.map(|sample_id| ("sample_id".to_owned(), sample_id.into())));
    body
}

/// Returns everything except the records: the attrs with their ids and names, the numbers of records and of samples
/// with all addresses in mappings, and the features.
fn summary(output: &Output, file: &[u8], mapped: u64) -> Object {
    let count =
        |names: &[&str]| json!(output.records.iter().filter(|record| names.contains(&&*record.name)).count());
    let features = output.header.get("features").and_then(Value::as_object);
    let mut summary = features.map(features::metadata).unwrap_or_default();
    let stats = json!({
        "SAMPLE": count(&["SAMPLE"]), "MMAP": count(&["MMAP", "MMAP2"]),
        "FORK": count(&["FORK"]), "EXIT": count(&["EXIT"]), "mapped": mapped,
    });
    summary.insert("stats".into(), stats);
    let types = event_types(output, file);
    if !types.is_empty() {
        // quipper keeps the names as if they came from an EVENT_DESC.
        summary.insert("metadata_mask".into(), json!([1 << 12]));
    }
    let named = |attr: &Object| {
        let mut attr = attr.clone();
        let typed = types.iter().find(|(id, _)| attr.get("config") == Some(&(*id).into()));
        if let Some((_, name)) = typed {
            attr.insert("name".into(), (**name).into());
        }
        file_attr(attr)
    };
    let attrs: Vec<_> = output.attrs().into_iter().map(named).collect();
    summary.insert("attrs".into(), attrs.into());
    summary
}

/// Returns the names that HEADER_EVENT_TYPE records give to values of `config`: a word, followed by the name.
fn event_types(output: &Output, file: &[u8]) -> Vec<(usize, String)> {
    let records = output.records.iter().filter(|record| record.name == "HEADER_EVENT_TYPE");
    let typed = |record: &Record| {
        let at = usize::try_from(record.number("offset")?).ok()?;
        let name = file.get(at + 16..)?.split(|byte| *byte == 0).next()?;
        Some((word(file, at + 8), printed(name)))
    };
    records.filter_map(typed).collect()
}

/// Returns an attr with `ids`, `name` and `config` as separate members.
fn file_attr(mut attr: Object) -> Value {
    let mut file_attr = Object::new();
    for key in ["ids", "name"] {
        file_attr.extend(attr.remove_entry(key));
    }
    file_attr.extend(attr.get_key_value("config").map(|(key, value)| (key.clone(), value.clone())));
    file_attr.insert("attr".into(), attr.into());
    file_attr.into()
}
