//! Call chains: the recorded words and their frames.

use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{ByteOrder, Endianness};

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, ListIter};

/// A call chain, innermost frame first. Borrows from the record.
///
/// Kernel: `struct perf_callchain_entry`, `perf_callchain`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(bound = "", transparent))]
pub struct Callchain<'a, O: ByteOrder = Endianness> {
    words: List<'a, u64, O>,
}

impl<'a, O: ByteOrder> Callchain<'a, O> {
    #[inline]
    pub(super) fn parse(order: O::Value, at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word_in::<O>(order, "callchain.nr")?;
        Ok(Self { words: at.list(order, nr, "callchain")? })
    }

    /// Returns the words as recorded, including context markers and cookies.
    #[must_use]
    #[inline]
    pub fn words(&self) -> List<'a, u64, O> {
        self.words
    }

    /// Returns the frames, each with its context.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::callchain::CallchainContext;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::sample::ChainFrame;
    /// use perf_parse::{RawRecord, Record, SampleLayout};
    ///
    /// let mut bytes = vec![9, 0, 0, 0, 2, 0, 32, 0]; // SAMPLE, USER, 32 bytes
    /// for word in [2, CallchainContext::USER.0, 0x401000] {
    ///     bytes.extend_from_slice(&u64::to_le_bytes(word));
    /// }
    /// let layout = SampleLayout::new(&Attr { sample_type: SampleType::CALLCHAIN, ..Attr::default() })?;
    /// let Record::Sample(sample) = RawRecord::<LittleEndian>::parse(&bytes)?.0.decode(&layout)? else { panic!() };
    /// let chain = sample.callchain()?.unwrap();
    /// assert_eq!(chain.words().len(), 2);
    /// let context = Some(CallchainContext::USER);
    /// assert!(chain.frames().eq([ChainFrame::Ip { ip: 0x401000, context }]));
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[must_use]
    pub fn frames(&self) -> ChainFrames<'a, O> {
        ChainFrames { words: self.words.iter(), context: None }
    }

    /// Returns the cookie at the end of a chain whose user part comes in a later CALLCHAIN_DEFERRED record of the same
    /// thread; `None` for a complete chain. Takes constant time.
    ///
    /// perf: `evsel__parse_sample`, `tools/perf/util/evsel.c`; since Linux 6.19.
    #[must_use]
    #[inline]
    pub fn deferred_cookie(&self) -> Option<u64> {
        let last = self.words.len().checked_sub(1)?;
        let marker = self.words.get(last.checked_sub(1)?)?;
        if marker == CallchainContext::USER_DEFERRED.0 { self.words.get(last) } else { None }
    }
}

/// A frame of a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ChainFrame {
    /// An address: the instruction pointer or a return address.
    Ip {
        /// The address.
        ip: u64,
        /// The last marker before the address, known or not. `None` before the first marker.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        context: Option<CallchainContext>,
    },
    /// The rest of the chain is in a later CALLCHAIN_DEFERRED record with this cookie.
    Deferred {
        /// The cookie; `None` if the chain ends before it.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        cookie: Option<u64>,
    },
}

/// An iterator over the frames of a call chain; made by [`Callchain::frames`].
#[derive(Clone, Debug)]
pub struct ChainFrames<'a, O: ByteOrder = Endianness> {
    words: ListIter<'a, u64, O>,
    context: Option<CallchainContext>,
}

impl<O: ByteOrder> Iterator for ChainFrames<'_, O> {
    type Item = ChainFrame;

    fn next(&mut self) -> Option<ChainFrame> {
        loop {
            let word = self.words.next()?;
            match CallchainContext::of(word) {
                None => return Some(ChainFrame::Ip { ip: word, context: self.context }),
                Some(CallchainContext::USER_DEFERRED) => {
                    return Some(ChainFrame::Deferred { cookie: self.words.next() });
                }
                context => self.context = context,
            }
        }
    }
}
