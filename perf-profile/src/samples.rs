//! The walk over the samples of a capture, in time order, with what is known of their processes.

mod batch;
mod inner_frames;
mod named;
mod note_list;
pub(crate) mod noted_events;
mod ordered_records;
pub mod pass;
mod profile;
mod source;
mod stream_info;
mod unwound;
mod walk;

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::{self, Scope};

use perf_abi::sample_type::SampleType;
use perf_parse::file::{Account, DeferredSamples, Reader};
use perf_parse::{EventRecord, FileError, Index};
use perf_session::Session;

use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::lock_waits::LockCounter;
use crate::observer::Observer;
use crate::off_cpu::{WaitKind, selected_kind};
use crate::selection::Selection;
use crate::selection::filter::SampleFilter;
use crate::stack_table::has_copies;
use crate::symbols::Symbols;
use crate::work::batch::take_account;
use crate::work::in_order::in_order;
use crate::work::permitted;
use crate::work::turns::Turns;
pub(crate) use batch::NoteBatch;
pub use named::{NamedFrame, NamedSample, NamedSamples};
use pass::{NoWorker, PassWorker, SamplePass};
pub use profile::{ProfileOptions, has_stack};
use source::{RecordSource, StreamSource};
pub use walk::WalkEnd;
use walk::{BatchOf, SampleWalk};

/// The samples of a capture: those that are selected, in order of time, counted as perf counts them.
///
/// Their records come from a reader that is [borrowed](Self::of) or [shared](Self::shared), or from [any stream](Self::of_records)
/// that has them in order of time. The samples of a shared reader of a file, and of a stream that borrows nothing, are
/// `'static`: an object of another language can hold them, and another thread can walk over them.
///
/// # Examples
///
/// Each sample with its stack:
///
/// ```
/// use perf_parse::Reader;
/// use perf_profile::{Samples, Selection, Symbols};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let symbols = Symbols::of(&reader);
/// let selection = Selection { time: "0%-50%".parse()?, ..Selection::default() };
/// for sample in Samples::of(&reader).select(selection).named(&symbols) {
///     let sample = sample?;
///     println!("{}", String::from_utf8_lossy(sample.thread().comm()));
///     for frame in sample.stack() {
///         println!("    {:#x} {}", frame.ip(), String::from_utf8_lossy(frame.function().unwrap_or(b"?")));
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Samples<'a> {
    source: Arc<dyn RecordSource<'a> + 'a>,
    selection: Selection,
    /// The selection, once it is resolved.
    filter: Option<SampleFilter>,
    /// The index of the capture.
    index: Option<Index>,
    needs_all: bool,
    threads: NonZero<usize>,
}

/// The most workers that find stacks: as many as one thread can walk and count for.
const WORKERS: NonZero<usize> = NonZero::new(8).unwrap();

/// The fewest threads that share the stacks of call chains. On two, a capture of a whole machine took as long as on one, and a
/// third more processor time: both number most of its frames.
const FEW: usize = 3;

impl<'a> Samples<'a> {
    /// All samples of a capture, on one thread.
    #[must_use]
    pub fn of(reader: &'a Reader<'_>) -> Self {
        Self::of_source(Arc::new(reader))
    }

