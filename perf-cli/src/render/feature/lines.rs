//! Feature sections as text: one line, and one line below it for each entry.

use core::fmt::{Display, Formatter};

use perf_abi::record::SimpleperfDsoType;
use perf_parse::ByteStr;
use perf_parse::feature::{
    Bitmap, BpfProgInfo, BuildId, ClockData, Compression, CpuDomains, CpuTopology, EventDesc, FeatureData,
    FeatureSection, MemTopology, MetaInfoEntry, PmuCap, SampleTime, StoredFile,
};
use perf_parse::file::FileError;
use perf_parse::rewrite::EditAccount;

use crate::escape::{Hex, Printable, Seconds};

/// The text of a feature.
pub(crate) struct Lines {
    /// The text after the name.
    pub(crate) value: String,
    /// The lines below.
    pub(crate) entries: Vec<String>,
}

impl From<String> for Lines {
    fn from(value: String) -> Self {
        Self { value, entries: Vec::new() }
    }
}

/// Returns a list: the number of items, and one entry for each.
fn list<T>(
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    one: &str,
    many: &str,
    entry: impl Fn(T) -> String,
) -> Lines {
    let items = items.into_iter();
    Lines { value: count(items.len() as u64, one, many), entries: items.map(entry).collect() }
}

fn count(items: u64, one: &str, many: &str) -> String {
    format!("{items} {}", if items == 1 { one } else { many })
}

/// Returns what edits left out of the capture, and changed.
fn edit_account(account: &EditAccount) -> String {
    let mut text = format!("edited, {} left out", count(account.left_out, "sample", "samples"));
    if account.one_in > 1 {
        text.push_str(&format!(", 1 of {} kept", account.one_in));
    }
    if account.removed.0 != 0 {
        text.push_str(&format!(", without {}", account.removed));
    }
    if account.side_band_left_out > 0 {
        text.push_str(&format!(
            ", {} of other times left out",
            count(account.side_band_left_out, "record", "records")
        ));
    }
    if account.added > 0 {
        text.push_str(&format!(", {} added", count(account.added, "record", "records")));
    }
    if account.added_fields.0 != 0 {
        text.push_str(&format!(", with {} added", account.added_fields));
    }
    if account.renumbered > 0 {
        text.push_str(&format!(", {} replaced", count(account.renumbered, "id", "ids")));
    }
    for (capture, offset) in &account.clock_offsets {
        text.push_str(&format!(", times of capture {capture} moved by {offset} ns"));
    }
    if let Some(release) = &account.release {
        text.push_str(&format!(", written for {}", Printable(release.as_bytes())));
    }
    if !account.redacted.is_empty() {
        text.push_str(&format!(", redacted: {}", Printable(account.redacted.join(",").as_bytes())));
    }
    if account.names > 0 || account.names_left_out > 0 {
        let left_out = count(account.names_left_out, "frame", "frames");
        text.push_str(&format!(", names of {} functions stored, not of {left_out}", account.names));
    }
    text
}

