//! Opening on a kernel that may be older than the attr: parts that it does not know are dropped, or named in the error.

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::event::EventType;

use crate::builder::AttrPart;
use crate::sys::open::KernelRefusal;

/// The part of the kernel that opening needs. The tests replace it with an older kernel.
pub(super) trait EventOpener {
    /// An open event.
    type Event;

    /// Opens the event.
    fn open(&mut self, attr: &Attr, version: AttrVersion) -> Result<Self::Event, KernelRefusal>;

    /// Returns whether the kernel refuses with `EINVAL` an attr that cannot be opened in any case.
    ///
    /// The type of the attr belongs to no PMU. The kernel looks for the PMU after it has checked the attr, so `EINVAL`
    /// means that it does not know a part of the attr.
    fn rejects(&mut self, attr: &Attr, version: AttrVersion) -> bool;
}

/// An event that was opened.
pub(super) struct OpenedEvent<E> {
    pub(super) event: E,
    /// The attr as the kernel accepted it.
    pub(super) attr: Attr,
    /// The kernel's names of the parts that were left out.
    pub(super) dropped: Vec<&'static str>,
}

/// The failure to open an event.
pub(super) struct OpenFailure {
    pub(super) refusal: KernelRefusal,
    /// The fields that the kernel does not know, each with the first kernel that does. Empty if that is not the reason.
    pub(super) unknown: Vec<(&'static str, Option<&'static str>)>,
}

/// Opens `attr` without those of the `optional` parts that the kernel does not know.
///
/// The attr is passed in the oldest version that holds it. With `E2BIG` the kernel reports the size that it knows.
/// `EINVAL` may mean an unknown bit. Then each bit that is set and newer than the first kernel is tried alone, in an
/// attr that opens nothing. This takes at most one try for each such bit, and one try without any.
pub(super) fn open<K: EventOpener>(
    kernel: &mut K,
    attr: &Attr,
    optional: &[AttrPart],
) -> Result<OpenedEvent<K::Event>, OpenFailure> {
    let mut attr = *attr;
    let mut dropped = Vec::new();
    loop {
        let version = attr.oldest_version();
        let refusal = match kernel.open(&attr, version) {
            Ok(event) => {
                return Ok(OpenedEvent { event, attr: Attr { size: version.size(), ..attr }, dropped });
            }
            Err(refusal) => refusal,
        };
        let before = dropped.len();
        let unknown = match refusal.error.raw_os_error() {
            Some(libc::E2BIG) => fit(&mut attr, refusal.kernel_size, optional, &mut dropped),
            Some(libc::EINVAL) => sift(kernel, &mut attr, optional, &mut dropped),
            _ => Vec::new(),
        };
        // Each round drops at least one part, so the loop ends.
        if !unknown.is_empty() || dropped.len() == before {
            return Err(OpenFailure { refusal, unknown });
        }
    }
}

/// Removes from `attr` what does not fit into `size` bytes. Returns the parts that may not be dropped.
fn fit(
    attr: &mut Attr,
    size: u32,
    optional: &[AttrPart],
    dropped: &mut Vec<&'static str>,
) -> Vec<(&'static str, Option<&'static str>)> {
    let fits = |version: &AttrVersion| version.size() <= size;
    let version = AttrVersion::ALL.iter().copied().rev().find(fits).unwrap_or(AttrVersion::VER0);
    let mut unknown = Vec::new();
    // Each part that was reported is removed, so that `check` can report the next.
    while let Err(error) = version.check(attr) {
        let owner = AttrPart::owner_of(error.field, attr);
        match owner {
            Some(owner) if optional.iter().any(|&feature| owner.is_within(feature)) => {
                owner.remove(attr);
                dropped.push(owner.name());
            }
            _ => {
                unknown.push((error.field, since(error.needs)));
                clear(attr, error.field);
            }
        }
    }
    unknown
}

/// Removes from `attr` the parts that the kernel rejects. Returns those that may not be dropped.
fn sift<K: EventOpener>(
    kernel: &mut K,
    attr: &mut Attr,
    optional: &[AttrPart],
    dropped: &mut Vec<&'static str>,
) -> Vec<(&'static str, Option<&'static str>)> {
    // No PMU has this type, so the kernel refuses a valid attr with ENOENT, or for lack of privilege.
    let flags = AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
    let nothing = Attr { kind: EventType(u32::MAX >> 1), flags, ..Attr::default() };
    if kernel.rejects(&nothing, nothing.oldest_version()) {
        return Vec::new();
    }
    let mut unknown = Vec::new();
    for part in AttrPart::newer_parts(attr) {
        let mut alone = nothing;
        part.copy(attr, &mut alone);
        if !kernel.rejects(&alone, alone.oldest_version()) {
            continue;
        }
        if optional.iter().any(|&feature| part.is_within(feature)) {
            part.remove(attr);
            dropped.push(part.name());
        } else {
            unknown.push((part.name(), part.since()));
        }
    }
    unknown
}

