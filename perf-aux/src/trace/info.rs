//! The tracer of a capture and its settings.

use alloc::vec::Vec;

use perf_abi::auxtrace::{AuxtraceType, IntelBtsWord, IntelPtWord};
use perf_abi::endian::Endianness;
use perf_parse::record::user::AuxtraceInfo;

/// The tracer that wrote the AUX data, and its settings.
///
/// perf: `struct perf_record_auxtrace_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuxInfo {
    /// The type of the tracer.
    pub kind: AuxtraceType,
    /// The settings, by the word indices of [`perf_abi::auxtrace`]. C: `priv`.
    pub words: Vec<u64>,
    /// The byte order of the capture: that of the texts in the words.
    pub endianness: Endianness,
}

impl AuxInfo {
    pub(super) fn of(info: &AuxtraceInfo<'_>, endianness: Endianness) -> Self {
        Self { kind: info.kind, words: info.words.iter().collect(), endianness }
    }

    /// Returns a word; `None` if the record ends before it, as records of older tools do.
    #[must_use]
    pub fn word(&self, index: usize) -> Option<u64> {
        self.words.get(index).copied()
    }

    /// Returns the settings of Intel PT; `None` for another tracer.
    #[must_use]
    pub fn intel_pt(&self) -> Option<IntelPtInfo<'_>> {
        (self.kind == AuxtraceType::INTEL_PT).then_some(IntelPtInfo { info: self })
    }

    /// Returns the type number of the tracer's PMU: that of the attr of its events. `None` if the record has none, and for a
    /// tracer whose words this crate does not know.
    ///
    /// Of CoreSight, this is the high half of a word.
    #[must_use]
    pub fn pmu_type(&self) -> Option<u32> {
        let word = match self.kind {
            AuxtraceType::INTEL_PT
            | AuxtraceType::INTEL_BTS
            | AuxtraceType::S390_CPUMSF
            | AuxtraceType::HISI_PTT
            | AuxtraceType::VPA_DTL => self.word(0)?,
            AuxtraceType::ARM_SPE => self.arm_spe_pmu_type()?,
            AuxtraceType::CS_ETM => self.word(1)?.checked_shr(32)?,
            _ => return None,
        };
        u32::try_from(word).ok()
    }

    /// The first word is the PMU's type in version 1, which has two words, and the version in later ones, which have it third.
    ///
    /// perf: `arm_spe__is_homogeneous` and `arm_spe_process_auxtrace_info`, `tools/perf/util/arm-spe.c`.
    fn arm_spe_pmu_type(&self) -> Option<u64> {
        match self.words.as_slice() {
            &[kind, _] => Some(kind),
            words => words.get(2).copied(),
        }
    }

    /// Whether the buffers are snapshots, which can repeat data of the snapshot before.
    pub(super) fn is_snapshot(&self) -> bool {
        let word = match self.kind {
            AuxtraceType::INTEL_PT => self.word(IntelPtWord::SNAPSHOT_MODE.0),
            AuxtraceType::INTEL_BTS => self.word(IntelBtsWord::SNAPSHOT_MODE.0),
            _ => None,
        };
        word.is_some_and(|word| word != 0)
    }
}

/// The settings of Intel PT in an AUXTRACE_INFO record. A getter is `None` if an older tool did not write its word.
///
/// perf: `intel_pt_info_fill`, `tools/perf/arch/x86/util/intel-pt.c`.
#[derive(Clone, Copy, Debug)]
pub struct IntelPtInfo<'t> {
    info: &'t AuxInfo,
}

impl<'t> IntelPtInfo<'t> {
    /// Returns a word.
    #[must_use]
    pub fn word(&self, word: IntelPtWord) -> Option<u64> {
        self.info.word(word.0)
    }

    /// Returns the ratio of time stamp counter to core crystal clock: numerator and denominator, of `CPUID` leaf 15h. The
    /// decoder needs it for MTC packets. `None` also if the CPU does not report it.
    #[must_use]
    pub fn crystal_ratio(&self) -> Option<(u32, u32)> {
        let part = |word| self.word(word).and_then(|word| u32::try_from(word).ok()).filter(|&word| word != 0);
        part(IntelPtWord::TSC_CTC_N).zip(part(IntelPtWord::TSC_CTC_D))
    }

    /// Returns the period of MTC packets that an event's `config` selects: the hardware writes one each 2^n ticks of the crystal
    /// clock. `None` if the event has no such packets.
    #[must_use]
    pub fn mtc_period(&self, config: u64) -> Option<u32> {
        self.word(IntelPtWord::MTC_BIT).filter(|bit| bit & config != 0)?;
        let bits = self.word(IntelPtWord::MTC_FREQ_BITS).filter(|&bits| bits != 0)?;
        u32::try_from((config & bits).checked_shr(bits.trailing_zeros())?).ok()
    }

    /// Returns the highest ratio of core to bus clock without turbo, which turns CBR packets into frequencies.
    #[must_use]
    pub fn max_nonturbo_ratio(&self) -> Option<u64> {
        self.word(IntelPtWord::MAX_NONTURBO_RATIO)
    }

    /// Returns the address filters, as the recorder gave them to the kernel. Empty if there are none.
    #[must_use]
    pub fn filter(&self) -> Option<Vec<u8>> {
        let len = self.word(IntelPtWord::FILTER_STR_LEN)?;
        let words = self.info.words.get(IntelPtWord::COUNT..).unwrap_or_default();
        let bytes = words.iter().flat_map(|word| match self.info.endianness {
            Endianness::Little => word.to_le_bytes(),
            Endianness::Big => word.to_be_bytes(),
        });
        let text: Vec<u8> = bytes.take(usize::try_from(len).unwrap_or(usize::MAX)).collect();
        Some(text)
    }

    /// Returns whether the CPU can trace events (CFE and EVD packets). C: the word after the filter.
    #[must_use]
    pub fn has_event_trace(&self) -> Option<bool> {
        let len = usize::try_from(self.word(IntelPtWord::FILTER_STR_LEN)?).ok()?;
        // With its NUL, in whole words; no filter has no words.
        let words = if len == 0 { 0 } else { len.checked_add(1)?.div_ceil(8) };
        self.info.word(IntelPtWord::COUNT.checked_add(words)?).map(|word| word != 0)
    }

    /// Returns the AUXTRACE_INFO record.
    #[must_use]
    pub fn info(&self) -> &'t AuxInfo {
        self.info
    }
}
