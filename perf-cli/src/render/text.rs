//! Fields for eyes: the scalars on the record's line, the rest indented below it.

use core::fmt::Display;
use perf_abi::branch::{BranchFlags, BranchNewType, BranchType};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::Endian;
use perf_abi::record::{Misc, RecordType};
use perf_abi::regs::Arch;
use perf_parse::sample::{BranchStack, Callchain, Frame, Read, Reading, Readings, Regs, StackUser};
use perf_parse::tracepoint::{FieldError, Format, Value};

use super::escape::{Printable, Seconds, push_hex};
use super::{Scalars, Sink, given, print};

/// Bytes of a blob on a line.
const BLOB_LINE: usize = 32;

/// Columns of the `misc` bits, as wide as most of them.
const MISC_WIDTH: usize = 14;

/// Gathers the line of a record and the details below it, in two buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Text {
    line: Vec<u8>,
    details: Vec<u8>,
    /// Whether fields go below the record's line.
    nested: bool,
    /// Whose registers those of samples are.
    arch: Option<Arch>,
}

impl Text {
    pub(crate) fn new(arch: Option<Arch>) -> Self {
        Self { arch, ..Self::default() }
    }

    /// Appends what was gathered to `out` and starts over.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.line.trim_ascii_end());
        self.line.clear();
        out.push(b'\n');
        out.append(&mut self.details);
    }

    /// Begins a record's line: where it is, what it is, its size and its `misc`.
    pub(crate) fn start(
        &mut self,
        offset: u64,
        shown: &dyn Display,
        size: u16,
        misc: Misc,
        kind: RecordType,
    ) {
        print(&mut self.line, format_args!("{offset:#010x} {shown:<18} {size:>5} "));
        let start = self.line.len();
        match misc {
            Misc(0) => self.line.push(b'-'),
            misc => print(&mut self.line, format_args!("{}", misc.names(kind))),
        }
        self.line.resize(self.line.len().max(start + MISC_WIDTH), b' ');
    }

    /// Sets what follows apart from what came before.
    pub(crate) fn separate(&mut self) {
        self.line.extend_from_slice(b"  |");
    }

    /// Says what could not be decoded, and shows its bytes.
    pub(crate) fn fault(&mut self, error: &dyn Display, payload: &[u8]) {
        self.detail(format_args!("error: {error}"));
        self.detail(format_args!("payload: {} bytes", payload.len()));
        self.hex_lines(payload);
    }

    /// A field of the line, or of the details within a list.
    fn scalar(&mut self, name: &str, value: &dyn Display) {
        let out = if self.nested { &mut self.details } else { &mut self.line };
        print(out, format_args!(" {name}={value}"));
    }

    /// A line below the record's.
    fn detail(&mut self, line: core::fmt::Arguments<'_>) {
        print(&mut self.details, format_args!("    {line}\n"));
    }

    fn hex_lines(&mut self, bytes: &[u8]) {
        for (index, chunk) in bytes.chunks(BLOB_LINE).enumerate() {
            print(&mut self.details, format_args!("      {:04x}: ", index * BLOB_LINE));
            push_hex(&mut self.details, chunk);
            self.details.push(b'\n');
        }
    }
}

/// Appends the value of a tracepoint's field, or why there is none.
pub(super) fn push_field<O: Endian>(out: &mut Vec<u8>, value: &Result<Value<'_, O>, FieldError<'_>>) {
    match value {
        Ok(value) => push_value(out, value),
        Err(error) => print(out, format_args!("<{error}>")),
    }
}

fn push_value<O: Endian>(out: &mut Vec<u8>, value: &Value<'_, O>) {
    match value {
        Value::Unsigned(number) => print(out, format_args!("{number}")),
        Value::Signed(number) => print(out, format_args!("{number}")),
        Value::Pointer(number) => print(out, format_args!("{number:#x}")),
        Value::Bool(bool) => print(out, format_args!("{bool}")),
        Value::Str(text) => print(out, format_args!("{}", Printable(text))),
        Value::Bytes(bytes) => push_hex(out, bytes),
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
    }
}

