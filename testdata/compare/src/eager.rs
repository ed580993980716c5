//! Records of the view, converted with every getter to the plain values of the oracle.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::ByteOrder;
use perf_abi::record::RecordType;
use perf_parse::record::FileId;
use perf_parse::sample::{BranchStack, Callchain, ChainFrame, Read, Reading, Readings, Regs, SimdRegs};
use perf_parse::{Error, RawRecord, Record, Sample, SampleLayout};
use testdata::oracle;

/// Decodes `bytes`, one record of a kernel type in the byte order `order`, with the crate and returns it as the
/// oracle's type.
///
/// # Errors
///
/// The errors of the crate.
pub fn record<O: ByteOrder>(
    order: O::Value,
    attr: &Attr,
    layout: &SampleLayout,
    bytes: &[u8],
) -> Result<oracle::Record, Error> {
    let (raw, rest) = RawRecord::<O>::parse_in(order, bytes)?;
    assert_eq!(raw.endianness(), O::endianness(order));
    assert!(rest.is_empty());
    assert_eq!(raw.payload().len() + 8, bytes.len());
    let sample_id = sample_id(order, attr, layout, &raw)?;
    let record = raw.decode(layout)?;
    assert_eq!(record.kind(), raw.kind());
    let body = body(order, attr, layout, &raw, &record)?;
    Ok(oracle::Record { kind: raw.kind().0, misc: raw.misc().0, size: raw.size(), body, sample_id })
}

fn sample_id<O: ByteOrder>(
    order: O::Value,
    attr: &Attr,
    layout: &SampleLayout,
    raw: &RawRecord<'_, O>,
) -> Result<Option<oracle::SampleId>, Error> {
    let has_trailer = attr.flags.contains(AttrFlags::SAMPLE_ID_ALL)
        && raw.kind() != RecordType::SAMPLE
        && !raw.kind().is_user();
    let Some(id) = raw.sample_id(layout)? else {
        // A trailer without fields: the oracle returns an empty one.
        assert!(!has_trailer || layout.sample_id_size() == 0);
        return Ok(has_trailer.then(oracle::SampleId::default));
    };
    let id = oracle::SampleId {
        pid: id.pid(),
        tid: id.tid(),
        time: id.time(),
        id: id.id(),
        stream_id: id.stream_id(),
        cpu: id.cpu(),
        identifier: id.identifier(),
    };
    let end = raw.payload().len() - raw.stale_bytes(layout);
    let at = layout.trailer_id_offset().map(|back| word::<O>(order, raw.payload(), end - back));
    assert_eq!(at, id.identifier.or(id.id));
    assert!(has_trailer);
    Ok(Some(id))
}

/// Returns the word at `at`.
fn word<O: ByteOrder>(order: O::Value, bytes: &[u8], at: usize) -> u64 {
    O::u64(order, bytes[at..at + 8].try_into().unwrap())
}

fn body<O: ByteOrder>(
    order: O::Value,
    attr: &Attr,
    layout: &SampleLayout,
    raw: &RawRecord<'_, O>,
    record: &Record<'_, O>,
) -> Result<oracle::Body, Error> {
    use oracle::Body;
    Ok(match *record {
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
        Record::Sample(it) => Body::Sample(Box::new(sample(order, attr, layout, raw, &it)?)),
        Record::Mmap2(it) => {
            let (prot, flags) = it.prot_flags.unzip();
            let file = match it.id {
                FileId::Inode { maj, min, ino, ino_generation } => {
                    assert_eq!(it.id.build_id(), None);
                    oracle::Mmap2Id::Inode { maj, min, ino, ino_generation }
                }
                FileId::BuildId { size, bytes } => {
                    assert_eq!(it.id.build_id(), Some(&bytes[..usize::from(size)]));
                    oracle::Mmap2Id::BuildId { build_id_size: size, build_id: bytes }
                }
                other => panic!("{other:?}"),
            };
            Body::Mmap2 {
                pid: it.pid,
                tid: it.tid,
                addr: it.addr,
                len: it.len,
                pgoff: it.pgoff,
                file,
                prot,
                flags,
                fits_both: !it.reading.is_certain(),
                filename: it.filename.to_vec(),
            }
        }
        Record::Aux(it) => Body::Aux { aux_offset: it.aux_offset, aux_size: it.aux_size, flags: it.flags.0 },
        Record::ItraceStart(it) => Body::ItraceStart { pid: it.pid, tid: it.tid },
        Record::LostSamples(it) => Body::LostSamples { lost: it.lost },
        Record::Switch => Body::Switch,
        Record::SwitchCpuWide(it) => {
            Body::SwitchCpuWide { next_prev_pid: it.next_prev_pid, next_prev_tid: it.next_prev_tid }
        }
        Record::Namespaces(it) => {
            let namespaces =
                it.link_info.iter().map(|link| oracle::Namespace { dev: link.dev, ino: link.ino });
            Body::Namespaces { pid: it.pid, tid: it.tid, namespaces: namespaces.collect() }
        }
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
        Record::CallchainDeferred(it) => {
            Body::CallchainDeferred { cookie: it.cookie, ips: it.ips.iter().collect() }
        }
        // The view does not split off the trailer.
        Record::Other(it) => {
            Body::Other(it.payload()[..it.payload().len() - layout.sample_id_size()].to_vec())
        }
        Record::User(_, kind) => panic!("{kind}"),
        _ => panic!("{record:?}"),
    })
}

