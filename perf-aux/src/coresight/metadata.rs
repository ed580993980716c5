//! The metadata of a CoreSight capture.

use core::fmt;

use perf_abi::auxtrace::{CsBlockWord, CsEteWord, CsEtmv3Word, CsEtmv4Word, CsMagic, CsWord};
use perf_parse::list::List;

use super::unit::{CsEte, CsEtmv3, CsEtmv4, CsUnit};

/// Why metadata cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CsErrorKind {
    /// The metadata ends before a word.
    Truncated {
        /// Number of words that the header or block needs.
        needed: u64,
        /// Number of words from there on.
        available: usize,
    },
    /// A version that this crate does not know.
    Version(u64),
    /// A kind of trace unit that version 0 does not have. The size of its block is unknown, so that no later block can be found.
    Magic(CsMagic),
    /// A block without a register that all trace units of its kind have.
    Register(&'static str),
}

/// Metadata that cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CsError {
    /// The reason.
    pub kind: CsErrorKind,
    /// Index of the first word of the header or block.
    pub word: usize,
}

impl fmt::Display for CsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word;
        match self.kind {
            CsErrorKind::Truncated { needed, available } => {
                write!(f, "the metadata at word {word} needs {needed} words; {available} are left")
            }
            CsErrorKind::Version(version) => {
                write!(f, "CoreSight metadata of version {version}; versions 0 to 2 are supported")
            }
            CsErrorKind::Magic(CsMagic(magic)) => {
                write!(
                    f,
                    "the block at word {word} is of an unknown trace unit: its magic number is {magic:#x}"
                )
            }
            CsErrorKind::Register(name) => write!(f, "the block at word {word} has no {name}"),
        }
    }
}

impl core::error::Error for CsError {}

/// The metadata of a CoreSight capture: the words of its AUXTRACE_INFO record of type
/// [`CS_ETM`](perf_abi::auxtrace::AuxtraceType::CS_ETM). Borrows the words.
///
/// Its [text](Self::text) is what perf prints.
///
/// perf: `tools/perf/util/cs-etm.h`.
///
/// # Examples
///
/// ```
/// use perf_aux::coresight::{CsMetadata, CsTraceId, CsUnit};
/// use perf_parse::list::List;
/// use perf_parse::abi::endian::Endianness;
///
/// // Version 1, PMU 8, one block: ETMv4, CPU 2, seven registers.
/// let words = [1_u64, 8 << 32 | 1, 0, 0x4040_4040_4040_4040, 2, 7, 0xc001, 0x14, 0, 0, 0, 0, 0xcc];
/// let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
/// let metadata = CsMetadata::new(List::new_in(Endianness::Little, &bytes))?;
/// let cpu = metadata.cpus().next().unwrap()?;
/// assert_eq!((metadata.pmu_type(), cpu.cpu), (8, 2));
/// let CsUnit::Etmv4(unit) = cpu.unit()? else { panic!("it is ETMv4") };
/// assert_eq!((unit.configr, unit.traceidr), (0xc001, 0x14));
/// assert_eq!(cpu.unit()?.trace_id(), Some(CsTraceId(0x14)));
/// # Ok::<(), perf_aux::coresight::CsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CsMetadata<'a> {
    words: List<'a, u64>,
    version: u64,
    pmu_type_cpus: u64,
}

impl<'a> CsMetadata<'a> {
    /// Decodes the header of the metadata. Takes constant time.
    ///
    /// # Errors
    ///
    /// If there are fewer than three words, or the version is above 2.
    pub fn new(words: List<'a, u64>) -> Result<Self, CsError> {
        let error = |kind| CsError { kind, word: 0 };
        let needed = CsWord::COUNT as u64;
        let truncated = error(CsErrorKind::Truncated { needed, available: words.len() });
        let word = |index: CsWord| words.get(index.0).ok_or(truncated);
        let (version, pmu_type_cpus) = (word(CsWord::VERSION)?, word(CsWord::PMU_TYPE_CPUS)?);
        word(CsWord::SNAPSHOT)?;
        if version > 2 {
            return Err(error(CsErrorKind::Version(version)));
        }
        Ok(Self { words, version, pmu_type_cpus })
    }

    /// Returns the version: 0 to 2. Since version 1 a block states its length. Since version 2 a trace id may be marked
    /// [unused](CsUnit::is_trace_id_unused).
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Returns the type of the PMU's events, the `type` of their attrs.
    #[must_use]
    pub const fn pmu_type(&self) -> u32 {
        (self.pmu_type_cpus >> 32) as u32
    }

    /// Returns the number of blocks that the header states.
    #[must_use]
    pub const fn cpu_count(&self) -> u32 {
        self.pmu_type_cpus as u32
    }

    /// Returns whether the trace is a snapshot.
    #[must_use]
    pub fn is_snapshot(&self) -> bool {
        self.words.get(CsWord::SNAPSHOT.0).is_some_and(|word| word != 0)
    }

    /// Returns all words, including those of the header.
    #[must_use]
    pub const fn words(&self) -> List<'a, u64> {
        self.words
    }

    /// Returns the blocks, one for each CPU that was traced. They end after an error.
    #[must_use]
    pub const fn cpus(&self) -> CsCpus<'a> {
        CsCpus { metadata: *self, at: CsWord::COUNT, left: self.cpu_count() }
    }
}

/// The blocks of the CPUs. [`CsMetadata::cpus`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct CsCpus<'a> {
    metadata: CsMetadata<'a>,
    at: usize,
    left: u32,
}

impl CsCpus<'_> {
    /// Returns the index of the word after the blocks so far.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }
}