    /// All samples of a capture, on one thread, without borrowing the reader. They live as long as the bytes of the capture:
    /// `'static` with a reader that [`Reader::open`] or [`Reader::stream`] made.
    ///
    /// Costs a little more for each record than [`of`](Self::of): see [`Reader::owned_records`]. An [index](Self::with_index) has
    /// no effect.
    ///
    /// # Examples
    ///
    /// An iterator that outlives the function that opens the capture:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::thread;
    ///
    /// use perf_parse::Reader;
    /// use perf_profile::{NamedSamples, Samples, Symbols};
    ///
    /// fn samples(path: &str) -> Result<NamedSamples<'static>, perf_parse::FileError> {
    ///     let reader = Arc::new(Reader::open(path)?);
    ///     let symbols = Symbols::of(&*reader);
    ///     Ok(Samples::shared(reader).named(&symbols))
    /// }
    ///
    /// # let path = "examples/captures/plain.data";
    /// let samples = samples(path)?;
    /// assert!(thread::spawn(move || samples.count()).join().unwrap() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shared(reader: Arc<Reader<'a>>) -> Self {
        Self::of_source(Arc::new(reader))
    }

    /// All samples among the records of a stream, on one thread. The records must be in order of time; each has its event. A fault
    /// in their place is noted in the account. They are walked once, as they come: a walk waits where `records` does, and ends
    /// where they end.
    ///
    /// `info` is what is known of their capture, and is copied. Records that come in calls, such as those of live rings, can be
    /// sent through a channel, whose receiver is such a stream; or [each step](PassSteps::push) of a walk takes one.
    ///
    /// # Examples
    ///
    /// The profile of records that another thread sends:
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::thread;
    ///
    /// use perf_parse::Reader;
    /// use perf_profile::{CaptureInfo, Samples, Symbols};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::open(path)?;
    /// let (sender, records) = mpsc::sync_channel(64);
    /// let samples = Samples::of_records(CaptureInfo::from(&reader), records);
    /// let symbols = Symbols::of(&reader);
    /// let profile = thread::spawn(move || samples.profile(&symbols, &mut ()));
    /// for record in reader.records().in_time_order() {
    ///     sender.send(record.map(|record| record.into_owned()))?;
    /// }
    /// drop(sender);
    /// let profile = profile.join().unwrap()?;
    /// assert!(profile.samples().len() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_records<I>(info: CaptureInfo<'_>, records: I) -> Self
    where
        I: IntoIterator<Item = Result<EventRecord<'a>, FileError>>,
        I::IntoIter: Send + 'a,
    {
        Self::of_source(Arc::new(StreamSource::new(info, Box::new(records.into_iter()))))
    }

    fn of_source(source: Arc<dyn RecordSource<'a> + 'a>) -> Self {
        let selection = Selection::default();
        Self {
            source,
            selection,
            filter: None,
            index: None,
            needs_all: false,
            threads: NonZero::<usize>::MIN,
        }
    }

    /// Returns what is known of the capture before its records are read.
    #[must_use]
    pub fn info(&self) -> CaptureInfo<'_> {
        self.source.info()
    }

    /// Selects samples, in place of an earlier selection.
    #[must_use]
    pub fn select(self, selection: Selection) -> Self {
        Self { selection, filter: None, ..self }
    }

    /// Permits so many threads; 0 is one for each processor. The result is the same for any number.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: permitted(threads), ..self }
    }

    /// Passes over the parts of the capture that have no sample of the selected times, by its index. An index that the walk
    /// [cannot use](Self::may_use_index) has no effect.
    #[must_use]
    pub fn with_index(self, index: Option<Index>) -> Self {
        Self { index, ..self }
    }

    /// Has all samples read, whatever times are selected: a pass needs them.
    #[must_use]
    pub fn read_all(self) -> Self {
        Self { needs_all: true, ..self }
    }

    /// Returns whether an index saves a part of the walk: samples are selected by time, and none depends on the counters of the
    /// one before.
    #[must_use]
    pub fn may_use_index(&self) -> bool {
        // A counter is compared with its value in the sample before, whether that is selected or not.
        let reads = self.info().events().iter().any(|it| it.attr.sample_type.contains(SampleType::READ));
        !self.selection.time.are_all() && !self.needs_all && !reads
    }

    /// Resolves the selection in the capture, which a walk does otherwise.
    ///
    /// # Errors
    ///
    /// If the capture does not have what the selection needs.
    pub fn resolved(mut self) -> Result<Self, ProfileError> {
        if self.filter.is_none() {
            self.filter = Some(filter_in(self.selection.clone(), &*self.source)?);
        }
        Ok(self)
    }

    /// Returns how many workers find stacks fastest. Unwound stacks take long to find, and symbols are loaded before most of
    /// them are. Call chains do not: of three threads, one has enough to do with the records and with counting, and another
    /// one loads symbols, if they are loaded ahead.
    #[must_use]
    pub fn workers(&self, loads_ahead: bool) -> NonZero<usize> {
        if self.has_copies() {
            return self.threads.min(WORKERS);
        }
        let workers = self.threads.get() - usize::from(loads_ahead);
        NonZero::new(workers).filter(|it| it.get() >= FEW).map_or(NonZero::<usize>::MIN, |it| it.min(WORKERS))
    }

    /// Has times off the CPU counted. Returns the kind that the selected event names, without that event.
    pub(crate) fn with_off_cpu(mut self) -> (Self, Option<WaitKind>) {
        let (kind, selection) = selected_kind(core::mem::take(&mut self.selection));
        (self.select(selection).read_all(), kind)
    }

    /// Has waits for locks counted. Returns whether the selected event is that of futexes, without that event; `None` if it is neither
    /// of the two.
    pub(crate) fn take_lock_event(&mut self) -> Option<bool> {
        self.needs_all = true;
        let is_futex = self.selection.event.as_deref().and_then(LockCounter::is_futex_event)?;
        self.selection.event = None;
        Some(is_futex)
    }

    /// Returns the source of the records, whose information a pass borrows.
    pub(crate) fn source(&self) -> Arc<dyn RecordSource<'a> + 'a> {
        Arc::clone(&self.source)
    }

    pub(crate) fn thread_count(&self) -> NonZero<usize> {
        self.threads
    }

    /// Returns whether the capture has events with copies of stacks.
    fn has_copies(&self) -> bool {
        self.info().events().iter().any(|event| has_copies(event))
    }

    /// Walks over the capture with a pass, and so many workers. `worker` is the first of them, and has merged with the others
    /// when the walk ends. `symbols` find the files and functions that samples are selected by.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection, what [`SamplePass::deliver`] returns, and [`ProfileError::Cancelled`].
    pub fn walk<P: SamplePass<'a>>(
        self,
        symbols: Symbols,
        pass: &mut P,
        worker: &mut P::Worker,
        workers: NonZero<usize>,
        observer: &mut dyn Observer,
    ) -> Result<WalkEnd<'a>, P::Error> {
        let has_copies = self.has_copies();
        thread::scope(|scope| {
            let walk = self.begin(symbols, Some(scope))?;
            let mut passing = Passing { walk, pass, observer, batches: 0, total: Account::default() };
            if workers.get() == 1 {
                passing.run(worker)?;
            } else {
                let symbols = worker.symbols().filter(|_| has_copies);
                let earlier = symbols.map(|symbols| Turns::new(symbols.earlier()));
                let passing = RefCell::new(&mut passing);
                in_order(
                    workers,
                    worker,
                    |batch: &mut BatchOf<'a, P>| passing.borrow_mut().fill(batch),
                    |worker, batch| batch.work(worker, earlier.as_ref()),
                    |worker, batch| passing.borrow_mut().deliver(worker, batch).map(|()| true),
                    P::Worker::merge,
                )?;
            }
            let Passing { mut walk, mut total, .. } = passing;
            total.add(walk.account());
            *walk.account_mut() = total;
            Ok(walk.end())
        })
    }

    /// Begins a walk in which each step passes one record on.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection.
    pub fn steps<P: SamplePass<'a, Note = (), Worker = NoWorker>>(
        self,
        symbols: Symbols,
        pass: P,
    ) -> Result<PassSteps<'a, P>, ProfileError> {
        Ok(PassSteps { walk: self.begin(symbols, None)?, pass, batch: BatchOf::<'a, P>::default() })
    }

    /// Begins a walk, which should end in the scope of the threads that it needs.
    fn begin<'scope>(
        self,
        symbols: Symbols,
        scope: Option<&'scope Scope<'scope, '_>>,
    ) -> Result<SampleWalk<'a>, ProfileError>
    where
        'a: 'scope,
    {
        let may_use_index = self.may_use_index();
        let Self { source, selection, filter, index, threads, .. } = self;
        let filter = filter.map_or_else(|| filter_in(selection, &*source), Ok)?;
        let index = index.filter(|_| may_use_index);
        let indexed = index.and_then(|index| source.indexed(&index, &filter));
        let mut records = indexed.unwrap_or_else(|| source.records());
        if threads.get() > 1 {
            records = records.ahead(scope);
        }
        records.check_features();
        let mut session = Session::new();
        session.add_features(records.features());
        let waiting = DeferredSamples::within(source.info().limits());
        Ok(SampleWalk::new(records, (session, waiting), filter, symbols, source.is_stream()))
    }
}

