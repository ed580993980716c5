//! Properties of the recording machine that sort keys need.

use perf_parse::feature::Features;

/// Properties of the machine that recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordingMachine {
    /// The socket of each CPU; empty if the capture does not have them.
    sockets: Vec<u32>,
    /// Whether samples count the cycles of stages of the pipeline.
    ///
    /// perf: `arch_support_sort_key`, `tools/perf/arch/powerpc/util/event.c`.
    pub(super) has_pipeline: bool,
    /// Number of bytes of a line of the first data cache. perf takes that of the machine that it runs on.
    pub(super) line_size: u64,
}

impl RecordingMachine {
    pub(super) fn new(features: &Features<'_>) -> Self {
        let topology = features.cpu_topology().ok().flatten();
        let sockets = topology.iter().flat_map(|it| it.cpus.iter()).map(|cpu| cpu.socket_id).collect();
        let arch = features.arch().ok().flatten().unwrap_or_default();
        Self { sockets, has_pipeline: arch.starts_with(b"ppc"), line_size: line_size(&arch) }
    }

    /// Returns the socket of a CPU; -1 if it is not known.
    pub(super) fn socket(&self, cpu: Option<u32>) -> i32 {
        let cpu = cpu.and_then(|cpu| usize::try_from(cpu).ok());
        cpu.and_then(|cpu| self.sockets.get(cpu)).map_or(-1, |socket| socket.cast_signed())
    }
}

/// Returns the number of bytes of a line of the first data cache of an architecture.
///
/// Kernel: `L1_CACHE_BYTES` of the architectures, `arch/*/include/asm/cache.h`.
pub(crate) fn line_size(arch: &[u8]) -> u64 {
    match arch {
        it if it.starts_with(b"ppc") => 128,
        it if it.starts_with(b"s390") => 256,
        _ => 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_those_of_the_machine() {
        let sizes = ["x86_64", "aarch64", "ppc64le", "s390x", ""].map(|arch| line_size(arch.as_bytes()));
        assert_eq!(sizes, [64, 64, 128, 256, 64]);
    }

    #[test]
    fn a_cpu_without_a_socket_has_minus_one() {
        let machine = RecordingMachine { sockets: vec![0, 1], has_pipeline: false, line_size: 64 };
        let sockets = [Some(0), Some(1), Some(2), Some(u32::MAX), None].map(|cpu| machine.socket(cpu));
        assert_eq!(sockets, [0, 1, -1, -1, -1]);
    }
}
