//! The functions of a capture that have samples, ready to be annotated.

use std::num::NonZero;
use std::sync::Arc;

use perf_parse::event::Event;
use perf_parse::file::Account;
use perf_profile::annotation::{AnnotatedEvent, Annotation};
use perf_profile::report::percent;
use perf_profile::samples::pass::NoWorker;
use perf_profile::{
    FunctionTable, NamingOptions, Observer, ProfileError, SampleTotal, Samples, Symbols, event_name,
    machine_of,
};
use perf_session::Session;
use perf_symbol::{CodeMachine, Symbolizer, elf_machine};

use crate::annotated_functions::AnnotatedFunctions;
use crate::code::{BpfPrograms, JitCodes};
use crate::function_rows::FunctionRows;
use crate::no_annotation::NoAnnotation;
use crate::options::AnnotateOptions;
use crate::pass::{AddressCounts, AddressPass};
use crate::sampled_function::{self, SampledFunction};
use crate::source::SourceFinder;

/// The functions of a capture that have samples, and what their annotations are made of.
///
/// It is made by one walk over the capture, and then needs it no more. Its memory grows with the number of different addresses
/// of samples; an [`Annotation`] is made when it is asked for.
///
/// # Examples
///
/// The hottest instruction of the hottest function:
///
/// ```
/// use perf_annotate::{AnnotateOptions, Annotator};
/// use perf_parse::Reader;
/// use perf_profile::{Samples, Symbols};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let symbols = Symbols::of(&reader);
/// let mut annotator = Annotator::of(Samples::of(&reader), &symbols, AnnotateOptions::default(), &mut ())?;
/// if !annotator.functions().is_empty() {
///     match annotator.annotate(0) {
///         Ok(function) => {
///             let hottest = function.instructions.iter().max_by_key(|it| it.totals[0].period);
///             println!("{:?}", hottest.map(|it| (it.address, &it.text)));
///         }
///         Err(why) => println!("{why}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Annotator {
    session: Session,
    symbolizer: Symbolizer,
    counts: AddressCounts,
    functions: Vec<SampledFunction>,
    unnamed: Vec<SampleTotal>,
    bpf: BpfPrograms,
    jit: JitCodes,
    sources: SourceFinder,
    options: AnnotateOptions,
    machine: CodeMachine,
    account: Account,
    omitted: u64,
}

impl Annotator {
    /// Counts the selected samples of a capture by their addresses, and finds the functions of these. A sample counts at its own
    /// address, and not at those of its callers.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection, and [`ProfileError::Cancelled`].
    pub fn of(
        samples: Samples<'_>,
        symbols: &Symbols,
        options: AnnotateOptions,
        observer: &mut dyn Observer,
    ) -> Result<Self, ProfileError> {
        let threads = samples.workers(false);
        let mut pass = AddressPass {
            symbols: symbols.clone(),
            limits: options.limits,
            counts: AddressCounts::default(),
        };
        let end = samples.walk(symbols.clone(), &mut pass, &mut NoWorker, NonZero::<usize>::MIN, observer)?;
        let mut counts = pass.counts;
        counts.frames.finish();
        let symbolizer = symbols.symbolizer().cloned().unwrap_or_else(|| Symbolizer::new(Default::default()));
        let naming = NamingOptions { inlines: false, threads };
        let progress = &mut |done, all| observer.names(done, all);
        let names =
            FunctionTable::find(&counts.frames, end.session(), symbols.symbolizer(), naming, progress);
        let (mut functions, unnamed) = sampled_function::of_counts(&counts, &names);
        functions.sort_by(|one, other| {
            let by_period =
                one.totals.iter().map(|it| it.period).cmp(other.totals.iter().map(|it| it.period));
            by_period.reverse().then_with(|| (&one.dso, &one.name).cmp(&(&other.dso, &other.name)))
        });
        Ok(Self {
            session: end.session().clone(),
            sources: SourceFinder::new(symbols.finder().clone(), options.source.clone()),
            bpf: BpfPrograms::of(end.features()),
            jit: JitCodes::default(),
            account: end.account().clone(),
            omitted: end.omitted(),
            machine: CodeMachine::of_elf(elf_machine(&machine_of(end.features())), false),
            symbolizer,
            counts,
            functions,
            unnamed,
            options,
        })
    }

    /// Returns the events that have samples, in the order of their first samples.
    #[must_use]
    pub fn events(&self) -> &[Arc<Event>] {
        &self.counts.events
    }

    /// Returns all selected samples of each event.
    #[must_use]
    pub fn totals(&self) -> &[SampleTotal] {
        &self.counts.all
    }