/// Returns the text of a feature section. For a feature that is not decoded, the text is its position.
pub(crate) fn lines(section: &FeatureSection<'_>) -> Result<Lines, FileError> {
    if let Some(account) = EditAccount::of(section) {
        return Ok(edit_account(&account).into());
    }
    Ok(match section.decode()? {
        FeatureData::BuildId(it) => list(it, "file", "files", build_id),
        FeatureData::Hostname(it)
        | FeatureData::OsRelease(it)
        | FeatureData::Version(it)
        | FeatureData::Arch(it)
        | FeatureData::CpuDesc(it)
        | FeatureData::CpuId(it) => Printable(&it).to_string().into(),
        FeatureData::NrCpus(it) => format!("{} available, {} online", it.available, it.online).into(),
        FeatureData::TotalMem(kib) => format!("{kib} KiB").into(),
        FeatureData::CmdLine(words) => {
            let words: Vec<_> = words.iter().map(|word| Printable(&word).to_string()).collect();
            words.join(" ").into()
        }
        FeatureData::EventDesc(it) => list(it.events, "event", "events", event_desc),
        FeatureData::CpuTopology(it) => cpu_topology(it),
        FeatureData::NumaTopology(it) => list(it, "node", "nodes", |it| {
            let cpus = Printable(&it.cpus);
            format!("node {}: {} KiB, {} KiB free, cpus {cpus}", it.node, it.mem_total, it.mem_free)
        }),
        FeatureData::BranchStack => String::from("samples have branch stacks").into(),
        FeatureData::Stat => String::from("written by perf stat").into(),
        FeatureData::PmuMappings(it) => {
            list(it, "pmu", "pmus", |it| format!("{:>3} {}", it.kind.0, Printable(&it.name)))
        }
        FeatureData::GroupDesc(it) => list(it, "group", "groups", |it| {
            format!("{}: {} events, led by event {}", Printable(&it.name), it.nr_members, it.leader_idx)
        }),
        FeatureData::Auxtrace(it) => list(it, "AUXTRACE record", "AUXTRACE records", |it| {
            format!("at {:#x}: {} bytes", it.file_offset, it.size)
        }),
        FeatureData::Cache(it) => list(it, "cache", "caches", |it| {
            let [kind, size, map] = [it.kind, it.size, it.map].map(|text| Printable(&text).to_string());
            let geometry = format!("{} sets of {} ways, lines of {} bytes", it.sets, it.ways, it.line_size);
            format!("L{} {kind:<11} {size:>6}, {geometry}, cpus {map}", it.level)
        }),
        FeatureData::SampleTime(it) => sample_time(it).into(),
        FeatureData::MemTopology(MemTopology { block_size_bytes, nodes }) => {
            let mut lines = list(nodes, "node", "nodes", |node| {
                let size = Size(node.blocks.count().saturating_mul(block_size_bytes));
                format!("node {}: {size}, blocks {}", node.node, Ranges(&node.blocks))
            });
            lines.value = format!("{}, blocks of {}", lines.value, Size(block_size_bytes));
            lines
        }
        FeatureData::ClockId(it) => format!("resolution {} ns", it.resolution_ns).into(),
        FeatureData::DirFormat(it) => format!("version {}", it.version.0).into(),
        FeatureData::BpfProgInfo(it) => list(it, "program", "programs", bpf_prog_info),
        FeatureData::BpfBtf(it) => {
            list(it, "set of types", "sets of types", |it| format!("{:>3}: {} bytes", it.id, it.bytes.len()))
        }
        FeatureData::Compressed(it) => compressed(&it).into(),
        FeatureData::CpuPmuCaps(it) => list(it, "capability", "capabilities", pmu_cap),
        FeatureData::ClockData(it) => clock_data(&it).into(),
        FeatureData::HybridTopology(it) => list(it, "core pmu", "core pmus", |it| {
            format!("{}: cpus {}", Printable(&it.pmu_name), Printable(&it.cpus))
        }),
        FeatureData::PmuCaps(it) => list(it, "pmu", "pmus", |it| {
            let caps: Vec<_> = it.caps.iter().map(pmu_cap).collect();
            format!("{}: {}", Printable(&it.pmu_name), caps.join(", "))
        }),
        FeatureData::CpuDomainInfo(it) => {
            let mut lines = list(it.cpus, "cpu", "cpus", cpu_domains);
            let (version, most) = (it.schedstat_version, it.max_sched_domains);
            lines.value =
                format!("{}, at most {most} domains each, schedstat version {version}", lines.value);
            lines
        }
        FeatureData::EMachine(it) => {
            let name = it.name().unwrap_or("unknown");
            format!("{name} ({}), flags {:#x}", it.e_machine, it.e_flags).into()
        }
        FeatureData::ClnSize(bytes) => format!("{bytes} bytes").into(),
        FeatureData::File(it) | FeatureData::File2(it) => list(it, "file", "files", stored_file),
        FeatureData::MetaInfo(it) => list(it.entries, "entry", "entries", meta_info),
        FeatureData::DebugUnwind(it) => {
            list(it, "file", "files", |it| format!("{}: {} bytes", Printable(&it.path), it.size))
        }
        FeatureData::EtmBranchList(it) => list(it.binaries, "file", "files", |it| {
            let addrs = count(it.addrs.len() as u64, "address", "addresses");
            format!("{}: branches from {addrs}", Printable(&it.path))
        }),
        FeatureData::InitMap(it) => count(it.records().count() as u64, "record", "records").into(),
        _ => format!("{} bytes at {:#x}", section.bytes.len(), section.offset).into(),
    })
}

fn build_id(it: BuildId<'_>) -> String {
    let file = format!("{} {}", Hex(it.build_id), Printable(&it.filename));
    if it.pid == -1 { file } else { format!("{file} (guest {})", it.pid) }
}

