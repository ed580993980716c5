//! Records of perf-parse as the plain values of the oracle, by every getter there is.

use perf_abi::attr::Attr;
use perf_abi::branch::{BranchEntry, BranchSampleType};
use perf_abi::endian::{Endian, U64};
use perf_parse::record::{FileId, Mmap2, SampleId};
use perf_parse::sample::{self as lazy, Reading, Tail};
use perf_parse::{RawRecord, Record, Sample};
use testdata::oracle::{self, Body};

/// A sample, its tail decoded, with the number of ways it can be read.
#[must_use]
pub fn sample<O: Endian>(attr: &Attr, sample: &Sample<'_, O>, tail: &Tail<'_, O>) -> oracle::Sample {
    oracle::Sample {
        identifier: sample.identifier(),
        ip: sample.ip(),
        pid: sample.pid(),
        tid: sample.tid(),
        time: sample.time(),
        addr: sample.addr(),
        id: sample.id(),
        stream_id: sample.stream_id(),
        cpu: sample.cpu(),
        period: sample.period(),
        read: tail.read.as_ref().map(read),
        callchain: tail.callchain.map(|chain| words(chain.words())),
        raw: tail.raw.map(Vec::from),
        branch_stack: tail.branch_stack.map(|stack| oracle::BranchStack {
            hw_idx: stack.hw_idx,
            entries: stack.entries.iter().map(branch).collect(),
            counters: stack.counters.map(words),
        }),
        regs_user: tail.regs_user.map(regs),
        stack_user: tail.stack_user.map(|stack| oracle::Stack {
            size: stack.data.len() as u64,
            data: stack.data.to_vec(),
            dyn_size: stack.dyn_size,
        }),
        weight: tail.weight,
        weight_struct: tail.weight_struct.map(|weight| oracle::WeightStruct {
            var1_dw: weight.var1_dw(),
            var2_w: weight.var2_w(),
            var3_w: weight.var3_w(),
        }),
        data_src: tail.data_src.map(|source| source.0),
        transaction: tail.transaction.map(|txn| txn.0),
        regs_intr: tail.regs_intr.map(regs),
        phys_addr: tail.phys_addr,
        cgroup: tail.cgroup,
        data_page_size: tail.data_page_size,
        code_page_size: tail.code_page_size,
        aux: tail.aux.map(Vec::from),
        readings: readings(attr, tail.readings, sample.possible_readings() as u32),
    }
}

/// Which of two readings was taken, in the oracle's terms: whether the part in question is there.
fn readings(attr: &Attr, readings: lazy::Readings, fits: u32) -> oracle::Readings {
    let is_there = |reading, usually: bool| match reading {
        Reading::Certain => None,
        Reading::Usual => Some(usually),
        Reading::Other => Some(!usually),
    };
    oracle::Readings {
        hw_idx: is_there(readings.hw_idx, true),
        counters: is_there(readings.counters, attr.branch_sample_type.contains(BranchSampleType::COUNTERS)),
        regs_user: is_there(readings.regs_user, false),
        stack_stray: is_there(readings.stack_user, false),
        regs_intr: is_there(readings.regs_intr, false),
        fits,
    }
}

