//! Makes seeds for the corpora from the captures of `testdata`: `seeds OUT` writes one folder for each target.
//!
//! Most seeds are parts of captures: a record with its attr, a feature, a format with raw data. `cargo fuzz cmin` then
//! keeps the seeds that reach code that no other seed reaches.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::file::{EventRecords, Mode};
use perf_parse::index::IndexIdentity;
use perf_parse::tracepoint::{Tracepoints, TracingData};
use perf_parse::{Index, Reader, Record};
use testdata::arm_spe::{self, RandomPackets};
use testdata::{coresight, intel_pt};

/// Maximum number of bytes of a seed.
const MOST: usize = 4096;
/// Maximum number of seeds for each record type of a capture.
const ALIKE: u32 = 4;

/// Writes seeds, numbered by target.
struct Seeds {
    out: PathBuf,
    count: BTreeMap<&'static str, usize>,
}

impl Seeds {
    fn add(&mut self, target: &'static str, parts: &[&[u8]]) -> Result<(), Box<dyn Error>> {
        let bytes = parts.concat();
        if bytes.len() > MOST {
            return Ok(());
        }
        let folder = self.out.join(target);
        fs::create_dir_all(&folder)?;
        let count = self.count.entry(target).or_default();
        fs::write(folder.join(format!("{count:05}")), bytes)?;
        *count += 1;
        Ok(())
    }

    fn capture<O: Endian>(&mut self, reader: &Reader<'_>, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        let big = u8::from(O::ENDIANNESS == Endianness::Big);
        self.add("parse_file", &[bytes])?;
        self.add("repair", &[bytes])?;
        for steps in [0, 1, 2, 4, 8, 15, 16, 32] {
            self.add("edit", &[&[steps, 4], bytes])?;
        }
        self.add("command_line", &[bytes])?;
        self.add("folder", &[&[5], bytes])?;
        self.add("deferred", &[&[4], bytes])?;
        self.add("index", &[&[1], bytes])?;
        let index = Index::from_records(reader.records())?.encode(&IndexIdentity::new(reader, 0, 0));
        // The chunks are after a header of 80 bytes, which has their number at 56 and the flags at 12.
        self.add("index", &[&[index[12] << 1, index[56]], &index[80..]])?;
        self.add("session", &[&[8], bytes])?;
        let is_pipe = matches!(reader.mode(), Mode::Pipe);
        self.rings(reader)?;
        if is_pipe {
            for bits in 0..4 {
                self.add("parse_pipe", &[&[(bits * 2) | big, 7], &bytes[16..]])?;
            }
        }
        let mut times = Vec::new();
        let mut alike = BTreeMap::<_, u32>::new();
        let mut raws = Vec::new();
        let mut records = reader.records();
        for record in records.by_ref().map_while(Result::ok) {
            let kind = record.kind();
            let count = alike.entry(kind).or_default();
            *count += 1;
            times.push(match (kind, record.time()) {
                (RecordType::FINISHED_ROUND, _) => 255,
                (_, time) => (time.unwrap_or(0) >> 14) as u8,
            });
            if *count > ALIKE {
                continue;
            }
            let attr = record.event().map_or(Attr::default(), |event| event.attr);
            let target = if kind == RecordType::SAMPLE { "parse_sample" } else { "parse_record" };
            let head = head(&attr, big, kind, record.misc().0);
            self.add(target, &[&head, record.raw().payload()])?;
            if let Ok(Record::Sample(sample)) = record.decode() {
                let raw = sample.tail().ok().and_then(|tail| tail.raw).unwrap_or_default();
                raws.push((attr.config, raw.to_vec()));
            }
        }
        if alike.contains_key(&RecordType::AUXTRACE_INFO) {
            self.add("aux_trace", &[bytes])?;
        }
        for (id, raw) in raws {
            self.formats(&records, id, &raw)?;
        }
        self.add("time_order", &[&[8, big | 2], &times[..times.len().min(300)]])?;
        for event in records.events().iter().take(4) {
            let size = AttrVersion(event.attr.size.max(64));
            if let Ok(attr) = event.attr.write::<O>(size) {
                self.add("parse_attr", &[&attr])?;
            }
        }
        let nr_cpus = records.features().nr_cpus().ok().flatten().map_or(0, |it| it.available as u8);
        for section in records.features() {
            self.add("parse_features", &[&[section.feature.0 as u8, nr_cpus], section.bytes])?;
            if section.feature == Feature::TRACING_DATA {
                self.add("tracepoint_format", &[&[2], section.bytes])?;
            }
        }
        Ok(())
    }

    /// Adds the format of the tracepoint `id`, with raw data in that format.
    fn formats(&mut self, records: &EventRecords<'_>, id: u64, raw: &[u8]) -> Result<(), Box<dyn Error>> {
        let Some(section) = records.feature(Feature::TRACING_DATA) else { return Ok(()) };
        let data = TracingData::parse(section.bytes)?;
        let wanted = format!("ID: {id}\n");
        for text in data.formats() {
            if text.text.windows(wanted.len()).any(|window| window == wanted.as_bytes()) {
                self.add("tracepoint_format", &[&[0], text.text, &[0], raw])?;
                self.add("print_fmt", &[&[2, 200], text.text, &[0], raw])?;
            }
        }
        assert!(Tracepoints::new(&data).faults().is_empty());
        Ok(())
    }
}

