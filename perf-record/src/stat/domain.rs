//! The parts of the machine whose counts are added up: sockets, dies, clusters, cores, NUMA nodes, caches.

/// A kind of parts that a machine's cpus belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuDomain {
    /// A processor socket (package): `S0`.
    Socket,
    /// A die of a socket: `S0-D0`.
    Die,
    /// A cluster of cores: `S0-D0-CLS0`.
    Cluster,
    /// A core: `S0-D0-C0`.
    Core,
    /// A NUMA node: `N0`.
    Node,
    /// A cache: `S0-D0-L3-ID0`.
    Cache(CacheLevel),
}

/// The level of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a level, or the last one")]
pub enum CacheLevel {
    /// The last level that the cpu has.
    Last,
    /// This level, from 1.
    Level(u32),
}

impl CpuDomain {
    /// Returns the name as perf's JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Die => "die",
            Self::Cluster => "cluster",
            Self::Core => "core",
            Self::Node => "node",
            Self::Cache(_) => "cache",
        }
    }
}
