//! The state in which a thread leaves the CPU.

use core::ops::Range;
use std::sync::Arc;

use perf_abi::endian::Endianness;
use perf_parse::tracepoint::{Format, PrintFmt};

/// The kind of time that a thread spends, off the CPU or on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WaitKind {
    /// It waits until something wakes it up.
    Blocked,
    /// It can run, and waits for a CPU: another thread took the CPU from it.
    Runnable,
    /// A signal, a debugger or the kernel stopped it.
    Stopped,
    /// It runs: the time on the CPU. It is counted if the capture has wake-ups, so that all kinds together are the life of a thread.
    Running,
}

impl WaitKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Blocked, Self::Runnable, Self::Stopped, Self::Running];

    /// Returns the name of the event whose periods are these times.
    #[must_use]
    pub fn event_name(self) -> &'static str {
        match self {
            Self::Blocked => super::NAME,
            Self::Runnable => "runnable",
            Self::Stopped => "stopped",
            Self::Running => "running",
        }
    }

    /// Returns the kind that is shown first of a profile with times off the CPU: the one that a selected event names, or blocked.
    #[must_use]
    pub fn shown_first(selected_event: Option<&str>) -> Self {
        selected_event.and_then(Self::of_event).unwrap_or(Self::Blocked)
    }

    /// Returns the kind of an event with that name.
    #[must_use]
    pub fn of_event(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wait| wait.event_name() == name)
    }
}

/// The state of a thread that leaves the CPU, as the capture writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ThreadState {
    /// The kind of time that begins; `None` if the thread ends: it does not come back.
    pub wait: Option<WaitKind>,
    /// The letters of the state, as the capture's print format writes them: `S`, `D`, `R+`; `unknown` if the capture does not have
    /// the state.
    pub letters: Arc<str>,
}

impl ThreadState {
    /// Returns a state that the capture does not tell. It counts as blocked, and is listed as unknown.
    pub(crate) fn unknown() -> Self {
        Self { wait: Some(WaitKind::Blocked), letters: "unknown".into() }
    }

    /// Classifies the letters of a state. A state without known letters counts as blocked, under its own letters.
    ///
    /// Linux: `trace_sched_switch`, `include/trace/events/sched.h`. A `+` marks a thread that was preempted in any state; `K`,
    /// `W` and `N` only modify other states.
    fn new(letters: &str) -> Self {
        let has = |some: &[char]| letters.contains(some);
        let wait = match () {
            () if letters.contains('+') || letters == "R" => Some(WaitKind::Runnable),
            () if has(&['X', 'Z', 'x']) => None,
            () if has(&['T', 't', 'P']) => Some(WaitKind::Stopped),
            () => Some(WaitKind::Blocked),
        };
        Self { wait, letters: letters.into() }
    }
}

/// Reads the states in `prev_state` of `sched:sched_switch` by the print format of the capture, as each kernel numbers them in
/// its own way.
#[derive(Debug)]
pub(crate) struct StateReader<'a> {
    print_fmt: Option<PrintFmt<'a>>,
    /// Where the number of the state is in the raw data.
    bytes: Range<usize>,
    /// Number of bytes of the raw data.
    length: usize,
    endianness: Endianness,
    /// The states with the bytes of their numbers. Few as they are, the first ones are found soonest.
    known: Vec<(Box<[u8]>, ThreadState)>,
}

/// Number of states that are remembered. Real captures have about ten.
const STATES: usize = 64;

/// The cost of the text of an event, which takes some hundreds.
const MAX_COST: u32 = 1 << 13;

/// Number of letters of a state that are kept. Real states have four at most, such as `D|K`.
const LETTERS: usize = 16;

