//! The data source of a sample: `PERF_SAMPLE_DATA_SRC`, from what a record has.

use perf_abi::data_src::{DataSrc, MemLvl, MemLvlNum, MemOp, MemRemote, MemSnoop, MemSnoopx, MemTlb};

use super::events::EventFlags;
use super::info::SpeCpu;
use super::midr::DataSourceEncoding;
use super::operation::Operation;
use super::record::SpeRecord;

/// Returns whether perf makes a `memory` sample of such an operation: loads and stores, and vector and matrix
/// operations, even if they access no memory.
///
/// Branches with link have the bit of [`Operation::SIMD_FP`], and returns that of [`Operation::SVE`], so perf makes
/// samples of them too.
///
/// perf: `is_mem_op`.
pub(super) const fn is_memory(op: Operation) -> bool {
    const MEMORY: Operation = Operation::LDST
        .union(Operation::SIMD_FP)
        .union(Operation::SVE)
        .union(Operation::SME)
        .union(Operation::ASE);
    op.intersects(MEMORY)
}

/// Returns the data source of a record; 0 if [it accesses no memory](is_memory).
///
/// perf: `arm_spe__synth_data_source`.
pub(super) fn data_src(record: &SpeRecord, cpu: &SpeCpu) -> DataSrc {
    if !is_memory(record.op) {
        return DataSrc(0);
    }
    let op = if record.op.contains(Operation::LD) {
        MemOp::LOAD
    } else if record.op.contains(Operation::ST) {
        MemOp::STORE
    } else {
        MemOp::NA
    };
    let mut source = DataSrc(0).with_op(op);
    if let Some(encoding) = cpu.midr.and_then(|midr| midr.data_source_encoding()) {
        let is_store = record.op.contains(Operation::ST);
        source = encoded(source, encoding, record.source, is_store);
    }
    source = with_level(source, record.events);
    source = with_snoop(source, record.events, cpu);
    with_tlb(source, record.events)
}

/// A level of the hierarchy, in both encodings.
const fn level(lvl: MemLvl, number: MemLvlNum) -> (MemLvl, MemLvlNum) {
    (lvl, number)
}

const L1: (MemLvl, MemLvlNum) = level(MemLvl::L1, MemLvlNum::L1);
const LFB: (MemLvl, MemLvlNum) = level(MemLvl::LFB, MemLvlNum::LFB);
const L2: (MemLvl, MemLvlNum) = level(MemLvl::L2, MemLvlNum::L2);
const L3: (MemLvl, MemLvlNum) = level(MemLvl::L3, MemLvlNum::L3);
const MEMORY: (MemLvl, MemLvlNum) = level(MemLvl::LOC_RAM, MemLvlNum::RAM);

fn at(source: DataSrc, (lvl, number): (MemLvl, MemLvlNum), outcome: MemLvl) -> DataSrc {
    source.with_lvl(lvl | outcome).with_lvl_num(number)
}

fn hit(source: DataSrc, level: (MemLvl, MemLvlNum)) -> DataSrc {
    at(source, level, MemLvl::HIT)
}

/// Sets the level and snoop that the CPU's own number tells, if it is known.
fn encoded(source: DataSrc, encoding: DataSourceEncoding, number: u16, is_store: bool) -> DataSrc {
    if is_store {
        // The numbers say nothing of stores. AmpereOne's that are not known leave the level to the events.
        let is_known = encoding != DataSourceEncoding::AmpereOne || ampere_one(number).is_some();
        return if is_known { not_available(source).with_snoop(MemSnoop::NA) } else { source };
    }
    match encoding {
        DataSourceEncoding::Common => common(source, number),
        DataSourceEncoding::AmpereOne => ampere_one(number).map_or(source, |number| common(source, number)),
        DataSourceEncoding::HisiHip => hisi_hip(source, number),
    }
}

fn not_available(source: DataSrc) -> DataSrc {
    source.with_lvl(MemLvl::NA).with_lvl_num(MemLvlNum::NA)
}

/// perf: `arm_spe__synth_data_source_common`.
fn common(source: DataSrc, number: u16) -> DataSrc {
    match number {
        0x0 => hit(source, L1).with_snoop(MemSnoop::NO_SNOOP),
        0x8 => hit(source, L2).with_snoop(MemSnoop::NO_SNOOP),
        // Another core of the cluster.
        0x9 => hit(source, L2).with_snoopx(MemSnoopx::PEER),
        // The own cluster, or another one.
        0xa | 0xc => hit(source, L3).with_snoopx(MemSnoopx::PEER),
        // The system cache.
        0xb => hit(source, L3).with_snoop(MemSnoop::HIT),
        // Another socket.
        0xd => not_available(source).with_remote(MemRemote::REMOTE).with_snoopx(MemSnoopx::PEER),
        0xe => hit(source, MEMORY).with_snoop(MemSnoop::NO_SNOOP),
        _ => source,
    }
}

