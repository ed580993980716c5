//! Formatter frames: the bytes of several sources in one trace.

use perf_abi::aux_area::{AuxFlags, AuxFormat};

use super::CsTraceId;

/// Bytes of a frame.
const FRAME: usize = 16;

/// Bytes of a frame that can be data: the last has the low bits of the even ones.
const DATA: usize = FRAME - 1;

/// Between frames, and in place of them.
const FULL_SYNC: [u8; 4] = [0xff, 0xff, 0xff, 0x7f];

/// Within frames, in place of two bytes.
const HALF_SYNC: [u8; 2] = [0xff, 0x7f];

/// Returns whether the data of an AUX record has frames. Otherwise all of it is of one source, as that of a sink of each CPU
/// (TRBE), and is given to a decoder as it is.
///
/// Kernel: `PERF_AUX_FLAG_CORESIGHT_FORMAT_*`; since Linux 5.13.
///
/// # Examples
///
/// ```
/// use perf_abi::aux_area::{AuxFlags, AuxFormat};
/// use perf_aux::coresight::has_frames;
///
/// assert!(has_frames(AuxFlags::TRUNCATED));
/// assert!(!has_frames(AuxFlags::NONE.with_pmu_format_type(AuxFormat::RAW)));
/// ```
#[must_use]
pub fn has_frames(flags: AuxFlags) -> bool {
    flags.pmu_format_type() != AuxFormat::RAW
}

/// Consecutive bytes of a trace that are of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CsSlice {
    /// The source; `None` before the first id of the trace.
    pub id: Option<CsTraceId>,
    /// Offset of the first byte in the trace. The others follow it in the trace.
    pub offset: usize,
    bytes: [u8; DATA],
    len: u8,
}

impl CsSlice {
    /// Returns the bytes, of which there are 1 to 15.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// A part of a trace with frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CsPart {
    /// Bytes of a source. They may be padding, with the id [`CsTraceId::NULL`].
    Slice(CsSlice),
    /// The kernel stopped the sink here: trace was lost, and decoders must synchronise again. It is a frame of four full
    /// synchronisation words.
    ///
    /// Kernel: `coresight_barrier_pkt`, `drivers/hwtracing/coresight/coresight-core.c`; since Linux 4.14.
    Barrier {
        /// Offset in the trace.
        offset: usize,
    },
    /// Bytes that are no complete frame: at the end, or before or between synchronisation words.
    Incomplete {
        /// Offset in the trace.
        offset: usize,
        /// Number of bytes, at least 1.
        len: usize,
    },
}

/// Separates a trace with frames by its sources. Borrows the trace, allocates nothing and takes constant time for each frame.
///
/// A frame has 16 bytes. Those with an odd offset are data, except the last, which has a bit for each of those with an even
/// offset. If the low bit of an even byte is clear, it is data, and its low bit is in the last byte. If it is set, the seven
/// others are the id of the source of the following bytes; the bit in the last byte states whether the next byte still belongs
/// to the source before.
///
/// Arm: IHI 0029, CoreSight Architecture Specification, chapter D4, Trace Formatter.
///
/// # Examples
///
/// ```
/// use perf_aux::coresight::{CsFrames, CsPart, CsTraceId};
///
/// // The source 0x10, three bytes; then the source 0x12.
/// let mut frame = [0; 16];
/// frame[..6].copy_from_slice(&[0x10 << 1 | 1, 0xaa, 0xba, 0xcc, 0x12 << 1 | 1, 0xdd]);
/// frame[15] = 1 << 1; // The byte at offset 2 is 0xbb.
/// let mut parts = CsFrames::new(&frame);
/// let Some(CsPart::Slice(slice)) = parts.next() else { panic!("it is data") };
/// assert_eq!((slice.id, slice.offset, slice.bytes()), (Some(CsTraceId(0x10)), 1, &[0xaa, 0xbb, 0xcc][..]));
/// let Some(CsPart::Slice(slice)) = parts.next() else { panic!("it is data") };
/// assert_eq!((slice.id, slice.bytes()[0]), (Some(CsTraceId(0x12)), 0xdd));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CsFrames<'a> {
    trace: &'a [u8],
    /// Offset of the bytes that are not decoded yet.
    at: usize,
    syncs: Syncs,
    id: Option<CsTraceId>,
    /// The data of the current frame, and how much of it was returned.
    data: [DataByte; DATA],
    len: usize,
    returned: usize,
}

/// Whether the trace has synchronisation words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syncs {
    /// Only whole frames of them, in a trace that starts with a frame.
    Frames,
    /// Anywhere, and none was found yet.
    Searched,
    /// Anywhere, and the next byte starts a frame or is one of them.
    Found,
}

/// A byte of data, its source, and its offset.
#[derive(Clone, Copy, Debug, Default)]
struct DataByte {
    id: Option<CsTraceId>,
    offset: usize,
    byte: u8,
}

/// The bytes of a frame in pairs, and the offset of each pair.
type Pairs = [([u8; 2], usize); FRAME / 2];

impl<'a> CsFrames<'a> {
    /// Separates a trace that starts with a frame and has no synchronisation words, except in [barriers](CsPart::Barrier), as the
    /// kernel's sinks write it into memory.
    #[must_use]
    pub const fn new(trace: &'a [u8]) -> Self {
        let data = [DataByte { id: None, offset: 0, byte: 0 }; DATA];
        Self { trace, at: 0, syncs: Syncs::Frames, id: None, data, len: 0, returned: 0 }
    }

