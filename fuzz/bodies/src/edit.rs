//! A capture, edited and merged: the result is clean, the same edit has the same result, the samples of the result are
//! those that the same selection has in the original, and two parts of a capture are merged into all of it.

use std::io::Cursor;
use std::num::NonZero;
use std::sync::Arc;

use perf_abi::sample_type::SampleType;
use perf_parse::Reader;
use perf_parse::rewrite::{Edit, EditedRecord, MergeOptions, RepairOrder, merge, repair};
use perf_profile::edit::CaptureEdit;
use perf_profile::{NamedFrame, Samples, Selection, Symbols, event_name};
use perf_symbol::SymbolOptions;

use super::profile::NoFiles;
use super::repair::check_clean;

/// The fields that are removed together.
const REMOVED: [SampleType; 4] = [
    SampleType::NONE,
    SampleType::RAW.union(SampleType::BRANCH_STACK),
    SampleType::REGS_INTR.union(SampleType::PHYS_ADDR).union(SampleType::CGROUP),
    SampleType::STACK_USER.union(SampleType::REGS_USER),
];

/// The choices of an input: its first bytes.
#[derive(Clone, Copy, Debug)]
struct Choices {
    /// One bit for each kind of selection and step.
    steps: u8,
    /// The sample whose thread, CPU, time and event are selected; and the fields that are removed.
    sample: u8,
}

/// The first two bytes of `data` have the steps. The other bytes are a capture.
pub fn run(data: &[u8]) -> bool {
    let Some((&[steps, sample], capture)) = data.split_first_chunk() else { return false };
    let choices = Choices { steps, sample };
    let Ok(damaged) = Reader::new(capture) else { return false };
    let Ok(repaired) = repair(&damaged, RepairOrder::Time, Cursor::new(Vec::new()), |_| {}) else {
        return false;
    };
    let bytes = repaired.out.into_inner();
    let reader = Reader::new(&bytes).unwrap_or_else(|error| panic!("{error}"));
    check_edit(&reader, choices);
    check_merge(&reader);
    true
}

impl Choices {
    fn has(self, bit: u8) -> bool {
        self.steps & 1 << bit != 0
    }

    fn removed(self) -> SampleType {
        REMOVED[usize::from(self.sample & 3)]
    }

    /// Returns a selection that has a sample of the capture.
    fn selection(self, reader: &Reader<'_>) -> Selection {
        let mut selection = Selection::default();
        let samples = reader.records().filter_map(Result::ok).filter(|it| it.sample().is_some());
        let Some(chosen) = samples.take(1 + usize::from(self.sample >> 2)).last() else { return selection };
        let sample = chosen.sample().expect("only samples are taken");
        if self.has(0) {
            selection.tids.extend(sample.tid());
        }
        if self.has(1)
            && let Some(cpu) = sample.cpu()
        {
            selection.cpus = cpu.to_string().parse().expect("a CPU is a range");
        }
        if self.has(2)
            && let Some(time) = sample.time()
        {
            let text = format!("{}.{:09},", time / 1_000_000_000, time % 1_000_000_000);
            selection.time = text.parse().unwrap_or_default();
        }
        if self.has(3) {
            selection.event = chosen.event().map(|event| event.index.to_string());
        }
        selection
    }

    fn edit(self, reader: &Reader<'_>) -> CaptureEdit {
        let edit =
            CaptureEdit::new().steps(Edit::new().remove(self.removed())).select(self.selection(reader));
        let edit = if self.has(4) { edit.one_in(NonZero::<u64>::MIN.saturating_add(2)) } else { edit };
        edit.limit(self.has(5).then_some(u64::from(self.sample)))
    }
}

/// Edits a clean capture.
fn check_edit(reader: &Reader<'_>, choices: Choices) {
    let symbols = |reader: &Reader<'_>| {
        Symbols::with_files(reader.features(), SymbolOptions::default(), Arc::new(NoFiles))
    };
    let edited = |reader: &Reader<'_>| {
        let edited =
            choices.edit(reader).write_file(reader, &symbols(reader), Cursor::new(Vec::new()), |_| {});
        edited.map(|edited| edited.out.into_inner())
    };
    let selection = choices.selection(reader);
    let samples = |reader: &Reader<'_>| {
        let samples = Samples::of(reader).select(selection.clone()).named(&symbols(reader));
        let shown = samples.map(|sample| {
            sample.map(|sample| {
                let thread = sample.thread();
                let of_frame =
                    |it: &NamedFrame| (it.ip(), it.mapping().map(|it| (it.range(), it.dso().clone())));
                let stack: Vec<_> = sample.stack().iter().map(of_frame).collect();
                let shown =
                    (sample.time(), sample.cpu(), sample.period(), thread.pid(), thread.tid(), thread.comm());
                format!("{:?} {shown:?} {stack:?}", event_name(sample.event()))
            })
        });
        shown.collect::<Result<Vec<_>, _>>()
    };
    let Ok(bytes) = edited(reader) else {
        // The capture does not have what the selection needs.
        assert!(samples(reader).is_err());
        return;
    };
    check_clean(&bytes, |_| ());
    assert!(edited(reader).is_ok_and(|again| again == bytes), "the same edit has another result");
    let are_all = !choices.has(4) && !choices.has(5);
    if are_all && choices.removed() == SampleType::NONE {
        let after = samples(&Reader::new(&bytes).unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(after.expect("it has what the original has"), samples(reader).expect("it was edited"));
    }
}

/// Merges two parts of a clean capture.
fn check_merge(reader: &Reader<'_>) {
    let part = |rest: u64| {
        let mut index = 0_u64;
        let edit = Edit::new().samples(move |_| {
            index += 1;
            if index % 2 == rest { EditedRecord::Kept } else { EditedRecord::LeftOut }
        });
        let part = edit.write_file(reader, Cursor::new(Vec::new()), |_| {});
        part.unwrap_or_else(|error| panic!("{error}")).out.into_inner()
    };
    let parts = [part(0), part(1)];
    let readers = parts.each_ref().map(|part| Reader::new(part).unwrap_or_else(|error| panic!("{error}")));
    // Some captures cannot be told apart, such as those of AUX areas.
    let merged = merge(&readers.each_ref(), &MergeOptions::default(), Cursor::new(Vec::new()), |_, _| {});
    let Ok(merged) = merged else { return };
    let bytes = merged.out.into_inner();
    let samples = |reader: &Reader<'_>| {
        let samples = reader.records().filter_map(|record| {
            let record = record.unwrap_or_else(|error| panic!("{error}"));
            let sample = record.sample()?;
            Some((record.time(), sample.tid(), sample.cpu(), sample.ip(), sample.addr(), sample.period()))
        });
        let mut samples: Vec<_> = samples.collect();
        samples.sort_unstable();
        samples
    };
    check_clean(&bytes, |merged| assert!(samples(merged) == samples(reader), "a merge has other samples"));
}
