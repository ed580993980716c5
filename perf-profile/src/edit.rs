//! Edits of a capture by what its samples are of: threads, CPUs, times, events, files and functions.

mod address_mover;
mod call_chain;
mod counter_base;
mod edited_sample;
mod file_build_ids;
#[cfg(feature = "generated-code")]
mod generated_code;
mod itrace;
mod moved_addresses;
mod redaction;
mod reencode;
mod selector;
mod span_cut;
mod state_records;
mod stored_names;
mod unwinding;

use core::cell::RefCell;
use core::fmt::{Debug, Display, Formatter};
use core::num::NonZero;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{Seek, Write};
use std::rc::Rc;

#[cfg(feature = "generated-code")]
#[cfg_attr(docsrs, doc(cfg(feature = "generated-code")))]
pub use generated_code::{CodeImage, GeneratedCode, GeneratedCodeError};
pub use itrace::{
    ItraceError, ItraceLetters, ItraceOptions, ItraceOptionsError, PeriodUnit, PtKinds, TraceAccount,
    TraceErrors, TraceRecord, TraceSamples, TracedCapture,
};
pub use perf_aux::spe::SampleKinds;
pub use redaction::{Redaction, SecretKind};

use perf_abi::sample_type::SampleType;
use perf_parse::file::write::WriteFileError;
use perf_parse::rewrite::{Edit, EditSummary, EditedRecord, FolderOutputs, RepairStep};
use perf_parse::{EventRecord, Index, Reader};

use crate::error::ProfileError;
use crate::event_name::event_name;
use crate::selection::Selection;
use crate::symbols::Symbols;
use crate::text::OneLine;
use crate::work::permitted;
use address_mover::AddressMover;
use file_build_ids::FileBuildIds;
use moved_addresses::MovedAddresses;
use selector::SampleSelector;
use span_cut::SpanCut;
use stored_names::StoredNames;

/// Makes another capture of a capture: with the samples of a [`Selection`], and the steps of an [`Edit`].
///
/// Records that are not samples stay, so that the samples that are left have the names that they had. If times are selected,
/// the records of processes, threads and mappings before the first of them become the state at that time, and those after the
/// last of them are left out; all stay in a capture of AUX areas, and in one without times in these records. A counter that samples
/// read is rebased where samples before are left out, so that each sample that is left has the period that it had. A sample
/// that reads several counters stays whole if one of their events is selected.
///
/// The records keep their order. A selection by names of threads, by files and by functions, a thinning, and a selection of
/// samples that read counters need the order of time: the capture is walked twice at once, and decisions about samples that
/// come earlier in time than in the capture wait in memory, some 50 bytes each.
///
/// # Examples
///
/// The samples of one thread, as `perfdata edit --tid 7 -o thread.data` writes them:
///
/// ```
/// use std::io::Cursor;
///
/// use perf_parse::Reader;
/// use perf_profile::edit::CaptureEdit;
/// use perf_profile::{Selection, Symbols};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let selection = Selection { tids: vec![7], ..Selection::default() };
/// let edit = CaptureEdit::new().select(selection);
/// let edited = edit.write_file(&reader, &Symbols::of(&reader), Cursor::new(Vec::new()), |_| {})?;
/// println!("{} samples are left out", edited.left_out);
/// let bytes = edited.out.into_inner();
/// let tids = Reader::new(&bytes)?.records().filter_map(|record| record.ok()?.sample()?.tid()).collect::<Vec<_>>();
/// assert!(tids.iter().all(|&tid| tid == 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "an edit does nothing until it is written"]
pub struct CaptureEdit {
    edit: Edit<'static>,
    selection: Selection,
    one_in: Option<NonZero<u64>>,
    limit: Option<u64>,
    redaction: Option<Redaction>,
    unwinds: bool,
    threads: Option<NonZero<usize>>,
    index: Option<Index>,
    adds_build_ids: bool,
    stores_names: bool,
    /// Moves addresses: by a seed, or a random one.
    address_seed: Option<Option<Vec<u8>>>,
}

impl CaptureEdit {
    /// Creates an edit without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the steps that need neither processes nor names. A filter of samples in it has no effect.
    pub fn steps(self, edit: Edit<'static>) -> Self {
        Self { edit, ..self }
    }

    /// Keeps only the selected samples.
    pub fn select(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// Keeps the first of each `factor` selected samples of an event, in order of time. Periods stay; the file's
    /// [`EditAccount`](perf_parse::rewrite::EditAccount) has the factor.
    pub fn one_in(self, factor: NonZero<u64>) -> Self {
        Self { one_in: Some(factor), ..self }
    }

    /// Keeps only the first `limit` of the samples that the other steps keep, in order of time; `None` for all.
    pub fn limit(self, limit: Option<u64>) -> Self {
        Self { limit, ..self }
    }

    /// Removes secrets.
    pub fn redact(self, redaction: Option<Redaction>) -> Self {
        Self { redaction, ..self }
    }

    /// Unwinds copies of stacks, and writes call chains in their place: the frames up to the first that is a
    /// [guess](perf_symbol::Guess), which a call chain cannot mark. Call chains of the kernel stay.
    pub fn unwind(self) -> Self {
        Self { unwinds: true, ..self }
    }

    /// Permits so many threads for [`unwind`](Self::unwind), if addresses are not [moved](Self::move_addresses); 0 is one for each
    /// processor. The result is the same for any number. One by default.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(permitted(threads)), ..self }
    }