/// Resolves a selection in the capture of a source.
fn filter_in(selection: Selection, source: &dyn RecordSource<'_>) -> Result<SampleFilter, ProfileError> {
    SampleFilter::new(selection, source.info(), || source.records_again())
}

/// A walk with a pass whose workers are on any thread.
struct Passing<'p, 'a, P> {
    walk: SampleWalk<'a>,
    pass: &'p mut P,
    observer: &'p mut dyn Observer,
    batches: u64,
    /// The account of the batches that were delivered.
    total: Account,
}

impl<'a, P: SamplePass<'a>> Passing<'_, 'a, P> {
    /// Walks with one worker, on this thread.
    fn run(&mut self, worker: &mut P::Worker) -> Result<(), P::Error> {
        let mut batch = BatchOf::<'a, P>::default();
        let mut may_be_more = true;
        while may_be_more {
            batch.begin();
            while may_be_more && batch.has_room() && !worker.is_full() {
                may_be_more = self.walk.step(&mut *self.pass, &mut batch, Some(&mut *worker));
            }
            batch.noted = take_account(self.walk.account_mut());
            batch.output = Some(worker.take_output());
            self.deliver(worker, &mut batch)?;
        }
        Ok(())
    }

    /// Fills a batch with the next records. Returns whether there may be more.
    fn fill(&mut self, batch: &mut BatchOf<'a, P>) -> bool {
        batch.begin_for_thread(self.batches, self.walk.session().clone());
        self.batches += 1;
        let mut may_be_more = true;
        while may_be_more && batch.has_room() {
            may_be_more = self.walk.step(&mut *self.pass, batch, None);
        }
        batch.noted = take_account(self.walk.account_mut());
        batch.use_dsos_of(self.walk.session());
        may_be_more
    }

