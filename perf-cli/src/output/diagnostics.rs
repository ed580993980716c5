//! Diagnostics of a capture, as lines on standard error: at most a thousand, then a count of the rest.

use alloc::collections::BTreeMap;
use core::fmt::Display;
use std::io::Write;
use std::path::Path;

use perf_parse::file::{Account, FaultCounts, FileError, FileErrorKind};

use super::stderr::write_line;
use crate::escape::shown;
use crate::quality::grouped;
use crate::streams;

/// Prints diagnostics, one write each, up to a limit. Counts those beyond it by kind.
///
/// Prints the counts when it is dropped.
#[derive(Debug)]
pub(crate) struct Diagnostics<W: Write = streams::Errors> {
    out: W,
    buffer: Vec<u8>,
    /// The number of diagnostics that may still be printed.
    left: usize,
    omitted: BTreeMap<&'static str, u64>,
    /// The number of faults at the front of the account that are printed.
    printed: usize,
    /// The number of entries of the feature table that are beyond the end of the file. The first one is printed, the others say
    /// the same.
    missing_features: u64,
    /// Whether a fault of the whole file is also said in words, and what follows from it only counted.
    in_words: bool,
}

impl Diagnostics {
    /// Creates a printer on standard error, with the limit of an account.
    pub(crate) fn new() -> Self {
        Self::limited(streams::Errors, Account::MAX_DIAGNOSTICS)
    }

    /// Like [`new`](Self::new), for the verbs whose reader does not ask for each fault: a file that was cut off is said in words, and
    /// what follows from it is counted.
    pub(crate) fn in_words() -> Self {
        let mut diagnostics = Self::new();
        diagnostics.in_words = true;
        diagnostics
    }
}

impl<W: Write> Diagnostics<W> {
    fn limited(out: W, limit: usize) -> Self {
        Self {
            out,
            buffer: Vec::new(),
            left: limit,
            omitted: BTreeMap::new(),
            printed: 0,
            missing_features: 0,
            in_words: false,
        }
    }

    /// Prints an error in the capture.
    pub(crate) fn report(&mut self, error: &FileError) {
        match error.kind {
            _ if !self.in_words => {}
            FileErrorKind::Truncated { field: DATA_SIZE, needed, available } => {
                self.print(error.kind.name(), &CutOff { needed, available });
            }
            FileErrorKind::Truncated { field: FEATURE_TABLE, available: 0, .. } => {
                self.missing_features += 1;
                if self.missing_features > 1 {
                    return;
                }
            }
            _ => {}
        }
        self.print(error.kind.name(), error);
    }

    /// Prints an error in one of several files, which will be at the front of the account.
    pub(crate) fn report_in(&mut self, file: &Path, error: &FileError) {
        self.printed += 1;
        self.print(error.kind.name(), &format_args!("{}: {error}", shown(file)));
    }

    /// Prints that a record cannot be written.
    pub(crate) fn unwritable(&mut self, what: &dyn Display) {
        self.print("unwritable", what);
    }

    /// Prints the errors in an account that are not printed yet.
    pub(crate) fn report_new(&mut self, account: &Account) {
        account.diagnostics.iter().skip(self.printed).for_each(|error| self.report(error));
        self.printed = account.diagnostics.len();
    }

    /// Prints all errors in an account that are not printed yet. The account keeps the first ones and counts the rest.
    pub(crate) fn report_all(&mut self, account: &Account) {
        self.report_new(account);
        let mut kept = FaultCounts::default();
        account.diagnostics.iter().for_each(|error| kept.add(&error.kind));
        let kept: BTreeMap<_, _> = kept.iter().collect();
        for (kind, count) in account.faults_by_kind().iter() {
            self.omit(kind, count - kept.get(kind).copied().unwrap_or(0));
        }
    }

    fn print(&mut self, kind: &'static str, what: &dyn Display) {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                let _ = write_line(&mut self.out, &mut self.buffer, format_args!("{what}"));
            }
            None => self.omit(kind, 1),
        }
    }

    fn omit(&mut self, kind: &'static str, count: u64) {
        if count > 0 {
            *self.omitted.entry(kind).or_default() += count;
        }
    }
}

/// The fields that a file lacks which was cut off.
const DATA_SIZE: &str = "header.data.size";
const FEATURE_TABLE: &str = "feature table";

/// What a file lacks that ends within its records, in words.
struct CutOff {
    needed: u64,
    available: u64,
}

impl Display for CutOff {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { needed, available } = *self;
        let (available, needed) = (grouped(available), grouped(needed));
        write!(
            f,
            "perfdata: the capture is cut off: it has {available} of {needed} bytes of records, and nothing that comes after them: the \
             names of events, the host, the build ids"
        )
    }
}

