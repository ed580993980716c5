//! The fields of each record, with the names of the kernel and perf.

use perf_parse::record::{FileId, Mmap2, SampleId};
use perf_parse::sample::{Readings, Tail};
use perf_parse::{Record, Sample};

use super::name::name;
use super::raw_format::RawFormat;
use super::simd_regs::Side;
use super::user::user;
use super::{Scalars, Sink, given, leading};

/// Passes the fields of a record to `sink`. `format` describes the raw data of a sample.
///
/// # Errors
///
/// If later fields of a sample cannot be decoded; `sink` then has the fields before them. If raw data ends before a
/// field of its format; `sink` then has all fields.
pub(crate) fn fields(
    record: &Record<'_>,
    format: Option<RawFormat<'_>>,
    sink: &mut impl Sink,
) -> Result<(), perf_parse::Error> {
    match record {
        Record::Mmap(it) => {
            task(sink, it.pid, it.tid);
            mapping(sink, it.addr, it.len, it.pgoff);
            sink.string(name!("filename"), it.filename);
        }
        Record::Mmap2(it) => mmap2(sink, it),
        Record::Lost(it) => {
            sink.number(name!("id"), it.id);
            sink.number(name!("lost"), it.lost);
        }
        Record::Comm(it) => {
            task(sink, it.pid, it.tid);
            sink.string(name!("comm"), it.comm);
        }
        Record::Exit(it) | Record::Fork(it) => {
            sink.task(name!("pid"), i64::from(it.pid));
            sink.task(name!("ppid"), i64::from(it.ppid));
            sink.task(name!("tid"), i64::from(it.tid));
            sink.task(name!("ptid"), i64::from(it.ptid));
            sink.time(name!("time"), it.time);
        }
        Record::Throttle(it) | Record::Unthrottle(it) => {
            sink.time(name!("time"), it.time);
            sink.number(name!("id"), it.id);
            sink.number(name!("stream_id"), it.stream_id);
        }
        Record::Read(it) => {
            task(sink, it.pid, it.tid);
            sink.read(&it.read);
        }
        Record::Sample(it) => return sample(it, format, sink),
        Record::Aux(it) => {
            sink.hex(name!("aux_offset"), it.aux_offset);
            sink.hex(name!("aux_size"), it.aux_size);
            sink.named(name!("flags"), it.flags.0, &it.flags);
        }
        Record::ItraceStart(it) => task(sink, it.pid, it.tid),
        Record::LostSamples(it) => sink.number(name!("lost"), it.lost),
        Record::Switch => {}
        Record::SwitchCpuWide(it) => {
            sink.task(name!("next_prev_pid"), i64::from(it.next_prev_pid));
            sink.task(name!("next_prev_tid"), i64::from(it.next_prev_tid));
        }
        Record::Namespaces(it) => {
            task(sink, it.pid, it.tid);
            sink.list(name!("namespaces"), it.link_info.len(), &|index, sink| {
                given(it.link_info.get(index), |link| {
                    sink.number(name!("dev"), link.dev);
                    sink.number(name!("ino"), link.ino);
                });
            });
        }
        Record::Ksymbol(it) => {
            sink.hex(name!("addr"), it.addr);
            sink.hex(name!("len"), u64::from(it.len));
            sink.named(name!("ksym_type"), u64::from(it.ksym_type.0), &it.ksym_type);
            sink.named(name!("flags"), u64::from(it.flags.0), &it.flags);
            sink.string(name!("name"), it.name);
        }
        Record::BpfEvent(it) => {
            sink.named(name!("type"), u64::from(it.kind.0), &it.kind);
            sink.number(name!("flags"), u64::from(it.flags));
            sink.number(name!("id"), u64::from(it.id));
            sink.blob(name!("tag"), &it.tag);
        }
        Record::Cgroup(it) => {
            sink.number(name!("id"), it.id);
            sink.string(name!("path"), it.path);
        }
        Record::TextPoke(it) => {
            sink.hex(name!("addr"), it.addr);
            sink.number(name!("old_len"), it.old.len() as u64);
            sink.number(name!("new_len"), it.new.len() as u64);
            sink.blob(name!("old_bytes"), it.old);
            sink.blob(name!("new_bytes"), it.new);
        }
        Record::AuxOutputHwId(it) => sink.hex(name!("hw_id"), it.hw_id),
        Record::CallchainDeferred(it) => {
            sink.hex(name!("cookie"), it.cookie);
            sink.number(name!("nr"), it.ips.len() as u64);
            sink.addresses(name!("ips"), it.ips.iter());
        }
        Record::User(it, _) => user(it, sink),
        Record::Other(raw) => sink.blob(name!("raw"), raw.payload()),
        _ => {}
    }
    Ok(())
}

fn task(sink: &mut impl Scalars, pid: i32, tid: i32) {
    sink.task(name!("pid"), i64::from(pid));
    sink.task(name!("tid"), i64::from(tid));
}