fn stored_file(it: StoredFile<'_>) -> String {
    let kind = match it.kind {
        SimpleperfDsoType::KERNEL => "kernel",
        SimpleperfDsoType::KERNEL_MODULE => "kernel module",
        SimpleperfDsoType::ELF_FILE => "ELF file",
        SimpleperfDsoType::DEX_FILE => "dex file",
        SimpleperfDsoType::SYMBOL_MAP_FILE => "symbol map",
        _ => "other file",
    };
    let symbols = count(it.symbols.len() as u64, "symbol", "symbols");
    let offset = it.file_offset_of_min_vaddr.filter(|&offset| offset != u64::MAX);
    let offset = offset.map_or(String::new(), |offset| format!(" at offset {offset:#x}"));
    let dex = match it.dex_file_offsets.len() {
        0 => String::new(),
        files => format!(", {}", count(files as u64, "dex file", "dex files")),
    };
    format!("{}: {kind}, {symbols}, lowest address {:#x}{offset}{dex}", Printable(&it.path), it.min_vaddr)
}

/// Returns a key and its value. Every line of the value is printed.
fn meta_info(it: MetaInfoEntry<'_>) -> String {
    let lines = it.value.split(|&byte| byte == b'\n').map(|line| Printable(line).to_string());
    format!("{}: {}", Printable(&it.key), lines.collect::<Vec<_>>().join("; "))
}

fn event_desc(it: EventDesc<'_>) -> String {
    let ids: Vec<_> = it.ids.iter().map(|id| id.to_string()).collect();
    format!("{}: ids {}", Printable(&it.name), if ids.is_empty() { "none".into() } else { ids.join(" ") })
}

fn cpu_topology(it: CpuTopology<'_>) -> Lines {
    let (mut counts, mut entries) = (Vec::new(), Vec::new());
    for (siblings, one, many) in [
        (Some(it.core_siblings), "package", "packages"),
        (it.dies.map(|dies| dies.die_siblings), "die", "dies"),
        (Some(it.thread_siblings), "core", "cores"),
    ] {
        let Some(siblings) = siblings else { continue };
        counts.push(count(siblings.len() as u64, one, many));
        entries.extend(siblings.iter().map(|cpus| format!("{one}: cpus {}", Printable(&cpus))));
    }
    for (cpu, (place, die_id)) in it.places().enumerate() {
        let die = die_id.map_or(String::new(), |die| format!(", die {die}"));
        entries.push(format!("cpu {cpu}: core {}{die}, socket {}", place.core_id, place.socket_id));
    }
    Lines { value: counts.join(", "), entries }
}

/// Returns the time span of the samples. perf writes zeros if it did not look at the times.
fn sample_time(SampleTime { first, last }: SampleTime) -> String {
    if (first, last) == (0, 0) {
        return "not known".into();
    }
    let span = format!("{} to {}", Seconds(first), Seconds(last));
    match last.checked_sub(first) {
        Some(length) => format!("{span}, {} s", Seconds(length)),
        None => span,
    }
}

fn bpf_prog_info(it: BpfProgInfo<'_>) -> String {
    let program = it.program;
    let name = if it.name().is_empty() { ByteStr::new(b"unnamed") } else { it.name() };
    let functions = it.jited_ksyms().unwrap_or_default().iter().zip(it.jited_func_lens().unwrap_or_default());
    let functions: Vec<_> = functions.map(|(at, len)| format!("{at:#x}+{len:#x}")).collect();
    let functions = if functions.is_empty() { "unknown addresses".into() } else { functions.join(" ") };
    format!(
        "{:>3} {}: tag {}, type {}, {} bytes at {functions}, loaded at {} s by uid {}",
        program.id,
        Printable(&name),
        Hex(&program.tag),
        program.kind,
        program.jited_prog_len,
        Seconds(program.load_time),
        program.created_by_uid,
    )
}

fn compressed(it: &Compression) -> String {
    format!(
        "{}, level {}, ratio {}, at most {} bytes a record, version {}",
        it.kind, it.level, it.ratio, it.mmap_len, it.version
    )
}

fn pmu_cap(it: PmuCap<'_>) -> String {
    format!("{}={}", Printable(&it.name), Printable(&it.value))
}

fn clock_data(it: &ClockData) -> String {
    let name = match it.clockid {
        0 => "realtime",
        1 => "monotonic",
        4 => "monotonic_raw",
        7 => "boottime",
        11 => "tai",
        _ => "clock",
    };
    let [clock, wall] = [it.clockid_time_ns, it.wall_clock_ns].map(Seconds);
    format!("{name} ({}) {clock} was {wall} s since 1970", it.clockid)
}

fn cpu_domains(it: CpuDomains<'_>) -> String {
    let domains = it.domains.iter().map(|domain| {
        let name = domain.dname.map_or(String::new(), |name| format!(" {}", Printable(&name)));
        format!("domain {}{name} of cpus {}", domain.domain, Printable(&domain.cpulist))
    });
    format!("cpu {}: {}", it.cpu, domains.collect::<Vec<_>>().join(", "))
}

