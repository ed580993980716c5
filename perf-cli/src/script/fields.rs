//! The fields of a line, and their names.

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(u64);

impl Fields {
    pub(super) const fn has(self, field: Self) -> bool {
        self.0 & field.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether nothing is printed. As in perf, flags alone are nothing.
    pub(super) fn is_empty(self) -> bool {
        self.without(Self::FLAGS) == Self::default()
    }

    pub(super) const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Fields {
    /// The fields of branches. One of them is printed.
    pub(super) const BRANCHES: Self = Self::BRSTACK.with(Self::BRSTACKSYM).with(Self::BRSTACKOFF);

    /// The fields of the instruction at the address of a sample.
    pub(super) const INSTRUCTION: Self = Self::INSN.with(Self::INSNLEN).with(Self::DISASM);

    /// The fields of the instructions between branches.
    pub(super) const BLOCKS: Self = Self::BRSTACKINSN.with(Self::BRSTACKINSNLEN).with(Self::BRSTACKDISASM);

    /// The fields that are not among the leading ones of a sample.
    pub(super) const OF_TAIL: Self = Self::BRANCHES
        .with(Self::BLOCKS)
        .with(Self::TRACE)
        .with(Self::SYNTH)
        .with(Self::DATA_SRC)
        .with(Self::WEIGHT)
        .with(Self::INS_LAT)
        .with(Self::RETIRE_LAT)
        .with(Self::CGROUP)
        .with(Self::IREGS)
        .with(Self::UREGS)
        .with(Self::PHYS_ADDR)
        .with(Self::DATA_PAGE_SIZE)
        .with(Self::CODE_PAGE_SIZE);
}

/// Names the fields in the order in which perf lists them.
macro_rules! fields {
    ($($constant:ident $name:literal,)*) => {
        fields!(@ 0u64; $($constant,)*);
        const NAMES: &[(&str, Fields)] = &[$(($name, Fields::$constant),)*];
    };
    (@ $bit:expr; $constant:ident, $($rest:ident,)*) => {
        impl Fields {
            pub(super) const $constant: Self = Self(1 << ($bit));
        }
        fields!(@ $bit + 1; $($rest,)*);
    };
    (@ $bit:expr;) => {};
}

fields! {
    COMM "comm", TID "tid", PID "pid", TIME "time", CPU "cpu", EVENT "event", TRACE "trace", IP "ip", SYM "sym",
    DSO "dso", DSOFF "dsoff", ADDR "addr", SYMOFF "symoff", PERIOD "period", IREGS "iregs", UREGS "uregs",
    BRSTACK "brstack", BRSTACKSYM "brstacksym", DATA_SRC "data_src", WEIGHT "weight", BPF_OUTPUT "bpf-output",
    BRSTACKOFF "brstackoff", PHYS_ADDR "phys_addr", MISC "misc", TOD "tod", DATA_PAGE_SIZE "data_page_size",
    CODE_PAGE_SIZE "code_page_size", INS_LAT "ins_lat", MACHINE_PID "machine_pid", VCPU "vcpu", CGROUP "cgroup",
    RETIRE_LAT "retire_lat", FLAGS "flags", SRCLINE "srcline", INSN "insn", INSNLEN "insnlen", DISASM "disasm",
    SYNTH "synth", BRSTACKINSN "brstackinsn", BRSTACKINSNLEN "brstackinsnlen", BRSTACKDISASM "brstackdisasm",
}

/// The fields of perf that need processor traces, or events that sampled branches count.
const NEEDS_TRACES: [&str; 4] = ["ipc", "metric", "callindent", "brcntr"];

/// Returns the name of the first of some fields.
pub(super) fn first_name(field: Fields) -> &'static str {
    NAMES.iter().find(|(_, known)| field.has(*known)).map_or("", |(name, _)| name)
}

/// Returns the field of a name.
///
/// # Errors
///
/// Why it is not printed.
pub(super) fn field_of(name: &str) -> Result<Fields, String> {
    if let Some(&(_, field)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Ok(field);
    }
    if NEEDS_TRACES.contains(&name) {
        return Err(format!(
            "{name} needs processor traces or counters, which perfdata does not decode; leave it out"
        ));
    }
    if name == "srccode" {
        return Err("srccode needs the source files, which perfdata does not read; use srcline".into());
    }
    let known: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
    Err(format!("there is no field {name}; the fields are {}", known.join(" ")))
}
