//! Writes a capture with branch stacks, for machines whose CPU records none: `branch_stacks OUT BINARY BASE OFFSET SIZE
//! SAMPLES chain|no-chain FROM:TO...`.
//!
//! In every sample the same branches were taken, newest first, in the code of the file BINARY. BASE is the address that
//! the code at OFFSET in the file was mapped at, SIZE the size of the mapping. The samples are taken at the target of
//! the newest branch, and `chain` adds a call chain of this one frame. Numbers are hexadecimal, except SAMPLES.

use core::error::Error;
use std::fs::File;
use std::io::BufWriter;

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::branch::{BranchFlags, BranchSampleType};
use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::event::{EventType, HwId};
use perf_parse::abi::record::{CpuMode, Misc};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Comm, FileId, Mmap2};
use perf_parse::sample::Reading;
use perf_parse::write::{BranchFields, BranchStackFields, RecordEncoder, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};

const PID: i32 = 1000;
const START_NANOSECONDS: u64 = 1_000_000_000;
const PROT_READ_EXEC: u32 = 5;
const MAP_PRIVATE: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let (Some(out), Some(binary)) = (args.next(), args.next()) else {
        return Err(
            "usage: branch_stacks OUT BINARY BASE OFFSET SIZE SAMPLES chain|no-chain FROM:TO...".into()
        );
    };
    let binary = std::fs::canonicalize(binary)?.into_os_string().into_encoded_bytes();
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let [base, offset, size, samples, chain, branches @ ..] = args.as_slice() else {
        return Err("BASE, OFFSET, SIZE, SAMPLES and chain or no-chain must be given".into());
    };
    let entries = branches.iter().map(|branch| parse_branch(branch)).collect::<Result<Vec<_>, _>>()?;
    let ip = entries.first().ok_or("at least one branch must be given")?.to;
    let has_chain = chain == "chain";

    let attr = attr(has_chain);
    let layout = SampleLayout::new(&attr)?;
    let encoder = RecordEncoder::new(&layout);
    let event =
        EventFields { attr, ids: vec![1], name: Some(b"branches:u".to_vec()), ..EventFields::default() };
    let file = BufWriter::new(File::create(out)?);
    let mut writer = FileWriter::new(file, &[event], &WriteOptions::default())?;
    let user = Misc::from(CpuMode::USER);
    let synthesised = SampleIdFields { pid: PID, tid: PID, ..SampleIdFields::default() };
    let comm = Comm { pid: PID, tid: PID, comm: b"branches" };
    let mapping = Mmap2 {
        pid: PID,
        tid: PID,
        addr: hex(base)?,
        len: hex(size)?,
        pgoff: hex(offset)?,
        id: FileId::Inode { maj: 254, min: 1, ino: 1, ino_generation: 1 },
        prot_flags: Some((PROT_READ_EXEC, MAP_PRIVATE)),
        reading: Reading::Certain,
        filename: &binary,
    };
    for record in [Record::Comm(comm), Record::Mmap2(mapping)] {
        let mut bytes = Vec::new();
        encoder.record(&mut bytes, user, &record, &synthesised)?;
        writer.record(&bytes)?;
    }
    for sample in 0..samples.parse::<u64>()? {
        let fields = SampleFields {
            ip: Some(ip),
            pid_tid: Some((PID, PID)),
            time: Some(START_NANOSECONDS + 1000 * sample),
            period: Some(entries.len() as u64),
            callchain: has_chain.then(|| vec![CallchainContext::USER.0, ip]),
            branch_stack: Some(BranchStackFields {
                entries: entries.clone(),
                ..BranchStackFields::default()
            }),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        encoder.sample(&mut bytes, user, &fields)?;
        writer.record(&bytes)?;
    }
    writer.finish()?;
    Ok(())
}

/// Returns the attr of `perf record -j any,u`, and of `-g` if it has call chains.
fn attr(has_chain: bool) -> Attr {
    let chain = if has_chain { SampleType::CALLCHAIN } else { SampleType::NONE };
    Attr {
        kind: EventType::HARDWARE,
        config: HwId::BRANCH_INSTRUCTIONS.0.into(),
        sample_period: 16,
        sample_type: SampleType::IP
            | SampleType::TID
            | SampleType::TIME
            | SampleType::PERIOD
            | SampleType::BRANCH_STACK
            | chain,
        branch_sample_type: BranchSampleType::USER | BranchSampleType::ANY,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
        ..Attr::default()
    }
}

fn parse_branch(text: &str) -> Result<BranchFields, Box<dyn Error>> {
    let (from, to) = text.split_once(':').ok_or_else(|| format!("{text}: a branch must be FROM:TO"))?;
    Ok(BranchFields { from: hex(from)?, to: hex(to)?, flags: BranchFlags::PREDICTED })
}

fn hex(text: &str) -> Result<u64, Box<dyn Error>> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|e| format!("{text}: {e}").into())
}
