//! Fields as text: scalars on the record's line, and the rest indented below it.

mod value;

use core::fmt::Display;
use perf_abi::branch::{BranchFlags, BranchNewType, BranchType};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::Endian;
use perf_abi::provisional::simd_regs::register_name;
use perf_abi::regs::Arch;
use perf_parse::Sample;
use perf_parse::file::FileError;
use perf_parse::list::Branch;
use perf_parse::sample::{
    BranchStack, Callchain, ChainFrame, Read, Reading, Readings, Regs, SimdRegs, StackUser,
};

use super::digits::{push_address, push_decimal, push_hex_of};
use super::head::Heads;
use super::ibs::IbsSample;
use super::name::{Name, name};
use super::record::{PrintedRecord, RecordSink};
use super::simd_regs::{Side, SimdRegNames, abi_text, push_register};
use super::tracepoint::Tracepoint;
use super::{Scalars, Sink, given, print};
use crate::escape::push_hex as push_bytes;
pub(super) use value::{Value, push_value};

/// The number of bytes of a blob on one line.
const BLOB_LINE: usize = 32;

/// The line of a record and the details below it.
#[derive(Debug)]
pub(crate) struct Text<'b> {
    /// The output, up to the record's line.
    line: &'b mut Vec<u8>,
    /// A buffer for the details, empty before and after each record.
    details: &'b mut Vec<u8>,
    /// Whether fields go below the record's line.
    nested: bool,
    /// The architecture of the samples' registers.
    arch: Option<Arch>,
    /// What names vector and predicate registers.
    simd_names: SimdRegNames,
}

impl<'b> Text<'b> {
    pub(crate) fn new(out: &'b mut Vec<u8>, details: &'b mut Vec<u8>, arch: Option<Arch>) -> Self {
        Self { line: out, details, nested: false, arch, simd_names: SimdRegNames::default() }
    }

    /// Appends the name of a field to the line, or within a list to the details. Returns the buffer, for the value.
    #[inline]
    fn field(&mut self, name: &Name) -> &mut Vec<u8> {
        let out = if self.nested { &mut *self.details } else { &mut *self.line };
        name.push_label(out);
        out
    }

    /// Adds a line below the record's line.
    fn detail(&mut self, line: core::fmt::Arguments<'_>) {
        print(self.details, format_args!("    {line}\n"));
    }

    fn hex_lines(&mut self, bytes: &[u8]) {
        for (index, chunk) in bytes.chunks(BLOB_LINE).enumerate() {
            print(self.details, format_args!("      {:04x}: ", index * BLOB_LINE));
            push_bytes(self.details, chunk);
            self.details.push(b'\n');
        }
    }
}

/// Returns the name of the context of addresses in a call chain; empty if there is no context.
fn context_name(context: Option<CallchainContext>) -> &'static str {
    match context {
        None => "",
        Some(CallchainContext::KERNEL) => "kernel",
        Some(CallchainContext::USER) => "user",
        Some(CallchainContext::HV) => "hv",
        Some(CallchainContext::GUEST) => "guest",
        Some(CallchainContext::GUEST_KERNEL) => "guest kernel",
        Some(CallchainContext::GUEST_USER) => "guest user",
        Some(_) => "unknown context",
    }
}

