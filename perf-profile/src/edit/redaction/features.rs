//! The features of a capture without secrets.

use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::rewrite::EditAccount;

use super::{Redaction, SecretKind};

/// Features without texts, or with texts that the machine's maker or the kernel chose.
const PUBLIC: &[Feature] = &[
    Feature::OSRELEASE,
    Feature::VERSION,
    Feature::ARCH,
    Feature::NRCPUS,
    Feature::CPUDESC,
    Feature::CPUID,
    Feature::TOTAL_MEM,
    Feature::CPU_TOPOLOGY,
    Feature::NUMA_TOPOLOGY,
    Feature::BRANCH_STACK,
    Feature::PMU_MAPPINGS,
    Feature::STAT,
    Feature::CACHE,
    Feature::SAMPLE_TIME,
    Feature::MEM_TOPOLOGY,
    Feature::CLOCKID,
    Feature::CPU_PMU_CAPS,
    Feature::CLOCK_DATA,
    Feature::HYBRID_TOPOLOGY,
    Feature::PMU_CAPS,
    Feature::CPU_DOMAIN_INFO,
    Feature::E_MACHINE,
    Feature::CLN_SIZE,
    EditAccount::FEATURE,
];

/// The groups of the kernel's own tracepoints. A user can put probes into any other group.
const KERNEL_GROUPS: &[&[u8]] = &[
    b"block",
    b"compaction",
    b"context_tracking",
    b"exceptions",
    b"filemap",
    b"irq",
    b"irq_vectors",
    b"kmem",
    b"kvm",
    b"lock",
    b"migrate",
    b"napi",
    b"net",
    b"power",
    b"raw_syscalls",
    b"rcu",
    b"sched",
    b"signal",
    b"skb",
    b"sock",
    b"syscalls",
    b"task",
    b"tcp",
    b"timer",
    b"tlb",
    b"udp",
    b"vmscan",
    b"workqueue",
    b"writeback",
    b"xdp",
];

impl Redaction {
    /// Removes the features with secrets, and hashes the name of the host.
    pub(super) fn redact_features(&self, features: &mut FeaturePayloads) {
        let all = features.iter().map(|(feature, _)| feature).collect::<Vec<_>>();
        for feature in all.into_iter().filter(|&feature| !self.shows_feature(feature)) {
            let payload = features.remove(feature);
            if let (Feature::HOSTNAME, Some(host)) = (feature, payload) {
                let host = self.pseudonyms.host(&host);
                // Of a few bytes, so that it fits.
                let _ = features.set(&FeatureData::Hostname((&host[..]).into()));
            }
        }
    }

    /// Returns whether a feature has no secret.
    fn shows_feature(&self, feature: Feature) -> bool {
        let holds: &[SecretKind] = match feature {
            Feature::HOSTNAME => &[SecretKind::Hostname],
            Feature::CMDLINE => &[SecretKind::Cmdline],
            Feature::BUILD_ID => &[SecretKind::Paths],
            // Names of events.
            Feature::GROUP_DESC => &[SecretKind::Strings],
            // With the names of threads, and formats of probes.
            Feature::TRACING_DATA => &[SecretKind::Raw, SecretKind::Comms, SecretKind::Strings],
            Feature::BPF_PROG_INFO | Feature::BPF_BTF => &[SecretKind::Raw, SecretKind::Strings],
            Feature::FILE | Feature::FILE2 => &[SecretKind::Paths, SecretKind::Strings],
            Feature::META_INFO => &[SecretKind::Cmdline, SecretKind::Hostname, SecretKind::Strings],
            Feature::INIT_MAP => &[SecretKind::Comms, SecretKind::Paths],
            feature => return PUBLIC.contains(&feature),
        };
        !holds.iter().any(|&kind| self.removes(kind))
    }

    /// Removes the bytes of an attr that are not known, and gives an event a pseudonym if a user can have chosen its name.
    pub(super) fn redact_event(&self, event: &mut EventFields) {
        event.attr_tail.clear();
        let Some(name) = event.name.as_mut().filter(|_| self.removes(SecretKind::Strings)) else { return };
        let is_public = match event.attr.kind {
            EventType::HARDWARE | EventType::SOFTWARE | EventType::HW_CACHE | EventType::RAW => true,
            EventType::TRACEPOINT => {
                name.split(|&byte| byte == b':').next().is_some_and(|group| KERNEL_GROUPS.contains(&group))
            }
            _ => false,
        };
        if !is_public {
            *name = self.pseudonyms.event(name);
        }
    }
}