/// Where the addresses of a call chain are, for eyes.
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
    fn number(&mut self, name: &'static str, value: u64) {
        self.scalar(name, &value);
    }

    fn task(&mut self, name: &'static str, value: i64) {
        self.scalar(name, &value);
    }

    fn hex(&mut self, name: &'static str, value: u64) {
        self.scalar(name, &format_args!("{value:#x}"));
    }

    fn time(&mut self, name: &'static str, value: u64) {
        self.scalar(name, &Seconds(value));
    }

    fn named(&mut self, name: &'static str, _: u64, shown: &dyn Display) {
        let out = if self.nested { &mut self.details } else { &mut self.line };
        print(out, format_args!(" {name}="));
        let start = out.len();
        print(out, format_args!("{shown}"));
        // A word of several fields: where it ends has to be seen.
        if out[start..].contains(&b' ') {
            out.insert(start, b'{');
            out.push(b'}');
        }
    }

    fn string(&mut self, name: &'static str, value: &[u8]) {
        self.scalar(name, &Printable(value));
    }

    fn blob(&mut self, name: &'static str, value: &[u8]) {
        if self.nested || value.len() <= BLOB_LINE {
            let out = if self.nested { &mut self.details } else { &mut self.line };
            print(out, format_args!(" {name}="));
            push_hex(out, value);
        } else {
            self.detail(format_args!("{name}: {} bytes", value.len()));
            self.hex_lines(value);
        }
    }
}

impl Sink for Text {
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.object("read", &|text| {
            given(value.time_enabled(), |time| text.number("time_enabled", time));
            given(value.time_running(), |time| text.number("time_running", time));
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
                    let context = context_name(context);
                    print(&mut self.details, format_args!("      {ip:#018x} {context}\n"));
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
            print(&mut self.details, format_args!("      {index:3}: {from:#018x} -> {to:#018x}"));
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

    fn regs<O: Endian>(&mut self, name: &'static str, value: &Regs<'_, O>) {
        self.detail(format_args!("{name}: {}", value.abi));
        for (index, (bit, register)) in value.iter().enumerate() {
            let start = if index % 4 == 0 { "     " } else { "" };
            match self.arch.and_then(|arch| arch.name(bit)) {
                Some(name) => print(&mut self.details, format_args!("{start} {name:>6}={register:#018x}")),
                None => print(&mut self.details, format_args!("{start} bit {bit:2}={register:#018x}")),
            }
            if index % 4 == 3 || index + 1 == value.values.len() {
                self.details.push(b'\n');
            }
        }
    }

    /// The fields of the tracepoint's own: those of all tracepoints say what the sample says better.
    fn tracepoint<O: Endian>(&mut self, format: &Format<'_>, raw: &[u8]) {
        let (system, name) = (Printable(format.system), Printable(format.name));
        print(&mut self.details, format_args!("    {system}:{name}:"));
        for (field, value) in format.fields::<O>(raw).skip(format.common_fields().len()) {
            print(&mut self.details, format_args!(" {}=", Printable(field.name)));
            push_field(&mut self.details, &value);
        }
        self.details.push(b'\n');
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

    fn object(&mut self, name: &'static str, fields: &dyn Fn(&mut dyn Scalars)) {
        let was_nested = core::mem::replace(&mut self.nested, true);
        print(&mut self.details, format_args!("    {name}:"));
        fields(self);
        self.details.push(b'\n');
        self.nested = was_nested;
    }

    fn list(&mut self, name: &'static str, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        let was_nested = core::mem::replace(&mut self.nested, true);
        self.detail(format_args!("{name}:"));
        for index in 0..count {
            print(&mut self.details, format_args!("      {index:3}:"));
            item(index, self);
            self.details.push(b'\n');
        }
        self.nested = was_nested;
    }

    fn addresses(&mut self, name: &'static str, values: impl Iterator<Item = u64> + Clone) {
        self.detail(format_args!("{name}:"));
        for value in values {
            print(&mut self.details, format_args!("      {value:#018x}\n"));
        }
    }
}
