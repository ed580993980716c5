//! The AUXTRACE_INFO record of a capture with SPE data.

use perf_abi::auxtrace::{ArmSpeCpuWord, ArmSpeHeaderWord, ArmSpeWord, AuxtraceType};
use perf_parse::list::List;
use perf_parse::record::user::AuxtraceInfo;

use super::events::EventFlags;
use super::midr::Midr;

/// What the samples of a CPU need. The default is a CPU of which nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SpeCpu {
    /// The CPU's id; `None` if unknown. It tells how the source of data is encoded.
    pub midr: Option<Midr>,
    /// The events that the CPU can filter by, so that it records them; `None` if unknown, as in metadata of version 1.
    pub event_filter: Option<EventFlags>,
}

impl SpeCpu {
    /// Returns a CPU with this id.
    #[must_use]
    pub const fn with_midr(midr: Midr) -> Self {
        Self { midr: Some(midr), event_filter: None }
    }
}

/// Why the words of an AUXTRACE_INFO record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpeInfoError {
    /// The AUX data is another tracer's.
    Tracer(AuxtraceType),
    /// The record has fewer words than its header needs.
    TooShort {
        /// Number of words that the record has.
        words: u64,
        /// Number of words that it needs.
        needed: u64,
    },
    /// The header's number of words is smaller than the words that every header has.
    HeaderSize(u64),
    /// The header says that there are blocks of no CPU.
    NoCpus,
}

impl core::fmt::Display for SpeInfoError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Tracer(kind) => write!(f, "type of AUXTRACE_INFO must be ARM_SPE, is {kind}"),
            Self::TooShort { words, needed } => {
                write!(f, "AUXTRACE_INFO must have at least {needed} words after the type, has {words}")
            }
            Self::HeaderSize(words) => {
                write!(
                    f,
                    "header size of AUXTRACE_INFO must be at least {}, is {words}",
                    ArmSpeHeaderWord::COUNT
                )
            }
            Self::NoCpus => f.write_str("number of CPUs of AUXTRACE_INFO must not be 0"),
        }
    }
}

impl core::error::Error for SpeInfoError {}

/// The settings of the recording, in any version.
///
/// perf until 6.12 wrote version 1: two words without a version. Version 2 has a header, and a block for each CPU.
#[derive(Clone, Copy, Debug)]
pub struct SpeInfo<'a> {
    words: List<'a, u64>,
    /// Index of the first block; `None` in version 1.
    blocks: Option<usize>,
    /// Number of blocks, and words of each.
    cpus: usize,
    block_size: usize,
}

impl<'a> SpeInfo<'a> {
    /// Reads the words of an AUXTRACE_INFO record. Takes constant time.
    ///
    /// # Errors
    ///
    /// Each [`SpeInfoError`].
    ///
    /// perf: `arm_spe__alloc_metadata`.
    pub fn new(info: &AuxtraceInfo<'a>) -> Result<Self, SpeInfoError> {
        if info.kind != AuxtraceType::ARM_SPE {
            return Err(SpeInfoError::Tracer(info.kind));
        }
        let words = info.words;
        if words.len() == ArmSpeWord::COUNT {
            return Ok(Self { words, blocks: None, cpus: 0, block_size: 0 });
        }
        let too_short =
            |needed: usize| SpeInfoError::TooShort { words: words.len() as u64, needed: needed as u64 };
        if words.len() < ArmSpeHeaderWord::COUNT {
            let is_version_1 = words.len() < ArmSpeWord::COUNT;
            return Err(too_short(if is_version_1 { ArmSpeWord::COUNT } else { ArmSpeHeaderWord::COUNT }));
        }
        let word = |word: ArmSpeHeaderWord| words.get(word.0).unwrap_or_default();
        let header = word(ArmSpeHeaderWord::SIZE);
        let size = usize::try_from(header).unwrap_or(usize::MAX);
        if size < ArmSpeHeaderWord::COUNT {
            return Err(SpeInfoError::HeaderSize(header));
        }
        let cpus = usize::try_from(word(ArmSpeHeaderWord::CPUS_NUM)).unwrap_or(usize::MAX);
        let needed = cpus.saturating_mul(ArmSpeCpuWord::MIDR.0.saturating_add(1)).saturating_add(size);
        let rest = words.len().saturating_sub(size);
        match rest.checked_div(cpus) {
            None => Err(SpeInfoError::NoCpus),
            Some(_) if words.len() < needed => Err(too_short(needed)),
            Some(block_size) => Ok(Self { words, blocks: Some(size), cpus, block_size }),
        }
    }