impl<'a> StateReader<'a> {
    /// `None` if the tracepoint has no state.
    pub(crate) fn new(format: &Format<'a>, endianness: Endianness) -> Option<Self> {
        let field = format.own_fields().iter().find(|it| it.name == b"prev_state")?;
        let ends = format.common_fields().iter().chain(format.own_fields());
        let ends = ends.map(|it| it.offset as usize + it.size as usize);
        // The fields before the state are the ids and one name; no kernel has longer raw data.
        let length = ends.max().filter(|&length| length <= 1 << 12)?;
        let print_fmt = PrintFmt::new(format).ok();
        let bytes = field.offset as usize..field.offset as usize + field.size as usize;
        Some(Self { print_fmt, bytes, length, endianness, known: Vec::new() })
    }

    /// Returns the state in the raw data of a switch; `None` if the data ends before it, or the print format does not tell it.
    pub(crate) fn of(&mut self, raw: &[u8]) -> Option<&ThreadState> {
        let number = raw.get(self.bytes.clone())?;
        let found = self.known.iter().position(|(known, _)| **known == *number);
        let index = match found {
            Some(index) => index,
            None => {
                let state = ThreadState::new(&self.letters(number)?);
                // The last one of a full list makes room.
                self.known.truncate(STATES - 1);
                self.known.push((number.into(), state));
                self.known.len() - 1
            }
        };
        self.known.get(index).map(|(_, state)| state)
    }

    /// Returns the letters of a state. All other fields are zeros, so that no name of a thread looks like a state.
    fn letters(&self, number: &[u8]) -> Option<String> {
        let mut raw = vec![0; self.length];
        raw.get_mut(self.bytes.clone())?.copy_from_slice(number);
        let (mut text, print_fmt) = (Vec::new(), self.print_fmt.as_ref()?);
        // The print format has no pointers.
        print_fmt.write_within(&raw, self.endianness, &(), MAX_COST, &mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        let state = text.split_whitespace().find_map(|word| word.strip_prefix("prev_state="))?;
        let letters: String = state.chars().take(LETTERS).collect();
        (!letters.is_empty()).then_some(letters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(letters: &str) -> Option<WaitKind> {
        ThreadState::new(letters).wait
    }

    #[test]
    fn states_are_told_by_their_letters() {
        for blocked in ["S", "D", "I", "D|K", "D|N", "K", "W"] {
            assert_eq!(wait(blocked), Some(WaitKind::Blocked), "{blocked}");
        }
        for runnable in ["R", "R+", "S+", "D+"] {
            assert_eq!(wait(runnable), Some(WaitKind::Runnable), "{runnable}");
        }
        for stopped in ["T", "t", "P", "T|K"] {
            assert_eq!(wait(stopped), Some(WaitKind::Stopped), "{stopped}");
        }
        for ended in ["X", "Z", "x", "X|Z"] {
            assert_eq!(wait(ended), None, "{ended}");
        }
    }

    #[test]
    fn more_states_than_are_remembered_are_read() {
        let text = b"name: sched_switch\nID: 7\nformat:\n\
            \tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;\n\n\
            \tfield:int prev_pid;\toffset:0;\tsize:4;\tsigned:1;\n\
            \tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n\n\
            print fmt: \"prev_state=%ld\", REC->prev_state\n";
        let format = Format::parse(b"sched", text, 8).unwrap();
        let mut states = StateReader::new(&format, Endianness::Little).unwrap();
        for number in (0..STATES + 2).chain([STATES - 2, STATES - 1, STATES, 0]) {
            let mut raw = vec![0xff; 8];
            raw.extend((number as u64).to_le_bytes());
            assert_eq!(*states.of(&raw).unwrap().letters, *number.to_string());
            assert!(states.of(&raw[..15]).is_none());
            assert!(states.known.len() <= STATES);
        }
        assert_eq!(states.known.len(), STATES);
    }

    #[test]
    fn names_of_events_are_found_again() {
        for wait in WaitKind::ALL {
            assert_eq!(WaitKind::of_event(wait.event_name()), Some(wait));
        }
        assert_eq!(WaitKind::of_event("cycles"), None);
    }
}