/// A number of bytes, printed in the largest unit that divides it.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        let unit = units.iter().find(|(shift, _)| self.0 != 0 && self.0.trailing_zeros() >= *shift);
        let (shift, name) = unit.unwrap_or(&(0, "bytes"));
        write!(f, "{} {name}", self.0 >> shift)
    }
}

/// A set, printed as ranges: `0-3,8`. Prints only the first [`MAX_RANGES`].
struct Ranges<'a>(&'a Bitmap<'a>);

/// The maximum number of ranges to print.
const MAX_RANGES: usize = 100;

impl Display for Ranges<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        let mut numbers = self.0.iter().peekable();
        for range in 0.. {
            let Some(first) = numbers.next() else { break };
            if range == MAX_RANGES {
                return f.write_str(",...");
            }
            let mut last = first;
            while let Some(next) = numbers.next_if(|&next| next == last + 1) {
                last = next;
            }
            let comma = if range == 0 { "" } else { "," };
            if first == last { write!(f, "{comma}{first}")? } else { write!(f, "{comma}{first}-{last}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::endian::Endianness;
    use perf_abi::feature::Feature;

    #[test]
    fn sizes_are_exact() {
        let shown = [0, 1, 1023, 1 << 10, 3 << 20, (3 << 20) + 1, 24 << 30, 1 << 63]
            .map(|size| Size(size).to_string());
        let expected = [
            "0 bytes",
            "1 bytes",
            "1023 bytes",
            "1 KiB",
            "3 MiB",
            "3145729 bytes",
            "24 GiB",
            "8589934592 GiB",
        ];
        assert_eq!(shown, expected);
    }

    fn ranges(nbits: u64, words: &[u64]) -> String {
        let numbers = [1, 0, 1, 0, nbits, nbits];
        let bytes: Vec<u8> = numbers.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect();
        let section = FeatureSection::new(Feature::MEM_TOPOLOGY, 0, &bytes, Endianness::Little);
        let Ok(FeatureData::MemTopology(it)) = section.decode() else { panic!("{section:?}") };
        Ranges(&it.nodes.iter().next().unwrap().blocks).to_string()
    }

    #[test]
    fn sets_are_shown_as_ranges() {
        assert_eq!(ranges(0, &[]), "");
        assert_eq!(ranges(64, &[1 << 63]), "63");
        assert_eq!(ranges(128, &[0b1_0111 | 1 << 63, u64::MAX]), "0-2,4,63-127");
    }

    #[test]
    fn a_set_in_very_many_pieces_is_cut_short() {
        const EVERY_OTHER: u64 = u64::MAX / 3;
        let shown = ranges(64 * 100, &[EVERY_OTHER; 100]);
        assert_eq!(shown.split(',').count(), MAX_RANGES + 1);
        assert!(shown.starts_with("0,2,4,") && shown.ends_with(",198,..."), "{shown}");
    }

    #[test]
    fn files_of_simpleperf() {
        let file = StoredFile {
            path: "/lib/a.so".into(),
            kind: SimpleperfDsoType::ELF_FILE,
            ..StoredFile::default()
        };
        assert_eq!(stored_file(file), "/lib/a.so: ELF file, 0 symbols, lowest address 0x0");
        let known = StoredFile { min_vaddr: 0x1000, file_offset_of_min_vaddr: Some(0x800), ..file };
        assert_eq!(
            stored_file(known),
            "/lib/a.so: ELF file, 0 symbols, lowest address 0x1000 at offset 0x800"
        );
        let unknown = StoredFile { file_offset_of_min_vaddr: Some(u64::MAX), ..file };
        assert_eq!(stored_file(unknown), stored_file(file));
        let offsets = [perf_parse::feature::DexFileOffset(40)];
        let dex_file_offsets = perf_parse::feature::Entries::from(&offsets);
        let dex = StoredFile { kind: SimpleperfDsoType::DEX_FILE, dex_file_offsets, ..file };
        assert_eq!(stored_file(dex), "/lib/a.so: dex file, 0 symbols, lowest address 0x0, 1 dex file");
        let other = StoredFile { kind: SimpleperfDsoType(77), ..file };
        assert_eq!(stored_file(other), "/lib/a.so: other file, 0 symbols, lowest address 0x0");
        let entry = MetaInfoEntry { key: "event_type_info".into(), value: "a,0,0\nb,1,1".into() };
        assert_eq!(meta_info(entry), "event_type_info: a,0,0; b,1,1");
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!([0, 1, 2].map(|items| count(items, "die", "dies")), ["0 dies", "1 die", "2 dies"]);
    }
}
