//! Code that the kernel wrote while it was recorded.
//!
//! Kernel: `perf_event_text_poke`, `kernel/events/core.c`; since Linux 5.9.

use std::ops::Range;

use perf_parse::record::TextPoke;

/// Changes of the kernel's code, in the order of time.
#[derive(Debug, Default)]
pub(crate) struct TextPokes {
    list: Vec<Poke>,
    bytes: usize,
}

#[derive(Debug)]
struct Poke {
    time: Option<u64>,
    address: u64,
    old: Box<[u8]>,
    new: Box<[u8]>,
}

impl TextPokes {
    /// Adds a change, unless all together would have more than `limit` bytes.
    pub(crate) fn add(&mut self, poke: &TextPoke<'_>, time: Option<u64>, limit: usize) {
        const HEAD: usize = 64;
        let size = poke.old.len() + poke.new.len() + HEAD;
        if self.bytes.saturating_add(size) > limit {
            return;
        }
        self.bytes += size;
        self.list.push(Poke { time, address: poke.addr, old: poke.old.into(), new: poke.new.into() });
    }

    /// Makes code what it was at a time, whether it is that of before the recording or of after it. Returns whether anything
    /// was changed. Without a time, at the end of the recording.
    pub(crate) fn apply(&self, start: u64, code: &mut [u8], time: Option<u64>) -> bool {
        let is_later = |poke: &Poke| poke.time.zip(time).is_some_and(|(of_poke, time)| of_poke > time);
        let mut is_changed = false;
        for poke in self.list.iter().filter(|poke| !is_later(poke)) {
            is_changed |= put(start, code, poke.address, &poke.new);
        }
        for poke in self.list.iter().rev().filter(|poke| is_later(poke)) {
            is_changed |= put(start, code, poke.address, &poke.old);
        }
        is_changed
    }

    /// Returns the bytes at addresses as they were at a time, if they were written while it was recorded: code that was not
    /// there before. `None` if not all were.
    pub(crate) fn written(&self, range: &Range<u64>, time: Option<u64>) -> Option<Vec<u8>> {
        let size = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        if size > self.bytes {
            return None;
        }
        let mut is_written = vec![0_u8; size];
        for poke in &self.list {
            put(range.start, &mut is_written, poke.address, &vec![1; poke.new.len()]);
        }
        if is_written.contains(&0) {
            return None;
        }
        let mut code = vec![0; size];
        self.apply(range.start, &mut code, time);
        Some(code)
    }
}

/// Puts bytes of an address into code, as far as they are within it.
fn put(start: u64, code: &mut [u8], address: u64, bytes: &[u8]) -> bool {
    let (skipped, at) = match address.checked_sub(start) {
        Some(at) => (0, at),
        None => (start - address, 0),
    };
    let Some(bytes) = usize::try_from(skipped).ok().and_then(|skipped| bytes.get(skipped..)) else {
        return false;
    };
    let Some(to) = usize::try_from(at).ok().and_then(|at| code.get_mut(at..)) else { return false };
    let size = to.len().min(bytes.len());
    to.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    size > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pokes() -> TextPokes {
        let mut pokes = TextPokes::default();
        pokes.add(&TextPoke { addr: 0x102, old: &[2, 3], new: &[12, 13] }, Some(10), 1 << 10);
        pokes.add(&TextPoke { addr: 0x103, old: &[13], new: &[23] }, Some(20), 1 << 10);
        pokes
    }

    fn at(base: [u8; 5], time: Option<u64>) -> [u8; 5] {
        let mut code = base;
        pokes().apply(0x100, &mut code, time);
        code
    }

    #[test]
    fn code_at_a_time_from_before_and_after() {
        let (before, between, after) = ([0, 1, 2, 3, 4], [0, 1, 12, 13, 4], [0, 1, 12, 23, 4]);
        for base in [before, after] {
            assert_eq!(at(base, Some(9)), before);
            assert_eq!(at(base, Some(10)), between);
            assert_eq!(at(base, Some(19)), between);
            assert_eq!(at(base, Some(20)), after);
            assert_eq!(at(base, None), after);
        }
    }

    #[test]
    fn a_change_that_is_partly_outside() {
        let mut code = [3, 4];
        assert!(pokes().apply(0x103, &mut code, None));
        assert_eq!(code, [23, 4]);
        let mut code = [0, 1];
        assert!(!pokes().apply(0x100, &mut code, None));
        assert!(!pokes().apply(u64::MAX, &mut code, None));
    }

    #[test]
    fn only_what_was_written_is_known() {
        assert_eq!(pokes().written(&(0x102..0x104), None), Some(vec![12, 23]));
        assert_eq!(pokes().written(&(0x102..0x104), Some(12)), Some(vec![12, 13]));
        assert_eq!(pokes().written(&(0x102..0x105), None), None);
        assert_eq!(pokes().written(&(0..u64::MAX), None), None);
    }

    #[test]
    fn the_limit_counts_bytes_and_heads() {
        let poke = TextPoke { addr: 0, old: &[], new: &[1, 2] };
        for (limit, expected) in [(65, 0), (66, 1), (131, 1), (132, 2)] {
            let mut pokes = TextPokes::default();
            pokes.add(&poke, None, limit);
            pokes.add(&poke, None, limit);
            assert_eq!(pokes.list.len(), expected);
        }
    }
}
