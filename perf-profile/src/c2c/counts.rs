//! Numbers of memory accesses, by where the data came from.

use perf_abi::data_src::{DataSrc, MemBlk, MemHops, MemLock, MemLvl, MemOp, MemRemote, MemSnoop, MemSnoopx};

use crate::sched::PerfVersion;

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Numbers of memory accesses, by where the data came from. An access counts in each field that is true of it.
        ///
        /// perf: `struct c2c_stats`, `tools/perf/util/mem-events.h`; its names are aliases.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct AccessCounts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl AccessCounts {
            /// Adds the numbers of other accesses.
            pub fn add(&mut self, other: &Self) {
                $(self.$name = self.$name.saturating_add(other.$name);)*
            }

            /// Returns each number with the name of its field.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counts! {
    /// All accesses.
    #[doc(alias = "nr_entries")]
    records,
    /// Locked ones.
    #[doc(alias = "locks")]
    locked,
    /// Accesses that waited for the data of an earlier store.
    #[doc(alias = "blk_data")]
    blocked_by_data,
    /// Accesses whose address conflicted with that of an earlier store.
    #[doc(alias = "blk_addr")]
    blocked_by_address,
    /// Loads.
    #[doc(alias = "load")]
    loads,
    /// Loads without an address. They count in no field of loads below.
    #[doc(alias = "ld_noadrs")]
    load_without_address,
    /// Loads of memory that is not cached.
    #[doc(alias = "ld_uncache")]
    load_uncached,
    /// Loads of I/O.
    #[doc(alias = "ld_io")]
    load_io,
    /// Loads that missed.
    #[doc(alias = "ld_miss")]
    load_miss,
    /// Loads that a line fill buffer had.
    #[doc(alias = "ld_fbhit")]
    load_fill_buffer,
    /// Loads that the first-level cache had.
    #[doc(alias = "ld_l1hit")]
    load_l1,
    /// Loads that the second-level cache had. perf 7.2 counts those that found the line modified as
    /// [`local_hitm`](Self::local_hitm), and 6.1 here.
    #[doc(alias = "ld_l2hit")]
    load_l2,
    /// Loads that the third-level cache had, and no other cache had the line modified.
    #[doc(alias = "ld_llchit")]
    load_l3,
    /// Loads of a line that another cache of the node had modified.
    #[doc(alias = "lcl_hitm")]
    local_hitm,
    /// Loads of a line that a cache of another node had modified.
    #[doc(alias = "rmt_hitm")]
    remote_hitm,
    /// Loads of a line that another cache of the node transferred.
    #[doc(alias = "lcl_peer")]
    local_peer,
    /// Loads of a line that a cache of another node transferred.
    #[doc(alias = "rmt_peer")]
    remote_peer,
    /// Loads of a line that a cache of another node had, not modified.
    #[doc(alias = "rmt_hit")]
    remote_hit,
    /// Loads from the memory of the node.
    #[doc(alias = "lcl_dram")]
    local_memory,
    /// Loads from the memory of another node.
    #[doc(alias = "rmt_dram")]
    remote_memory,
    /// Loads from memory of a line that no other cache had.
    #[doc(alias = "ld_excl")]
    load_exclusive,
    /// Loads from memory of a line that another cache had.
    #[doc(alias = "ld_shared")]
    load_shared,
    /// Stores.
    #[doc(alias = "store")]
    stores,
    /// Stores without an address. They count in no field of stores below.
    #[doc(alias = "st_noadrs")]
    store_without_address,
    /// Stores to memory that is not cached.
    #[doc(alias = "st_uncache")]
    store_uncached,
    /// Stores that the first-level cache had the line of.
    #[doc(alias = "st_l1hit")]
    store_l1_hit,
    /// Stores that the first-level cache did not have the line of.
    #[doc(alias = "st_l1miss")]
    store_l1_miss,
    /// Stores whose level is not known.
    #[doc(alias = "st_na")]
    store_unknown,
    /// Accesses with an address where the capture has no mapping of the data or of the code.
    #[doc(alias = "nomap")]
    unmapped,
    /// Accesses that are neither loads nor stores.
    #[doc(alias = "noparse")]
    neither,
}

impl AccessCounts {
    /// Counts one access to an address, as a version of perf does; [`unmapped`](Self::unmapped) is left to the caller.
    ///
    /// perf: `c2c_decode_stats`, `tools/perf/util/mem-events.c`.
    #[must_use]
    pub fn of(source: DataSrc, address: u64, version: PerfVersion) -> Self {
        let mut counts = Self { records: 1, ..Self::default() };
        let blocked = source.blk();
        counts.locked = u64::from(source.lock().contains(MemLock::LOCKED));
        counts.blocked_by_data = u64::from(blocked.contains(MemBlk::DATA));
        counts.blocked_by_address = u64::from(blocked.contains(MemBlk::ADDR));
        if source.op().contains(MemOp::LOAD) {
            counts.loads = 1;
            if address == 0 {
                counts.load_without_address = 1;
            } else {
                counts.count_load(source, version);
            }
        } else if source.op().contains(MemOp::STORE) {
            counts.stores = 1;
            if address == 0 {
                counts.store_without_address = 1;
            } else {
                counts.count_store(source.lvl());
            }
        } else {
            counts.neither = 1;
        }
        counts
    }

