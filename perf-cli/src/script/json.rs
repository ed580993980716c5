//! Samples as JSON lines.

use core::cell::Cell;

use perf_abi::data_src::DataSrc;
use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_parse::sample::Tail;
use perf_session::{At, DsoKind, Frame, Session};
use serde_json::json;

use super::Counted;
use crate::dump::tracepoints::Formats;
use crate::render::json::Json;
use crate::render::name::name;
use crate::render::{Scalars, Sink, account, given};

/// Prints samples as JSON lines, and counts them.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    /// The formats of the tracepoints' raw data.
    formats: Formats<'a>,
    max_stack: usize,
    /// Number of samples, of frames, and of frames in a known mapping.
    samples: Cell<u64>,
    frames: Cell<u64>,
    mapped: Cell<u64>,
}

fn add_one(count: &Cell<u64>) {
    count.set(count.get() + 1);
}

impl<'a> Lines<'a> {
    pub(super) fn new(tracing_data: &'a [u8], endianness: Endianness, max_stack: usize) -> Self {
        let formats = Formats::new(tracing_data, endianness);
        Self { formats, max_stack, samples: Cell::new(0), frames: Cell::new(0), mapped: Cell::new(0) }
    }

    /// Appends a sample as an object on a line of its own.
    ///
    /// # Errors
    ///
    /// Those of the call chain and of the fields after the leading ones; nothing is appended then.
    pub(super) fn push_sample(
        &self,
        out: &mut Vec<u8>,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
    ) -> Result<(), FileError> {
        let (sample, record) = (at.sample(), at.record());
        let tail = sample.tail().map_err(|error| record.error(error))?;
        let mut stack = at.stack(counted.user)?.peekable();
        // A chain without frames would lose where the sample is.
        let alone = match stack.peek() {
            None => sample.ip().map(|ip| Frame { ip, mode: at.mode(), mapping: at.find(at.mode(), ip) }),
            Some(_) => None,
        };
        let stack = stack.chain(alone).take(self.max_stack);
        let event = &counted.known.event;
        add_one(&self.samples);
        Json::object(out, |json| {
            let place = record.place();
            json.number(name!("offset"), place.offset);
            given(place.decompressed, |offset| json.number(name!("inner"), offset));
            json.number(name!("event"), event.index as u64);
            json.string(name!("event_name"), &super::name_of(event));
            given(sample.pid(), |pid| json.task(name!("pid"), pid.into()));
            given(sample.tid(), |tid| json.task(name!("tid"), tid.into()));
            json.string(name!("comm"), at.thread().comm());
            given(sample.cpu(), |cpu| json.number(name!("cpu"), cpu.into()));
            given(sample.time(), |time| json.time(name!("time"), time));
            json.number(name!("period"), counted.period);
            given(sample.addr(), |addr| json.hex(name!("addr"), addr));
            push_access(json, at, &tail);
            given(tail.raw.zip(self.formats.of(event)), |(raw, index)| {
                given(self.formats.get(index), |tracepoint| match tracepoint.endianness {
                    Endianness::Little => json.described::<LittleEndian>(name!("trace"), tracepoint, raw),
                    Endianness::Big => json.described::<BigEndian>(name!("trace"), tracepoint, raw),
                });
            });
            given(tail.branch_stack, |stack| json.branch_stack(&stack));
            json.objects(name!("stack"), stack, |json, frame| self.push_frame(json, at.session(), &frame));
        });
        out.push(b'\n');
        Ok(())
    }

    fn push_frame(&self, json: &mut Json<'_>, session: &Session, frame: &Frame<'_>) {
        add_one(&self.frames);
        json.hex(name!("ip"), frame.ip);
        json.string(name!("mode"), mode(frame.mode).as_bytes());
        let Some(mapping) = frame.mapping else { return };
        add_one(&self.mapped);
        let dso = mapping.dso();
        json.string(name!("dso"), dso.name());
        given(session.build_id(dso), |id| json.blob(name!("build_id"), id.as_bytes()));
        if matches!(dso.kind(), DsoKind::File | DsoKind::Vdso | DsoKind::Module) {
            json.hex(name!("file_offset"), mapping.offset_of(frame.ip));
        }
    }

    /// Appends the last line.
    pub(super) fn push_account(&self, out: &mut Vec<u8>, account: &perf_parse::file::Account) {
        let (samples, frames, mapped) = (self.samples.get(), self.frames.get(), self.mapped.get());
        let line = json!({
            "account": account::value(account),
            "stacks": {"samples": samples},
            "frames": {"total": frames, "mapped": mapped},
        });
        crate::escape::push_json_value(out, &line);
        out.push(b'\n');
    }
}

fn push_access(json: &mut Json<'_>, at: &At<'_, '_>, tail: &Tail<'_>) {
    given(tail.phys_addr, |addr| json.hex(name!("phys_addr"), addr));
    let weight = tail.weight_struct.map(|parts| u64::from(parts.var1_dw())).or(tail.weight);
    given(weight, |weight| json.number(name!("weight"), weight));
    given(tail.data_src, |DataSrc(source)| json.hex(name!("data_src"), source));
    given(at.cgroup(), |path| json.string(name!("cgroup"), path));
}

fn mode(mode: CpuMode) -> &'static str {
    match mode {
        CpuMode::USER => "user",
        CpuMode::KERNEL => "kernel",
        CpuMode::HYPERVISOR => "hypervisor",
        CpuMode::GUEST_KERNEL => "guest_kernel",
        CpuMode::GUEST_USER => "guest_user",
        _ => "unknown",
    }
}
