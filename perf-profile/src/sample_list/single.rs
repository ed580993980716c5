//! Samples that are kept each alone, in 16 bytes.

use hashbrown::HashMap;

use crate::sample::{Sample, SampleTotal};

/// Number of samples whose times are counted from the same time.
const BLOCK: usize = 64;

/// The time of a row whose time or period has more than 32 bits.
const WIDE: u32 = u32::MAX;

/// What few samples do not have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SingleGroup {
    event: u32,
    thread: u32,
    cpu: Option<u32>,
}

/// A sample.
#[derive(Clone, Copy, Debug)]
struct SingleSample {
    /// Nanoseconds after the start of the block, or [`WIDE`].
    time: u32,
    stack: u32,
    /// The number of the group.
    group: u32,
    period: u32,
}

/// Samples that are not counted together, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct SingleSamples {
    rows: Vec<SingleSample>,
    /// The time of the first sample of each block.
    starts: Vec<u64>,
    /// Time and period of the rows in which they have no room.
    wide: HashMap<u32, (u64, u64)>,
    groups: Vec<SingleGroup>,
    group_numbers: HashMap<SingleGroup, u32>,
}

impl SingleSamples {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds one sample. There must be less than 2^32.
    pub(crate) fn push(&mut self, sample: &Sample) {
        let &Sample { event, thread, cpu, time, stack, total } = sample;
        let number = self.rows.len();
        if number.is_multiple_of(BLOCK) {
            self.starts.push(time);
        }
        let group = self.group(SingleGroup { event, thread, cpu });
        let since = self.starts.last().and_then(|&start| time.checked_sub(start));
        let since = since.and_then(|since| u32::try_from(since).ok()).filter(|&since| since != WIDE);
        let row = match (since, u32::try_from(total.period)) {
            (Some(time), Ok(period)) => SingleSample { time, stack, group, period },
            _ => {
                self.wide.insert(number as u32, (time, total.period));
                SingleSample { time: WIDE, stack, group, period: 0 }
            }
        };
        self.rows.push(row);
    }

    pub(crate) fn get(&self, number: u32) -> Option<Sample> {
        let index = number as usize;
        let &SingleSample { time, stack, group, period } = self.rows.get(index)?;
        let &SingleGroup { event, thread, cpu } = self.groups.get(group as usize)?;
        let (time, period) = match time {
            WIDE => *self.wide.get(&number)?,
            time => (self.starts.get(index / BLOCK)?.wrapping_add(time.into()), period.into()),
        };
        Some(Sample { event, thread, cpu, time, stack, total: SampleTotal { samples: 1, period } })
    }

    pub(crate) fn finish(&mut self) {
        self.group_numbers = HashMap::default();
    }

    fn group(&mut self, group: SingleGroup) -> u32 {
        let next = self.groups.len() as u32;
        *self.group_numbers.entry(group).or_insert_with(|| {
            self.groups.push(group);
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn samples_are_what_they_were() {
        let far = u64::from(WIDE);
        let times = [5000, 5000, 4999, 0, 5000 + far - 1, 5000 + far, 5001 + far, u64::MAX];
        let mut expected = Vec::new();
        for number in 0..1000_u32 {
            let time = times[number as usize % times.len()];
            let mut it = sample(number, time);
            (it.event, it.thread, it.cpu) = (number % 3, number % 5, (number % 7).checked_sub(1));
            it.total.period = [0, 1, far, far + 1, u64::MAX][number as usize % 5];
            expected.push(it);
        }
        let mut alone = SingleSamples::default();
        expected.iter().for_each(|it| alone.push(it));
        alone.finish();
        let found: Vec<_> = (0..1000).filter_map(|number| alone.get(number)).collect();
        assert_eq!(found, expected);
        assert_eq!((alone.len(), alone.get(1000)), (1000, None));
        // 3 events, 5 threads, 7 CPUs.
        assert_eq!(alone.groups.len(), 105);
    }

    #[test]
    fn common_samples_take_16_bytes() {
        assert_eq!(size_of::<SingleSample>(), 16);
        let mut alone = SingleSamples::default();
        (0..10_000).for_each(|number| alone.push(&sample(0, 1 << 60 | (number * 10_000_000))));
        assert_eq!(
            (alone.wide.len(), alone.groups.len(), alone.starts.len()),
            (0, 1, 10_000_usize.div_ceil(BLOCK))
        );
    }
}
