//! The floor: handwritten loops in safe Rust, each for a single layout. They reject truncated records and check nothing
//! else.

use super::capture::FIRST_ID;
use super::sums::{Sums, add, add_bytes};

/// Removes `size` bytes from the start of `rest` and returns them.
#[inline(always)]
fn take<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(size)?;
    *rest = after;
    Some(taken)
}

/// Removes words from the start of `rest` and returns them.
#[inline(always)]
fn words<const N: usize>(rest: &mut &[u8]) -> Option<[u64; N]> {
    let words = take(rest, N * 8)?.as_chunks().0.first_chunk()?;
    Some(words.map(u64::from_le_bytes))
}

/// Returns the sum of words.
#[inline(always)]
fn sum(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// Walks from header to header and adds up the sizes: the minimum work of any reader.
pub(crate) fn hop(mut bytes: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    while !bytes.is_empty() {
        let size = usize::from(u16::from_le_bytes(*bytes.get(6..)?.first_chunk()?));
        let record = take(&mut bytes, size)?;
        if record.len() < 8 {
            return None;
        }
        add(&mut sums.sizes, size as u64);
    }
    Some(sums)
}

/// Returns the records of a file.
pub(crate) fn data_section(file: &[u8]) -> Option<&[u8]> {
    let [offset, size] = words(&mut file.get(40..)?)?;
    file.get(usize::try_from(offset).ok()?..)?.get(..usize::try_from(size).ok()?)
}

/// Walks over the records, and passes the type and the payload of each to `record`.
#[inline(always)]
fn walk(mut bytes: &[u8], record: impl Fn(&mut Sums, u32, &[u8]) -> Option<()>) -> Option<Sums> {
    let mut sums = Sums::default();
    while !bytes.is_empty() {
        let header = u64::from_le_bytes(*bytes.first_chunk()?);
        let whole = take(&mut bytes, (header >> 48) as usize)?;
        record(&mut sums, header as u32, whole.get(8..)?)?;
    }
    Some(sums)
}

/// Walks over the samples, and adds up IP, TID and TIME. Passes the following bytes to `tail`, which must consume all
/// of them.
#[inline(always)]
fn samples(bytes: &[u8], tail: impl Fn(&mut Sums, &mut &[u8]) -> Option<()>) -> Option<Sums> {
    walk(bytes, |sums, kind, mut payload| {
        if kind != 9 {
            return Some(());
        }
        plain(sums, &mut payload)?;
        tail(sums, &mut payload)?;
        payload.is_empty().then_some(())
    })
}

/// Reads IP, TID and TIME.
#[inline(always)]
fn plain(sums: &mut Sums, rest: &mut &[u8]) -> Option<()> {
    let [ip, tid, time] = words(rest)?;
    sums.samples += 1;
    add(&mut sums.ip, ip);
    add(&mut sums.pid, tid as u32 as u64);
    add(&mut sums.tid, tid >> 32);
    add(&mut sums.time, time);
    Some(())
}

/// Reads CPU and PERIOD.
#[inline(always)]
fn cpu_period(sums: &mut Sums, rest: &mut &[u8]) -> Option<()> {
    let [cpu, period] = words(rest)?;
    add(&mut sums.cpu, cpu as u32 as u64);
    add(&mut sums.period, period);
    Some(())
}

/// Reads samples of 32 bytes.
pub(crate) fn plain_32(bytes: &[u8]) -> Option<Sums> {
    samples(bytes, |_, _| Some(()))
}

/// Reads samples of 48 bytes.
pub(crate) fn plain_48(bytes: &[u8]) -> Option<Sums> {
    samples(bytes, cpu_period)
}

/// Reads samples of a tracepoint.
pub(crate) fn raw(bytes: &[u8]) -> Option<Sums> {
    samples(bytes, |sums, rest| {
        cpu_period(sums, rest)?;
        let size = u32::from_le_bytes(*take(rest, 4)?.first_chunk()?);
        add_bytes(&mut sums.raw, take(rest, size as usize)?);
        Some(())
    })
}

/// Reads samples with a call chain.
pub(crate) fn callchain(bytes: &[u8]) -> Option<Sums> {
    samples(bytes, |sums, rest| {
        cpu_period(sums, rest)?;
        let [nr] = words(rest)?;
        let chain = take(rest, usize::try_from(nr).ok()?.checked_mul(8)?)?;
        add(&mut sums.callchain, sum(chain));
        Some(())
    })
}

/// Reads samples with user registers and a user stack.
pub(crate) fn dwarf(bytes: &[u8]) -> Option<Sums> {
    samples(bytes, |sums, rest| {
        cpu_period(sums, rest)?;
        let [abi] = words(rest)?;
        if abi != 0 {
            add(&mut sums.regs_user, sum(take(rest, 20 * 8)?));
        }
        let [size] = words(rest)?;
        let data = take(rest, usize::try_from(size).ok()?)?;
        if size != 0 {
            let [dyn_size] = words(rest)?;
            add_bytes(&mut sums.stack_user, data.get(..usize::try_from(dyn_size).ok()?)?);
        }
        Some(())
    })
}

/// Reads samples with an id. `event_of` is the table from ids to events; the ids are consecutive.
pub(crate) fn ten_events(bytes: &[u8], event_of: &[u8]) -> Option<Sums> {
    walk(bytes, |sums, kind, mut payload| {
        if kind != 9 {
            return Some(());
        }
        let [id] = words(&mut payload)?;
        let event = event_of.get(usize::try_from(id.wrapping_sub(FIRST_ID)).ok()?)?;
        add(&mut sums.event, u64::from(*event));
        plain(sums, &mut payload)?;
        cpu_period(sums, &mut payload)?;
        payload.is_empty().then_some(())
    })
}

/// Reads samples of 48 bytes, and MMAP2, COMM, FORK, EXIT and LOST records, whose trailers have TID, TIME and CPU.
pub(crate) fn records_mix(bytes: &[u8]) -> Option<Sums> {
    walk(bytes, |sums, kind, mut payload| {
        let at = &mut payload;
        if kind == 9 {
            plain(sums, at)?;
            cpu_period(sums, at)?;
            return at.is_empty().then_some(());
        }
        let (mut body, mut trailer) = at.split_at_checked(at.len().checked_sub(24)?)?;
        let [_, time, _] = words(&mut trailer)?;
        add(&mut sums.trailer, time);
        let at = &mut body;
        match kind {
            10 => {
                let [_, addr, len, _, _, _, _, _] = words(at)?;
                add(&mut sums.mmap2, addr.wrapping_add(len).wrapping_add(name(at)?));
            }
            3 => {
                let [tid] = words(at)?;
                add(&mut sums.comm, (tid >> 32).wrapping_add(name(at)?));
            }
            4 | 7 => {
                let [_, tid, time] = words(at)?;
                add(&mut sums.task, (tid as u32 as u64).wrapping_add(time));
                return at.is_empty().then_some(());
            }
            2 => {
                let [_, lost] = words(at)?;
                add(&mut sums.lost, lost);
                return at.is_empty().then_some(());
            }
            _ => {}
        }
        Some(())
    })
}

/// Returns the length of a name that ends with a NUL.
#[inline(always)]
fn name(bytes: &[u8]) -> Option<u64> {
    bytes.iter().position(|&byte| byte == 0).map(|length| length as u64)
}