    /// Returns the version: 1 for a record without one.
    #[must_use]
    pub fn version(&self) -> u64 {
        match self.blocks {
            None => 1,
            Some(_) => self.words.get(ArmSpeHeaderWord::VERSION.0).unwrap_or_default(),
        }
    }

    /// Returns the PMU's type number.
    #[must_use]
    pub fn pmu_type(&self) -> u64 {
        let index = if self.blocks.is_none() { ArmSpeWord::PMU_TYPE.0 } else { ArmSpeHeaderWord::PMU_TYPE.0 };
        self.words.get(index).unwrap_or_default()
    }

    /// Returns whether each CPU had its own ring; `None` from version 2 on.
    #[must_use]
    pub fn per_cpu_mmaps(&self) -> Option<bool> {
        self.blocks
            .is_none()
            .then(|| self.words.get(ArmSpeWord::PER_CPU_MMAPS.0).is_some_and(|word| word != 0))
    }

    /// Iterates over the CPUs in the order of the record. Version 1 has none.
    pub fn cpus(&self) -> impl Iterator<Item = SpeCpuInfo> + use<'a> {
        let Self { words, blocks, cpus, block_size } = *self;
        (0..cpus).map_while(move |index| {
            let start = blocks?.checked_add(index.checked_mul(block_size)?)?;
            let word = |word: ArmSpeCpuWord| {
                if word.0 < block_size { words.get(start.checked_add(word.0)?) } else { None }
            };
            Some(SpeCpuInfo {
                cpu: word(ArmSpeCpuWord::CPU)?,
                midr: Midr(word(ArmSpeCpuWord::MIDR)?),
                pmu_type: word(ArmSpeCpuWord::PMU_TYPE),
                min_interval: word(ArmSpeCpuWord::CAP_MIN_IVAL),
                event_filter: word(ArmSpeCpuWord::CAP_EVENT_FILTER).map(EventFlags),
            })
        })
    }

    /// Returns what the samples of a CPU need.
    ///
    /// `cpu` is the CPU of an AUX area. -1 is an area of a thread: then the facts are known if all CPUs have the same
    /// id. Takes time proportional to the number of CPUs. `cpuid` is the capture's feature `CPUID`, which has the id of
    /// the CPUs in version 1.
    ///
    /// perf: `arm_spe__get_metadata_by_cpu`, `arm_spe__get_midr`.
    #[must_use]
    pub fn cpu(&self, cpu: i32, cpuid: Option<&[u8]>) -> SpeCpu {
        if self.blocks.is_none() {
            return SpeCpu { midr: cpuid.map(Midr::from_cpuid), event_filter: None };
        }
        let found = match u64::try_from(cpu) {
            Ok(cpu) => self.cpus().find(|info| info.cpu == cpu),
            Err(_) => self.cpus().next().filter(|first| self.cpus().all(|info| info.midr == first.midr)),
        };
        found.map_or_else(SpeCpu::default, |info| SpeCpu {
            midr: Some(info.midr),
            // perf takes a missing word for 0, which is the same for samples.
            event_filter: info.event_filter,
        })
    }
}

/// A CPU in metadata of version 2. A field that the block is too short for is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpeCpuInfo {
    /// CPU number.
    pub cpu: u64,
    /// The CPU's id.
    pub midr: Midr,
    /// Type number of the CPU's PMU; `u64::MAX` if it has none.
    pub pmu_type: Option<u64>,
    /// The smallest sampling interval that the hardware recommends, in operations.
    pub min_interval: Option<u64>,
    /// The events that the CPU can filter by.
    pub event_filter: Option<EventFlags>,
}
