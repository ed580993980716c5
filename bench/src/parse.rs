//! The same with perf-parse.

use perf_abi::endian::{LittleEndian, U64};
use perf_abi::record::RecordType;
use perf_parse::{Error, Records, Sample};

use crate::capture::Capture;
use crate::{Sums, add};

/// Walks from header to header and adds up the sizes.
pub fn hop(capture: &Capture) -> Result<u64, Error> {
    let mut all = 0;
    for record in Records::<LittleEndian>::new(&capture.bytes) {
        add(&mut all, u64::from(record?.size()));
    }
    Ok(all)
}

/// Walks the samples, adds up their leading fields, and hands the sample to `tail`.
#[inline(always)]
fn walk<'c>(
    capture: &'c Capture,
    tail: impl Fn(&mut Sums, &Sample<'c, LittleEndian>) -> Result<(), Error>,
) -> Result<Sums, Error> {
    let mut sums = Sums::default();
    for record in Records::new(&capture.bytes) {
        let record = record?;
        if record.kind() != RecordType::SAMPLE {
            continue;
        }
        let sample = Sample::parse(&capture.layout, &record)?;
        sums.samples += 1;
        add(&mut sums.ip, sample.ip().unwrap_or_default());
        add(&mut sums.pid, sample.pid().unwrap_or_default() as u32 as u64);
        add(&mut sums.tid, sample.tid().unwrap_or_default() as u32 as u64);
        add(&mut sums.time, sample.time().unwrap_or_default());
        add(&mut sums.cpu, sample.cpu().unwrap_or_default().into());
        add(&mut sums.period, sample.period().unwrap_or_default());
        tail(&mut sums, &sample)?;
    }
    Ok(sums)
}

/// The sum of words.
#[inline(always)]
fn sum(words: &[U64<LittleEndian>]) -> u64 {
    words.iter().fold(0, |sum: u64, word| sum.wrapping_add(word.get()))
}

/// Samples of 48 bytes.
pub fn samples_48(capture: &Capture) -> Result<Sums, Error> {
    walk(capture, |_, _| Ok(()))
}

/// Samples of 48 bytes, asked for every leading field there is, recorded or not.
pub fn samples_48_all_getters(capture: &Capture) -> Result<Sums, Error> {
    walk(capture, |sums, sample| {
        // Not recorded: they add nothing.
        add(&mut sums.ip, sample.identifier().unwrap_or_default());
        add(&mut sums.ip, sample.addr().unwrap_or_default());
        add(&mut sums.ip, sample.id().unwrap_or_default());
        add(&mut sums.ip, sample.stream_id().unwrap_or_default());
        Ok(())
    })
}

/// Samples with a call chain, which alone is asked for.
pub fn callchains(capture: &Capture) -> Result<Sums, Error> {
    walk(capture, |sums, sample| {
        if let Some(chain) = sample.callchain()? {
            add(&mut sums.callchain, sum(chain.words()));
        }
        Ok(())
    })
}

/// Samples with anything behind their leading fields, decoded as a whole.
pub fn tails(capture: &Capture) -> Result<Sums, Error> {
    walk(capture, |sums, sample| {
        let tail = sample.tail()?;
        if let Some(chain) = tail.callchain {
            add(&mut sums.callchain, sum(chain.words()));
        }
        if let Some(regs) = tail.regs_user {
            add(&mut sums.regs_user, sum(regs.values));
        }
        if let Some(stack) = tail.stack_user {
            add(&mut sums.stack_user, stack.dyn_size.unwrap_or_default());
            if let [first, .., last] = stack.copied() {
                add(&mut sums.stack_user, u64::from(*first) + u64::from(*last));
            }
        }
        Ok(())
    })
}
