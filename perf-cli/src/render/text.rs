//! Fields as text: scalars on the record's line, and the rest indented below it.

use core::fmt::Display;
use perf_abi::branch::{BranchFlags, BranchNewType, BranchType};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::Endian;
use perf_abi::regs::Arch;
use perf_parse::sample::{BranchStack, Callchain, Frame, Read, Reading, Readings, Regs, StackUser};
use perf_parse::tracepoint::Value;

use super::digits::{push_address, push_decimal, push_hex, push_hex_of, push_seconds, push_signed};
use super::escape::{push_hex as push_bytes, push_printable};
use super::head::Head;
use super::name::{Name, name};
use super::tracepoint::Tracepoint;
use super::{Scalars, Sink, given, print};

/// The number of bytes of a blob on one line.
const BLOB_LINE: usize = 32;

/// Collects the line of a record and the details below it, in two reusable buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    line: Vec<u8>,
    details: Vec<u8>,
    /// Whether fields go below the record's line.
    nested: bool,
    /// The architecture of the samples' registers.
    arch: Option<Arch>,
}

impl Text {
    pub(crate) fn new(arch: Option<Arch>) -> Self {
        Self { arch, ..Self::default() }
    }

    /// Appends the collected text to `out` and resets the buffers.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.line.trim_ascii_end());
        self.line.clear();
        out.push(b'\n');
        out.append(&mut self.details);
    }

    /// Starts a record's line with its offset, type, size and `misc`.
    #[inline]
    pub(crate) fn start(&mut self, offset: u64, head: &Head, size: u16) {
        let line = &mut self.line;
        push_hex_of(line, offset, 8);
        line.push(b' ');
        head.name_column.push(line);
        line.push(b' ');
        let digits = size.checked_ilog10().unwrap_or(0) as usize + 1;
        line.extend_from_slice(&b"     "[digits..]);
        push_decimal(line, u64::from(size));
        line.push(b' ');
        head.bits_column.push(line);
    }

    /// Separates the following fields from the previous ones.
    pub(crate) fn separate(&mut self) {
        self.line.extend_from_slice(b"  |");
    }

    /// Adds an error of the record, and the bytes of its payload.
    pub(crate) fn fault(&mut self, error: &dyn Display, payload: &[u8]) {
        self.detail(format_args!("error: {error}"));
        self.detail(format_args!("payload: {} bytes", payload.len()));
        self.hex_lines(payload);
    }

    /// Appends the name of a field to the line, or within a list to the details. Returns the buffer, for the value.
    #[inline]
    pub(crate) fn field(&mut self, name: &Name) -> &mut Vec<u8> {
        let out = if self.nested { &mut self.details } else { &mut self.line };
        name.push_label(out);
        out
    }

    /// Adds a line below the record's line.
    fn detail(&mut self, line: core::fmt::Arguments<'_>) {
        print(&mut self.details, format_args!("    {line}\n"));
    }

    fn hex_lines(&mut self, bytes: &[u8]) {
        for (index, chunk) in bytes.chunks(BLOB_LINE).enumerate() {
            print(&mut self.details, format_args!("      {:04x}: ", index * BLOB_LINE));
            push_bytes(&mut self.details, chunk);
            self.details.push(b'\n');
        }
    }
}

/// Appends the value of a tracepoint's field.
pub(super) fn push_value<O: Endian>(out: &mut Vec<u8>, value: &Value<'_, O>) {
    match value {
        Value::Unsigned(number) => push_decimal(out, *number),
        Value::Signed(number) => push_signed(out, *number),
        Value::Pointer(number) => push_hex(out, *number),
        Value::Bool(bool) => print(out, format_args!("{bool}")),
        Value::Str(text) => push_printable(out, text),
        Value::Bytes(bytes) => push_bytes(out, bytes),
        Value::Array(array) => {
            out.push(b'[');
            for (index, value) in array.values().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_value(out, &value);
            }
            out.push(b']');
        }
        // A kind of value that a newer perf-parse has.
        other => print(out, format_args!("{other:?}")),
    }
}

/// Returns where the addresses of a call chain are; empty if that is unknown.
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

impl Scalars for Text {
    fn number(&mut self, name: &Name, value: u64) {
        push_decimal(self.field(name), value);
    }

    fn task(&mut self, name: &Name, value: i64) {
        push_signed(self.field(name), value);
    }

    fn hex(&mut self, name: &Name, value: u64) {
        push_hex(self.field(name), value);
    }

    fn time(&mut self, name: &Name, value: u64) {
        push_seconds(self.field(name), value);
    }

    fn named(&mut self, name: &Name, _: u64, shown: &dyn Display) {
        let out = self.field(name);
        let start = out.len();
        print(out, format_args!("{shown}"));
        // Braces show where a word with several fields ends.
        if out[start..].contains(&b' ') {
            out.insert(start, b'{');
            out.push(b'}');
        }
    }