    /// Returns the samples of each event that are at addresses without a symbol.
    #[must_use]
    pub fn unnamed(&self) -> &[SampleTotal] {
        &self.unnamed
    }

    /// Returns the samples of each event that are in no function, because there were too many addresses before:
    /// [`AnnotateLimits::addresses`](crate::AnnotateLimits::addresses).
    #[must_use]
    pub fn beyond(&self) -> &[SampleTotal] {
        &self.counts.beyond
    }

    /// Returns the functions that have samples: those first that the first event counted most in.
    #[must_use]
    pub fn functions(&self) -> &[SampledFunction] {
        &self.functions
    }

    /// Returns what was read of the capture.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain, because too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the indexes of the functions of a name, as people read it or as it is in the file, in the order of
    /// [`functions`](Self::functions).
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Vec<usize> {
        let is = |it: &SampledFunction| *it.name == *name || *it.raw_name == *name;
        self.functions.iter().enumerate().filter(|(_, it)| is(it)).map(|(index, _)| index).collect()
    }

    /// Returns the indexes of the functions that have at least `limit` percent of the selected samples of an event, in the order of
    /// [`functions`](Self::functions): of those of a [name](Self::find), if there is one. A percentage is of the sums of periods, or of
    /// the numbers of samples. Without a limit, it is 1, and 0 with a name. `None` if no sample is in a function of the name.
    #[must_use]
    pub fn select(&self, name: Option<&[u8]>, limit: Option<f64>, by_samples: bool) -> Option<Vec<usize>> {
        let limit = limit.unwrap_or(if name.is_some() { 0.0 } else { 1.0 });
        let mut selected = match name {
            Some(name) => Some(self.find(name)).filter(|found| !found.is_empty())?,
            None => (0..self.functions.len()).collect(),
        };
        let percent_of = |(part, all): (&SampleTotal, &SampleTotal)| {
            if by_samples { percent(part.samples, all.samples) } else { percent(part.period, all.period) }
        };
        let largest =
            |it: &SampledFunction| it.totals.iter().zip(self.totals()).map(percent_of).fold(0.0, f64::max);
        selected.retain(|&index| self.functions.get(index).is_some_and(|it| largest(it) >= limit));
        Some(selected)
    }

    /// [Annotates](Self::annotate) functions, given by their indexes, in this order. `observer` can cancel it between two of them.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Cancelled`].
    pub fn annotate_all(
        &mut self,
        functions: &[usize],
        observer: &mut dyn Observer,
    ) -> Result<AnnotatedFunctions, ProfileError> {
        let mut all = AnnotatedFunctions::default();
        for &index in functions {
            if observer.is_cancelled() {
                return Err(ProfileError::Cancelled);
            }
            match self.annotate(index) {
                Ok(annotation) => all.shown.push(annotation),
                Err(why) => all.missing.extend(self.functions.get(index).map(|it| (it.clone(), why))),
            }
        }
        Ok(all)
    }

    /// Disassembles a function, given by its index in [`functions`](Self::functions), and finds the lines of its instructions.
    ///
    /// Takes time and memory in proportion to the size of the function; the first one of a file also reads the debug information of
    /// the unit that it is in.
    ///
    /// # Errors
    ///
    /// If its code is not found, or of a machine that is not known.
    pub fn annotate(&mut self, function: usize) -> Result<Annotation, NoAnnotation> {
        let Self { session, symbolizer, counts, functions, bpf, jit, sources, options, machine, .. } = self;
        let function = functions.get(function).ok_or(NoAnnotation::NoFunction)?;
        let mut rows = FunctionRows {
            session,
            symbolizer,
            counts,
            function,
            bpf,
            jit,
            sources,
            options,
            machine: *machine,
        };
        let mut annotation = rows.annotation()?;
        annotation.events = events(counts, function);
        Ok(annotation)
    }
}

/// Returns the events that have samples in a function, those with most samples in the capture first; the totals of rows are in
/// this order.
fn events(counts: &AddressCounts, function: &SampledFunction) -> Vec<AnnotatedEvent> {
    counts
        .event_order(&function.totals)
        .into_iter()
        .filter_map(|index| {
            let event = counts.events.get(index)?;
            let mut it = AnnotatedEvent::default();
            it.name = String::from_utf8_lossy(&event_name(event)).into();
            it.total = *function.totals.get(index)?;
            it.of_capture = *counts.all.get(index)?;
            it.precise_ip = event.attr.flags.precise_ip();
            Some(it)
        })
        .collect()
}
