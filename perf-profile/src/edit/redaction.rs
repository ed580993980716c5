//! A capture without its secrets: names become pseudonyms, and what could hold a name is left out.

mod features;
pub(super) mod pseudonyms;
mod records;

use perf_parse::SampleLayout;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::record::RawRecord;
use perf_parse::rewrite::{CaptureFilter, EditedRecord};

use pseudonyms::Pseudonyms;

/// Kinds of texts in a capture that can be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SecretKind {
    /// Names of threads: of COMM records, and of what else has them.
    Comms,
    /// Paths of files, of cgroups and of namespaces, with the device, inode and build id of each file.
    Paths,
    /// The command line of the recording.
    Cmdline,
    /// The name of the host.
    Hostname,
    /// Data that events define, such as the fields of tracepoints; AUX areas; changed code of the kernel.
    Raw,
    /// All other texts: symbols, programs of BPF, names of events that a user can choose, units, formats of tracepoints.
    Strings,
}

impl SecretKind {
    /// All kinds.
    pub const ALL: &'static [Self] =
        &[Self::Comms, Self::Paths, Self::Cmdline, Self::Hostname, Self::Raw, Self::Strings];

    /// Returns the name of the kind, as the account of an edit has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comms => "comms",
            Self::Paths => "paths",
            Self::Cmdline => "cmdline",
            Self::Hostname => "hostname",
            Self::Raw => "raw",
            Self::Strings => "strings",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Comms => "names of threads",
            Self::Paths => "paths and build ids",
            Self::Cmdline => "the command line",
            Self::Hostname => "the host name",
            Self::Raw => "data of events",
            Self::Strings => "symbols and other texts",
        }
    }
}

/// What stays whatever the kinds are.
const ALWAYS: &[&str] = &[
    "process ids",
    "times",
    "addresses",
    "counts",
    "the kernel's events",
    "CPU, memory and versions of the machine",
];

/// What a redaction removes from a capture, and the key of its pseudonyms.
///
/// Where readers need a name, it becomes a pseudonym: equal names have equal pseudonyms, so that samples are still counted by
/// thread, file and host. Every other place that could hold a secret of these kinds is left out, and, whatever the kinds are,
/// copied stacks and registers, physical addresses, and records and features that this crate does not know.
///
/// Process ids, times, addresses, counts, names of the kernel's own events, and what the machine is (CPU, memory, versions of
/// the kernel and of perf) stay.
///
/// # Examples
///
/// ```
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_profile::Symbols;
/// use perf_profile::edit::{CaptureEdit, Redaction, SecretKind};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let edit = CaptureEdit::new().redact(Some(Redaction::new(SecretKind::ALL)));
/// let edited = edit.write_file(&reader, &Symbols::of(&reader), Cursor::new(Vec::new()), |_| {})?;
/// let bytes = edited.out.into_inner();
/// let reader = Reader::new(&bytes)?;
/// assert!(reader.features().hostname()?.is_none_or(|host| host.starts_with(b"host-")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Redaction {
    kinds: Vec<SecretKind>,
    pseudonyms: Pseudonyms,
}

impl Redaction {
    /// Creates a redaction with a random key: nobody can find a name by trying names, and each redaction has other pseudonyms.
    #[must_use]
    pub fn new(kinds: &[SecretKind]) -> Self {
        Self { kinds: kinds.to_vec(), pseudonyms: Pseudonyms::random() }
    }

    /// Creates a redaction whose key is made of `salt`: redactions with the same salt have the same pseudonyms. Who knows the salt
    /// can find out a name by trying names.
    #[must_use]
    pub fn with_salt(kinds: &[SecretKind], salt: &[u8]) -> Self {
        Self { kinds: kinds.to_vec(), pseudonyms: Pseudonyms::of_salt(salt) }
    }

    /// Returns whether texts of a kind are removed.
    #[must_use]
    pub fn removes(&self, kind: SecretKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns the names of the kinds that are removed.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|kind| kind.name()).collect()
    }

    /// Returns what stays in a capture, in words.
    #[must_use]
    pub fn remaining(&self) -> Vec<&'static str> {
        let kept = SecretKind::ALL.iter().filter(|&&kind| !self.removes(kind)).map(|kind| kind.words());
        ALWAYS.iter().copied().chain(kept).collect()
    }

    /// Returns the fields of samples that are removed.
    #[must_use]
    pub fn removed_fields(&self) -> SampleType {
        let always = SampleType::STACK_USER
            | SampleType::REGS_USER
            | SampleType::REGS_INTR
            | SampleType::PHYS_ADDR
            | SampleType::AUX;
        if self.removes(SecretKind::Raw) { always | SampleType::RAW } else { always }
    }
}

impl CaptureFilter for Redaction {
    fn features(&mut self, features: &mut FeaturePayloads) {
        self.redact_features(features);
    }

    fn event(&mut self, event: &mut EventFields) {
        self.redact_event(event);
    }

    fn record(&mut self, record: &RawRecord<'_>, layout: Option<&SampleLayout>) -> EditedRecord {
        self.redacted_record(record, layout)
    }
}