    /// Passes over the parts of the capture that have no sample of the selected times, by its index. Has no effect without a
    /// selection of times, and where samples are decided in order of time: see [`CaptureEdit`].
    pub fn with_index(self, index: Option<Index>) -> Self {
        Self { index, ..self }
    }

    /// Returns whether an index can save a part of the walk: whether times are selected.
    #[must_use]
    pub fn may_use_index(&self) -> bool {
        !self.selection.time.are_all()
    }

    /// Adds the build ids of mapped files, as MMAP2 records and the feature `BUILD_ID` have them, so that the files are found by
    /// their build ids later. They are read from the files that [`Symbols`] find: only from those that are surely the recorded ones,
    /// by device and inode. Records of such files have a build id in place of the inode then.
    pub fn build_ids(self) -> Self {
        Self { adds_build_ids: true, ..self }
    }

    /// Stores the names of the frames of all selected samples in the capture, as Android's simpleperf does in the feature
    /// `FILE2`, so that they are known without the files. perf passes over them. The account has their number.
    ///
    /// Left out are names that are [guesses](perf_symbol::Guess), as the feature cannot mark them, inlined functions, lines, and
    /// names of code whose addresses had other code at another time. A capture that has such a feature keeps it. Pipes have none.
    ///
    /// Walks once more over the capture, in up to 256 MiB of memory.
    pub fn symbols_inside(self) -> Self {
        Self { stores_names: true, ..self }
    }

    /// Moves the addresses of a capture, so that it does not tell where processes had their code and data: each file or memory that
    /// a process has mapped by a secret distance, the same for the processes that inherited it, and the kernel by another one. With
    /// `seed`, the distances are those that the seed gives for this capture; otherwise they are random. Names of files and
    /// functions stay, except those of perf maps and jitdumps, which have addresses.
    ///
    /// Addresses at which nothing is mapped become 0. Left out is what has addresses that are not moved: copied stacks, registers,
    /// data of events with their formats, AUX areas, changed code, deferred call chains, guests' mappings, symbols that
    /// simpleperf stored, and what this crate does not know. If times are selected, the records of processes of other times stay.
    ///
    /// perf: `perf inject --aslr`, `tools/perf/util/aslr.c`.
    pub fn move_addresses(self, seed: Option<&[u8]>) -> Self {
        Self { address_seed: Some(seed.map(<[u8]>::to_vec)), ..self }
    }

