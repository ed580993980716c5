//! The size of every struct, and the offset and size of every field.
//!
//! A C struct is held against the Rust structs that cover it, each at its offset. The record header, which payload
//! structs leave out, is one of them. Fields of variable length are named apart: they begin where the fixed part ends.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use perf_abi::attr::RawAttr;
use perf_abi::auxtrace::IndexEntry;
use perf_abi::branch::BranchEntry;
use perf_abi::data_src::DataSrc;
use perf_abi::endian::{LittleEndian as LE, U64};
use perf_abi::file::{FileAttr, PipeHeader, RawFileHeader, RawSection};
use perf_abi::ioctl::QueryBpf;
use perf_abi::mmap_page::MmapPage;
use perf_abi::namespaces::NamespaceLink;
use perf_abi::record::*;
use perf_abi::weight::WeightStruct;

use crate::{Facts, none};

/// A C struct as the Rust structs have it.
#[derive(Default)]
struct Layout {
    /// Where the fixed part ends.
    end: usize,
    /// Offset and size of each field of the fixed part, by its C name.
    fields: BTreeMap<&'static str, (usize, usize)>,
    /// Fields behind the fixed part; the first begins where that ends.
    tail: Vec<&'static str>,
}

impl Layout {
    fn new() -> Self {
        Self::default()
    }

    /// A struct that begins with the record header.
    fn record() -> Self {
        Self::new().part(0, size_of::<Header<LE>>(), &[("header", 0, size_of::<Header<LE>>())])
    }

