//! Parts of an attr that not every kernel knows: their names, the first kernel, and how to remove them.

use perf_abi::Name;
use perf_abi::attr::{Attr, AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

/// A part of an attr that a kernel may be too old for: bits of one of its words, or one of two numbers.
///
/// [`Builder::or_drop`](crate::Builder::or_drop) allows it to be left out.
///
/// # Examples
///
/// ```
/// use perf_open::abi::attr::AttrFlags;
/// use perf_open::builder::AttrPart;
/// assert_eq!(AttrPart::from(AttrFlags::BUILD_ID).name(), "build_id");
/// assert_eq!(AttrPart::from(AttrFlags::BUILD_ID).since(), Some("5.12"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttrPart {
    /// Switches. Dropping `USE_CLOCKID` also drops `clockid`, and dropping `SIGTRAP` also drops `sig_data`.
    Flags(AttrFlags),
    /// Fields of samples. Dropping one also drops the attr's fields about it, such as `sample_regs_user`.
    SampleType(SampleType),
    /// Values in a read.
    ReadFormat(ReadFormat),
    /// Fields and filters of a branch stack.
    BranchSampleType(BranchSampleType),
    /// Effects of the event on AUX tracing.
    AuxAction(AuxAction),
    /// `sample_max_stack`. Without it, the system's limit applies.
    SampleMaxStack,
    /// `aux_watermark`. Without it, half of the AUX area applies.
    AuxWatermark,
}

impl From<AttrFlags> for AttrPart {
    fn from(flags: AttrFlags) -> Self {
        Self::Flags(flags)
    }
}

impl From<SampleType> for AttrPart {
    fn from(bits: SampleType) -> Self {
        Self::SampleType(bits)
    }
}

impl From<ReadFormat> for AttrPart {
    fn from(bits: ReadFormat) -> Self {
        Self::ReadFormat(bits)
    }
}

impl From<BranchSampleType> for AttrPart {
    fn from(bits: BranchSampleType) -> Self {
        Self::BranchSampleType(bits)
    }
}

impl From<AuxAction> for AttrPart {
    fn from(bits: AuxAction) -> Self {
        Self::AuxAction(bits)
    }
}

/// The kernel that introduced each part, for the parts that the first kernel did not have.
const SINCE: &[(AttrPart, &str)] = &[
    (AttrPart::Flags(AttrFlags::WATERMARK), "2.6.32"),
    (AttrPart::Flags(AttrFlags::MMAP_DATA), "2.6.36"),
    (AttrPart::Flags(AttrFlags::SAMPLE_ID_ALL), "2.6.38"),
    (AttrPart::Flags(AttrFlags::EXCLUDE_HOST), "3.2"),
    (AttrPart::Flags(AttrFlags::EXCLUDE_GUEST), "3.2"),
    (AttrPart::Flags(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL), "3.7"),
    (AttrPart::Flags(AttrFlags::EXCLUDE_CALLCHAIN_USER), "3.7"),
    (AttrPart::Flags(AttrFlags::MMAP2), "3.16"),
    (AttrPart::Flags(AttrFlags::COMM_EXEC), "3.16"),
    (AttrPart::Flags(AttrFlags::USE_CLOCKID), "4.1"),
    (AttrPart::Flags(AttrFlags::CONTEXT_SWITCH), "4.3"),
    (AttrPart::Flags(AttrFlags::WRITE_BACKWARD), "4.7"),
    (AttrPart::Flags(AttrFlags::NAMESPACES), "4.12"),
    (AttrPart::Flags(AttrFlags::KSYMBOL), "5.1"),
    (AttrPart::Flags(AttrFlags::BPF_EVENT), "5.1"),
    (AttrPart::Flags(AttrFlags::AUX_OUTPUT), "5.4"),
    (AttrPart::Flags(AttrFlags::CGROUP), "5.7"),
    (AttrPart::Flags(AttrFlags::TEXT_POKE), "5.9"),
    (AttrPart::Flags(AttrFlags::BUILD_ID), "5.12"),
    (AttrPart::Flags(AttrFlags::INHERIT_THREAD), "5.13"),
    (AttrPart::Flags(AttrFlags::REMOVE_ON_EXEC), "5.13"),
    (AttrPart::Flags(AttrFlags::SIGTRAP), "5.13"),
    (AttrPart::Flags(AttrFlags::DEFER_CALLCHAIN), "6.19"),
    (AttrPart::Flags(AttrFlags::DEFER_OUTPUT), "6.19"),
    (AttrPart::SampleType(SampleType::BRANCH_STACK), "3.4"),
    (AttrPart::SampleType(SampleType::REGS_USER), "3.7"),
    (AttrPart::SampleType(SampleType::STACK_USER), "3.7"),
    (AttrPart::SampleType(SampleType::WEIGHT), "3.10"),
    (AttrPart::SampleType(SampleType::DATA_SRC), "3.10"),
    (AttrPart::SampleType(SampleType::IDENTIFIER), "3.12"),
    (AttrPart::SampleType(SampleType::TRANSACTION), "3.13"),
    (AttrPart::SampleType(SampleType::REGS_INTR), "3.19"),
    (AttrPart::SampleType(SampleType::PHYS_ADDR), "4.14"),
    (AttrPart::SampleType(SampleType::AUX), "5.5"),
    (AttrPart::SampleType(SampleType::CGROUP), "5.7"),
    (AttrPart::SampleType(SampleType::DATA_PAGE_SIZE), "5.11"),
    (AttrPart::SampleType(SampleType::CODE_PAGE_SIZE), "5.11"),
    (AttrPart::SampleType(SampleType::WEIGHT_STRUCT), "5.12"),
    (AttrPart::ReadFormat(ReadFormat::LOST), "6.0"),
    (AttrPart::BranchSampleType(BranchSampleType::ABORT_TX), "3.11"),
    (AttrPart::BranchSampleType(BranchSampleType::IN_TX), "3.11"),
    (AttrPart::BranchSampleType(BranchSampleType::NO_TX), "3.11"),
    (AttrPart::BranchSampleType(BranchSampleType::COND), "3.16"),
    (AttrPart::BranchSampleType(BranchSampleType::CALL_STACK), "4.1"),
    (AttrPart::BranchSampleType(BranchSampleType::IND_JUMP), "4.2"),
    (AttrPart::BranchSampleType(BranchSampleType::CALL), "4.4"),
    (AttrPart::BranchSampleType(BranchSampleType::NO_FLAGS), "4.5"),
    (AttrPart::BranchSampleType(BranchSampleType::NO_CYCLES), "4.5"),
    (AttrPart::BranchSampleType(BranchSampleType::TYPE_SAVE), "4.14"),
    (AttrPart::BranchSampleType(BranchSampleType::HW_INDEX), "5.7"),
    (AttrPart::BranchSampleType(BranchSampleType::PRIV_SAVE), "6.1"),
    (AttrPart::BranchSampleType(BranchSampleType::COUNTERS), "6.8"),
    (AttrPart::AuxAction(AuxAction::START_PAUSED), "6.13"),
    (AttrPart::AuxAction(AuxAction::PAUSE), "6.13"),
    (AttrPart::AuxAction(AuxAction::RESUME), "6.13"),
    (AttrPart::SampleMaxStack, "4.8"),
    (AttrPart::AuxWatermark, "4.1"),
];