/// A record other than a sample: what it says, and its trailer.
///
/// # Errors
///
/// Those of perf-parse.
pub fn body<O: Endian>(
    raw: &RawRecord<'_, O>,
    layout: &perf_parse::SampleLayout,
) -> Result<(Body, Option<oracle::SampleId>), perf_parse::Error> {
    let record = raw.decode(layout)?;
    let trailer = raw.sample_id(layout)?.as_ref().map(sample_id);
    let body = match record {
        Record::Mmap(it) => Body::Mmap {
            pid: it.pid,
            tid: it.tid,
            addr: it.addr,
            len: it.len,
            pgoff: it.pgoff,
            filename: it.filename.to_vec(),
        },
        Record::Lost(it) => Body::Lost { id: it.id, lost: it.lost },
        Record::Comm(it) => Body::Comm { pid: it.pid, tid: it.tid, comm: it.comm.to_vec() },
        Record::Exit(it) => {
            Body::Exit { pid: it.pid, ppid: it.ppid, tid: it.tid, ptid: it.ptid, time: it.time }
        }
        Record::Throttle(it) => Body::Throttle { time: it.time, id: it.id, stream_id: it.stream_id },
        Record::Unthrottle(it) => Body::Unthrottle { time: it.time, id: it.id, stream_id: it.stream_id },
        Record::Fork(it) => {
            Body::Fork { pid: it.pid, ppid: it.ppid, tid: it.tid, ptid: it.ptid, time: it.time }
        }
        Record::Read(it) => Body::Read { pid: it.pid, tid: it.tid, values: read(&it.read) },
        Record::Mmap2(it) => mmap2(&it),
        Record::Aux(it) => Body::Aux { aux_offset: it.aux_offset, aux_size: it.aux_size, flags: it.flags.0 },
        Record::ItraceStart(it) => Body::ItraceStart { pid: it.pid, tid: it.tid },
        Record::LostSamples(it) => Body::LostSamples { lost: it.lost },
        Record::Switch => Body::Switch,
        Record::SwitchCpuWide(it) => {
            Body::SwitchCpuWide { next_prev_pid: it.next_prev_pid, next_prev_tid: it.next_prev_tid }
        }
        Record::Namespaces(it) => Body::Namespaces {
            pid: it.pid,
            tid: it.tid,
            namespaces: it
                .link_info
                .iter()
                .map(|link| oracle::Namespace { dev: link.dev.get(), ino: link.ino.get() })
                .collect(),
        },
        Record::Ksymbol(it) => Body::Ksymbol {
            addr: it.addr,
            len: it.len,
            ksym_type: it.ksym_type.0,
            flags: it.flags.0,
            name: it.name.to_vec(),
        },
        Record::BpfEvent(it) => Body::BpfEvent { r#type: it.kind.0, flags: it.flags, id: it.id, tag: it.tag },
        Record::Cgroup(it) => Body::Cgroup { id: it.id, path: it.path.to_vec() },
        Record::TextPoke(it) => Body::TextPoke { addr: it.addr, old: it.old.to_vec(), new: it.new.to_vec() },
        Record::AuxOutputHwId(it) => Body::AuxOutputHwId { hw_id: it.hw_id },
        Record::CallchainDeferred(it) => Body::CallchainDeferred { cookie: it.cookie, ips: words(it.ips) },
        Record::Other(_) => {
            let trailer = if trailer.is_some() { layout.sample_id_size() } else { 0 };
            let (body, _) = raw.payload().split_at(raw.payload().len() - trailer);
            Body::Other(body.to_vec())
        }
        Record::User(..) => Body::Other(raw.payload().to_vec()),
        record => panic!("{:?} is not what this target decodes", record.kind()),
    };
    Ok((body, trailer))
}

fn mmap2(it: &Mmap2<'_>) -> Body {
    Body::Mmap2 {
        pid: it.pid,
        tid: it.tid,
        addr: it.addr,
        len: it.len,
        pgoff: it.pgoff,
        file: match it.id {
            FileId::Inode { maj, min, ino, ino_generation } => {
                oracle::Mmap2Id::Inode { maj, min, ino, ino_generation }
            }
            FileId::BuildId { size, bytes } => {
                oracle::Mmap2Id::BuildId { build_id_size: size, build_id: bytes }
            }
        },
        prot: it.prot_flags.map(|(prot, _)| prot),
        flags: it.prot_flags.map(|(_, flags)| flags),
        filename: it.filename.to_vec(),
    }
}

fn sample_id<O: Endian>(id: &SampleId<'_, O>) -> oracle::SampleId {
    oracle::SampleId {
        pid: id.pid(),
        tid: id.tid(),
        time: id.time(),
        id: id.id(),
        stream_id: id.stream_id(),
        cpu: id.cpu(),
        identifier: id.identifier(),
    }
}

fn read<O: Endian>(read: &lazy::Read<'_, O>) -> oracle::Read {
    let values: Vec<_> = read
        .values()
        .map(|value| oracle::ReadValue { value: value.value, id: value.id, lost: value.lost })
        .collect();
    assert_eq!(read.nr(), values.len());
    oracle::Read {
        group: read.is_group(),
        time_enabled: read.time_enabled(),
        time_running: read.time_running(),
        values,
    }
}

fn regs<O: Endian>(regs: lazy::Regs<'_, O>) -> oracle::Regs {
    for (bit, value) in regs.iter() {
        assert_eq!(regs.get(bit), Some(value));
    }
    assert_eq!(regs.iter().count(), regs.values.len());
    oracle::Regs { abi: regs.abi.0, values: words(regs.values) }
}

fn branch<O: Endian>(entry: &BranchEntry<O>) -> oracle::Branch {
    let flags = entry.flags();
    oracle::Branch {
        from: entry.from.get(),
        to: entry.to.get(),
        mispred: flags.contains(perf_abi::branch::BranchFlags::MISPRED),
        predicted: flags.contains(perf_abi::branch::BranchFlags::PREDICTED),
        in_tx: flags.contains(perf_abi::branch::BranchFlags::IN_TX),
        abort: flags.contains(perf_abi::branch::BranchFlags::ABORT),
        cycles: flags.cycles(),
        r#type: flags.kind().0,
        spec: flags.spec().0,
        new_type: flags.new_type().0,
        r#priv: flags.privilege().0,
        reserved: (flags.0 >> 33) as u32,
    }
}

fn words<O: Endian>(words: &[U64<O>]) -> Vec<u64> {
    words.iter().map(|word| word.get()).collect()
}