    /// Delivers the output of a batch that was worked on, and counts its notes. The worker works on what is left to do.
    fn deliver(&mut self, worker: &mut P::Worker, batch: &mut BatchOf<'a, P>) -> Result<(), P::Error> {
        while batch.has_more {
            self.deliver_output(batch)?;
            batch.work(worker, None);
        }
        self.total.add(&batch.noted);
        self.observer.account(&self.total);
        self.observer.bytes(self.walk.reached());
        self.deliver_output(batch)?;
        batch.notes.notes.drain(..).for_each(|note| self.pass.count(note));
        if self.observer.is_cancelled() {
            return Err(ProfileError::Cancelled.into());
        }
        Ok(())
    }

    fn deliver_output(&mut self, batch: &mut BatchOf<'a, P>) -> Result<(), P::Error> {
        let output = batch.output.take();
        output.map_or(Ok(()), |output| self.pass.deliver(output, self.walk.session()))
    }
}

/// A walk in which each step passes one record on. Made by [`Samples::steps`].
#[derive(Debug)]
pub struct PassSteps<'a, P> {
    walk: SampleWalk<'a>,
    pass: P,
    batch: NoteBatch<'a, (), ()>,
}

impl<'a, P: SamplePass<'a, Note = (), Worker = NoWorker>> PassSteps<'a, P> {
    /// Passes the next record on; after the last one, the samples that waited for a later record. Returns whether there may be
    /// more.
    pub fn step(&mut self) -> bool {
        self.batch.begin();
        self.walk.step(&mut self.pass, &mut self.batch, Some(&mut NoWorker))
    }

    /// Passes a record on that the program has itself. Its time is that of the records before or later. [`end`](Self::end) ends
    /// the records.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::{FileError, Reader};
    /// use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
    /// use perf_profile::{CaptureInfo, ProfileError, Samples, Symbols};
    /// use perf_session::SampleContext;
    ///
    /// struct Period(u64);
    ///
    /// impl SamplePass<'_> for Period {
    ///     type Note = ();
    ///     type Worker = NoWorker;
    ///     type Error = ProfileError;
    ///
    ///     fn sample(
    ///         &mut self,
    ///         _: &SampleContext<'_, '_>,
    ///         counted: &CountedSample<'_>,
    ///         _: &WalkContext<'_>,
    ///         _: &mut RecordNotes<'_, ()>,
    ///     ) -> Result<(), FileError> {
    ///         self.0 += counted.period;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::open(path)?;
    /// let samples = Samples::of_records(CaptureInfo::from(&reader), []);
    /// let mut steps = samples.steps(Symbols::of(&reader).without_names(), Period(0))?;
    /// for record in reader.records().in_time_order() {
    ///     steps.push(&record?);
    /// }
    /// let (Period(period), _) = steps.end();
    /// assert!(period > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push(&mut self, record: &EventRecord<'a>) {
        self.batch.begin();
        self.walk.push(record, &mut self.pass, &mut self.batch, Some(&mut NoWorker));
    }

    /// Returns the pass.
    pub fn pass(&mut self) -> &mut P {
        &mut self.pass
    }

    /// Returns the account of all records so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        self.walk.account()
    }

    /// Ends the walk. Passes the samples on that still wait for a later record.
    #[must_use]
    pub fn end(mut self) -> (P, WalkEnd<'a>) {
        self.batch.begin();
        self.walk.end_waits(&mut self.pass, &mut self.batch, Some(&mut NoWorker));
        (self.pass, self.walk.end())
    }
}