/// Returns captures with the trace of each tracer that is decoded.
fn traces() -> Vec<Vec<u8>> {
    let random = |seed| RandomPackets::new(seed).records(20).out;
    let cpu = Some((0x410f_d0c0, 0));
    let words = [1, u64::from(coresight::PMU_TYPE) << 32 | 1, 0];
    let words: Vec<u64> = words.into_iter().chain(coresight::etmv4(0, 0x10)).collect();
    let buffers = [intel_pt::packets(1, 40), intel_pt::packets(2, 10), intel_pt::events(3, 20)];
    vec![
        arm_spe::Capture { data: random(1), ..arm_spe::Capture::default() }.build(),
        arm_spe::Capture {
            cpu,
            data: random(2),
            time_conv: Some([7, 9, 1000]),
            ..arm_spe::Capture::default()
        }
        .build(),
        intel_pt::capture(intel_pt::WITHOUT_BRANCHES, &buffers),
        intel_pt::capture(intel_pt::WITHOUT_BRANCHES, &[&buffers[0][..], &buffers[0]].map(<[u8]>::to_vec)),
        coresight::capture(&words, &[0x21, 1, 2, 3, 0x23, 4, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0]),
        coresight::capture(&words, &[]),
    ]
}

/// Returns the input of `parse_sample` and `parse_record` up to the payload.
fn head(attr: &Attr, big: u8, kind: RecordType, misc: u16) -> Vec<u8> {
    let mut head = Vec::new();
    head.extend_from_slice(&(attr.sample_type.0 as u32).to_le_bytes());
    head.push(attr.read_format.0 as u8);
    head.extend_from_slice(&(attr.branch_sample_type.0 as u32).to_le_bytes());
    head.extend_from_slice(&attr.sample_regs_user.to_le_bytes());
    head.extend_from_slice(&attr.sample_regs_intr.to_le_bytes());
    head.push(attr.sample_stack_user.min(255) as u8);
    head.push(attr.flags.contains(AttrFlags::SAMPLE_ID_ALL).into());
    head.push(big);
    head.push(kind.0 as u8);
    head.extend_from_slice(&misc.to_le_bytes());
    head
}

impl Seeds {
    /// Adds rings that are filled with the first records of a capture: forward and backward, from the start and
    /// wrapped.
    fn rings(&mut self, reader: &Reader<'_>) -> Result<(), Box<dyn Error>> {
        let Mode::File(header) = reader.mode() else { return Ok(()) };
        let data = reader.bytes_at(header.data).unwrap_or_default();
        let big = u8::from(reader.endianness() == Endianness::Big);
        for exponent in [4_u8, 6, 8] {
            let size = 8_usize << exponent;
            let Some(area) = data.get(..size) else { continue };
            let head = (size as u64).to_le_bytes();
            let filled = &(size as u16).to_le_bytes();
            self.add("parse_ring", &[&[big, exponent], filled, &head, area])?;
            let (back, front) = area.split_at(size / 2);
            let head = (size as u64 * 3 / 2).to_le_bytes();
            self.add("parse_ring", &[&[big, exponent], filled, &head, front, back])?;
            let head = (size as u64).wrapping_neg().to_le_bytes();
            self.add("parse_ring", &[&[big | 2, exponent], filled, &head, area])?;
            let head = (size as u64 * 3 / 2).wrapping_neg().to_le_bytes();
            self.add("parse_ring", &[&[big | 2, exponent], filled, &head, front, back])?;
        }
        Ok(())
    }
}

/// Texts of sysfs and event strings, each with the number of its grammar.
const TEXTS: &[(u8, &str)] = &[
    (0, "config:0-7,21,32-35"),
    (0, "config1:3"),
    (0, "config4:0-63"),
    (0, "config2:63,0"),
    (1, "event=0x3c,umask=1"),
    (1, "event=0x3c,inv"),
    (1, "name='a b',period=1000,umask=?"),
    (1, "  "),
    (2, "0-3,8"),
    (2, "0,18\n"),
    (3, "6.103515625e-5\n"),
    (3, "1e-9"),
    (4, "cycles:u,faults,task-clock"),
    (4, "{cycles,instructions}:S"),
    (4, "mem:0x1000/4:rw"),
    (4, "r1a8:ppp,4:0x1a8"),
    (4, "sched:sched_switch,sched:*"),
    (4, "cpu/event=0x3c,umask=1,name=it/pp"),
    (4, "cpu/cpu-cycles,period=7/u,cpu/mem-loads,ldlat=30/"),
    (4, "uncore_imc_0/cas_count_read/,uncore_imc/event=4/"),
    (4, "kprobe/func=do_exit,retprobe/,uprobe/path='/bin/true',offset=64/"),
    (4, "L1-dcache-load-misses,LLC-loads:k,branch-misses:HG"),
    (4, "cpu/config=1,config1=2,config2=3,config3=4,config4=5/"),
    (4, "name{page-faults:u,cpu-clock/freq=99,call-graph=fp,max-stack=8/}:SW"),
];