/// Returns the kernel that introduced an attr version.
fn since(version: AttrVersion) -> Option<&'static str> {
    Some(match version {
        AttrVersion::VER1 => "2.6.33",
        AttrVersion::VER2 => "3.4",
        AttrVersion::VER3 => "3.7",
        AttrVersion::VER4 => "3.19",
        AttrVersion::VER5 => "4.1",
        AttrVersion::VER6 => "5.5",
        AttrVersion::VER7 => "5.13",
        AttrVersion::VER8 => "6.3",
        AttrVersion::VER9 => "6.19",
        _ => return None,
    })
}

/// Sets to zero a field that a version has no room for.
fn clear(attr: &mut Attr, field: &str) {
    match field {
        "config2" => attr.config2 = 0,
        "branch_sample_type" => attr.branch_sample_type = Attr::default().branch_sample_type,
        "sample_regs_user" => attr.sample_regs_user = 0,
        "sample_stack_user" => attr.sample_stack_user = 0,
        "clockid" => attr.clockid = 0,
        "sample_regs_intr" => attr.sample_regs_intr = 0,
        "aux_watermark" => attr.aux_watermark = 0,
        "sample_max_stack" => attr.sample_max_stack = 0,
        "__reserved_2" => attr.reserved_2 = 0,
        "aux_sample_size" => attr.aux_sample_size = 0,
        "aux_action" => attr.aux_action = Attr::default().aux_action,
        "sig_data" => attr.sig_data = 0,
        "config3" => attr.config3 = 0,
        // The last field: any other name clears it too, so that no field is reported twice.
        _ => attr.config4 = 0,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use perf_abi::branch::BranchSampleType;
    use perf_abi::read_format::ReadFormat;
    use perf_abi::sample_type::SampleType;

    use super::*;

    /// A kernel that knows only the parts listed here.
    struct OldKernel {
        size: u32,
        flags: AttrFlags,
        sample_type: SampleType,
        read_format: ReadFormat,
        branch_sample_type: BranchSampleType,
        /// The number of attrs that were tried with `rejects`.
        tries: usize,
    }

    impl OldKernel {
        /// Roughly Linux 4.1.
        fn linux_4_1() -> Self {
            Self {
                size: AttrVersion::VER5.size(),
                flags: AttrFlags((1 << 26) - 1),
                sample_type: SampleType((1 << 19) - 1),
                read_format: ReadFormat(0xf),
                branch_sample_type: BranchSampleType((1 << 12) - 1),
                tries: 0,
            }
        }

        fn refusal(&self, attr: &Attr, version: AttrVersion) -> Option<KernelRefusal> {
            let error = |errno| {
                Some(KernelRefusal { error: io::Error::from_raw_os_error(errno), kernel_size: self.size })
            };
            if version.size() > self.size {
                return error(libc::E2BIG);
            }
            let known = self.flags.contains(attr.flags)
                && self.sample_type.contains(attr.sample_type)
                && self.read_format.contains(attr.read_format)
                && self.branch_sample_type.contains(attr.branch_sample_type)
                && attr.sample_max_stack == 0
                && attr.aux_action.0 == 0;
            if known { None } else { error(libc::EINVAL) }
        }
    }

    impl EventOpener for OldKernel {
        type Event = ();

        fn open(&mut self, attr: &Attr, version: AttrVersion) -> Result<(), KernelRefusal> {
            self.refusal(attr, version).map_or(Ok(()), Err)
        }

        fn rejects(&mut self, attr: &Attr, version: AttrVersion) -> bool {
            self.tries += 1;
            let refusal = self.refusal(attr, version);
            refusal.is_some_and(|refusal| refusal.error.raw_os_error() == Some(libc::EINVAL))
        }
    }

    fn unknown(attr: &Attr, optional: &[AttrPart]) -> Vec<(&'static str, Option<&'static str>)> {
        open(&mut OldKernel::linux_4_1(), attr, optional).err().map(|unopened| unopened.unknown).unwrap()
    }

    #[test]
    fn an_attr_that_the_kernel_knows_is_opened_at_the_oldest_version_that_holds_it() {
        let mut kernel = OldKernel::linux_4_1();
        let attr = Attr { flags: AttrFlags::MMAP2, size: 7, ..Attr::default() };
        let opened = open(&mut kernel, &attr, &[]).ok().unwrap();
        assert_eq!(opened.attr, Attr { size: 64, ..attr });
        assert!(opened.dropped.is_empty());
        assert_eq!(kernel.tries, 0);
    }

    #[test]
    fn fields_beyond_the_kernels_attr_are_refused_by_name() {
        let attr = Attr { config3: 1, sig_data: 2, ..Attr::default() };
        assert_eq!(unknown(&attr, &[]), [("sig_data", Some("5.13")), ("config3", Some("6.3"))]);
        let attr = Attr { config4: 1, ..Attr::default() };
        // The fields that select the event are never dropped.
        assert_eq!(unknown(&attr, &[AttrFlags(u64::MAX).into()]), [("config4", Some("6.19"))]);
    }

    #[test]
    fn fields_beyond_the_kernels_attr_are_left_out_with_what_they_belong_to() {
        let attr = Attr {
            flags: AttrFlags::MMAP,
            sample_type: SampleType::IP | SampleType::AUX,
            aux_sample_size: 64,
            ..Attr::default()
        };
        let opened = open(&mut OldKernel::linux_4_1(), &attr, &[SampleType::AUX.into()]).ok().unwrap();
        assert_eq!(opened.dropped, ["PERF_SAMPLE_AUX"]);
        assert_eq!(opened.attr.sample_type, SampleType::IP);
        assert_eq!((opened.attr.aux_sample_size, opened.attr.size), (0, 64));
    }

    #[test]
    fn bits_that_the_kernel_does_not_know_are_refused_by_name() {
        let attr = Attr {
            flags: AttrFlags::MMAP2 | AttrFlags::BUILD_ID | AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD,
            sample_type: SampleType::IP | SampleType::CGROUP | SampleType::BRANCH_STACK,
            branch_sample_type: BranchSampleType::ANY | BranchSampleType::HW_INDEX,
            read_format: ReadFormat::ID | ReadFormat::LOST,
            sample_max_stack: 4,
            ..Attr::default()
        };
        assert_eq!(
            unknown(&attr, &[]),
            [
                ("build_id", Some("5.12")),
                ("inherit_thread", Some("5.13")),
                ("PERF_SAMPLE_CGROUP", Some("5.7")),
                ("PERF_FORMAT_LOST", Some("6.0")),
                ("PERF_SAMPLE_BRANCH_HW_INDEX", Some("5.7")),
                ("sample_max_stack", Some("4.8")),
            ]
        );
        let some: [AttrPart; 2] = [AttrFlags::BUILD_ID.into(), ReadFormat::LOST.into()];
        assert_eq!(unknown(&attr, &some).len(), 4);
    }

    #[test]
    fn bits_that_the_kernel_does_not_know_are_left_out_where_that_is_allowed() {
        let attr = Attr {
            flags: AttrFlags::MMAP2 | AttrFlags::BUILD_ID,
            sample_type: SampleType::IP | SampleType::CGROUP,
            read_format: ReadFormat::ID | ReadFormat::LOST,
            sample_max_stack: 4,
            ..Attr::default()
        };
        let optional: [AttrPart; 4] = [
            (AttrFlags::BUILD_ID | AttrFlags::MMAP2).into(),
            SampleType::CGROUP.into(),
            ReadFormat::LOST.into(),
            AttrPart::SampleMaxStack,
        ];
        let mut kernel = OldKernel::linux_4_1();
        let opened = open(&mut kernel, &attr, &optional).ok().unwrap();
        assert_eq!(
            opened.dropped,
            ["build_id", "PERF_SAMPLE_CGROUP", "PERF_FORMAT_LOST", "sample_max_stack"]
        );
        let kept = Attr {
            size: 64,
            flags: AttrFlags::MMAP2,
            sample_type: SampleType::IP,
            read_format: ReadFormat::ID,
            ..Attr::default()
        };
        assert_eq!(opened.attr, kept);
        // One try without any part, and one for each part that is newer than the first kernel.
        assert_eq!(kernel.tries, 1 + 5);
    }

    #[test]
    fn bits_that_no_kernel_knows_are_told_by_their_word() {
        let attr = Attr { flags: AttrFlags(1 << 60), ..Attr::default() };
        assert_eq!(unknown(&attr, &[]), [("flags", None)]);
        let attr = Attr { sample_type: SampleType(1 << 60), ..Attr::default() };
        assert_eq!(unknown(&attr, &[]), [("sample_type", None)]);
    }

    #[test]
    fn a_kernel_that_rejects_everything_is_not_blamed_on_a_bit() {
        let mut kernel = OldKernel { flags: AttrFlags::NONE, ..OldKernel::linux_4_1() };
        let attr = Attr { flags: AttrFlags::BUILD_ID, ..Attr::default() };
        let unopened = open(&mut kernel, &attr, &[]).err().unwrap();
        assert!(unopened.unknown.is_empty());
        assert_eq!(unopened.refusal.error.raw_os_error(), Some(libc::EINVAL));
        assert_eq!(kernel.tries, 1);
    }
}