fn mapping(sink: &mut impl Scalars, addr: u64, len: u64, pgoff: u64) {
    sink.hex(name!("addr"), addr);
    sink.hex(name!("len"), len);
    sink.hex(name!("pgoff"), pgoff);
}

fn mmap2(sink: &mut impl Scalars, it: &Mmap2<'_>) {
    task(sink, it.pid, it.tid);
    mapping(sink, it.addr, it.len, it.pgoff);
    match it.id {
        FileId::Inode { maj, min, ino, ino_generation } => {
            sink.number(name!("maj"), u64::from(maj));
            sink.number(name!("min"), u64::from(min));
            sink.number(name!("ino"), ino);
            sink.number(name!("ino_generation"), ino_generation);
        }
        // A newer perf-parse may have more kinds of identities. Only a build id of them is printed.
        _ => given(it.id.build_id(), |id| sink.blob(name!("build_id"), id)),
    }
    if let Some((prot, flags)) = it.prot_flags {
        sink.hex(name!("prot"), u64::from(prot));
        sink.hex(name!("flags"), u64::from(flags));
    }
    if !it.reading.is_certain() {
        sink.guessed();
    }
    sink.string(name!("filename"), it.filename);
}

/// Like [`fields`], for a sample.
///
/// # Errors
///
/// Those of [`fields`].
#[inline]
pub(crate) fn sample(
    it: &Sample<'_>,
    format: Option<RawFormat<'_>>,
    sink: &mut impl Sink,
) -> Result<(), perf_parse::Error> {
    sink.leading(it);
    if leading::are_all(it.layout().sample_type()) {
        sink.readings(&Readings::default());
        return Ok(());
    }
    if format.is_none() && !sink.wants_sections() {
        return it.tail().map(drop);
    }
    let tail = it.tail()?;
    let format = format.zip(tail.raw);
    sections(&tail, format, sink);
    format.map_or(Ok(()), |(format, raw)| format.check(raw))
}

/// Passes the sections of a sample to `sink`.
fn sections(tail: &Tail<'_>, format: Option<(RawFormat<'_>, &[u8])>, sink: &mut impl Sink) {
    given(tail.read, |read| sink.read(&read));
    given(tail.callchain, |chain| sink.callchain(&chain));
    given(tail.raw, |raw| sink.blob(name!("raw"), raw));
    given(format, |(format, raw)| format.print(raw, sink));
    given(tail.branch_stack, |stack| sink.branch_stack(&stack));
    given(tail.regs_user, |regs| sink.regs(name!("regs_user"), &regs));
    given(tail.simd_regs_user, |regs| sink.simd_regs(name!("simd_regs_user"), Side::User, &regs));
    given(tail.stack_user, |stack| sink.stack_user(&stack));
    given(tail.weight, |weight| sink.number(name!("weight"), weight));
    if let Some(weight) = tail.weight_struct {
        sink.object(name!("weight_struct"), &|sink| {
            sink.number(name!("var1_dw"), u64::from(weight.var1_dw()));
            sink.number(name!("var2_w"), u64::from(weight.var2_w()));
            sink.number(name!("var3_w"), u64::from(weight.var3_w()));
        });
    }
    given(tail.data_src, |source| sink.named(name!("data_src"), source.0, &source));
    given(tail.transaction, |txn| sink.named(name!("transaction"), txn.0, &txn));
    given(tail.regs_intr, |regs| sink.regs(name!("regs_intr"), &regs));
    given(tail.simd_regs_intr, |regs| sink.simd_regs(name!("simd_regs_intr"), Side::Intr, &regs));
    given(tail.phys_addr, |addr| sink.hex(name!("phys_addr"), addr));
    given(tail.cgroup, |cgroup| sink.number(name!("cgroup"), cgroup));
    given(tail.data_page_size, |size| sink.number(name!("data_page_size"), size));
    given(tail.code_page_size, |size| sink.number(name!("code_page_size"), size));
    given(tail.aux, |aux| sink.blob(name!("aux"), aux));
    sink.readings(&tail.readings);
}

/// Passes the fields of a `sample_id` trailer to `sink`.
pub(crate) fn sample_id(it: &SampleId<'_>, sink: &mut impl Scalars) {
    given(it.pid(), |pid| sink.task(name!("pid"), i64::from(pid)));
    given(it.tid(), |tid| sink.task(name!("tid"), i64::from(tid)));
    given(it.time(), |time| sink.time(name!("time"), time));
    given(it.id(), |id| sink.number(name!("id"), id));
    given(it.stream_id(), |id| sink.number(name!("stream_id"), id));
    given(it.cpu(), |cpu| sink.number(name!("cpu"), u64::from(cpu)));
    given(it.identifier(), |id| sink.number(name!("identifier"), id));
}