impl<'a> CsCpus<'a> {
    fn block(&self) -> Result<CsCpu<'a>, CsError> {
        let words = self.metadata.words;
        let error = |kind| CsError { kind, word: self.at };
        let available = words.len().saturating_sub(self.at);
        let truncated = |needed| error(CsErrorKind::Truncated { needed, available });
        let word = |index: usize| words.get(self.at.saturating_add(index));
        let magic = word(CsBlockWord::MAGIC.0).map(CsMagic);
        // In version 0 the number of registers is not stated, but follows from the kind of unit.
        let (header, count) = match (self.metadata.version, magic) {
            (0, None) => return Err(truncated(2)),
            (0, Some(CsMagic::ETMV3)) => (2, (CsEtmv3Word::ETMIDR.0 - CsBlockWord::COUNT + 1) as u64),
            (0, Some(CsMagic::ETMV4)) => (2, (CsEtmv4Word::TRCAUTHSTATUS.0 - CsBlockWord::COUNT + 1) as u64),
            (0, Some(other)) => return Err(error(CsErrorKind::Magic(other))),
            _ => {
                let header = CsBlockWord::COUNT;
                (header, word(CsBlockWord::NR_TRC_PARAMS.0).ok_or(truncated(header as u64))?)
            }
        };
        let needed = (header as u64).saturating_add(count);
        let (Some(magic), Some(cpu)) = (magic, word(CsBlockWord::CPU.0)) else {
            return Err(truncated(needed));
        };
        match usize::try_from(needed) {
            Ok(len) if len <= available => Ok(CsCpu { magic, cpu, words, start: self.at, header, len }),
            _ => Err(truncated(needed)),
        }
    }
}

impl<'a> Iterator for CsCpus<'a> {
    type Item = Result<CsCpu<'a>, CsError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let block = self.block();
        match &block {
            Ok(block) => self.at = block.start + block.len,
            Err(_) => self.left = 0,
        }
        Some(block)
    }
}

/// The block of a CPU: the registers of its trace unit. Borrows the words.
#[derive(Clone, Copy, Debug)]
pub struct CsCpu<'a> {
    /// Kind of the trace unit.
    pub magic: CsMagic,
    /// CPU number.
    pub cpu: u64,
    words: List<'a, u64>,
    start: usize,
    header: usize,
    len: usize,
}

impl CsCpu<'_> {
    /// Returns the number of registers.
    #[must_use]
    pub const fn register_count(&self) -> usize {
        self.len - self.header
    }

    /// Returns a register by its index in blocks of version 1, a [`CsEtmv3Word`], [`CsEtmv4Word`] or [`CsEteWord`]; `None` if
    /// the block is shorter, or the index is that of a word before the registers.
    #[must_use]
    pub fn register(&self, index: usize) -> Option<u64> {
        let register = index.checked_sub(CsBlockWord::COUNT)?;
        if register >= self.register_count() {
            return None;
        }
        self.words.get(self.start + self.header + register)
    }

    /// Decodes the registers that a decoder of the trace needs.
    ///
    /// # Errors
    ///
    /// If a register is missing that all trace units of this kind have.
    pub fn unit(&self) -> Result<CsUnit, CsError> {
        let register = |index: usize, name| {
            let error = CsError { kind: CsErrorKind::Register(name), word: self.start };
            self.register(index).ok_or(error)
        };
        Ok(match self.magic {
            CsMagic::ETMV3 => CsUnit::Etmv3(CsEtmv3 {
                cr: register(CsEtmv3Word::ETMCR.0, "ETMCR")?,
                traceidr: register(CsEtmv3Word::ETMTRACEIDR.0, "ETMTRACEIDR")?,
                ccer: register(CsEtmv3Word::ETMCCER.0, "ETMCCER")?,
                idr: register(CsEtmv3Word::ETMIDR.0, "ETMIDR")?,
            }),
            CsMagic::ETMV4 => CsUnit::Etmv4(CsEtmv4 {
                configr: register(CsEtmv4Word::TRCCONFIGR.0, "TRCCONFIGR")?,
                traceidr: register(CsEtmv4Word::TRCTRACEIDR.0, "TRCTRACEIDR")?,
                idr0: register(CsEtmv4Word::TRCIDR0.0, "TRCIDR0")?,
                idr1: register(CsEtmv4Word::TRCIDR1.0, "TRCIDR1")?,
                idr2: register(CsEtmv4Word::TRCIDR2.0, "TRCIDR2")?,
                idr8: register(CsEtmv4Word::TRCIDR8.0, "TRCIDR8")?,
                authstatus: register(CsEtmv4Word::TRCAUTHSTATUS.0, "TRCAUTHSTATUS")?,
                ts_source: self.register(CsEtmv4Word::TS_SOURCE.0).map(u64::cast_signed),
            }),
            CsMagic::ETE => CsUnit::Ete(CsEte {
                configr: register(CsEteWord::TRCCONFIGR.0, "TRCCONFIGR")?,
                traceidr: register(CsEteWord::TRCTRACEIDR.0, "TRCTRACEIDR")?,
                idr0: register(CsEteWord::TRCIDR0.0, "TRCIDR0")?,
                idr1: register(CsEteWord::TRCIDR1.0, "TRCIDR1")?,
                idr2: register(CsEteWord::TRCIDR2.0, "TRCIDR2")?,
                idr8: register(CsEteWord::TRCIDR8.0, "TRCIDR8")?,
                authstatus: register(CsEteWord::TRCAUTHSTATUS.0, "TRCAUTHSTATUS")?,
                devarch: register(CsEteWord::TRCDEVARCH.0, "TRCDEVARCH")?,
                ts_source: self.register(CsEteWord::TS_SOURCE.0).map(u64::cast_signed),
            }),
            other => CsUnit::Other(other),
        })
    }
}
