//! The tracer of a capture and its settings.

use alloc::vec::Vec;

use perf_abi::auxtrace::{ArmSpeHeaderWord, ArmSpeWord, AuxtraceType, IntelBtsWord, IntelPtWord};
use perf_abi::endian::Endianness;
use perf_abi::record::RecordType;
use perf_parse::list::List;
use perf_parse::record::UserRecord;
use perf_parse::record::user::AuxtraceInfo;
use perf_parse::{Reader, Record};

/// The tracer that wrote the AUX data, and its settings: an AUXTRACE_INFO record.
///
/// perf: `struct perf_record_auxtrace_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuxInfo {
    /// The type of the tracer.
    pub kind: AuxtraceType,
    /// The words as recorded.
    words: Vec<u8>,
    endianness: Endianness,
}

/// Number of records at the start of a capture among which AUXTRACE_INFO is looked for. Recorders write it before all records of
/// the kernel.
const START: usize = 1024;

impl AuxInfo {
    pub(super) fn of(info: &AuxtraceInfo<'_>, endianness: Endianness) -> Self {
        Self { kind: info.kind, words: info.words.as_bytes().to_vec(), endianness }
    }

    /// Finds the record among the first ones of a capture, which is far cheaper than [`AuxTrace::of`](super::AuxTrace::of). `None` if
    /// there is none, and for a stream, whose records can be read only once.
    #[must_use]
    pub fn find(reader: &Reader<'_>) -> Option<Self> {
        // A walk over a stream takes its records.
        if !reader.can_walk_again() {
            return None;
        }
        let first = reader.records().take(START).filter_map(Result::ok);
        let mut of_tracers = first.filter(|record| record.kind() == RecordType::AUXTRACE_INFO);
        of_tracers.find_map(|record| match record.decode() {
            Ok(Record::User(UserRecord::AuxtraceInfo(info), _)) => Some(Self::of(&info, reader.endianness())),
            _ => None,
        })
    }

    /// Returns the record, of which the decoder of each tracer reads its settings: [`pt::Info`](crate::pt::Info),
    /// [`SpeInfo`](crate::spe::SpeInfo), [`CsMetadata`](crate::coresight::CsMetadata).
    #[must_use]
    pub fn record(&self) -> AuxtraceInfo<'_> {
        AuxtraceInfo { kind: self.kind, words: List::new_in(self.endianness, &self.words) }
    }

    /// Returns a word; `None` if the record ends before it, as records of older tools do.
    #[must_use]
    pub fn word(&self, index: usize) -> Option<u64> {
        self.record().words.get(index)
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
        self.word(if self.record().words.len() == ArmSpeWord::COUNT {
            ArmSpeWord::PMU_TYPE.0
        } else {
            ArmSpeHeaderWord::PMU_TYPE.0
        })
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