fn read<O: ByteOrder>(read: &Read<'_, O>) -> oracle::Read {
    let values: Vec<_> =
        read.values().map(|it| oracle::ReadValue { value: it.value, id: it.id, lost: it.lost }).collect();
    assert_eq!(read.nr(), values.len());
    oracle::Read {
        group: read.is_group(),
        time_enabled: read.time_enabled(),
        time_running: read.time_running(),
        values,
    }
}

fn sample<O: ByteOrder>(
    order: O::Value,
    attr: &Attr,
    layout: &SampleLayout,
    raw: &RawRecord<'_, O>,
    it: &Sample<'_, O>,
) -> Result<oracle::Sample, Error> {
    assert_eq!(it.layout(), layout);
    let at = layout.sample_id_offset().map(|at| word::<O>(order, raw.payload(), at));
    assert_eq!(at, it.identifier().or(it.id()));

    let possible = it.possible_readings();
    let tail = it.tail().inspect_err(|_| assert_eq!(possible, 0))?;
    assert_eq!(it.callchain(), Ok(tail.callchain));
    Ok(oracle::Sample {
        identifier: it.identifier(),
        ip: it.ip(),
        pid: it.pid(),
        tid: it.tid(),
        time: it.time(),
        addr: it.addr(),
        id: it.id(),
        stream_id: it.stream_id(),
        cpu: it.cpu(),
        period: it.period(),
        read: tail.read.as_ref().map(read),
        callchain: tail.callchain.as_ref().map(callchain),
        raw: tail.raw.map(Vec::from),
        branch_stack: tail.branch_stack.as_ref().map(branch_stack),
        regs_user: tail.regs_user.as_ref().map(|it| regs(it, attr.sample_regs_user)),
        stack_user: tail.stack_user.map(|stack| {
            let copied = stack.dyn_size.unwrap_or(0) as usize;
            assert_eq!(stack.copied(), &stack.data[..copied]);
            let size = stack.data.len() as u64;
            oracle::Stack { size, data: stack.data.to_vec(), dyn_size: stack.dyn_size }
        }),
        weight: tail.weight,
        weight_struct: tail.weight_struct.map(|weight| oracle::WeightStruct {
            var1_dw: weight.var1_dw(),
            var2_w: weight.var2_w(),
            var3_w: weight.var3_w(),
        }),
        data_src: tail.data_src.map(|source| source.0),
        transaction: tail.transaction.map(|txn| txn.0),
        regs_intr: tail.regs_intr.as_ref().map(|it| regs(it, attr.sample_regs_intr)),
        phys_addr: tail.phys_addr,
        cgroup: tail.cgroup,
        data_page_size: tail.data_page_size,
        code_page_size: tail.code_page_size,
        aux: tail.aux.map(Vec::from),
        simd_regs_user: tail.simd_regs_user.as_ref().map(simd_regs),
        simd_regs_intr: tail.simd_regs_intr.as_ref().map(simd_regs),
        readings: {
            let empty_stack = tail.stack_user.is_some_and(|stack| stack.data.is_empty());
            readings(attr, empty_stack, &tail.readings, possible)
        },
    })
}

fn callchain<O: ByteOrder>(chain: &Callchain<'_, O>) -> Vec<u64> {
    let words: Vec<u64> = chain.words().iter().collect();
    let mut frames = Vec::new();
    let mut context = None;
    let mut at = words.iter();
    while let Some(&word) = at.next() {
        if word == -640_i64 as u64 {
            frames.push(ChainFrame::Deferred { cookie: at.next().copied() });
        } else if word >= -4095_i64 as u64 {
            context = Some(CallchainContext(word));
        } else {
            frames.push(ChainFrame::Ip { ip: word, context });
        }
    }
    assert_eq!(chain.frames().collect::<Vec<_>>(), frames);
    words
}

