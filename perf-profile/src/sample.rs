//! A sample of a profile.

/// Number of samples, and what they count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleTotal {
    /// Number of samples.
    pub samples: u64,
    /// The sum of the periods. It wraps around where a capture has impossible periods.
    pub period: u64,
}

impl SampleTotal {
    /// Adds another total.
    pub fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.period = self.period.wrapping_add(other.period);
    }

    /// Subtracts another total, which must be part of this one.
    pub fn subtract(&mut self, other: Self) {
        self.samples -= other.samples;
        self.period = self.period.wrapping_sub(other.period);
    }
}

/// Samples that have everything in common that is kept of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// The index in [`Profile::events`](crate::Profile::events).
    pub event: u32,
    /// The index in [`Profile::threads`](crate::Profile::threads).
    pub thread: u32,
    /// The CPU; `None` if it was not recorded or is [not kept](crate::SampleDetail::cpus).
    pub cpu: Option<u32>,
    /// Nanoseconds of the capture's clock; 0 if times were not recorded or are [not kept](crate::SampleDetail::times). With
    /// [`TimeDetail::Spans`], the start of the span.
    pub time: u64,
    /// The number in [`Profile::stacks`](crate::Profile::stacks).
    pub stack: u32,
    /// How many samples these are, and their periods.
    pub total: SampleTotal,
}

/// What a profile keeps of the times of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeDetail {
    /// Nothing: samples at all times are counted together.
    #[default]
    Nothing,
    /// In which span of time a sample is. The samples of a span are counted together.
    ///
    /// The first 65,536 samples are kept alone, with their times. From then on there are at most 1,024 spans, and at least
    /// half as many: whenever the time passes the last one, all become twice as long. So memory does not grow with the number of
    /// samples. They become longer, too, rather than that a sample is beyond the limits. See
    /// [`Profile::resolution`](crate::Profile::resolution).
    Spans,
    /// The time of each sample, which is then kept alone, in 16 bytes.
    Each,
}