impl RecordSink for Text<'_> {
    fn begin(&mut self, it: &PrintedRecord<'_>, heads: &mut Heads) {
        let (place, raw) = (it.record.position(), it.record.raw());
        let (size, head) = (raw.size(), heads.of(&raw));
        if let Some(event) = it.record.event().filter(|event| event.layout.has_provisional_abi()) {
            self.simd_names = SimdRegNames::new(self.arch, event, raw.endianness());
        }
        let line = &mut *self.line;
        push_hex_of(line, it.offset, 8);
        line.push(b' ');
        line.extend_from_slice(&head.name_column);
        line.push(b' ');
        let digits = size.checked_ilog10().unwrap_or(0) as usize + 1;
        line.extend_from_slice(&b"     "[digits..]);
        push_decimal(line, u64::from(size));
        line.push(b' ');
        line.extend_from_slice(&head.bits_column);
        given(place.decompressed, |offset| self.hex(name!("inner"), offset));
        if place.data_file > 0 {
            self.number(name!("data_file"), place.data_file as u64);
        }
        given(it.event, |event| match event.name {
            Some(name) => self.labeled(name!("event"), event.index as u64, name),
            None => self.number(name!("event"), event.index as u64),
        });
    }

    fn begin_sample_id(&mut self) {
        self.line.extend_from_slice(b"  |");
    }

    fn end(
        &mut self,
        it: &PrintedRecord<'_>,
        _: &mut Heads,
        _: Option<&Sample<'_>>,
        error: Option<&FileError>,
    ) {
        if let Some(error) = error {
            let raw = it.record.raw();
            let payload = raw.payload();
            self.detail(format_args!("error: {error}"));
            self.detail(format_args!("payload: {} bytes", payload.len()));
            self.hex_lines(payload);
        }
        self.line.truncate(self.line.trim_ascii_end().len());
        self.line.push(b'\n');
        self.line.append(self.details);
    }
}

impl Scalars for Text<'_> {
    fn number(&mut self, name: &Name, value: u64) {
        Value(self.field(name)).number(name, value);
    }

    fn task(&mut self, name: &Name, value: i64) {
        Value(self.field(name)).task(name, value);
    }

    fn hex(&mut self, name: &Name, value: u64) {
        Value(self.field(name)).hex(name, value);
    }

    fn time(&mut self, name: &Name, value: u64) {
        Value(self.field(name)).time(name, value);
    }

    fn labeled(&mut self, name: &Name, value: u64, label: &[u8]) {
        Value(self.field(name)).labeled(name, value, label);
    }

    fn named(&mut self, name: &Name, value: u64, shown: &dyn Display) {
        let out = self.field(name);
        let start = out.len();
        Value(out).named(name, value, shown);
        // Braces show where a word with several fields ends.
        if out[start..].contains(&b' ') {
            out.insert(start, b'{');
            out.push(b'}');
        }
    }

    fn string(&mut self, name: &Name, value: &[u8]) {
        Value(self.field(name)).string(name, value);
    }

    fn blob(&mut self, name: &Name, value: &[u8]) {
        if self.nested || value.len() <= BLOB_LINE {
            Value(self.field(name)).blob(name, value);
        } else {
            self.detail(format_args!("{}: {} bytes", name.text, value.len()));
            self.hex_lines(value);
        }
    }

    fn guessed(&mut self) {
        self.line.extend_from_slice(b" [guessed]");
    }
}