impl<W: Write> Drop for Diagnostics<W> {
    fn drop(&mut self) {
        if let Some(more) = self.missing_features.checked_sub(1).filter(|&more| more > 0) {
            let what = "more entries of the feature table are beyond the end of the file, too";
            let _ = write_line(&mut self.out, &mut self.buffer, format_args!("perfdata: {more} {what}"));
        }
        let total: u64 = self.omitted.values().sum();
        if total > 0 {
            let kinds: Vec<_> = self.omitted.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            let kinds = kinds.join(", ");
            let more = "more diagnostics are not printed, by kind";
            let _ = write_line(
                &mut self.out,
                &mut self.buffer,
                format_args!("perfdata: {total} {more}: {kinds}"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::RefCell;
    use std::io;

    use perf_parse::Reader;
    use perf_parse::abi::endian::Endianness;

    use super::*;

    /// Keeps each write separately.
    #[derive(Debug, Default)]
    struct Writes(RefCell<Vec<String>>);

    impl Write for &Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn skipped(offset: u64) -> FileError {
        FileError { offset, kind: FileErrorKind::Skipped { bytes: 8 } }
    }

    const NO_PERF_DATA: FileError = FileError { offset: 3, kind: FileErrorKind::NotPerfData };

    #[test]
    fn a_diagnostic_is_one_write() {
        let writes = Writes::default();
        let mut diagnostics = Diagnostics::limited(&writes, 10);
        diagnostics.report(&skipped(16));
        diagnostics.report_in(Path::new("ring.0"), &NO_PERF_DATA);
        diagnostics.unwritable(&format_args!("{:#x}: {}: {}", 7, "SAMPLE", "no room"));
        drop(diagnostics);
        assert_eq!(
            *writes.0.borrow(),
            [
                "0x10: 8 bytes skipped, up to the next record or the end\n",
                "ring.0: 0x3: header.magic: is not PERFILE2 or PERFFILE, so this is not a perf.data file\n",
                "0x7: SAMPLE: no room\n",
            ]
        );
    }

    #[test]
    fn a_file_that_is_cut_off_is_said_in_words_and_once() {
        let truncated = |field, needed, available| FileError {
            offset: 0x30,
            kind: FileErrorKind::Truncated { field, needed, available },
        };
        for tables in [0, 1, 2, 5] {
            let writes = Writes::default();
            let mut diagnostics = Diagnostics::limited(&writes, 10);
            diagnostics.in_words = true;
            diagnostics.report(&truncated(DATA_SIZE, 189_188, 60_000));
            (0..tables).for_each(|_| diagnostics.report(&truncated(FEATURE_TABLE, 16, 0)));
            drop(diagnostics);
            let writes = writes.0.borrow();
            let words = "perfdata: the capture is cut off: it has 60,000 of 189,188 bytes of records, and nothing that comes after \
                them: the names of events, the host, the build ids\n";
            assert_eq!(writes[0], words);
            let fields: Vec<_> = writes.iter().filter(|line| line.starts_with("0x30: ")).collect();
            assert_eq!(fields.len(), 1 + tables.min(1), "{writes:?}");
            let counted = writes.iter().any(|line| line.contains("more entries of the feature table"));
            assert_eq!(counted, tables > 1, "{writes:?}");
        }
        // An entry that has some bytes is a fault of its own.
        let writes = Writes::default();
        let mut diagnostics = Diagnostics::limited(&writes, 10);
        diagnostics.in_words = true;
        (0..3).for_each(|_| diagnostics.report(&truncated(FEATURE_TABLE, 16, 8)));
        drop(diagnostics);
        assert_eq!(writes.0.borrow().len(), 3);
    }

    #[test]
    fn beyond_the_limit_diagnostics_are_counted_by_kind() {
        for count in [2, 3, 4] {
            let writes = Writes::default();
            let mut diagnostics = Diagnostics::limited(&writes, 3);
            (0..count).for_each(|offset| diagnostics.report(&skipped(offset)));
            drop(diagnostics);
            assert_eq!(writes.0.borrow().len() as u64, count, "the fourth line counts the fourth diagnostic");
        }
        let writes = Writes::default();
        let mut diagnostics = Diagnostics::limited(&writes, 2);
        (0..5).for_each(|offset| diagnostics.report(&skipped(offset)));
        diagnostics.report(&NO_PERF_DATA);
        diagnostics.unwritable(&"it");
        drop(diagnostics);
        let writes = writes.0.borrow();
        assert_eq!(writes.len(), 3);
        let counts = "5 more diagnostics are not printed, by kind: not_perf_data 1, skipped 3, unwritable 1";
        assert_eq!(writes[2], format!("perfdata: {counts}\n"));
    }

    /// Returns an account without errors.
    fn account() -> Account {
        Reader::from_records(core::iter::empty().collect(), Endianness::Little, &[]).account().clone()
    }

    #[test]
    fn what_an_account_left_out_is_counted_too() {
        let mut account = account();
        (0..1003).for_each(|offset| account.note(skipped(offset)));
        let writes = Writes::default();
        let mut diagnostics = Diagnostics::limited(&writes, 2);
        diagnostics.report_all(&account);
        drop(diagnostics);
        let counts = "1001 more diagnostics are not printed, by kind: skipped 1001";
        assert_eq!(writes.0.borrow()[2], format!("perfdata: {counts}\n"));
    }
}