    /// Separates a trace with synchronisation words between and within frames, as a trace port writes it. Frames are found after
    /// the first full synchronisation word, at any offset.
    #[must_use]
    pub const fn with_syncs(trace: &'a [u8]) -> Self {
        Self { syncs: Syncs::Searched, ..Self::new(trace) }
    }

    /// Sets the source of the bytes before the first id, for a trace that continues another.
    #[must_use]
    pub const fn after(self, id: Option<CsTraceId>) -> Self {
        Self { id, ..self }
    }

    /// Returns the source of the bytes after the frames so far.
    #[must_use]
    pub const fn id(&self) -> Option<CsTraceId> {
        self.id
    }

    /// Returns the bytes from an offset on.
    fn rest(&self, at: usize) -> &'a [u8] {
        self.trace.get(at..).unwrap_or(&[])
    }

    /// Decodes bytes up to the next frame or part that is not data; `None` at the end.
    fn advance(&mut self) -> Option<Option<CsPart>> {
        match self.syncs {
            Syncs::Frames => self.aligned(),
            Syncs::Searched => self.search(),
            Syncs::Found => self.continuous(),
        }
    }

    fn aligned(&mut self) -> Option<Option<CsPart>> {
        let start = self.at;
        let rest = self.rest(start);
        let Some(frame) = rest.first_chunk::<FRAME>() else { return self.incomplete(rest.len()) };
        self.at += FRAME;
        if frame.chunks_exact(FULL_SYNC.len()).all(|word| word == FULL_SYNC) {
            self.id = None;
            return Some(Some(CsPart::Barrier { offset: start }));
        }
        let mut pairs = Pairs::default();
        for ((pair, bytes), offset) in pairs.iter_mut().zip(frame.as_chunks().0).zip((start..).step_by(2)) {
            *pair = (*bytes, offset);
        }
        self.decode(&pairs);
        Some(None)
    }

    /// Skips bytes up to the first full synchronisation word.
    fn search(&mut self) -> Option<Option<CsPart>> {
        let rest = self.rest(self.at);
        match rest.windows(FULL_SYNC.len()).position(|word| word == FULL_SYNC) {
            None => self.incomplete(rest.len()),
            Some(skipped) => {
                self.syncs = Syncs::Found;
                if skipped == 0 { Some(None) } else { self.incomplete(skipped) }
            }
        }
    }

    fn continuous(&mut self) -> Option<Option<CsPart>> {
        let sync = |rest: &[u8]| {
            let words = [&FULL_SYNC[..], &HALF_SYNC];
            words.into_iter().find(|word| rest.starts_with(word)).map(<[u8]>::len)
        };
        while let Some(len) = sync(self.rest(self.at)) {
            self.at += len;
        }
        let (mut pairs, mut at) = (Pairs::default(), self.at);
        for pair in &mut pairs {
            while self.rest(at).starts_with(&HALF_SYNC) {
                at += HALF_SYNC.len();
            }
            let rest = self.rest(at);
            // A full synchronisation word within a frame: frames start again after it.
            let bytes = if rest.starts_with(&FULL_SYNC) { None } else { rest.first_chunk() };
            let Some(bytes) = bytes else {
                let end = if rest.len() < 2 { self.trace.len() } else { at };
                return self.incomplete(end.saturating_sub(self.at));
            };
            *pair = (*bytes, at);
            at += bytes.len();
        }
        self.at = at;
        self.decode(&pairs);
        Some(None)
    }

    /// Passes over bytes that are no complete frame; `None` if there are none.
    fn incomplete(&mut self, len: usize) -> Option<Option<CsPart>> {
        let offset = self.at;
        self.at += len;
        if len == 0 { None } else { Some(Some(CsPart::Incomplete { offset, len })) }
    }

    fn decode(&mut self, pairs: &Pairs) {
        let [.., ([_, low_bits], _)] = *pairs;
        (self.len, self.returned) = (0, 0);
        for (index, ([even, odd], offset)) in pairs.iter().copied().enumerate() {
            let low_bit = low_bits >> index & 1;
            let odd = if index + 1 < pairs.len() { Some(odd) } else { None };
            if even & 1 == 0 {
                self.push(offset, Some(even | low_bit));
                self.push(offset + 1, odd);
            } else if low_bit == 1 {
                self.push(offset + 1, odd);
                self.id = Some(CsTraceId(even >> 1));
            } else {
                self.id = Some(CsTraceId(even >> 1));
                self.push(offset + 1, odd);
            }
        }
    }

    fn push(&mut self, offset: usize, byte: Option<u8>) {
        let id = self.id;
        if let (Some(byte), Some(slot)) = (byte, self.data.get_mut(self.len)) {
            *slot = DataByte { id, offset, byte };
            self.len += 1;
        }
    }

    /// Returns the next slice of the current frame.
    fn slice(&mut self) -> Option<CsSlice> {
        let data = self.data.get(self.returned..self.len)?;
        let first = data.first()?;
        let same =
            data.iter().zip(first.offset..).take_while(|(it, at)| it.id == first.id && it.offset == *at);
        let mut slice = CsSlice { id: first.id, offset: first.offset, bytes: [0; DATA], len: 0 };
        for ((it, _), byte) in same.zip(&mut slice.bytes) {
            *byte = it.byte;
            slice.len += 1;
        }
        self.returned += usize::from(slice.len);
        Some(slice)
    }
}

impl Iterator for CsFrames<'_> {
    type Item = CsPart;

    fn next(&mut self) -> Option<CsPart> {
        loop {
            if let Some(slice) = self.slice() {
                return Some(CsPart::Slice(slice));
            }
            if let Some(part) = self.advance()? {
                return Some(part);
            }
        }
    }
}