impl Sink for Text<'_> {
    fn read(&mut self, value: &Read<'_>) {
        self.object(name!("read"), &|text| {
            given(value.time_enabled(), |time| text.number(name!("time_enabled"), time));
            given(value.time_running(), |time| text.number(name!("time_running"), time));
        });
        for of in value.values() {
            print(self.details, format_args!("      value={}", of.value));
            given(of.id, |id| print(self.details, format_args!(" id={id}")));
            given(of.lost, |lost| print(self.details, format_args!(" lost={lost}")));
            self.details.push(b'\n');
        }
    }

    fn callchain(&mut self, value: &Callchain<'_>) {
        self.detail(format_args!("callchain: {} words", value.words().len()));
        for frame in value.frames() {
            match frame {
                ChainFrame::Ip { ip, context } => {
                    self.details.extend_from_slice(b"      ");
                    push_address(self.details, ip);
                    self.details.push(b' ');
                    self.details.extend_from_slice(context_name(context).as_bytes());
                    self.details.push(b'\n');
                }
                ChainFrame::Deferred { cookie: Some(cookie) } => {
                    print(self.details, format_args!("      deferred, cookie {cookie:#x}\n"));
                }
                ChainFrame::Deferred { cookie: None } => {
                    print(self.details, format_args!("      deferred, without a cookie\n"));
                }
                // A kind of frame that a newer perf-parse has.
                other => print(self.details, format_args!("      {other:?}\n")),
            }
        }
    }

    fn branch_stack(&mut self, value: &BranchStack<'_>) {
        let nr = value.entries.len();
        match value.hw_idx {
            Some(index) => self.detail(format_args!("branch_stack: {nr} entries, hw_idx={index:#x}")),
            None => self.detail(format_args!("branch_stack: {nr} entries")),
        }
        for (index, Branch { from, to, flags, .. }) in value.entries.iter().enumerate() {
            print(self.details, format_args!("      {index:3}: "));
            push_address(self.details, from);
            self.details.extend_from_slice(b" -> ");
            push_address(self.details, to);
            if flags != BranchFlags::NONE {
                print(self.details, format_args!(" {flags}"));
            }
            // The first of the further types is 0, which does not print.
            if flags.kind() == BranchType::EXTEND_ABI && flags.new_type() == BranchNewType::FAULT_ALGN {
                print(self.details, format_args!(" new_type={}", flags.new_type()));
            }
            if let Some(counter) = value.counters.and_then(|counters| counters.get(index)) {
                print(self.details, format_args!(" counters={counter:#x}"));
            }
            self.details.push(b'\n');
        }
    }

    fn regs(&mut self, name: &Name, value: &Regs<'_>) {
        self.detail(format_args!("{}: {}", name.text, abi_text(value.abi)));
        for (index, (bit, register)) in value.iter().enumerate() {
            let start = if index % 4 == 0 { "     " } else { "" };
            match self.arch.and_then(|arch| register_name(arch, value.abi, bit)) {
                Some(name) => print(self.details, format_args!("{start} {name:>6}=")),
                None => print(self.details, format_args!("{start} bit {bit:2}=")),
            }
            push_address(self.details, register);
            if index % 4 == 3 || index + 1 == value.values.len() {
                self.details.push(b'\n');
            }
        }
    }

    fn simd_regs(&mut self, name: &Name, side: Side, value: &SimdRegs<'_>) {
        let SimdRegs { nr_vectors, vector_qwords, nr_pred, pred_qwords, .. } = value;
        self.detail(format_args!(
            "{}: {nr_vectors} vectors of {vector_qwords} words, {nr_pred} predicates of {pred_qwords} words",
            name.text
        ));
        let details = &mut *self.details;
        self.simd_names.each(side, value, |name, words| {
            print(details, format_args!("      {name:>9}="));
            push_register(details, words);
            details.push(b'\n');
        });
    }

    /// Prints only the tracepoint's own fields. The common fields repeat what the sample contains.
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        let out = &mut *self.details;
        out.extend_from_slice(&tracepoint.title);
        for (field, value) in tracepoint.values::<O>(tracepoint.own_fields().iter(), raw) {
            out.extend_from_slice(&field.label);
            push_value(out, &value);
        }
        out.push(b'\n');
    }

    /// Prints perf's lines as they are, as dumps print the packets of traces.
    fn ibs(&mut self, sample: &IbsSample<'_>) {
        if sample.is_valid() {
            print(self.details, format_args!("{sample}\n"));
        }
    }

    fn stack_user(&mut self, value: &StackUser<'_>) {
        match value.dyn_size {
            Some(size) => self.detail(format_args!("stack_user: {} bytes, {size} copied", value.data.len())),
            None => self.detail(format_args!("stack_user: none")),
        }
        self.hex_lines(value.copied());
    }

    fn readings(&mut self, value: &Readings) {
        for (field, reading) in value.iter() {
            if reading == Reading::Other {
                self.detail(format_args!(
                    "{field}: its layout is ambiguous; decoded as the less common of two"
                ));
            }
        }
    }

    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars)) {
        let was_nested = core::mem::replace(&mut self.nested, true);
        print(self.details, format_args!("    {}:", name.text));
        fields(self);
        self.details.push(b'\n');
        self.nested = was_nested;
    }

    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        let was_nested = core::mem::replace(&mut self.nested, true);
        self.detail(format_args!("{}:", name.text));
        for index in 0..count {
            print(self.details, format_args!("      {index:3}:"));
            item(index, self);
            self.details.push(b'\n');
        }
        self.nested = was_nested;
    }

    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone) {
        self.detail(format_args!("{}:", name.text));
        for value in values {
            self.details.extend_from_slice(b"      ");
            push_address(self.details, value);
            self.details.push(b'\n');
        }
    }
}
