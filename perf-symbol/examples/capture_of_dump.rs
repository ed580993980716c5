//! Writes a capture with one sample, of registers and a stack that a program printed:
//! `capture_of_dump MACHINE DUMP CAPTURE`. The script `testdata/unwind/make.sh` uses it.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::LittleEndian;
use perf_parse::abi::event::EventType;
use perf_parse::abi::record::Misc;
use perf_parse::abi::regs::{Arch, RegsAbi};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use perf_parse::write::{self, RegsFields, SampleFields, SampleIdFields, StackUserFields};
use perf_parse::{Record, SampleLayout};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [machine, dump, out] = arguments.as_slice() else { return Err("MACHINE DUMP CAPTURE".into()) };
    let text = fs::read_to_string(dump)?;
    let mut lines = HashMap::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        lines.insert(name, words.map(|word| u64::from_str_radix(word, 16)).collect::<Result<Vec<_>, _>>()?);
    }
    let line = |name: &str| lines.get(name).ok_or_else(|| format!("no line {name}"));
    let (bits, values): (Vec<_>, Vec<_>) =
        line("regs")?.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
    let stack = line("stack")?.iter().map(|&byte| u8::try_from(byte)).collect::<Result<Vec<_>, _>>()?;
    let [start, size] = line("map")?.as_slice() else { return Err("map has two numbers".into()) };

    let arch = Arch::from_machine(machine).ok_or("the machine is not known")?;
    let (abi, pc) = match arch {
        Arch::X86 => (RegsAbi::ABI_32, 8),
        Arch::Arm => (RegsAbi::ABI_32, 15),
        _ => (RegsAbi::ABI_64, 32),
    };
    let sample_type =
        SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::REGS_USER | SampleType::STACK_USER;
    let attr = Attr {
        kind: EventType::SOFTWARE,
        sample_type,
        sample_regs_user: bits.iter().fold(0, |mask, bit| mask | 1 << bit),
        sample_stack_user: u32::try_from(stack.len())?,
        ..Attr::default()
    };
    let event =
        EventFields { attr, ids: vec![1], name: Some(b"cpu-clock".to_vec()), ..EventFields::default() };
    let file = fs::File::create(out)?;
    let mut writer = FileWriter::new(file, &[event], &WriteOptions::default())?;
    writer.features().set(&FeatureData::Arch(machine.as_str().into()))?;

    let layout = SampleLayout::new(&attr)?;
    let stem = Path::new(out).file_stem().and_then(|stem| stem.to_str()).ok_or("the capture has no name")?;
    let name = format!("/{stem}.elf");
    let mapping = Record::Mmap2(Mmap2 {
        pid: 1,
        tid: 1,
        addr: *start,
        // Whole pages.
        len: size.next_multiple_of(4096),
        pgoff: 0,
        id: FileId::Inode { maj: 0, min: 1, ino: 1, ino_generation: 0 },
        prot_flags: Some((5, 2)),
        reading: Reading::Certain,
        filename: name.as_bytes(),
    });
    let (user, mut records) = (Misc(2), Vec::new());
    write::record::<LittleEndian>(&mut records, &layout, user, &mapping, &SampleIdFields::default())?;
    writer.record(&records)?;

    let ip = bits.iter().position(|&bit| bit == pc);
    let fields = SampleFields {
        ip: ip.and_then(|at| values.get(at).copied()),
        pid_tid: Some((1, 1)),
        time: Some(1),
        regs_user: Some(RegsFields { abi, values }),
        stack_user: Some(StackUserFields { dyn_size: Some(stack.len() as u64), data: stack }),
        ..SampleFields::default()
    };
    let mut sample = Vec::new();
    write::sample::<LittleEndian>(&mut sample, &layout, user, &fields)?;
    writer.record(&sample)?;
    writer.finish()?;
    Ok(())
}
