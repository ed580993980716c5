//! The walk over the samples of captures: selections, observers, and each error.

use perf_parse::Reader;
use perf_parse::file::Account;
use perf_profile::{Observer, ProfileError, ProfileOptions, Samples, Selection, Symbols};

/// Symbols without the files of this machine.
fn symbols(reader: &Reader<'_>) -> Symbols {
    let mut options = perf_symbol::SymbolOptions::default();
    options.symfs = Some("/nonexistent".into());
    Symbols::new(reader.features(), options)
}

fn reader(bytes: &[u8]) -> Reader<'_> {
    Reader::new(bytes).unwrap()
}

fn selected(capture: &str, selection: Selection) -> Result<u64, ProfileError> {
    let bytes = std::fs::read(testdata::path(capture)).unwrap();
    let reader = reader(&bytes);
    let profile = Samples::of(&reader).select(selection).profile(&symbols(&reader), &mut ())?;
    Ok(profile.samples().map(|sample| sample.total.samples).sum())
}

#[test]
fn each_part_selects() {
    let count = |selection| selected("system_wide.data", selection).unwrap();
    let all = count(Selection::default());
    let bytes = std::fs::read(testdata::path("system_wide.data")).unwrap();
    let reader = reader(&bytes);
    let samples: Vec<_> = Samples::of(&reader).named(&symbols(&reader)).map(Result::unwrap).collect();
    assert_eq!(samples.len() as u64, all);
    let first = samples[0].thread();
    let of =
        |is: &dyn Fn(&perf_profile::NamedSample) -> bool| samples.iter().filter(|it| is(it)).count() as u64;
    let comm = first.comm().to_vec();
    let (pid, tid, cpu) = (first.pid(), first.tid(), samples[0].cpu().unwrap());
    let with_comm = of(&|it| it.thread().comm() == comm);
    assert!(with_comm > 0 && with_comm < all);
    assert_eq!(count(Selection { comms: vec![comm], ..Selection::default() }), with_comm);
    let with_pid = of(&|it| it.thread().pid() == pid);
    assert_eq!(count(Selection { pids: vec![pid], ..Selection::default() }), with_pid);
    let with_tid = of(&|it| it.thread().tid() == tid);
    assert_eq!(count(Selection { tids: vec![tid], ..Selection::default() }), with_tid);
    let with_cpu = of(&|it| it.cpu() == Some(cpu));
    let cpus = cpu.to_string().parse().unwrap();
    assert_eq!(count(Selection { cpus, ..Selection::default() }), with_cpu);
    let time = samples[all as usize / 2].time().unwrap();
    let before = of(&|it| it.time().unwrap() <= time);
    let spans = format!(",{}.{:09}", time / 1_000_000_000, time % 1_000_000_000).parse().unwrap();
    assert_eq!(count(Selection { time: spans, ..Selection::default() }), before);
    let dso = |it: &perf_profile::NamedSample| {
        it.stack().first().and_then(|frame| Some(frame.mapping()?.dso().path().to_vec()))
    };
    let path = samples.iter().find_map(dso).unwrap();
    let in_dso = count(Selection { dsos: vec![path], ..Selection::default() });
    assert!(in_dso > 0 && in_dso < all, "{in_dso} of {all}");
    assert_eq!(count(Selection { symbols: vec!["no such function".into()], ..Selection::default() }), 0);
    assert_eq!(count(Selection { event: Some("0".into()), ..Selection::default() }), all);
}

#[test]
fn each_error_says_what_to_do() {
    let error = |capture, selection| selected(capture, selection).unwrap_err().to_string();
    let event = error("plain.data", Selection { event: Some("none".into()), ..Selection::default() });
    assert!(event.starts_with("event none: no such event; the file has 0 ("), "{event}");
    let between = Selection { time: "none..".parse().unwrap(), ..Selection::default() };
    let time = error("plain.data", between);
    assert!(time.starts_with("time none: no such event; the file has 0 ("), "{time}");
    let cpu = error("plain.data", Selection { cpus: "0".parse().unwrap(), ..Selection::default() });
    assert!(cpu.contains("do not have the CPU; select no CPUs"), "{cpu}");

    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    let reader = reader(&bytes);
    for (off_cpu, wakers, text) in [(true, 0, "--switch-events"), (false, 1, "who woke threads up")] {
        let mut options = ProfileOptions::default();
        (options.off_cpu, options.wakers) = (off_cpu, wakers);
        let made = Samples::of(&reader).profile_with(&symbols(&reader), &options, &mut ());
        assert!(made.unwrap_err().to_string().contains(text), "{text}");
    }
    let stream = std::fs::File::open(testdata::path("buildid.pipe.data")).unwrap();
    let stream = Reader::stream(stream).unwrap();
    let selection = Selection { time: "a..b".parse().unwrap(), ..Selection::default() };
    let mut samples = Samples::of(&stream).select(selection).named(&symbols(&stream));
    let error = samples.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("which a stream does not have; give spans in seconds"), "{error}");
    assert!(samples.next().is_none());
}

#[test]
fn the_account_of_samples_one_by_one_is_that_of_all_records() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    // Cut in the middle of the records, so that the last fault is after the last sample.
    for bytes in [&bytes[..], &bytes[..bytes.len() / 2]] {
        let reader = reader(bytes);
        let mut samples = Samples::of(&reader).named(&symbols(&reader));
        assert!(samples.by_ref().count() > 0);
        let profile = Samples::of(&reader).profile(&symbols(&reader), &mut ()).unwrap();
        assert_eq!(samples.account(), Some(profile.account()));
    }
}

/// Cancels after so many accounts.
struct Cancels {
    accounts: usize,
    bytes: u64,
}

impl Observer for Cancels {
    fn account(&mut self, account: &Account) {
        assert!(account.records > 0);
        self.accounts = self.accounts.saturating_sub(1);
    }

    fn bytes(&mut self, reached: u64) {
        assert!(reached >= self.bytes);
        self.bytes = reached;
    }

    fn is_cancelled(&mut self) -> bool {
        self.accounts == 0
    }
}

#[test]
fn an_observer_sees_the_walk_and_cancels_it() {
    let bytes = std::fs::read(testdata::path("callchain.data")).unwrap();
    let reader = reader(&bytes);
    for threads in [1, 8] {
        let profile = |accounts| {
            let mut observer = Cancels { accounts, bytes: 0 };
            let samples = Samples::of(&reader).threads(threads);
            let profile = samples.profile(&symbols(&reader), &mut observer);
            (profile.map(|profile| profile.account().records), observer.bytes)
        };
        let (cancelled, _) = profile(1);
        assert_eq!(cancelled.unwrap_err(), ProfileError::Cancelled, "{threads}");
        let (records, reached) = profile(usize::MAX);
        assert!(records.unwrap() > 0 && reached > 0, "{threads}");
    }
}
