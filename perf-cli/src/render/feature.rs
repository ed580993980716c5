//! Feature sections as JSON values; [`lines`] prints them as text.
//!
//! Lists are printed item by item. In memory are only the decoded feature and one printed item.

pub(crate) mod lines;

use perf_abi::auxtrace::IndexEntry;
use perf_abi::endian::{Endian, U32};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_parse::file::{
    BpfBtf, BpfProgInfo, BuildId, Cache, CpuDomains, CpuPlace, CpuTopology, EventDesc, EventRecords,
    FeatureSection, FileError, GroupDesc, HybridPmu, MemNode, NumaNode, PmuCap, PmuCaps, SchedDomain,
};

use super::digits::push_decimal;
use super::escape::push_json;
use super::json::Json;
use super::name::{Name, name};
use super::{Scalars, Sink, given};
use crate::Failure;
use crate::output::Output;

/// The reason why a feature was not printed.
#[derive(Debug)]
pub(crate) enum Unprinted {
    /// The feature cannot be decoded; nothing was printed.
    Undecodable(FileError),
    /// The output failed.
    Output(Failure),
}

impl From<FileError> for Unprinted {
    fn from(error: FileError) -> Self {
        Self::Undecodable(error)
    }
}

impl From<Failure> for Unprinted {
    fn from(failure: Failure) -> Self {
        Self::Output(failure)
    }
}

/// Prints a list, with at most one item in the buffer at a time.
pub(crate) fn list<T>(
    output: &mut Output,
    items: impl IntoIterator<Item = T>,
    item: impl Fn(&mut Vec<u8>, T),
) -> Result<(), Failure> {
    let mut before = b'[';
    for it in items {
        output.buffer.push(before);
        item(&mut output.buffer, it);
        output.flush_full()?;
        before = b',';
    }
    // If the list is empty, its opening bracket is not printed yet.
    output.buffer.extend_from_slice(if before == b'[' { b"[]" } else { b"]" });
    Ok(())
}

/// Prints a list of objects. `members` prints the members of an item.
pub(crate) fn objects<T>(
    output: &mut Output,
    items: impl IntoIterator<Item = T>,
    members: impl Fn(&mut Json<'_>, T),
) -> Result<(), Failure> {
    list(output, items, |out, it| Json::object(out, |json| members(json, it)))
}

/// Prints a list of strings from the recorded machine.
fn texts(output: &mut Output, list_of: &[&[u8]]) -> Result<(), Failure> {
    list(output, list_of, |out, text| push_json(out, text))
}

/// Prints a feature section, with perf's names. TRACING_DATA prints its position; a feature without a name also prints
/// its bytes.
pub(crate) fn feature<O: Endian>(
    records: &EventRecords<'_>,
    section: &FeatureSection<'_>,
    output: &mut Output,
) -> Result<(), Unprinted> {
    match section.feature {
        Feature::BUILD_ID => {
            let build_ids: Result<Vec<_>, _> = section.build_ids::<O>().collect();
            objects(output, &build_ids?, build_id)?;
        }
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => push_json(&mut output.buffer, section.string::<O>()?),
        Feature::TOTAL_MEM => push_decimal(&mut output.buffer, section.total_mem::<O>()?),
        Feature::CLN_SIZE => push_decimal(&mut output.buffer, u64::from(section.cln_size::<O>()?)),
        Feature::CMDLINE => texts(output, &section.strings::<O>()?)?,
        Feature::EVENT_DESC => {
            let events: Result<Vec<_>, _> = section.event_desc::<O>().collect();
            objects(output, &events?, event_desc)?;
        }
        Feature::CPU_TOPOLOGY => cpu_topology(output, &section.cpu_topology::<O>(nr_cpus::<O>(records)?)?)?,
        Feature::NUMA_TOPOLOGY => objects(output, &section.numa_topology::<O>()?, numa_node)?,
        Feature::PMU_MAPPINGS => objects(output, &section.pmu_mappings::<O>()?, pmu_mapping)?,
        Feature::GROUP_DESC => objects(output, &section.group_desc::<O>()?, group_desc)?,
        Feature::AUXTRACE => objects(output, section.auxtrace::<O>()?, auxtrace)?,
        Feature::CACHE => objects(output, &section.cache::<O>()?, cache)?,
        Feature::MEM_TOPOLOGY => {
            let it = section.mem_topology::<O>()?;
            push_decimal(&mut member(output, "{\"block_size_bytes\":").buffer, it.block_size_bytes);
            objects(member(output, ",\"nodes\":"), &it.nodes, mem_node)?;
            output.buffer.push(b'}');
        }
        Feature::BPF_PROG_INFO => objects(output, &section.bpf_prog_info::<O>()?, bpf_prog_info)?,
        Feature::BPF_BTF => objects(output, &section.bpf_btf::<O>()?, bpf_btf)?,
        Feature::CPU_PMU_CAPS => objects(output, &section.cpu_pmu_caps::<O>()?, pmu_cap)?,
        Feature::HYBRID_TOPOLOGY => objects(output, &section.hybrid_topology::<O>()?, hybrid_pmu)?,
        Feature::PMU_CAPS => objects(output, &section.pmu_caps::<O>()?, pmu_caps)?,
        Feature::CPU_DOMAIN_INFO => {
            let it = section.cpu_domain_info::<O>()?;
            let (version, most) = (u64::from(it.schedstat_version), u64::from(it.max_sched_domains));
            push_decimal(&mut member(output, "{\"schedstat_version\":").buffer, version);
            push_decimal(&mut member(output, ",\"max_sched_domains\":").buffer, most);
            objects(member(output, ",\"cpus\":"), &it.cpus, cpu_domains)?;
            output.buffer.push(b'}');
        }
        _ => return Ok(numbers::<O>(section, &mut output.buffer)?),
    }
    Ok(())
}

/// Prints a member's name, and the text before it. The value follows.
fn member<'o>(output: &'o mut Output, name: &str) -> &'o mut Output {
    output.buffer.extend_from_slice(name.as_bytes());
    output
}