impl AttrPart {
    /// Returns the kernel's name. For several bits it is the first bit's name. If no bit has a name, it is the word's
    /// name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let first = |names: &'static [Name], bits: u64, word| {
            names.iter().find(|name| name.value & bits != 0).map_or(word, |name| name.c_name)
        };
        match self {
            Self::Flags(flags) => first(AttrFlags::NAMES, flags.0, "flags"),
            Self::SampleType(bits) => first(SampleType::NAMES, bits.0, "sample_type"),
            Self::ReadFormat(bits) => first(ReadFormat::NAMES, bits.0, "read_format"),
            Self::BranchSampleType(bits) => first(BranchSampleType::NAMES, bits.0, "branch_sample_type"),
            Self::AuxAction(bits) => first(AuxAction::NAMES, u64::from(bits.0), "aux_action"),
            Self::SampleMaxStack => "sample_max_stack",
            Self::AuxWatermark => "aux_watermark",
        }
    }

    /// Returns the first kernel that knows the part; `None` if every kernel does, or if this crate does not know it.
    #[must_use]
    pub fn since(self) -> Option<&'static str> {
        SINCE.iter().find(|(feature, _)| *feature == self).map(|&(_, since)| since)
    }

    /// Returns the parts of `attr` that a kernel may not know, each a single bit or field.
    pub(crate) fn newer_parts(attr: &Attr) -> impl Iterator<Item = Self> + use<> {
        let attr = *attr;
        let known = SINCE.iter().map(|&(feature, _)| feature).filter(move |feature| feature.is_in(&attr));
        let unknown = [
            Self::Flags(AttrFlags(attr.flags.unknown())),
            Self::SampleType(SampleType(attr.sample_type.unknown())),
            Self::ReadFormat(ReadFormat(attr.read_format.unknown())),
            Self::BranchSampleType(BranchSampleType(attr.branch_sample_type.unknown())),
            Self::AuxAction(AuxAction(attr.aux_action.unknown())),
        ];
        known.chain(unknown.into_iter().filter(move |feature| feature.is_in(&attr)))
    }

    /// Returns whether any bit of this part is set in `attr`.
    pub(super) fn is_in(self, attr: &Attr) -> bool {
        match self {
            Self::Flags(flags) => attr.flags.intersects(flags),
            Self::SampleType(bits) => attr.sample_type.intersects(bits),
            Self::ReadFormat(bits) => attr.read_format.intersects(bits),
            Self::BranchSampleType(bits) => attr.branch_sample_type.intersects(bits),
            Self::AuxAction(bits) => attr.aux_action.intersects(bits),
            Self::SampleMaxStack => attr.sample_max_stack != 0,
            Self::AuxWatermark => attr.aux_watermark != 0,
        }
    }

    /// Returns whether `other` includes `self`, a single part.
    pub(crate) fn is_within(self, other: Self) -> bool {
        match (self, other) {
            (Self::Flags(part), Self::Flags(all)) => all.contains(part),
            (Self::SampleType(part), Self::SampleType(all)) => all.contains(part),
            (Self::ReadFormat(part), Self::ReadFormat(all)) => all.contains(part),
            (Self::BranchSampleType(part), Self::BranchSampleType(all)) => all.contains(part),
            (Self::AuxAction(part), Self::AuxAction(all)) => all.contains(part),
            _ => self == other,
        }
    }

    /// Removes the part from `attr`, with the fields that have no meaning without it.
    pub(crate) fn remove(self, attr: &mut Attr) {
        match self {
            Self::Flags(flags) => {
                attr.flags = attr.flags.without(flags);
                if flags.contains(AttrFlags::USE_CLOCKID) {
                    attr.clockid = 0;
                }
                if flags.contains(AttrFlags::SIGTRAP) {
                    attr.sig_data = 0;
                }
            }
            Self::SampleType(bits) => attr.remove_sample_fields(bits),
            Self::ReadFormat(bits) => attr.read_format = attr.read_format.without(bits),
            Self::BranchSampleType(bits) => attr.branch_sample_type = attr.branch_sample_type.without(bits),
            Self::AuxAction(bits) => attr.aux_action = attr.aux_action.without(bits),
            Self::SampleMaxStack => attr.sample_max_stack = 0,
            Self::AuxWatermark => attr.aux_watermark = 0,
        }
    }

    /// Copies the part from `from` to `to`, with the fields that the kernel requires with it.
    pub(crate) fn copy(self, from: &Attr, to: &mut Attr) {
        match self {
            Self::Flags(flags) => {
                to.flags |= flags;
                if flags.contains(AttrFlags::INHERIT_THREAD) {
                    to.flags |= AttrFlags::INHERIT;
                }
                if flags.contains(AttrFlags::SIGTRAP) {
                    to.flags |= AttrFlags::REMOVE_ON_EXEC;
                }
                if flags.contains(AttrFlags::USE_CLOCKID) {
                    to.clockid = from.clockid;
                }
                if flags.contains(AttrFlags::DEFER_CALLCHAIN) {
                    to.sample_type |= SampleType::CALLCHAIN;
                }
            }
            Self::SampleType(bits) => {
                to.sample_type |= bits;
                if bits.contains(SampleType::BRANCH_STACK) {
                    to.branch_sample_type = BranchSampleType::ANY;
                }
                if bits.contains(SampleType::REGS_USER) {
                    to.sample_regs_user = from.sample_regs_user;
                }
                if bits.contains(SampleType::STACK_USER) {
                    to.sample_stack_user = from.sample_stack_user;
                }
                if bits.contains(SampleType::REGS_INTR) {
                    to.sample_regs_intr = from.sample_regs_intr;
                }
            }
            Self::ReadFormat(bits) => to.read_format |= bits,
            Self::BranchSampleType(bits) => {
                to.sample_type |= SampleType::BRANCH_STACK;
                to.branch_sample_type = bits | BranchSampleType::ANY;
            }
            Self::AuxAction(bits) => to.aux_action |= bits,
            Self::SampleMaxStack => to.sample_max_stack = from.sample_max_stack,
            Self::AuxWatermark => to.aux_watermark = from.aux_watermark,
        }
    }

    /// Returns the part whose removal clears a field of the attr; `None` for a field that selects the event.
    pub(crate) fn owner_of(field: &str, attr: &Attr) -> Option<Self> {
        Some(match field {
            "branch_sample_type" => Self::SampleType(SampleType::BRANCH_STACK),
            "sample_regs_user" => Self::SampleType(SampleType::REGS_USER),
            "sample_stack_user" => Self::SampleType(SampleType::STACK_USER),
            "sample_regs_intr" => Self::SampleType(SampleType::REGS_INTR),
            "aux_sample_size" => Self::SampleType(SampleType::AUX),
            "clockid" => Self::Flags(AttrFlags::USE_CLOCKID),
            "sig_data" => Self::Flags(AttrFlags::SIGTRAP),
            "aux_action" => Self::AuxAction(attr.aux_action),
            "sample_max_stack" => Self::SampleMaxStack,
            "aux_watermark" => Self::AuxWatermark,
            _ => return None,
        })
    }
}