    fn count_load(&mut self, source: DataSrc, version: PerfVersion) {
        let (lvl, snoop) = (source.lvl(), source.snoop());
        let is = |level: MemLvl| lvl.contains(level);
        let is_peer = source.snoopx().contains(MemSnoopx::PEER);
        let is_hitm = snoop.contains(MemSnoop::HITM);
        // With a number of hops, it is another core of the node.
        let is_remote = source.remote().contains(MemRemote::REMOTE) && source.hops() == MemHops(0);
        if is(MemLvl::HIT) {
            self.load_uncached = u64::from(is(MemLvl::UNC));
            self.load_io = u64::from(is(MemLvl::IO));
            self.load_fill_buffer = u64::from(is(MemLvl::LFB));
            self.load_l1 = u64::from(is(MemLvl::L1));
            if is(MemLvl::L2) {
                let field = match version {
                    PerfVersion::V7_2 if is_hitm => &mut self.local_hitm,
                    _ => &mut self.load_l2,
                };
                *field += 1;
                self.local_peer += u64::from(is_peer);
            }
            if is(MemLvl::L3) {
                let field = if is_hitm { &mut self.local_hitm } else { &mut self.load_l3 };
                *field += 1;
                self.local_peer += u64::from(is_peer);
            }
            let mut count_memory = |is_local: bool| {
                let field = if is_local { &mut self.local_memory } else { &mut self.remote_memory };
                *field += 1;
                let is_shared = snoop.contains(MemSnoop::HIT);
                *(if is_shared { &mut self.load_shared } else { &mut self.load_exclusive }) += 1;
            };
            if is(MemLvl::LOC_RAM) {
                count_memory(true);
            }
            if is(MemLvl::REM_RAM1) || is(MemLvl::REM_RAM2) || is_remote {
                count_memory(false);
            }
        }
        if is(MemLvl::REM_CCE1) || is(MemLvl::REM_CCE2) || is_remote {
            if snoop.contains(MemSnoop::HIT) {
                self.remote_hit += 1;
            } else if is_hitm {
                self.remote_hitm += 1;
            } else if is_peer {
                self.remote_hit += 1;
                self.remote_peer += 1;
            }
        }
        self.load_miss = u64::from(is(MemLvl::MISS));
    }

    fn count_store(&mut self, lvl: MemLvl) {
        let is = |level: MemLvl| lvl.contains(level);
        self.store_uncached = u64::from(is(MemLvl::HIT) && is(MemLvl::UNC));
        self.store_l1_hit = u64::from(is(MemLvl::HIT) && is(MemLvl::L1));
        self.store_l1_miss = u64::from(is(MemLvl::MISS) && is(MemLvl::L1));
        self.store_unknown = u64::from(is(MemLvl::NA));
    }

    /// Returns the number of loads of a line that any other cache had modified.
    #[must_use]
    pub fn hitm(&self) -> u64 {
        self.local_hitm.saturating_add(self.remote_hitm)
    }

    /// Returns the number of loads of a line that any other cache transferred.
    #[must_use]
    pub fn peer(&self) -> u64 {
        self.local_peer.saturating_add(self.remote_peer)
    }

    /// Returns the number of loads that the caches of the node did not have.
    ///
    /// perf: `get_load_llc_misses`, `tools/perf/builtin-c2c.c`.
    #[must_use]
    pub fn last_level_misses(&self) -> u64 {
        sum(&[self.local_memory, self.remote_memory, self.remote_hitm, self.remote_hit])
    }

    /// Returns the number of loads with a level.
    ///
    /// perf: `total_loads`, `tools/perf/builtin-c2c.c`.
    #[must_use]
    pub fn leveled_loads(&self) -> u64 {
        let hits = [self.load_fill_buffer, self.load_l1, self.load_l2, self.load_l3, self.local_hitm];
        sum(&hits).saturating_add(self.last_level_misses())
    }

    /// Returns the number of loads and stores with a level.
    ///
    /// perf: `total_records`, `tools/perf/builtin-c2c.c`.
    #[must_use]
    pub fn leveled(&self) -> u64 {
        let stores = [self.store_l1_hit, self.store_l1_miss, self.store_unknown];
        sum(&stores).saturating_add(self.leveled_loads())
    }
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |sum, number| sum.saturating_add(*number))
}