/// Print formats of the fields that the target `print_fmt` has.
const PRINT_FMTS: &[&str] = &[
    r#""%d %hu %lx", REC->a, REC->b, REC->c"#,
    r#""%-5d|%05x|%+d|%#o", REC->a, REC->b & (0x40 | 0x80), REC->d << 2, REC->e"#,
    r#""%d", REC->a ? REC->b > 3 && !REC->e : -REC->d / 2 % 3"#,
    r#""%s %s", REC->comm, __get_str(name)"#,
    r#""%*s|%.*s", 10, REC->comm, 2, (char *)REC->comm"#,
    r#""%s", __print_flags(REC->b, "|", { (1 << 0), "A" }, { I_NEW, "N" }, { -1, ((void *)0) })"#,
    r#""%s", REC->a ? __print_symbolic(REC->a & 3, { 0, "zero" }, { 1, "o" "ne" }) : "none""#,
    r#""%s %s", __print_hex(REC->mac, 6), __print_hex_str(REC->mac, REC->b)"#,
    r#""%s %s", __get_rel_bitmask(mask), __print_array(REC->list, 2, sizeof(u32))"#,
    r#""%*pbl %d", 64, __get_rel_dynamic_array(mask), __get_rel_dynamic_array_len(mask)"#,
    r#""%pS %ps %p", REC->c, (void *)REC->c, REC->c"#,
    r#""%pM %pI4 %pI6c %pUL %6phC", REC->mac, REC->mac, &REC->p, &REC->p, REC->mac"#,
    r#""%pISpc %s", &REC->p, __get_sockaddr(name)"#,
    r#""%d %d", REC->list[1], ((u16 *)__get_dynamic_array(name))[0]"#,
    r#""%d", ({ int x = (REC->a); int y = (7); ((x) < (y) ? (x) : (y)); })"#,
    r#""%llu.%09u %c", __print_ns_to_secs(REC->c), __print_ns_without_secs(REC->c), 'x'"#,
    r#""%s", jiffies_to_msecs(REC->a)"#,
];

/// Raw data for [`PRINT_FMTS`].
const PRINT_RAW: &[u8; 64] = b"\x01\0\x05\0\xfe\xff\xff\xff\x10\0\0\x81\xff\xff\xff\xff\xc8\x01\0\x1b\x21\xaa\xbb\xcc\
    comm\0\0\0\0\x01\0\0\0\x70\x11\x01\0\x18\0\x05\0\x08\0\x08\0\x02\0\x1f\x90\x7f\0\0\x01\x0a\x0b\0\0\0\0\0\x01";

/// Returns the files of a folder, sorted by name; empty if the folder does not exist.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args_os().nth(1).ok_or("usage: seeds OUT")?;
    let mut seeds = Seeds { out: out.into(), count: BTreeMap::new() };
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    for folder in ["captures", "synthetic"] {
        for path in paths(&testdata.join(folder))?
            .iter()
            .filter(|path| path.extension().is_some_and(|it| it == "data"))
        {
            let bytes = fs::read(path)?;
            // The truncated file still has its header, its attrs and some records.
            let cut = &bytes[..bytes.len().min(MOST)];
            for bytes in [&bytes[..], cut] {
                match Reader::new(bytes) {
                    Ok(reader) if reader.endianness() == Endianness::Little => {
                        seeds.capture::<LittleEndian>(&reader, bytes)?;
                    }
                    Ok(reader) => seeds.capture::<BigEndian>(&reader, bytes)?,
                    Err(error) => eprintln!("{}: {error}", path.display()),
                }
            }
        }
    }
    // Unchanged dumps, after a byte with bits for their direction.
    for path in paths(&testdata.join("rings"))? {
        let bytes = fs::read(&path)?;
        for bits in [4, 6] {
            seeds.add("parse_ring", &[&[bits], &bytes[..bytes.len().min(MOST)]])?;
        }
    }
    for capture in traces() {
        seeds.add("aux_trace", &[&capture])?;
    }
    for text in PRINT_FMTS {
        seeds.add("print_fmt", &[&[0, 40], text.as_bytes(), &[0], PRINT_RAW])?;
    }
    for (grammar, text) in TEXTS {
        seeds.add("pmu_terms", &[&[*grammar], text.as_bytes()])?;
    }
    // Pseudorandom bytes make a valid capture, because every choice has a default.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for len in (64..1500).step_by(24) {
        let bytes: Vec<u8> = (0..len)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        seeds.add("write_read", &[&bytes])?;
        // Few records, then more, of a session in either byte order.
        seeds.add("session", &[&[bytes[0] & 0x87], &bytes[..len / 4]])?;
    }
    for (target, count) in &seeds.count {
        println!("{target}: {count}");
    }
    Ok(())
}
