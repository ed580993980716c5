//! The fields of each record, named as the kernel and perf name them.

use perf_abi::endian::Endian;
use perf_parse::record::{FileId, Mmap2, SampleId};
use perf_parse::tracepoint::Format;
use perf_parse::{ErrorKind, Record, Sample};

use super::user::user;
use super::{Scalars, Sink, given};

/// Names the fields of a record to `sink`. `format` is that of a sample's raw data, where its event is a tracepoint.
///
/// # Errors
///
/// The fault of a sample whose later fields cannot be decoded; `sink` has then been told those before it. The fault of
/// raw data that ends before a field of its tracepoint; `sink` has then been told of all.
pub(crate) fn fields<O: Endian>(
    record: &Record<'_, O>,
    format: Option<&Format<'_>>,
    sink: &mut impl Sink,
) -> Result<(), perf_parse::Error> {
    match record {
        Record::Mmap(it) => {
            task(sink, it.pid, it.tid);
            mapping(sink, it.addr, it.len, it.pgoff);
            sink.string("filename", it.filename);
        }
        Record::Mmap2(it) => mmap2(sink, it),
        Record::Lost(it) => {
            sink.number("id", it.id);
            sink.number("lost", it.lost);
        }
        Record::Comm(it) => {
            task(sink, it.pid, it.tid);
            sink.string("comm", it.comm);
        }
        Record::Exit(it) | Record::Fork(it) => {
            sink.task("pid", i64::from(it.pid));
            sink.task("ppid", i64::from(it.ppid));
            sink.task("tid", i64::from(it.tid));
            sink.task("ptid", i64::from(it.ptid));
            sink.time("time", it.time);
        }
        Record::Throttle(it) | Record::Unthrottle(it) => {
            sink.time("time", it.time);
            sink.number("id", it.id);
            sink.number("stream_id", it.stream_id);
        }
        Record::Read(it) => {
            task(sink, it.pid, it.tid);
            sink.read(&it.read);
        }
        Record::Sample(it) => return sample(it, format, sink),
        Record::Aux(it) => {
            sink.hex("aux_offset", it.aux_offset);
            sink.hex("aux_size", it.aux_size);
            sink.named("flags", it.flags.0, &it.flags);
        }
        Record::ItraceStart(it) => task(sink, it.pid, it.tid),
        Record::LostSamples(it) => sink.number("lost", it.lost),
        Record::Switch => {}
        Record::SwitchCpuWide(it) => {
            sink.task("next_prev_pid", i64::from(it.next_prev_pid));
            sink.task("next_prev_tid", i64::from(it.next_prev_tid));
        }
        Record::Namespaces(it) => {
            task(sink, it.pid, it.tid);
            sink.list("namespaces", it.link_info.len(), &|index, sink| {
                sink.number("dev", it.link_info[index].dev.get());
                sink.number("ino", it.link_info[index].ino.get());
            });
        }
        Record::Ksymbol(it) => {
            sink.hex("addr", it.addr);
            sink.hex("len", u64::from(it.len));
            sink.named("ksym_type", u64::from(it.ksym_type.0), &it.ksym_type);
            sink.named("flags", u64::from(it.flags.0), &it.flags);
            sink.string("name", it.name);
        }
        Record::BpfEvent(it) => {
            sink.named("type", u64::from(it.kind.0), &it.kind);
            sink.number("flags", u64::from(it.flags));
            sink.number("id", u64::from(it.id));
            sink.blob("tag", &it.tag);
        }
        Record::Cgroup(it) => {
            sink.number("id", it.id);
            sink.string("path", it.path);
        }
        Record::TextPoke(it) => {
            sink.hex("addr", it.addr);
            sink.number("old_len", it.old.len() as u64);
            sink.number("new_len", it.new.len() as u64);
            sink.blob("old_bytes", it.old);
            sink.blob("new_bytes", it.new);
        }
        Record::AuxOutputHwId(it) => sink.hex("hw_id", it.hw_id),
        Record::CallchainDeferred(it) => {
            sink.hex("cookie", it.cookie);
            sink.number("nr", it.ips.len() as u64);
            sink.addresses("ips", it.ips.iter().map(|ip| ip.get()));
        }
        Record::User(it, _) => user(it, sink),
        Record::Other(raw) => sink.blob("raw", raw.payload()),
        _ => {}
    }
    Ok(())
}

fn task(sink: &mut impl Scalars, pid: i32, tid: i32) {
    sink.task("pid", i64::from(pid));
    sink.task("tid", i64::from(tid));
}