    fn string(&mut self, name: &Name, value: &[u8]) {
        push_printable(self.field(name), value);
    }

    fn blob(&mut self, name: &Name, value: &[u8]) {
        if self.nested || value.len() <= BLOB_LINE {
            push_bytes(self.field(name), value);
        } else {
            self.detail(format_args!("{}: {} bytes", name.text, value.len()));
            self.hex_lines(value);
        }
    }
}

impl Sink for Text {
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.object(name!("read"), &|text| {
            given(value.time_enabled(), |time| text.number(name!("time_enabled"), time));
            given(value.time_running(), |time| text.number(name!("time_running"), time));
        });
        for of in value.values() {
            print(&mut self.details, format_args!("      value={}", of.value));
            given(of.id, |id| print(&mut self.details, format_args!(" id={id}")));
            given(of.lost, |lost| print(&mut self.details, format_args!(" lost={lost}")));
            self.details.push(b'\n');
        }
    }

    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>) {
        self.detail(format_args!("callchain: {} words", value.words().len()));
        for frame in value.frames() {
            match frame {
                Frame::Ip { ip, context } => {
                    self.details.extend_from_slice(b"      ");
                    push_address(&mut self.details, ip);
                    self.details.push(b' ');
                    self.details.extend_from_slice(context_name(context).as_bytes());
                    self.details.push(b'\n');
                }
                Frame::Deferred { cookie: Some(cookie) } => {
                    print(&mut self.details, format_args!("      deferred, cookie {cookie:#x}\n"));
                }
                Frame::Deferred { cookie: None } => {
                    print(&mut self.details, format_args!("      deferred, without a cookie\n"));
                }
            }
        }
    }

    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>) {
        let nr = value.entries.len();
        match value.hw_idx {
            Some(index) => self.detail(format_args!("branch_stack: {nr} entries, hw_idx={index:#x}")),
            None => self.detail(format_args!("branch_stack: {nr} entries")),
        }
        for (index, entry) in value.entries.iter().enumerate() {
            let (from, to, flags) = (entry.from.get(), entry.to.get(), entry.flags());
            print(&mut self.details, format_args!("      {index:3}: "));
            push_address(&mut self.details, from);
            self.details.extend_from_slice(b" -> ");
            push_address(&mut self.details, to);
            if flags != BranchFlags::NONE {
                print(&mut self.details, format_args!(" {flags}"));
            }
            // The first of the further types is 0, which does not print.
            if flags.kind() == BranchType::EXTEND_ABI && flags.new_type() == BranchNewType::FAULT_ALGN {
                print(&mut self.details, format_args!(" new_type={}", flags.new_type()));
            }
            if let Some(counter) = value.counters.and_then(|counters| counters.get(index)) {
                print(&mut self.details, format_args!(" counters={:#x}", counter.get()));
            }
            self.details.push(b'\n');
        }
    }

    fn regs<O: Endian>(&mut self, name: &Name, value: &Regs<'_, O>) {
        self.detail(format_args!("{}: {}", name.text, value.abi));
        for (index, (bit, register)) in value.iter().enumerate() {
            let start = if index % 4 == 0 { "     " } else { "" };
            match self.arch.and_then(|arch| arch.name(bit)) {
                Some(name) => print(&mut self.details, format_args!("{start} {name:>6}=")),
                None => print(&mut self.details, format_args!("{start} bit {bit:2}=")),
            }
            push_address(&mut self.details, register);
            if index % 4 == 3 || index + 1 == value.values.len() {
                self.details.push(b'\n');
            }
        }
    }

    /// Prints only the tracepoint's own fields. The common fields repeat what the sample contains.
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        let out = &mut self.details;
        tracepoint.title.push(out);
        for (field, value) in tracepoint.values::<O>(tracepoint.own_fields().iter(), raw) {
            field.label.push(out);
            push_value(out, &value);
        }
        out.push(b'\n');
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
                self.detail(format_args!("{field}: taken for the less usual of its two forms"));
            }
        }
    }

    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars)) {
        let was_nested = core::mem::replace(&mut self.nested, true);
        print(&mut self.details, format_args!("    {}:", name.text));
        fields(self);
        self.details.push(b'\n');
        self.nested = was_nested;
    }

    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        let was_nested = core::mem::replace(&mut self.nested, true);
        self.detail(format_args!("{}:", name.text));
        for index in 0..count {
            print(&mut self.details, format_args!("      {index:3}:"));
            item(index, self);
            self.details.push(b'\n');
        }
        self.nested = was_nested;
    }

    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone) {
        self.detail(format_args!("{}:", name.text));
        for value in values {
            self.details.extend_from_slice(b"      ");
            push_address(&mut self.details, value);
            self.details.push(b'\n');
        }
    }
}
