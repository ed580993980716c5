//! The branches of selected samples, and what tells the addresses of their files.

use std::num::NonZero;

use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_parse::file::Account;
use perf_parse::sample::BranchStack;
use perf_session::{Frame, SampleContext, Segment, Session};
use perf_symbol::{DsoFiles, NoSymbols};

use super::{BranchFile, BranchProfile, Branches, FileAddresses};
use crate::error::ProfileError;
use crate::observer::Observer;
use crate::samples::Samples;
use crate::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use crate::symbols::Symbols;

/// The branches of a capture, and of those before it.
#[derive(Debug)]
pub struct CountedBranches {
    branches: Branches,
    session: Session,
    symbols: Symbols,
    account: Account,
    omitted: u64,
}

impl Samples<'_> {
    /// Counts the branches of the selected samples by file, in addition to `branches`, which may have those of other captures.
    /// `symbols` find the files and their functions. Works on one thread.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection, and [`ProfileError::Cancelled`].
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    /// use perf_profile::branches::Branches;
    /// use perf_profile::{Samples, Symbols};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::open(path)?;
    /// let counted = Samples::of(&reader).branches(&Symbols::of(&reader), Branches::default(), &mut ())?;
    /// if let Some(file) = counted.branches().busiest(|_| true) {
    ///     let profile = counted.profile(file, true)?;
    ///     println!("{} branches", profile.branches.len());
    /// }
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn branches(
        self,
        symbols: &Symbols,
        branches: Branches,
        observer: &mut dyn Observer,
    ) -> Result<CountedBranches, ProfileError> {
        let mut pass = BranchPass { branches };
        let end = self.walk(symbols.clone(), &mut pass, &mut NoWorker, NonZero::<usize>::MIN, observer)?;
        let (session, symbols) = (end.session().clone(), symbols.clone());
        let (account, omitted) = (end.account().clone(), end.omitted());
        Ok(CountedBranches { branches: pass.branches, session, symbols, account, omitted })
    }
}

impl CountedBranches {
    /// Returns the branches of all captures so far.
    #[must_use]
    pub fn branches(&self) -> &Branches {
        &self.branches
    }

    /// Returns the branches, to add those of another capture.
    #[must_use]
    pub fn into_branches(self) -> Branches {
        self.branches
    }

    /// Returns what was read of the last capture.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples of the last capture without the user part of their call chain: see
    /// [`Profile::omitted`](crate::Profile::omitted).
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the segments of a file, which tell the [addresses](FileAddresses) of its code.
    ///
    /// # Errors
    ///
    /// If the file is not found: without it, no address can be told.
    pub fn segments(&self, file: &BranchFile) -> Result<Vec<Segment>, NoSymbols> {
        let DsoFiles { image, why, .. } = self.symbols.finder().find_mapped(&file.dso, file.build_id);
        image.map(|image| image.segments().to_vec()).ok_or(why.unwrap_or(NoSymbols::NotFound))
    }

    /// Returns the branches of a file by the addresses of its symbols. Without `has_functions`, which looks functions up, all code
    /// after a branch [comes from the same function](super::BranchRange::is_external).
    ///
    /// # Errors
    ///
    /// Those of [`segments`](Self::segments).
    pub fn profile(&self, file: &BranchFile, has_functions: bool) -> Result<BranchProfile, NoSymbols> {
        let segments = self.segments(file)?;
        let mut symbols = self.symbols.clone();
        let mut function_of =
            |offset| if has_functions { self.function_of(file, offset, &mut symbols) } else { None };
        Ok(file.profile(FileAddresses::new(&segments), &mut function_of))
    }

    /// Returns the start of the function at an offset in a file, as an offset; `None` if there is no symbol.
    fn function_of(&self, file: &BranchFile, offset: u64, symbols: &mut Symbols) -> Option<u64> {
        let mapping = &file.mapping;
        let ip = mapping.range().start.wrapping_add(offset.wrapping_sub(mapping.pgoff()));
        let frame = Frame { ip, mode: CpuMode::USER, mapping: Some(mapping) };
        let function = symbols.symbolizer_mut()?.functions(&self.session, &frame, false, None).last()?;
        Some(offset.wrapping_sub(function.offset?))
    }
}

/// Returns the branch stack of a sample; `None` if its event has none.
///
/// # Errors
///
/// If the sample cannot be decoded up to it.
pub fn branch_stack<'r>(at: &SampleContext<'_, 'r>) -> Result<Option<BranchStack<'r>>, FileError> {
    match at.sample().tail() {
        Ok(tail) => Ok(tail.branch_stack),
        Err(error) => Err(at.record().error(error)),
    }
}

/// Counts the branches of a walk.
struct BranchPass {
    branches: Branches,
}

impl SamplePass<'_> for BranchPass {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        if let Some(stack) = branch_stack(at)? {
            self.branches.sample(at, &stack);
        }
        Ok(())
    }
}