    /// A Rust struct at an offset.
    fn part(mut self, base: usize, size: usize, fields: &[(&'static str, usize, usize)]) -> Self {
        self.end = self.end.max(base + size);
        for &(name, offset, size) in fields {
            assert_eq!(self.fields.insert(name, (base + offset, size)), None, "{name} is there twice");
        }
        self
    }

    fn tail(mut self, names: &[&'static str]) -> Self {
        self.tail.extend(names);
        self
    }
}

fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Adds a Rust struct at an offset: its fields by their C names, `name = field` where Rust calls it otherwise, `name` in
/// `whole(...)` for the struct itself.
macro_rules! part {
    ($layout:expr, $base:expr, $T:ty { $($c:ident $(= $field:tt)?),* } $(whole $whole:ident)?) => {
        $layout.part($base, size_of::<$T>(), &[
            $( part!(@field $T, $c $(= $field)?), )*
            $( (stringify!($whole), 0, size_of::<$T>()), )?
        ])
    };
    (@field $T:ty, $c:ident) => { part!(@field $T, $c = $c) };
    (@field $T:ty, $c:ident = $field:tt) => {
        (stringify!($c), offset_of!($T, $field), size_of_field(|value: &$T| &value.$field))
    };
}

fn layouts() -> BTreeMap<&'static str, Layout> {
    let new = Layout::new;
    let record = Layout::record;
    let mut all = BTreeMap::from([
        (
            "perf_event_attr",
            part!(new(), 0, RawAttr<LE> {
                type = kind, size, config, sample_period, sample_freq = sample_period, sample_type, read_format,
                wakeup_events, wakeup_watermark = wakeup_events, bp_type,
                bp_addr = config1, kprobe_func = config1, uprobe_path = config1, config1,
                bp_len = config2, kprobe_addr = config2, probe_offset = config2, config2,
                branch_sample_type, sample_regs_user, sample_stack_user, clockid, sample_regs_intr, aux_watermark,
                sample_max_stack, __reserved_2 = reserved_2, aux_sample_size, aux_action, sig_data, config3, config4
            }),
        ),
        ("perf_event_query_bpf", part!(new(), 0, QueryBpf<LE> { ids_len, prog_cnt }).tail(&["ids"])),
        (
            "perf_event_mmap_page",
            part!(new(), 0, MmapPage<LE> {
                version, compat_version, lock, index, offset, time_enabled, time_running,
                capabilities = raw_capabilities, pmc_width, time_shift, time_mult, time_offset, time_zero, size,
                __reserved_1 = reserved_1, time_cycles, time_mask, __reserved = reserved, data_head, data_tail,
                data_offset, data_size, aux_head, aux_tail, aux_offset, aux_size
            }),
        ),
        ("perf_event_header", part!(new(), 0, Header<LE> { type = kind, misc, size })),
        ("perf_ns_link_info", part!(new(), 0, NamespaceLink<LE> { dev, ino })),
        ("perf_mem_data_src", part!(new(), 0, DataSrc { val = 0 })),
        ("perf_branch_entry", part!(new(), 0, BranchEntry<LE> { from, to })),
        ("perf_sample_weight", {
            let mut fields =
                WeightStruct::FIELDS.iter().map(|&(lsb, width)| (lsb as usize / 8, width as usize / 8));
            let mut field = |name| fields.next().map(|(offset, size)| (name, offset, size)).unwrap();
            let fields = ["var1_dw", "var2_w", "var3_w"].map(&mut field);
            part!(new(), 0, WeightStruct { full = 0 }).part(0, 8, &fields)
        }),
        ("branch_flags", part!(new(), 0, U64<LE> {} whole value)),
        // The kernel's records.
        (
            "perf_record_mmap",
            part!(record(), 8, RawMmap<LE> { pid, tid, start = addr, len, pgoff }).tail(&["filename"]),
        ),
        ("perf_record_mmap2", {
            let id = 8 + offset_of!(RawMmap2<LE>, id);
            let layout = part!(record(), 8, RawMmap2<LE> { pid, tid, start = addr, len, pgoff, prot, flags });
            let layout = part!(layout, id, Mmap2Inode<LE> { maj, min, ino, ino_generation });
            part!(layout, id, Mmap2BuildId {
                build_id_size, __reserved_1 = reserved_1, __reserved_2 = reserved_2, build_id
            })
            .tail(&["filename"])
        }),
        ("perf_record_comm", part!(record(), 8, RawComm<LE> { pid, tid }).tail(&["comm"])),
        (
            "perf_record_namespaces",
            part!(record(), 8, RawNamespaces<LE> { pid, tid, nr_namespaces }).tail(&["link_info"]),
        ),
        ("perf_record_fork", part!(record(), 8, RawTask<LE> { pid, ppid, tid, ptid, time })),
        ("perf_record_lost", part!(record(), 8, RawLost<LE> { id, lost })),
        ("perf_record_lost_samples", part!(record(), 8, RawLostSamples<LE> { lost })),
        (
            "perf_record_lost_samples_and_ids",
            new()
                .part(
                    0,
                    8 + size_of::<RawLostSamples<LE>>(),
                    &[("lost", 0, 8 + size_of::<RawLostSamples<LE>>())],
                )
                .part(16, 8 * MAX_ID_HDR_ENTRIES, &[("sample_ids", 0, 8 * MAX_ID_HDR_ENTRIES)]),
        ),
        // What follows is as read_format says: the C struct shows one case.
        (
            "perf_record_read",
            part!(record(), 8, RawRead<LE> { pid, tid }).tail(&[
                "value",
                "time_enabled",
                "time_running",
                "id",
                "lost",
            ]),
        ),
        ("perf_record_throttle", part!(record(), 8, RawThrottle<LE> { time, id, stream_id })),
        (
            "perf_record_ksymbol",
            part!(record(), 8, RawKsymbol<LE> { addr, len, ksym_type, flags }).tail(&["name"]),
        ),
        ("perf_record_bpf_event", part!(record(), 8, RawBpfEvent<LE> { type = kind, flags, id, tag })),
        ("perf_record_cgroup", part!(record(), 8, RawCgroup<LE> { id }).tail(&["path"])),
        (
            "perf_record_text_poke_event",
            part!(record(), 8, RawTextPoke<LE> { addr, old_len, new_len }).tail(&["bytes"]),
        ),
        ("perf_record_sample", record().tail(&["array"])),
        ("perf_record_switch", part!(record(), 8, RawSwitchCpuWide<LE> { next_prev_pid, next_prev_tid })),
        (
            "perf_record_callchain_deferred",
            part!(record(), 8, RawCallchainDeferred<LE> { cookie, nr }).tail(&["ips"]),
        ),
        ("perf_record_aux", part!(record(), 8, RawAux<LE> { aux_offset, aux_size, flags })),
        ("perf_record_itrace_start", part!(record(), 8, RawItraceStart<LE> { pid, tid })),
        ("perf_record_aux_output_hw_id", part!(record(), 8, RawAuxOutputHwId<LE> { hw_id })),
        // The perf tool's records.
        ("perf_record_header_attr", part!(record(), 8, RawAttr<LE> {} whole attr)),
        ("cpu_map_entries", part!(new(), 0, CpuMapCpus<LE> { nr }).tail(&["cpu"])),
        ("perf_record_mask_cpu_map32", part!(new(), 0, CpuMapMask<LE> { nr, long_size }).tail(&["mask"])),
        (
            "perf_record_mask_cpu_map64",
            part!(new(), 0, CpuMapMask<LE> { nr, long_size }).part(4, 4, &[("__pad", 0, 4)]).tail(&["mask"]),
        ),
        (
            "perf_record_range_cpu_map",
            part!(new(), 0, CpuMapRange<LE> { any_cpu, __pad = pad, start_cpu, end_cpu }),
        ),
        ("perf_record_cpu_map_data", {
            let layout = part!(new(), 0, RawCpuMap<LE> { type = kind });
            let layout = part!(layout, 2, CpuMapCpus<LE> {} whole cpus_data);
            let layout = part!(layout, 2, CpuMapMask<LE> {} whole mask32_data);
            let layout = part!(layout, 2, CpuMapRange<LE> {} whole range_cpu_data);
            layout.part(2, 8, &[("mask64_data", 0, size_of::<CpuMapMask<LE>>() + 4)])
        }),
        // Two bytes of padding end it in C.
        (
            "perf_record_cpu_map",
            part!(record(), 8, RawCpuMap<LE> {}).part(18, 2, &[]).part(
                8,
                10,
                &[("data", 0, size_of::<RawCpuMap<LE>>() + size_of::<CpuMapMask<LE>>() + 4)],
            ),
        ),
        (
            "perf_record_event_update_cpus",
            part!(new(), 0, RawCpuMap<LE> {}).part(
                0,
                10,
                &[("cpus", 0, size_of::<RawCpuMap<LE>>() + size_of::<CpuMapMask<LE>>() + 4)],
            ),
        ),
        ("perf_record_event_update_scale", part!(new(), 0, EventUpdateScale<LE> { scale })),
        (
            "perf_record_event_update",
            part!(record(), 8, RawEventUpdate<LE> { type = kind, id })
                .tail(&["scale", "unit", "name", "cpus"]),
        ),
        ("perf_trace_event_type", part!(new(), 0, RawHeaderEventType<LE> { event_id, name })),
        ("perf_record_header_event_type", part!(record(), 8, RawHeaderEventType<LE> {} whole event_type)),
        (
            "perf_record_header_tracing_data",
            part!(record(), 8, HeaderTracingData<LE> { size }).tail(&["pad"]),
        ),
        (
            "perf_record_header_build_id",
            part!(record(), 8, HeaderBuildId<LE> {
                pid, data = build_id, size, reserved1__ = reserved_1, reserved2__ = reserved_2
            })
            .part(8 + offset_of!(HeaderBuildId<LE>, build_id), 24, &[("build_id", 0, 24)])
            .tail(&["filename"]),
        ),
        ("id_index_entry", part!(new(), 0, IdIndexEntry<LE> { id, idx, cpu, tid })),
        ("id_index_entry_2", part!(new(), 0, IdIndexEntry2<LE> { machine_pid, vcpu })),
        ("perf_record_id_index", part!(record(), 8, RawIdIndex<LE> { nr }).tail(&["entries"])),
        (
            "perf_record_auxtrace_info",
            part!(record(), 8, RawAuxtraceInfo<LE> { type = kind, reserved__ = reserved }).tail(&["priv"]),
        ),
        (
            "perf_record_auxtrace",
            part!(record(), 8, Auxtrace<LE> {
                size, offset, reference, idx, tid, cpu, reserved__ = reserved
            }),
        ),
        ("perf_record_auxtrace_error", {
            let layout =
                part!(record(), 8, RawAuxtraceError<LE> { type = kind, code, cpu, pid, tid, fmt, ip });
            let base = 8 + size_of::<RawAuxtraceError<LE>>();
            part!(layout, base, AuxtraceErrorGuest<LE> { time, msg, machine_pid, vcpu })
        }),
        ("perf_record_thread_map_entry", part!(new(), 0, ThreadMapEntry<LE> { pid, comm })),
        ("perf_record_thread_map", part!(record(), 8, RawThreadMap<LE> { nr }).tail(&["entries"])),
        ("perf_record_stat_config_entry", part!(new(), 0, StatConfigEntry<LE> { tag, val })),
        ("perf_record_stat_config", part!(record(), 8, RawStatConfig<LE> { nr }).tail(&["data"])),
        (
            "perf_record_stat",
            part!(record(), 8, Stat<LE> { id, cpu, thread, val, ena, run }).part(
                8 + offset_of!(Stat<LE>, val),
                24,
                &[("values", 0, 24)],
            ),
        ),
        ("perf_record_stat_round", part!(record(), 8, StatRound<LE> { type = kind, time })),
        ("perf_record_time_conv", {
            let layout = part!(record(), 8, RawTimeConv<LE> { time_shift, time_mult, time_zero });
            part!(layout, 8 + size_of::<RawTimeConv<LE>>(), TimeConvShort<LE> {
                time_cycles, time_mask, cap_user_time_zero, cap_user_time_short, reserved
            })
        }),
        ("perf_record_header_feature", part!(record(), 8, RawHeaderFeature<LE> { feat_id }).tail(&["data"])),
        ("perf_record_compressed", record().tail(&["data"])),
        ("perf_record_compressed2", part!(record(), 8, RawCompressed2<LE> { data_size }).tail(&["data"])),
        ("perf_record_bpf_metadata_entry", part!(new(), 0, BpfMetadataEntry { key, value })),
        (
            "perf_record_bpf_metadata",
            part!(record(), 8, RawBpfMetadata<LE> { prog_name, nr_entries }).tail(&["entries"]),
        ),
        (
            "perf_record_schedstat_cpu",
            part!(record(), 8, RawSchedstatCpu<LE> { timestamp, cpu, version, __pad = pad })
                .tail(&["v15", "v16", "v17"]),
        ),
        (
            "perf_record_schedstat_domain",
            part!(record(), 8, RawSchedstatDomain<LE> { timestamp, cpu, version, domain })
                .tail(&["v15", "v16", "v17"]),
        ),
        // The headers of a file.
        ("perf_file_section", part!(new(), 0, RawSection<LE> { offset, size })),
        (
            "perf_file_header",
            part!(new(), 0, RawFileHeader<LE> {
                magic, size, attr_size, attrs, data, event_types, adds_features
            }),
        ),
        ("perf_pipe_file_header", part!(new(), 0, PipeHeader<LE> { magic, size })),
        ("perf_file_attr", part!(new(), 0, FileAttr<LE> { attr, ids })),
        ("auxtrace_index_entry", part!(new(), 0, IndexEntry<LE> { file_offset, sz = size })),
    ]);
    for name in
        ["perf_record_schedstat_cpu_v15", "perf_record_schedstat_cpu_v16", "perf_record_schedstat_cpu_v17"]
    {
        all.insert(name, part!(new(), 0, SchedstatCpuCounts<LE> {
            yld_count, array_exp, sched_count, sched_goidle, ttwu_count, ttwu_local, rq_cpu_time, run_delay, pcount
        }));
    }
    all.insert(
        "perf_record_schedstat_domain_v15",
        part!(new(), 0, SchedstatDomainV15<LE> {
            idle_lb_count, idle_lb_balanced, idle_lb_failed, idle_lb_imbalance, idle_lb_gained,
            idle_lb_hot_gained, idle_lb_nobusyq, idle_lb_nobusyg, busy_lb_count, busy_lb_balanced,
            busy_lb_failed, busy_lb_imbalance, busy_lb_gained, busy_lb_hot_gained, busy_lb_nobusyq,
            busy_lb_nobusyg, newidle_lb_count, newidle_lb_balanced, newidle_lb_failed,
            newidle_lb_imbalance, newidle_lb_gained, newidle_lb_hot_gained, newidle_lb_nobusyq,
            newidle_lb_nobusyg, alb_count, alb_failed, alb_pushed, sbe_count, sbe_balanced, sbe_pushed,
            sbf_count, sbf_balanced, sbf_pushed, ttwu_wake_remote, ttwu_move_affine, ttwu_move_balance
        }),
    );
    all.insert(
        "perf_record_schedstat_domain_v16",
        part!(new(), 0, SchedstatDomainV16<LE> {
            busy_lb_count, busy_lb_balanced, busy_lb_failed, busy_lb_imbalance, busy_lb_gained,
            busy_lb_hot_gained, busy_lb_nobusyq, busy_lb_nobusyg, idle_lb_count, idle_lb_balanced,
            idle_lb_failed, idle_lb_imbalance, idle_lb_gained, idle_lb_hot_gained, idle_lb_nobusyq,
            idle_lb_nobusyg, newidle_lb_count, newidle_lb_balanced, newidle_lb_failed,
            newidle_lb_imbalance, newidle_lb_gained, newidle_lb_hot_gained, newidle_lb_nobusyq,
            newidle_lb_nobusyg, alb_count, alb_failed, alb_pushed, sbe_count, sbe_balanced, sbe_pushed,
            sbf_count, sbf_balanced, sbf_pushed, ttwu_wake_remote, ttwu_move_affine, ttwu_move_balance
        }),
    );
    all.insert(
        "perf_record_schedstat_domain_v17",
        part!(new(), 0, SchedstatDomainV17<LE> {
            busy_lb_count, busy_lb_balanced, busy_lb_failed, busy_lb_imbalance_load,
            busy_lb_imbalance_util, busy_lb_imbalance_task, busy_lb_imbalance_misfit, busy_lb_gained,
            busy_lb_hot_gained, busy_lb_nobusyq, busy_lb_nobusyg, idle_lb_count, idle_lb_balanced,
            idle_lb_failed, idle_lb_imbalance_load, idle_lb_imbalance_util, idle_lb_imbalance_task,
            idle_lb_imbalance_misfit, idle_lb_gained, idle_lb_hot_gained, idle_lb_nobusyq,
            idle_lb_nobusyg, newidle_lb_count, newidle_lb_balanced, newidle_lb_failed,
            newidle_lb_imbalance_load, newidle_lb_imbalance_util, newidle_lb_imbalance_task,
            newidle_lb_imbalance_misfit, newidle_lb_gained, newidle_lb_hot_gained, newidle_lb_nobusyq,
            newidle_lb_nobusyg, alb_count, alb_failed, alb_pushed, sbe_count, sbe_balanced, sbe_pushed,
            sbf_count, sbf_balanced, sbf_pushed, ttwu_wake_remote, ttwu_move_affine, ttwu_move_balance
        }),
    );
    all
}

#[test]
fn every_struct_has_its_size_and_its_fields_their_places() {
    let facts = Facts::load();
    let structs = facts.table("structs");
    assert_eq!(structs.len(), 74);
    let layouts = layouts();
    let mut faults = Vec::new();
    for (name, entry) in structs {
        let Some(layout) = layouts.get(name.as_str()) else {
            faults.push(format!("{name} is missing"));
            continue;
        };
        let mut tail_begins: Option<usize> = None;
        let mut seen = BTreeSet::new();
        for field in entry["fields"].as_array().unwrap() {
            if field.get("bits").is_some() {
                continue; // the module `bits` is about these
            }
            let field_name = field["name"].as_str().unwrap();
            let at = (number(&field["offset"]), number(&field["size"]));
            seen.insert(field_name);
            if layout.tail.contains(&field_name) {
                tail_begins = Some(tail_begins.unwrap_or(at.0).min(at.0));
            } else {
                match layout.fields.get(field_name) {
                    None => faults.push(format!("{name}.{field_name} is missing")),
                    Some(&ours) if ours != at => {
                        faults.push(format!("{name}.{field_name} is at {at:?}, not {ours:?}"));
                    }
                    Some(_) => {}
                }
            }
        }
        let size = tail_begins.unwrap_or_else(|| number(&entry["size"]));
        if layout.end != size {
            faults.push(format!("{name} has {size} bytes, not {}", layout.end));
        }
        let ours = layout.fields.keys().chain(&layout.tail);
        faults.extend(ours.filter(|f| !seen.contains(**f)).map(|f| format!("{name}.{f} does not exist")));
    }
    faults.extend(
        layouts
            .keys()
            .filter(|name| !structs.contains_key(**name))
            .map(|name| format!("{name} does not exist")),
    );
    none(&faults);
}

fn number(value: &serde_json::Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// The smallest records that the perf tool accepts are no smaller than the fixed parts.
#[test]
fn the_perf_tools_least_sizes_cover_the_fixed_parts() {
    let facts = Facts::load();
    let least = facts.numbers("perf_tool_min_record_size");
    let fixed = [
        ("PERF_RECORD_MMAP", size_of::<RawMmap<LE>>() + 1),
        ("PERF_RECORD_LOST", size_of::<RawLost<LE>>()),
        ("PERF_RECORD_COMM", size_of::<RawComm<LE>>() + 1),
        ("PERF_RECORD_EXIT", size_of::<RawTask<LE>>()),
        ("PERF_RECORD_FORK", size_of::<RawTask<LE>>()),
        ("PERF_RECORD_THROTTLE", size_of::<RawThrottle<LE>>()),
        ("PERF_RECORD_UNTHROTTLE", size_of::<RawThrottle<LE>>()),
        ("PERF_RECORD_MMAP2", size_of::<RawMmap2<LE>>() + 1),
        ("PERF_RECORD_LOST_SAMPLES", size_of::<RawLostSamples<LE>>()),
        ("PERF_RECORD_AUX", size_of::<RawAux<LE>>()),
        ("PERF_RECORD_ITRACE_START", size_of::<RawItraceStart<LE>>()),
        ("PERF_RECORD_SWITCH_CPU_WIDE", size_of::<RawSwitchCpuWide<LE>>()),
        ("PERF_RECORD_NAMESPACES", size_of::<RawNamespaces<LE>>()),
        ("PERF_RECORD_CGROUP", size_of::<RawCgroup<LE>>() + 1),
        ("PERF_RECORD_KSYMBOL", size_of::<RawKsymbol<LE>>() + 1),
        ("PERF_RECORD_BPF_EVENT", size_of::<RawBpfEvent<LE>>()),
        ("PERF_RECORD_HEADER_EVENT_TYPE", size_of::<RawHeaderEventType<LE>>()),
        ("PERF_RECORD_HEADER_TRACING_DATA", size_of::<HeaderTracingData<LE>>()),
        ("PERF_RECORD_AUX_OUTPUT_HW_ID", size_of::<RawAuxOutputHwId<LE>>()),
        ("PERF_RECORD_AUXTRACE_INFO", size_of::<RawAuxtraceInfo<LE>>()),
        ("PERF_RECORD_AUXTRACE", size_of::<Auxtrace<LE>>()),
        ("PERF_RECORD_AUXTRACE_ERROR", size_of::<RawAuxtraceError<LE>>() + 8 + 1),
        ("PERF_RECORD_THREAD_MAP", size_of::<RawThreadMap<LE>>()),
        ("PERF_RECORD_STAT_CONFIG", size_of::<RawStatConfig<LE>>()),
        ("PERF_RECORD_STAT", size_of::<Stat<LE>>()),
        ("PERF_RECORD_STAT_ROUND", size_of::<StatRound<LE>>()),
        ("PERF_RECORD_EVENT_UPDATE", size_of::<RawEventUpdate<LE>>()),
        ("PERF_RECORD_TIME_CONV", size_of::<RawTimeConv<LE>>()),
        ("PERF_RECORD_ID_INDEX", size_of::<RawIdIndex<LE>>()),
        ("PERF_RECORD_HEADER_BUILD_ID", size_of::<HeaderBuildId<LE>>()),
        ("PERF_RECORD_HEADER_FEATURE", size_of::<RawHeaderFeature<LE>>()),
        ("PERF_RECORD_COMPRESSED2", size_of::<RawCompressed2<LE>>()),
        ("PERF_RECORD_BPF_METADATA", size_of::<RawBpfMetadata<LE>>()),
        ("PERF_RECORD_SCHEDSTAT_CPU", size_of::<RawSchedstatCpu<LE>>()),
        ("PERF_RECORD_SCHEDSTAT_DOMAIN", size_of::<RawSchedstatDomain<LE>>()),
    ];
    for (name, payload) in fixed {
        assert_eq!(least[name], (size_of::<Header<LE>>() + payload) as u64, "{name}");
    }
}