/// Prints a feature that is an object of numbers, or one that is printed as such.
fn numbers<O: Endian>(section: &FeatureSection<'_>, out: &mut Vec<u8>) -> Result<(), FileError> {
    let mut numbers: Vec<(&'static Name, u64)> = Vec::new();
    match section.feature {
        Feature::NRCPUS => {
            let (available, online) = section.nr_cpus::<O>()?;
            numbers.push((name!("nr_cpus_available"), available.into()));
            numbers.push((name!("nr_cpus_online"), online.into()));
        }
        Feature::BRANCH_STACK | Feature::STAT => section.mark()?,
        Feature::SAMPLE_TIME => {
            let (first, last) = section.sample_time::<O>()?;
            numbers.extend([(name!("first"), first), (name!("last"), last)]);
        }
        Feature::CLOCKID => numbers.push((name!("resolution_ns"), section.clockid::<O>()?)),
        Feature::DIR_FORMAT => numbers.push((name!("version"), section.dir_format::<O>()?.0)),
        Feature::COMPRESSED => {
            let it = section.compressed::<O>()?;
            numbers.push((name!("version"), it.version.into()));
            numbers.push((name!("type"), it.kind.0.into()));
            numbers.push((name!("level"), it.level.into()));
            numbers.push((name!("ratio"), it.ratio.into()));
            numbers.push((name!("mmap_len"), it.mmap_len.into()));
        }
        Feature::CLOCK_DATA => {
            let it = section.clock_data::<O>()?;
            numbers.push((name!("version"), it.version.into()));
            numbers.push((name!("clockid"), it.clockid.into()));
            numbers.push((name!("wall_clock_ns"), it.wall_clock_ns));
            numbers.push((name!("clockid_time_ns"), it.clockid_time_ns));
        }
        Feature::E_MACHINE => {
            let it = section.e_machine::<O>()?;
            numbers.push((name!("e_machine"), it.e_machine.into()));
            numbers.push((name!("e_flags"), it.e_flags.into()));
        }
        _ => {
            numbers.push((name!("offset"), section.offset));
            numbers.push((name!("size"), section.bytes.len() as u64));
        }
    }
    let is_known = section.feature.name().is_some();
    Json::object(out, |json| {
        numbers.iter().for_each(|&(name, number)| json.number(name, number));
        if !is_known {
            json.blob(name!("raw"), section.bytes);
        }
    });
    Ok(())
}

/// Returns the number of CPUs that CPU_TOPOLOGY describes.
fn nr_cpus<O: Endian>(records: &EventRecords<'_>) -> Result<u32, FileError> {
    records.feature(Feature::NRCPUS).map_or(Ok(0), |section| Ok(section.nr_cpus::<O>()?.0))
}

fn build_id(json: &mut Json<'_>, it: &BuildId<'_>) {
    json.number(name!("misc"), u64::from(it.misc.0));
    json.task(name!("pid"), i64::from(it.pid));
    json.blob(name!("build_id"), it.build_id);
    json.string(name!("filename"), it.filename);
}

fn event_desc<O: Endian>(json: &mut Json<'_>, it: &EventDesc<'_, O>) {
    json.string(name!("name"), it.name);
    json.addresses(name!("ids"), it.ids.iter().map(|id| id.get()));
}

fn cpu_topology(output: &mut Output, it: &CpuTopology<'_>) -> Result<(), Failure> {
    texts(member(output, "{\"core_siblings\":"), &it.core_siblings)?;
    texts(member(output, ",\"thread_siblings\":"), &it.thread_siblings)?;
    objects(member(output, ",\"cpus\":"), &it.cpus, |json, cpu: &CpuPlace| {
        json.number(name!("core_id"), u64::from(cpu.core_id));
        json.number(name!("socket_id"), u64::from(cpu.socket_id));
        given(cpu.die_id, |die_id| json.number(name!("die_id"), u64::from(die_id)));
    })?;
    if let Some(siblings) = &it.die_siblings {
        texts(member(output, ",\"die_siblings\":"), siblings)?;
    }
    output.buffer.push(b'}');
    Ok(())
}

fn numa_node(json: &mut Json<'_>, it: &NumaNode<'_>) {
    json.number(name!("node"), u64::from(it.node));
    json.number(name!("mem_total"), it.mem_total);
    json.number(name!("mem_free"), it.mem_free);
    json.string(name!("cpus"), it.cpus);
}

fn pmu_mapping(json: &mut Json<'_>, (kind, name): &(EventType, &[u8])) {
    json.number(name!("type"), u64::from(kind.0));
    json.string(name!("name"), name);
}

fn group_desc(json: &mut Json<'_>, it: &GroupDesc<'_>) {
    json.string(name!("name"), it.name);
    json.number(name!("leader_idx"), u64::from(it.leader_idx));
    json.number(name!("nr_members"), u64::from(it.nr_members));
}

fn auxtrace<O: Endian>(json: &mut Json<'_>, it: &IndexEntry<O>) {
    json.number(name!("file_offset"), it.file_offset.get());
    json.number(name!("size"), it.size.get());
}

fn cache(json: &mut Json<'_>, it: &Cache<'_>) {
    json.number(name!("level"), u64::from(it.level));
    json.number(name!("line_size"), u64::from(it.line_size));
    json.number(name!("sets"), u64::from(it.sets));
    json.number(name!("ways"), u64::from(it.ways));
    json.string(name!("type"), it.kind);
    json.string(name!("size"), it.size);
    json.string(name!("map"), it.map);
}

/// Prints a node. Its blocks are printed as words of 64 bits, because their number may be out of proportion to the size
/// of the section.
fn mem_node<O: Endian>(json: &mut Json<'_>, it: &MemNode<'_, O>) {
    json.number(name!("node"), it.node);
    json.number(name!("size"), it.size);
    json.number(name!("nbits"), it.blocks.nbits());
    json.addresses(name!("bitmap"), it.blocks.words().iter().map(|word| word.get()));
}

fn bpf_prog_info<O: Endian>(json: &mut Json<'_>, it: &BpfProgInfo<'_, O>) {
    let program = it.program;
    json.number(name!("type"), u64::from(program.kind.get()));
    json.number(name!("id"), u64::from(program.id.get()));
    json.blob(name!("tag"), &program.tag);
    json.string(name!("name"), it.name());
    json.number(name!("load_time"), program.load_time.get());
    json.number(name!("created_by_uid"), u64::from(program.created_by_uid.get()));
    json.number(name!("jited_prog_len"), u64::from(program.jited_prog_len.get()));
    json.number(name!("xlated_prog_len"), u64::from(program.xlated_prog_len.get()));
    json.number(name!("arrays"), it.arrays);
    json.blob(name!("info"), it.info);
    json.blob(name!("data"), it.data);
    let word = |word: &U32<O>| u64::from(word.get());
    given(it.map_ids(), |all| json.addresses(name!("map_ids"), all.iter().map(word)));
    given(it.jited_ksyms(), |all| json.addresses(name!("jited_ksyms"), all.iter().map(|one| one.get())));
    given(it.jited_func_lens(), |all| json.addresses(name!("jited_func_lens"), all.iter().map(word)));
}

fn bpf_btf(json: &mut Json<'_>, it: &BpfBtf<'_>) {
    json.number(name!("id"), u64::from(it.id));
    json.blob(name!("data"), it.bytes);
}

fn pmu_cap(json: &mut Json<'_>, it: &PmuCap<'_>) {
    json.string(name!("name"), it.name);
    json.string(name!("value"), it.value);
}

fn pmu_caps(json: &mut Json<'_>, it: &PmuCaps<'_>) {
    json.string(name!("pmu_name"), it.pmu_name);
    json.objects(name!("caps"), it.caps.iter(), pmu_cap);
}

fn hybrid_pmu(json: &mut Json<'_>, it: &HybridPmu<'_>) {
    json.string(name!("pmu_name"), it.pmu_name);
    json.string(name!("cpus"), it.cpus);
}

fn cpu_domains(json: &mut Json<'_>, it: &CpuDomains<'_>) {
    json.number(name!("cpu"), u64::from(it.cpu));
    json.objects(name!("domains"), it.domains.iter(), |json, it: &SchedDomain<'_>| {
        json.number(name!("domain"), u64::from(it.domain));
        json.string(name!("cpumask"), it.cpumask);
        json.string(name!("cpulist"), it.cpulist);
        given(it.dname, |name| json.string(name!("dname"), name));
    });
}