    /// Writes the result as a file at the start of `out`, which should be empty. `symbols` find the files and functions that
    /// samples are selected by. Calls `report` at each step.
    ///
    /// # Errors
    ///
    /// [`EditError::Selection`] if the capture does not have what the selection needs; [`EditError::Write`] as
    /// [`Edit::write_file`].
    pub fn write_file<W: Write + Seek>(
        self,
        reader: &Reader<'_>,
        symbols: &Symbols,
        out: W,
        report: impl FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<W>, EditError> {
        Ok(self.on(reader, symbols)?.write_file(reader, out, report)?)
    }

    /// Writes the result as a pipe-mode stream, as [`write_file`](Self::write_file).
    ///
    /// # Errors
    ///
    /// Those of [`write_file`](Self::write_file), for what no stream can have.
    pub fn write_pipe<W: Write>(
        self,
        reader: &Reader<'_>,
        symbols: &Symbols,
        out: W,
        report: impl FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<W>, EditError> {
        Ok(self.on(reader, symbols)?.write_pipe(reader, out, report)?)
    }

    /// Writes the result as the files of a folder, as [`write_file`](Self::write_file).
    ///
    /// # Errors
    ///
    /// Those of [`write_file`](Self::write_file).
    pub fn write_folder<W: Write + Seek>(
        self,
        reader: &Reader<'_>,
        symbols: &Symbols,
        out: FolderOutputs<W>,
        report: impl FnMut(RepairStep<'_>),
    ) -> Result<EditSummary<FolderOutputs<W>>, EditError> {
        Ok(self.on(reader, symbols)?.write_folder(reader, out, report)?)
    }

    /// Returns the edit with the filter of the selection in a capture.
    fn on<'r>(self, reader: &'r Reader<'_>, symbols: &Symbols) -> Result<Edit<'r>, EditError> {
        let may_use_index = self.may_use_index();
        let Self {
            edit,
            selection,
            one_in,
            limit,
            redaction,
            unwinds,
            threads,
            index,
            adds_build_ids,
            stores_names,
            address_seed,
        } = self;
        let threads = threads.unwrap_or(NonZero::<usize>::MIN);
        if stores_names && address_seed.is_some() {
            return Err(EditError::NamesMoved);
        }
        let shows_paths = |it: &Redaction| !it.removes(SecretKind::Paths) && !it.removes(SecretKind::Strings);
        if stores_names && !redaction.as_ref().is_none_or(shows_paths) {
            return Err(EditError::NamesRedacted);
        }
        // A stream cannot be read twice, as the edit reports it.
        let again = reader.can_walk_again();
        let edit = if adds_build_ids && again {
            edit.others(FileBuildIds::of(reader, symbols.finder()))
        } else {
            edit
        };
        let edit = if stores_names && again {
            let names = StoredNames::of(reader, selection.clone(), symbols)?;
            edit.names(names.stored, names.left_out).others(names)
        } else {
            edit
        };
        let edit = if unwinds { edit.remove(call_chain::COPY) } else { edit };
        let edit = edit.one_in(one_in.map_or(1, NonZero::get));
        let kinds =
            redaction.iter().flat_map(Redaction::kinds).chain(address_seed.as_ref().map(|_| "addresses"));
        let edit = edit.redacted(kinds.collect::<BTreeSet<_>>());
        let edit = if address_seed.is_some() {
            let removed = Redaction::new(&[SecretKind::Raw]).removed_fields();
            edit.remove(removed).others(MovedAddresses::new())
        } else {
            edit
        };
        let edit = match redaction {
            Some(redaction) => edit.remove(redaction.removed_fields()).others(redaction),
            None => edit,
        };
        let is_simple = one_in.is_none() && limit.is_none() && !unwinds && address_seed.is_none();
        if selection == Selection::default() && is_simple || !again {
            return Ok(edit);
        }
        if let Some(event) = reader.events().iter().find(|event| {
            let fields = event.attr.sample_type;
            unwinds && fields.contains(SampleType::STACK_USER) && !fields.contains(SampleType::CALLCHAIN)
        }) {
            return Err(EditError::NoCallChains { event: OneLine(&event_name(event)).to_string() });
        }
        let mover = address_seed.map(|seed| AddressMover::new(seed.as_deref()));
        let mut selector = SampleSelector::new(
            reader,
            selection,
            symbols.clone(),
            (one_in, limit),
            unwinds.then_some(threads),
            mover,
        )?;
        if selector.moves_addresses() {
            let selector = Rc::new(RefCell::new(selector));
            let of_samples = Rc::clone(&selector);
            let decide = |selector: &RefCell<SampleSelector<'_>>, record: &EventRecord<'_>| {
                selector.borrow_mut().decide(record).unwrap_or(EditedRecord::LeftOut)
            };
            return Ok(edit
                .side_band(move |record| decide(&selector, record))
                .samples(move |record| decide(&of_samples, record)));
        }
        let by_index = index.filter(|_| may_use_index).zip(selector.needed_parts());
        let cut = selector.times().and_then(|times| {
            let needed = by_index.as_ref().and_then(|(index, needs)| index.walk(reader, needs));
            SpanCut::new(reader, needed.unwrap_or_else(|| reader.records()), times)
        });
        let edit = match by_index {
            Some((index, needs)) => edit.by_index(index, needs),
            None => edit,
        };
        let edit = match cut {
            Some((mut cut, state)) => edit.side_band(move |record| cut.decide(record)).insert(state),
            None => edit,
        };
        Ok(edit.samples(move |record| selector.decide(record).unwrap_or(EditedRecord::LeftOut)))
    }
}

/// Why a capture cannot be edited.
#[derive(Debug)]
#[non_exhaustive]
pub enum EditError {
    /// The capture does not have what the selection needs.
    Selection(ProfileError),
    /// Stacks cannot be unwound, because samples of an event have copies of stacks but no call chains.
    NoCallChains {
        /// The name of the event, escaped.
        event: String,
    },
    /// Names cannot be stored in a capture whose paths or other texts are removed.
    NamesRedacted,
    /// Names cannot be stored for addresses that are moved.
    NamesMoved,
    /// The result cannot be written.
    Write(WriteFileError),
}

impl Display for EditError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Selection(error) => Display::fmt(error, f),
            Self::NoCallChains { event } => write!(
                f,
                "unwind: the samples of {event} have copies of stacks, but no call chains for their frames; keep the copies"
            ),
            Self::NamesRedacted => f.write_str(
                "symbols-inside: a redaction of paths or strings removes names; store names, or remove such texts",
            ),
            Self::NamesMoved => {
                f.write_str("symbols-inside: names are stored for addresses, which --aslr moves; leave one of them out")
            }
            Self::Write(error) => Display::fmt(error, f),
        }
    }
}

impl Error for EditError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Selection(error) => Some(error),
            Self::NoCallChains { .. } | Self::NamesRedacted | Self::NamesMoved => None,
            Self::Write(error) => Some(error),
        }
    }
}

impl From<ProfileError> for EditError {
    fn from(error: ProfileError) -> Self {
        Self::Selection(error)
    }
}

impl From<WriteFileError> for EditError {
    fn from(error: WriteFileError) -> Self {
        Self::Write(error)
    }
}
