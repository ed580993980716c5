//! The synchronisation packets of Intel PT, and the time stamps after them.
//!
//! Only the packets that can come between PSB and PSBEND are known here: what else comes ends the search.

/// The PSB packet.
///
/// Intel SDM: volume 3, "PSB Packet".
pub(super) const PSB: [u8; 16] = [2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82];

/// A time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeStamp {
    /// The low 56 bits of the time stamp counter.
    pub(super) tsc: u64,
    /// Offset of the packet.
    pub(super) at: usize,
}

/// Returns the offset of the first PSB from an offset on.
pub(super) fn next_psb(bytes: &[u8], from: usize) -> Option<usize> {
    let at = bytes.get(from..)?.windows(PSB.len()).position(|window| window == PSB)?;
    from.checked_add(at)
}

/// Returns the offset of the last PSB.
pub(super) fn last_psb(bytes: &[u8]) -> Option<usize> {
    bytes.windows(PSB.len()).rposition(|window| window == PSB)
}

/// Returns the time stamp of the packets from a PSB to the next PSBEND or PSB; `None` if they have none.
///
/// perf's search goes on at the next PSB, where it begins again anyway: here it ends there, so that the search from all PSBs
/// of a buffer is linear.
///
/// perf: `intel_pt_next_tsc`.
pub(super) fn first_tsc(bytes: &[u8], psb: usize) -> Option<TimeStamp> {
    let mut at = psb.checked_add(PSB.len())?;
    loop {
        let rest = bytes.get(at..)?;
        if let Some(&[0x19, tsc @ ..]) = rest.first_chunk::<8>() {
            let [a, b, c, d, e, f, g] = tsc;
            return Some(TimeStamp { tsc: u64::from_le_bytes([a, b, c, d, e, f, g, 0]), at });
        }
        let len = length(rest)?;
        rest.get(..len)?;
        at = at.checked_add(len)?;
    }
}

/// Returns the length of a packet that can come after PSB and before a time stamp; `None` for PSBEND and all others.
///
/// Intel SDM: volume 3, "Packet Definitions".
fn length(bytes: &[u8]) -> Option<usize> {
    match *bytes {
        // PAD
        [0, ..] => Some(1),
        // CBR, PIP, TMA, VMCS, OVF, MNT
        [2, 3, ..] => Some(4),
        [2, 0x43, ..] => Some(8),
        [2, 0x73 | 0xc8, ..] => Some(7),
        [2, 0xf3, ..] => Some(2),
        [2, 0xc3, 0x88, ..] => Some(11),
        // MTC, MODE
        [0x59 | 0x99, ..] => Some(2),
        // FUP: the high bits have the compression of the address.
        [head, ..] if head & 0x1f == 0x1d => match head >> 5 {
            0 => Some(1),
            1 => Some(3),
            2 => Some(5),
            3 | 4 => Some(7),
            6 => Some(9),
            _ => None,
        },
        // CYC: a bit of each byte says whether another follows.
        [head, ref more @ ..] if head & 3 == 3 => {
            if head & 4 == 0 {
                return Some(1);
            }
            let more = more.iter().take(9).position(|byte| byte & 1 == 0)?;
            more.checked_add(2)
        }
        _ => None,
    }
}
