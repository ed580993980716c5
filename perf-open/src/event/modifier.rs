//! Modifiers: the letters after an event's colon.

use perf_abi::attr::AttrFlags;

/// The letters after the colon of an event or a group.
///
/// | letter | meaning |
/// |---|---|
/// | `u`, `k`, `h` | count user space, the kernel, the hypervisor; the ones that are not named are excluded |
/// | `G`, `H` | count guests, the host; the one that is not named is excluded |
/// | `I` | do not count while idle |
/// | `p`, `pp`, `ppp` | `precise_ip` 1, 2, 3: constant skid, zero skid requested, zero skid required |
/// | `P` | the highest `precise_ip` that opens, [`EventSpec::precise_max`](super::EventSpec::precise_max) |
/// | `S` | of a group, only the leader samples, and members with a rate of their own, [`EventGroup::sample_leader_only`](super::EventGroup::sample_leader_only) |
/// | `D` | pinned: always on the PMU, or in error |
/// | `e` | exclusive: alone on the PMU |
/// | `W` | the events may be opened one by one if the kernel refuses the group, [`EventGroup::weak`](super::EventGroup::weak) |
/// | `b` | counted by BPF, [`EventSpec::bpf_counter`](super::EventSpec::bpf_counter) |
///
/// perf: `get_event_modifier`, `tools/perf/util/parse-events.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Which of `u`, `k`, `h`, `G`, `H`, `I`, `P`, `S`, `D`, `e`, `W`, `b` are present: a bit each, in that order.
    set: u16,
    /// The number of `p`: 0 to 3.
    precise: u8,
}

/// The letters that may occur once, in the order of their bits.
const ONCE: &str = "ukhGHIPSDeWb";

impl Modifiers {
    /// Parses modifiers. The empty string has none.
    ///
    /// # Errors
    ///
    /// The byte offset of the first letter that is not a modifier, occurs a second time, or is a fourth `p`; and that
    /// letter.
    pub fn parse(text: &str) -> Result<Self, (usize, char)> {
        let mut modifiers = Self::default();
        for (offset, letter) in text.char_indices() {
            if letter == 'p' {
                if modifiers.precise == 3 {
                    return Err((offset, letter));
                }
                modifiers.precise = modifiers.precise.saturating_add(1);
                continue;
            }
            match ONCE.find(letter) {
                Some(bit) if modifiers.set & 1 << bit == 0 => modifiers.set |= 1 << bit,
                _ => return Err((offset, letter)),
            }
        }
        Ok(modifiers)
    }

    /// Returns whether `letter` is a modifier.
    pub(super) fn is_letter(letter: char) -> bool {
        letter == 'p' || ONCE.contains(letter)
    }

    /// Returns the modifiers without `D` and `e`, which only the leader of a group may have.
    pub(super) fn of_sibling(self) -> Self {
        let leaders = ONCE.char_indices().filter(|(_, letter)| matches!(letter, 'D' | 'e'));
        Self { set: leaders.fold(self.set, |set, (bit, _)| set & !(1 << bit)), ..self }
    }

    /// Returns whether `letter` is present.
    #[must_use]
    pub fn contains(self, letter: char) -> bool {
        match letter {
            'p' => self.precise > 0,
            _ => ONCE.find(letter).is_some_and(|bit| self.set & 1 << bit != 0),
        }
    }

    /// Returns the number of `p`: 0 to 3.
    #[must_use]
    pub fn precise(self) -> u8 {
        self.precise
    }

    /// Applies the modifiers to `flags`. `machine_is_set` is whether `G` or `H` was applied to `flags` before.
    ///
    /// `None` if the `p` of a group and of its event add up to more than 3.
    #[must_use]
    pub fn apply(self, flags: AttrFlags, machine_is_set: bool) -> Option<AttrFlags> {
        const RINGS: AttrFlags =
            AttrFlags(AttrFlags::EXCLUDE_USER.0 | AttrFlags::EXCLUDE_KERNEL.0 | AttrFlags::EXCLUDE_HV.0);
        const MACHINES: AttrFlags = AttrFlags(AttrFlags::EXCLUDE_GUEST.0 | AttrFlags::EXCLUDE_HOST.0);
        let mut new = flags;
        let rings =
            [('u', AttrFlags::EXCLUDE_USER), ('k', AttrFlags::EXCLUDE_KERNEL), ('h', AttrFlags::EXCLUDE_HV)];
        if rings.iter().any(|&(letter, _)| self.contains(letter)) && !flags.intersects(RINGS) {
            new |= RINGS;
        }
        let machines = [('G', AttrFlags::EXCLUDE_GUEST), ('H', AttrFlags::EXCLUDE_HOST)];
        let names_machine = machines.iter().any(|&(letter, _)| self.contains(letter));
        if names_machine && !machine_is_set {
            new |= MACHINES;
        } else if !machine_is_set && (self.precise > 0 || self.contains('u')) {
            new |= AttrFlags::EXCLUDE_GUEST;
        }
        for (letter, flag) in rings.into_iter().chain(machines) {
            if self.contains(letter) {
                new = new.without(flag);
            }
        }
        for (letter, flag) in
            [('I', AttrFlags::EXCLUDE_IDLE), ('D', AttrFlags::PINNED), ('e', AttrFlags::EXCLUSIVE)]
        {
            if self.contains(letter) {
                new |= flag;
            }
        }
        let precise = flags.precise_ip().saturating_add(self.precise);
        (precise <= 3).then(|| new.with_precise_ip(precise))
    }
}