/// Returns the common number that means the same as AmpereOne's.
const fn ampere_one(number: u16) -> Option<u16> {
    match number {
        // A cache of the own chip, or a device.
        0x0 => Some(0x9),
        0x3 => Some(0xb),
        // A cache of another chip.
        0x5 => Some(0xd),
        0x7 => Some(0xe),
        0x8 => Some(0x0),
        0x9 => Some(0x8),
        _ => None,
    }
}

/// perf: `arm_spe__synth_data_source_hisi_hip`.
fn hisi_hip(source: DataSrc, number: u16) -> DataSrc {
    let of_peer = |source: DataSrc| source.with_snoopx(MemSnoopx::PEER);
    let modified = |source: DataSrc| source.with_snoop(MemSnoop::HITM);
    let peer_cluster = || source.with_lvl(MemLvl::REM_CCE1 | MemLvl::HIT).with_lvl_num(MemLvlNum::L3);
    let remote_cache = || {
        let source = source.with_lvl(MemLvl::REM_CCE2).with_lvl_num(MemLvlNum::ANY_CACHE);
        source.with_remote(MemRemote::REMOTE)
    };
    match number {
        0 => of_peer(hit(source, L2)),
        1 => of_peer(modified(hit(source, L2))),
        2 => hit(source, L3).with_snoop(MemSnoop::HIT),
        3 => modified(hit(source, L3)),
        4 => of_peer(peer_cluster()),
        5 => of_peer(modified(peer_cluster())),
        6 => of_peer(remote_cache()),
        7 => of_peer(modified(remote_cache())),
        8 => hit(source, MEMORY).with_snoop(MemSnoop::NO_SNOOP),
        9 => hit(source, level(MemLvl::REM_RAM1, MemLvlNum::RAM)).with_remote(MemRemote::REMOTE),
        13 => hit(source, level(MemLvl::IO, MemLvlNum::IO)).with_snoop(MemSnoop::NO_SNOOP),
        16 => hit(source, L2).with_snoop(MemSnoop::NO_SNOOP),
        17 => modified(hit(source, L2)),
        18 => hit(source, L1).with_snoop(MemSnoop::NO_SNOOP),
        _ => source,
    }
}

/// Sets the level that the events tell, unless it is set already.
///
/// perf: `arm_spe__synth_memory_level`.
fn with_level(source: DataSrc, events: EventFlags) -> DataSrc {
    if source.lvl() != MemLvl::NONE {
        return source;
    }
    let caches = [
        (L1, EventFlags::L1D_ACCESS, EventFlags::L1D_REFILL),
        (L2, EventFlags::L2D_ACCESS, EventFlags::L2D_MISS),
        (L3, EventFlags::LLC_ACCESS, EventFlags::LLC_MISS),
    ];
    let is_hit = |access, miss| events.contains(access) && !events.contains(miss);
    let found = if source.op() == MemOp::LOAD {
        // The first cache that had the data; else the last one that did not.
        let [l1, l2, l3] = caches;
        let hit_of = |(level, access, miss)| is_hit(access, miss).then_some((level, MemLvl::HIT));
        let miss_of = |(level, _, miss)| events.contains(miss).then_some((level, MemLvl::MISS));
        let fetched = || events.contains(EventFlags::RECENTLY_FETCHED).then_some((LFB, MemLvl::HIT));
        let hit = hit_of(l1).or_else(fetched).or_else(|| hit_of(l2)).or_else(|| hit_of(l3));
        hit.or_else(|| miss_of(l3)).or_else(|| miss_of(l2)).or_else(|| miss_of(l1))
    } else if source.op() == MemOp::STORE {
        // The last cache that was accessed.
        let last = caches.iter().rev().find(|&&(_, access, miss)| events.intersects(access | miss));
        last.map(|&(level, _, miss)| (level, if events.contains(miss) { MemLvl::MISS } else { MemLvl::HIT }))
    } else {
        None
    };
    match found {
        Some((level, outcome)) => at(source, level, outcome),
        None => not_available(source),
    }
}

/// Sets the snoop that the events tell, unless it is set already, and whether the access was remote.
fn with_snoop(mut source: DataSrc, events: EventFlags, cpu: &SpeCpu) -> DataSrc {
    if source.snoop() == MemSnoop::NONE {
        let has_event = cpu.event_filter.is_some_and(|filter| filter.contains(EventFlags::DATA_SNOOPED));
        let snoop = if events.contains(EventFlags::DATA_SNOOPED) {
            let is_modified = events.contains(EventFlags::CACHE_DATA_MODIFIED);
            if is_modified { MemSnoop::HITM } else { MemSnoop::HIT }
        } else if has_event {
            MemSnoop::NO_SNOOP
        } else {
            MemSnoop::NA
        };
        source = source.with_snoop(snoop);
    }
    if events.contains(EventFlags::REMOTE_ACCESS) { source.with_remote(MemRemote::REMOTE) } else { source }
}

fn with_tlb(source: DataSrc, events: EventFlags) -> DataSrc {
    if !events.intersects(EventFlags::TLB_ACCESS | EventFlags::TLB_WALK) {
        return source;
    }
    let outcome = if events.contains(EventFlags::TLB_WALK) { MemTlb::MISS } else { MemTlb::HIT };
    source.with_dtlb(MemTlb::WK | outcome)
}
