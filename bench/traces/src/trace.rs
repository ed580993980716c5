//! A trace of Intel PT as programs make it, of packets that every decoder knows.

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }
}

/// Bytes between two PSB packets: the kernel's default, 2 KiB.
const PSB_PERIOD: usize = 2 << 10;

/// Loops that the program has, and the packets of each.
const LOOPS: u64 = 64;
const PACKETS: u64 = 24;

/// Makes a trace of about this number of bytes: a PSB packet with the state of the processor every 2 KiB, and in between
/// branches, targets, time and cycles. Half of the packets are TNT, a quarter are TIP.
///
/// As programs do, it repeats itself: it is the packets of a few loops, each of which runs several times.
pub(crate) fn make(bytes: usize) -> Vec<u8> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let loops: Vec<Vec<u8>> = (0..LOOPS).map(|_| body(&mut random)).collect();
    let mut trace = Vec::with_capacity(bytes + PSB_PERIOD);
    let mut tsc = 0x12_3456_7890_u64;
    while trace.len() < bytes {
        let end = trace.len() + PSB_PERIOD;
        state(&mut trace, tsc);
        while trace.len() < end {
            let body = &loops[random.below(LOOPS) as usize];
            for _ in 0..1 + random.below(16) {
                trace.extend_from_slice(body);
            }
            tsc += 4000;
        }
    }
    trace
}

/// The packets of one run of a loop.
fn body(random: &mut Random) -> Vec<u8> {
    let mut body = Vec::new();
    for _ in 0..PACKETS {
        match random.below(16) {
            0..8 => {
                // Six branches, or fewer.
                let count = if random.below(4) == 0 { 1 + random.below(6) } else { 6 };
                body.push(((1 << count | random.below(1 << count)) << 1) as u8);
            }
            8..12 => target(&mut body, 0x0d, random),
            12..14 => body.push((random.below(32) << 3) as u8 | 3),
            14 => body.extend_from_slice(&[0x59, random.below(256) as u8]),
            _ => {
                target(&mut body, 0x1d, random);
                target(&mut body, 0x0d, random);
            }
        }
    }
    body
}

/// PSB, TSC, CBR, MODE.Exec of 64 bits, FUP, PSBEND.
fn state(trace: &mut Vec<u8>, tsc: u64) {
    trace.extend([2, 0x82].repeat(8));
    trace.push(0x19);
    trace.extend_from_slice(&tsc.to_le_bytes()[..7]);
    trace.extend_from_slice(&[0x02, 0x03, 0x22, 0x00]);
    trace.extend_from_slice(&[0x99, 0x01]);
    trace.push(0x7d);
    trace.extend_from_slice(&0x5555_5540_1000_u64.to_le_bytes()[..6]);
    trace.extend_from_slice(&[0x02, 0x23]);
}

/// An address: mostly of two bytes, or of four or six.
fn target(trace: &mut Vec<u8>, head: u8, random: &mut Random) {
    let address = 0x5555_5540_0000 + random.below(1 << 22);
    let (compression, size) = match random.below(8) {
        0..5 => (1, 2),
        5..7 => (2, 4),
        _ => (3, 6),
    };
    trace.push(head | compression << 5);
    trace.extend_from_slice(&address.to_le_bytes()[..size]);
}
