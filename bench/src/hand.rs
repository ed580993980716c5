//! The floor: loops written for one layout, in safe Rust, that refuse what is cut off and know nothing else.

use crate::{Sums, add};

/// The header of a record: type and size.
#[inline(always)]
fn header(bytes: &[u8]) -> Option<(u32, usize)> {
    let header = u64::from_le_bytes(*bytes.first_chunk()?);
    Some((header as u32, (header >> 48) as usize))
}

/// Takes `size` bytes off the front of `rest`.
#[inline(always)]
fn take<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(size)?;
    *rest = behind;
    Some(taken)
}

/// Takes a word off the front of `rest`.
#[inline(always)]
fn word(rest: &mut &[u8]) -> Option<u64> {
    let (word, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*word))
}

/// The sum of words.
#[inline(always)]
fn sum(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// Walks from header to header and adds up the headers: what any reader must do at least.
pub fn hop(mut bytes: &[u8]) -> u64 {
    let mut all = 0;
    while let Some(header) = bytes.first_chunk() {
        let header = u64::from_le_bytes(*header);
        add(&mut all, header);
        let size = (header >> 48) as usize;
        match bytes.get(size..) {
            Some(rest) if size >= 8 => bytes = rest,
            _ => break,
        }
    }
    all
}

/// Walks the samples, adds up their leading fields, and hands what follows those to `tail`.
#[inline(always)]
fn walk(mut bytes: &[u8], tail: impl Fn(&mut Sums, &mut &[u8]) -> Option<()>) -> Option<Sums> {
    let mut sums = Sums::default();
    while !bytes.is_empty() {
        let (kind, size) = header(bytes)?;
        let record = take(&mut bytes, size)?;
        let mut payload = record.get(8..)?;
        if kind != 9 {
            continue;
        }
        let leading = take(&mut payload, 40)?;
        let &[ip, tid, time, cpu, period] = leading.as_chunks().0 else { return None };
        let [ip, tid, time, cpu, period] = [ip, tid, time, cpu, period].map(u64::from_le_bytes);
        sums.samples += 1;
        add(&mut sums.ip, ip);
        add(&mut sums.pid, tid as u32 as u64);
        add(&mut sums.tid, tid >> 32);
        add(&mut sums.time, time);
        add(&mut sums.cpu, cpu as u32 as u64);
        add(&mut sums.period, period);
        tail(&mut sums, &mut payload)?;
        if !payload.is_empty() {
            return None;
        }
    }
    Some(sums)
}

/// Samples of 48 bytes.
pub fn samples_48(bytes: &[u8]) -> Option<Sums> {
    walk(bytes, |_, _| Some(()))
}

/// Samples with a call chain.
pub fn callchains(bytes: &[u8]) -> Option<Sums> {
    walk(bytes, |sums, rest| {
        let nr = usize::try_from(word(rest)?).ok()?;
        let chain = take(rest, nr.checked_mul(8)?)?;
        add(&mut sums.callchain, sum(chain));
        Some(())
    })
}

/// Samples with user registers and a user stack.
pub fn stacks(bytes: &[u8]) -> Option<Sums> {
    walk(bytes, |sums, rest| {
        if word(rest)? != 0 {
            let regs = take(rest, 20 * 8)?;
            add(&mut sums.regs_user, sum(regs));
        }
        let size = word(rest)?;
        let data = take(rest, usize::try_from(size).ok()?)?;
        if size != 0 {
            let dyn_size = word(rest)?;
            let copied = data.get(..usize::try_from(dyn_size).ok()?)?;
            add(&mut sums.stack_user, dyn_size);
            if let [first, .., last] = copied {
                add(&mut sums.stack_user, u64::from(*first) + u64::from(*last));
            }
        }
        Some(())
    })
}
