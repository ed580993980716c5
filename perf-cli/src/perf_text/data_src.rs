//! The data source of a memory access, as perf prints it.

use perf_abi::data_src::{DataSrc, MemBlk, MemHops, MemLock, MemLvl, MemLvlNum, MemOp, MemRemote, MemTlb};

use super::print::push_hex_to;
use crate::render::digits::push_decimal;

/// The word of a sample that has no data source.
///
/// perf: `PERF_MEM_DATA_SRC_NONE`, `tools/perf/util/event.h`.
pub(crate) const NONE: DataSrc = DataSrc(0x0508_0021);

/// The most bytes that perf prints: its buffer has 100.
const LONGEST: usize = 99;

const LEVELS: [&str; 14] = [
    "N/A",
    "HIT",
    "MISS",
    "L1",
    "LFB/MAB",
    "L2",
    "L3",
    "Local RAM",
    "Remote RAM (1 hop)",
    "Remote RAM (2 hops)",
    "Remote Cache (1 hop)",
    "Remote Cache (2 hops)",
    "I/O",
    "Uncached",
];
const HOPS: [&str; 5] = ["N/A", "core, same node", "node, same socket", "socket, same board", "board"];
const SNOOPS: [&str; 5] = ["N/A", "None", "Hit", "Miss", "HitM"];
const SNOOPX: [&str; 2] = ["Fwd", "Peer"];
const TLBS: [&str; 7] = ["N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"];

/// Appends a data source. `width` is that of the longest one so far, with this one.
///
/// perf: `data_src__fprintf`, `tools/perf/builtin-script.c`.
pub(crate) fn push(out: &mut Vec<u8>, source: Option<DataSrc>, width: usize) {
    let start = out.len();
    push_cut(out, source);
    out.resize((start + width).max(out.len()), b' ');
}

/// Returns the width of a data source.
pub(crate) fn width(source: Option<DataSrc>) -> usize {
    let mut text = Vec::new();
    push_cut(&mut text, source);
    text.len()
}

fn push_cut(out: &mut Vec<u8>, source: Option<DataSrc>) {
    let start = out.len();
    let source = source.unwrap_or(NONE);
    push_hex_to(out, source.0, 16);
    out.push(b' ');
    push_text(out, source);
    out.truncate(start + LONGEST);
}

/// perf: `perf_script__meminfo_scnprintf`, `tools/perf/util/mem-events.c`.
fn push_text(out: &mut Vec<u8>, source: DataSrc) {
    push_all(out, &["|OP ", operation(source.op()), "|LVL "]);
    push_level(out, source);
    push_all(out, &["|SNP "]);
    push_snoop(out, source);
    push_all(out, &["|TLB "]);
    push_tlb(out, source);
    push_all(out, &["|LCK ", lock(source), "|BLK "]);
    push_blocked(out, source);
}

/// Appends how the caches of other cores answered.
///
/// perf: `perf_mem__snp_scnprintf`.
pub(crate) fn push_snoop(out: &mut Vec<u8>, source: DataSrc) {
    let mut list = List::new(out);
    list.bits(source.snoop().0.into(), &SNOOPS);
    list.bits(source.snoopx().0.into(), &SNOOPX);
    list.end();
}

/// Appends which part of the TLB had the address.
///
/// perf: `perf_mem__tlb_scnprintf`.
pub(crate) fn push_tlb(out: &mut Vec<u8>, source: DataSrc) {
    let tlb = source.dtlb();
    let mut list = List::new(out);
    list.bits(tlb.without(MemTlb::HIT | MemTlb::MISS).0.into(), &TLBS);
    list.end();
    push_outcome(out, tlb.contains(MemTlb::HIT), tlb.contains(MemTlb::MISS));
}

/// Returns whether the access was locked.
///
/// perf: `perf_mem__lck_scnprintf`.
pub(crate) fn lock(source: DataSrc) -> &'static str {
    match source.lock() {
        it if it.contains(MemLock::NA) => "N/A",
        it if it.contains(MemLock::LOCKED) => "Yes",
        _ => "No",
    }
}

/// Appends what blocked the access, after a blank.
///
/// perf: `perf_mem__blk_scnprintf`.
pub(crate) fn push_blocked(out: &mut Vec<u8>, source: DataSrc) {
    let blocked = source.blk();
    if blocked == MemBlk(0) || blocked.contains(MemBlk::NA) {
        push_all(out, &[" N/A"]);
        return;
    }
    push_all(out, &[if blocked.contains(MemBlk::DATA) { " Data" } else { "" }]);
    push_all(out, &[if blocked.contains(MemBlk::ADDR) { " Addr" } else { "" }]);
}

fn operation(op: MemOp) -> &'static str {
    let names = [
        (MemOp::NA, "N/A"),
        (MemOp::LOAD, "LOAD"),
        (MemOp::STORE, "STORE"),
        (MemOp::PFETCH, "PFETCH"),
        (MemOp::EXEC, "EXEC"),
    ];
    names.iter().find(|(bit, _)| op.contains(*bit)).map_or("No", |(_, name)| name)
}

/// Appends the cache or memory that had the data.
///
/// perf: `perf_mem__lvl_scnprintf`.
pub(crate) fn push_level(out: &mut Vec<u8>, source: DataSrc) {
    let (level, start) = (source.lvl(), out.len());
    if source.remote() != MemRemote(0) {
        push_all(out, &["Remote "]);
    }
    let mut list = List::new(out);
    if source.hops() == MemHops(0) {
        list.bits(level.without(MemLvl::HIT | MemLvl::MISS).0.into(), &LEVELS);
    } else {
        let hops = HOPS.get(usize::from(source.hops().0)).copied().unwrap_or(HOPS[0]);
        push_all(list.out, &[hops, " "]);
    }
    let number = source.lvl_num();
    if number != MemLvlNum(0) {
        let name = match number.0 {
            9 => "CXL",
            10 => "I/O",
            11 => "Any cache",
            12 => "LFB/MAB",
            13 => "RAM",
            14 => "PMEM",
            15 => "N/A",
            _ => "L",
        };
        list.item(name);
        if name == "L" {
            push_decimal(out, number.0.into());
        }
    }
    if out.len() == start {
        push_all(out, &["N/A"]);
    }
    push_outcome(out, level.contains(MemLvl::HIT), level.contains(MemLvl::MISS));
}

fn push_outcome(out: &mut Vec<u8>, is_hit: bool, is_miss: bool) {
    push_all(out, &[if is_hit { " hit" } else { "" }, if is_miss { " miss" } else { "" }]);
}

fn push_all(out: &mut Vec<u8>, texts: &[&str]) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
}

/// Names with ` or ` between them.
struct List<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> List<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, is_empty: true }
    }

    fn item(&mut self, name: &str) {
        let separator = if self.is_empty { "" } else { " or " };
        push_all(self.out, &[separator, name]);
        self.is_empty = false;
    }

    fn bits(&mut self, bits: u64, names: &[&str]) {
        for (bit, name) in names.iter().enumerate() {
            if bits & 1 << bit != 0 {
                self.item(name);
            }
        }
    }

    fn end(self) {
        if self.is_empty {
            push_all(self.out, &["N/A"]);
        }
    }
}