fn mapping(sink: &mut impl Scalars, addr: u64, len: u64, pgoff: u64) {
    sink.hex("addr", addr);
    sink.hex("len", len);
    sink.hex("pgoff", pgoff);
}

fn mmap2(sink: &mut impl Scalars, it: &Mmap2<'_>) {
    task(sink, it.pid, it.tid);
    mapping(sink, it.addr, it.len, it.pgoff);
    match it.id {
        FileId::Inode { maj, min, ino, ino_generation } => {
            sink.number("maj", u64::from(maj));
            sink.number("min", u64::from(min));
            sink.number("ino", ino);
            sink.number("ino_generation", ino_generation);
        }
        FileId::BuildId { .. } => sink.blob("build_id", it.id.build_id().unwrap_or_default()),
    }
    if let Some((prot, flags)) = it.prot_flags {
        sink.hex("prot", u64::from(prot));
        sink.hex("flags", u64::from(flags));
    }
    sink.string("filename", it.filename);
}

fn sample<O: Endian>(
    it: &Sample<'_, O>,
    format: Option<&Format<'_>>,
    sink: &mut impl Sink,
) -> Result<(), perf_parse::Error> {
    given(it.identifier(), |id| sink.number("identifier", id));
    given(it.ip(), |ip| sink.hex("ip", ip));
    given(it.pid(), |pid| sink.task("pid", i64::from(pid)));
    given(it.tid(), |tid| sink.task("tid", i64::from(tid)));
    given(it.time(), |time| sink.time("time", time));
    given(it.addr(), |addr| sink.hex("addr", addr));
    given(it.id(), |id| sink.number("id", id));
    given(it.stream_id(), |id| sink.number("stream_id", id));
    given(it.cpu(), |cpu| sink.number("cpu", u64::from(cpu)));
    given(it.period(), |period| sink.number("period", period));
    let tail = it.tail()?;
    given(tail.read, |read| sink.read(&read));
    given(tail.callchain, |chain| sink.callchain(&chain));
    given(tail.raw, |raw| sink.blob("raw", raw));
    let tracepoint = format.zip(tail.raw);
    given(tracepoint, |(format, raw)| sink.tracepoint::<O>(format, raw));
    given(tail.branch_stack, |stack| sink.branch_stack(&stack));
    given(tail.regs_user, |regs| sink.regs("regs_user", &regs));
    given(tail.stack_user, |stack| sink.stack_user(&stack));
    given(tail.weight, |weight| sink.number("weight", weight));
    if let Some(weight) = tail.weight_struct {
        sink.object("weight_struct", &|sink| {
            sink.number("var1_dw", u64::from(weight.var1_dw()));
            sink.number("var2_w", u64::from(weight.var2_w()));
            sink.number("var3_w", u64::from(weight.var3_w()));
        });
    }
    given(tail.data_src, |source| sink.named("data_src", source.0, &source));
    given(tail.transaction, |txn| sink.named("transaction", txn.0, &txn));
    given(tail.regs_intr, |regs| sink.regs("regs_intr", &regs));
    given(tail.phys_addr, |addr| sink.hex("phys_addr", addr));
    given(tail.cgroup, |cgroup| sink.number("cgroup", cgroup));
    given(tail.data_page_size, |size| sink.number("data_page_size", size));
    given(tail.code_page_size, |size| sink.number("code_page_size", size));
    given(tail.aux, |aux| sink.blob("aux", aux));
    sink.readings(&tail.readings);
    tracepoint.map_or(Ok(()), |(format, raw)| whole::<O>(format, raw))
}

/// Whether raw data has all fields of its tracepoint.
fn whole<O: Endian>(format: &Format<'_>, raw: &[u8]) -> Result<(), perf_parse::Error> {
    let Some(error) = format.fields::<O>(raw).find_map(|(_, value)| value.err()) else { return Ok(()) };
    let needed = error.offset.saturating_add(error.needed);
    let kind = ErrorKind::Truncated { field: "raw", needed, available: error.available };
    Err(perf_parse::Error { kind, offset: 0 })
}

/// Names the fields of a `sample_id` trailer to `sink`.
pub(crate) fn sample_id<O: Endian>(it: &SampleId<'_, O>, sink: &mut impl Scalars) {
    given(it.pid(), |pid| sink.task("pid", i64::from(pid)));
    given(it.tid(), |tid| sink.task("tid", i64::from(tid)));
    given(it.time(), |time| sink.time("time", time));
    given(it.id(), |id| sink.number("id", id));
    given(it.stream_id(), |id| sink.number("stream_id", id));
    given(it.cpu(), |cpu| sink.number("cpu", u64::from(cpu)));
    given(it.identifier(), |id| sink.number("identifier", id));
}
