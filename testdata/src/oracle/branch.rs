//! Branch stacks.

use super::choices::Choices;
use super::reader::Reader;
use super::readings::Readings;

const PERF_SAMPLE_BRANCH_HW_INDEX: u64 = 1 << 17;
const PERF_SAMPLE_BRANCH_COUNTERS: u64 = 1 << 19;

/// A branch stack, the latest branch first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchStack {
    /// The hardware index, with `PERF_SAMPLE_BRANCH_HW_INDEX`.
    pub hw_idx: Option<u64>,
    /// The branches.
    pub entries: Vec<Branch>,
    /// The counters, one word per entry, with `PERF_SAMPLE_BRANCH_COUNTERS`.
    pub counters: Option<Vec<u64>>,
}

/// A branch. C: `struct perf_branch_entry`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Address of the branch instruction.
    pub from: u64,
    /// Address of the target.
    pub to: u64,
    /// The target was mispredicted.
    pub mispred: bool,
    /// The target was predicted.
    pub predicted: bool,
    /// The branch is in a transaction.
    pub in_tx: bool,
    /// The branch is an abort of a transaction.
    pub abort: bool,
    /// Cycles since the last branch.
    pub cycles: u16,
    /// `PERF_BR_*`.
    pub r#type: u8,
    /// `PERF_BR_SPEC_*`.
    pub spec: u8,
    /// `PERF_BR_NEW_*`.
    pub new_type: u8,
    /// `PERF_BR_PRIV_*`.
    pub r#priv: u8,
    /// The bits that have no name.
    pub reserved: u32,
}

/// Reads a branch stack; `choices` decides whether it has `hw_idx` and counters where the
/// record is ambiguous.
pub(super) fn branch_stack(
    branch_sample_type: u64,
    r: &mut Reader<'_>,
    choices: &mut Choices,
    readings: &mut Readings,
) -> Result<BranchStack, String> {
    let mut stack = BranchStack { hw_idx: None, entries: Vec::new(), counters: None };
    let nr = r.u64("branch_stack.nr")?;
    if branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX != 0 {
        let mut there = true;
        if nr == 0 {
            there = !choices.second();
            readings.hw_idx = Some(there);
        }
        if there {
            stack.hw_idx = Some(r.u64("branch_stack.hw_idx")?);
        }
    }
    for _ in 0..nr {
        stack.entries.push(branch(r)?);
    }
    if nr != 0 {
        let asked = branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS != 0;
        let there = asked != choices.second();
        readings.counters = Some(there);
        if there {
            stack.counters = Some(r.words("branch_stack.counters", nr)?);
        }
    }
    Ok(stack)
}

fn branch(r: &mut Reader<'_>) -> Result<Branch, String> {
    let from = r.u64("branch_stack.from")?;
    let to = r.u64("branch_stack.to")?;
    let flags = r.u64("branch_stack.flags")?;
    // C allocates bit-fields from the lowest bit on little-endian machines, and from the highest
    // on big-endian ones.
    let bits = |little: u32, big: u32, width: u32| {
        (flags >> if r.is_big() { big } else { little }) & ((1 << width) - 1)
    };
    Ok(Branch {
        from,
        to,
        mispred: bits(0, 63, 1) != 0,
        predicted: bits(1, 62, 1) != 0,
        in_tx: bits(2, 61, 1) != 0,
        abort: bits(3, 60, 1) != 0,
        cycles: bits(4, 44, 16) as u16,
        r#type: bits(20, 40, 4) as u8,
        spec: bits(24, 38, 2) as u8,
        new_type: bits(26, 34, 4) as u8,
        r#priv: bits(30, 31, 3) as u8,
        reserved: bits(33, 0, 31) as u32,
    })
}