fn branch_stack<O: ByteOrder>(stack: &BranchStack<'_, O>) -> oracle::BranchStack {
    let entries = stack.entries.iter().map(|entry| {
        let flags = entry.flags;
        oracle::Branch {
            from: entry.from,
            to: entry.to,
            mispred: flags.0 & 1 != 0,
            predicted: flags.0 & 2 != 0,
            in_tx: flags.0 & 4 != 0,
            abort: flags.0 & 8 != 0,
            cycles: flags.cycles(),
            r#type: flags.kind().0,
            spec: flags.spec().0,
            new_type: flags.new_type().0,
            r#priv: flags.privilege().0,
            reserved: (flags.0 >> 33) as u32,
        }
    });
    oracle::BranchStack {
        hw_idx: stack.hw_idx,
        entries: entries.collect(),
        counters: stack.counters.map(|words| words.iter().collect()),
    }
}

fn regs<O: ByteOrder>(regs: &Regs<'_, O>, mask: u64) -> oracle::Regs {
    assert_eq!(regs.mask, mask);
    let values: Vec<u64> = regs.values.iter().collect();
    let asked: Vec<u32> = (0..64).filter(|bit| mask & (1 << bit) != 0).collect();
    let pairs: Vec<_> = asked.iter().copied().zip(values.iter().copied()).collect();
    assert_eq!(regs.iter().collect::<Vec<_>>(), pairs);
    assert_eq!(regs.into_iter().collect::<Vec<_>>(), pairs);
    for &(bit, value) in &pairs {
        assert_eq!(regs.get(bit), Some(value));
    }
    let there = |bit: &u32| mask.checked_shr(*bit).is_some_and(|mask| mask & 1 != 0);
    for bit in (0..=64).filter(|bit| pairs.is_empty() || !there(bit)) {
        assert_eq!(regs.get(bit), None);
    }
    oracle::Regs { abi: regs.abi.0, values }
}

fn simd_regs<O: ByteOrder>(regs: &SimdRegs<'_, O>) -> oracle::SimdRegs {
    let mut left = regs.data.iter().collect::<Vec<u64>>().into_iter();
    let mut take = |nr: u16, qwords: u16| -> Vec<Vec<u64>> {
        (0..nr).map(|_| left.by_ref().take(qwords.into()).collect()).collect()
    };
    let vectors = take(regs.nr_vectors, regs.vector_qwords);
    let preds = take(regs.nr_pred, regs.pred_qwords);
    assert_eq!(left.next(), None);
    // A register that lacks a word is none, and can only be the last one.
    let whole = |all: &[Vec<u64>], qwords: u16| -> Vec<Vec<u64>> {
        all.iter().filter(|words| words.len() == usize::from(qwords)).cloned().collect()
    };
    let of = |lists: &mut dyn Iterator<Item = Vec<u64>>| lists.collect::<Vec<_>>();
    assert_eq!(of(&mut regs.vectors().map(|it| it.iter().collect())), whole(&vectors, regs.vector_qwords));
    assert_eq!(of(&mut regs.predicates().map(|it| it.iter().collect())), whole(&preds, regs.pred_qwords));
    assert_eq!((regs.vector(regs.nr_vectors), regs.predicate(regs.nr_pred)), (None, None));
    oracle::SimdRegs { vectors, preds }
}

fn readings(attr: &Attr, empty_stack: bool, it: &Readings, possible: usize) -> oracle::Readings {
    let all = [it.hw_idx, it.counters, it.regs_user, it.stack_user, it.regs_intr];
    let names = ["branch_stack.hw_idx", "branch_stack.counters", "regs_user", "stack_user", "regs_intr"];
    assert!(it.iter().eq(names.into_iter().zip(all)));

    // Returns whether the field is present. `usual` is whether it is in the usual layout.
    let there = |reading, usual: bool| match reading {
        Reading::Certain => None,
        Reading::Usual => Some(usual),
        Reading::Other => Some(!usual),
    };
    oracle::Readings {
        hw_idx: there(it.hw_idx, true),
        counters: there(it.counters, attr.branch_sample_type.contains(BranchSampleType::COUNTERS)),
        regs_user: there(it.regs_user, false),
        // If no zero follows, the view has no choice, and the oracle uses the only possible layout.
        stack_stray: there(it.stack_user, false)
            .or((empty_stack && attr.sample_stack_user == 0).then_some(false)),
        regs_intr: there(it.regs_intr, false),
        fits: possible as u32,
    }
}
