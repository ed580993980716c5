//! The walk from header to header.

mod sample_id;
mod stale;

pub use sample_id::SampleId;

use perf_abi::endian::{ByteOrder, Endian, Endianness, LittleEndian};
use perf_abi::record::{self as wire, Misc, RecordType};
use zerocopy::FromBytes;
use zerocopy_derive::{Immutable, KnownLayout, Unaligned};

use crate::error::{Error, ErrorKind};
use crate::layout::SampleLayout;

/// Bytes of a record's header.
const HEADER: usize = 8;

/// A record with a decoded header and an undecoded payload.
///
/// Consists of a pointer, a length, and the byte order if the order is known only at run time. Borrows from the input.
#[derive(Clone, Copy)]
#[doc(alias = "RawEventRecord")]
pub struct RawRecord<'a, O: ByteOrder = Endianness> {
    pub(crate) bytes: &'a Whole,
    pub(crate) order: O::Value,
}

/// A record as it is in memory.
// `FromBytes` by its path: zerocopy's own name is both a trait and a derive if another crate enables its derives.
#[derive(
    Debug, zerocopy_derive::FromBytes, zerocopy_derive::IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(crate) struct Whole<P: ?Sized = [u8]> {
    header: RawHeader,
    payload: P,
}

#[cfg(feature = "alloc")]
impl Whole {
    /// A record of type 0 without a payload.
    pub(crate) const EMPTY: &'static Self =
        &Whole { header: RawHeader { kind: [0; 4], misc: [0; 2], size: [8, 0] }, payload: [] };

    /// Returns the record that fills `bytes`, whose size is the one in its header.
    #[inline]
    pub(crate) fn found(bytes: &[u8]) -> Option<&Self> {
        Self::ref_from_bytes(bytes).ok()
    }
}

/// The fields of a header, in any byte order.
#[derive(
    Clone,
    Copy,
    Debug,
    zerocopy_derive::FromBytes,
    zerocopy_derive::IntoBytes,
    KnownLayout,
    Immutable,
    Unaligned,
)]
#[repr(C)]
struct RawHeader {
    kind: [u8; 4],
    misc: [u8; 2],
    size: [u8; 2],
}

impl RawHeader {
    /// Returns whether the type may be one of simpleperf, which is rare: those from 32768 to 65535. The bit that they have is in
    /// one of two bytes, by the byte order. One test of both costs each record less than the type in its order would.
    #[inline(always)]
    fn may_be_simpleperf(&self) -> bool {
        let bit_of_either_order = u32::from_ne_bytes([0, 1 << 7, 1 << 7, 0]);
        u32::from_ne_bytes(self.kind) & bit_of_either_order != 0
    }

    /// Returns the size of the record: 16 bits, or 32 bits for a type of simpleperf.
    fn size<O: ByteOrder>(self, order: O::Value) -> u32 {
        let low = u32::from(O::u16(order, self.size));
        if !RecordType(O::u32(order, self.kind)).is_simpleperf() {
            return low;
        }
        u32::from(O::u16(order, self.misc)) << 16 | low
    }
}

impl<O: ByteOrder> core::fmt::Debug for RawRecord<'_, O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RawRecord")
            .field("kind", &self.kind())
            .field("misc", &self.misc())
            .field("size", &self.size())
            .field("payload", &self.payload())
            .finish()
    }
}

/// The fields of the header except the size, which follows from the payload; and the payload.
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for RawRecord<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut to = to.serialize_struct("RawRecord", 3)?;
        to.serialize_field("type", &self.kind())?;
        to.serialize_field("misc", &self.misc())?;
        to.serialize_field("payload", &crate::serialize::SerializedBytes(self.payload()))?;
        to.end()
    }
}

impl<'a, O: Endian> RawRecord<'a, O> {
    /// Returns the record at the start of `bytes` and the bytes after it. Takes constant time.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] if `bytes` ends before the header does or before the header's `size`;
    /// [`ErrorKind::RecordSize`] if `size` is below 8. In both cases the next record cannot be found.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        Self::parse_in((), bytes)
    }

    /// Does the same as [`parse`](Self::parse) for bytes of a ring, and returns `None` instead of an error. Faster, as all records of
    /// a ring are the kernel's, whose sizes have 16 bits. Of a type of simpleperf, which no kernel writes, the size is wrong.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::RawRecord;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::record::RecordType;
    ///
    /// let (record, rest) = RawRecord::<LittleEndian>::parse_in_ring(b"\x0e\0\0\0\0\0\x08\0").unwrap();
    /// assert_eq!((record.kind(), rest.len()), (RecordType::SWITCH, 0));
    /// assert!(RawRecord::<LittleEndian>::parse_in_ring(b"\x0e\0\0\0\0\0\x10\0").is_none());
    /// ```
    #[must_use]
    #[inline]
    pub fn parse_in_ring(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        Self::whole_of_kernel((), bytes)
    }

    /// Returns the record at the start of `bytes` and the bytes after it, if it is of one of `types`: a bit for each
    /// kernel type.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn of_types(bytes: &'a [u8], types: u64) -> Option<(Self, &'a [u8])> {
        // None of these types has the header of simpleperf.
        let (raw, after) = Self::whole_of_kernel((), bytes)?;
        let is_asked_for = types.checked_shr(raw.kind().0)? & 1 != 0;
        is_asked_for.then_some((raw, after))
    }

    /// Returns the record with its byte order as a value instead of a type.
    #[must_use]
    pub fn untyped(self) -> RawRecord<'a> {
        RawRecord { bytes: self.bytes, order: O::ENDIANNESS }
    }
}

impl<'a, O: ByteOrder> RawRecord<'a, O> {
    /// Returns the record at the start of `bytes`, which are in the byte order `order`, and the bytes after it. Takes
    /// constant time.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](RawRecord::parse).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::RawRecord;
    /// use perf_parse::abi::endian::Endianness;
    /// use perf_parse::abi::record::RecordType;
    ///
    /// let (record, rest) = RawRecord::<Endianness>::parse_in(Endianness::Big, b"\0\0\0\x44\0\0\0\x08")?;
    /// assert_eq!(record.kind(), RecordType::FINISHED_ROUND);
    /// assert!(rest.is_empty());
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[inline]
    pub fn parse_in(order: O::Value, bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        match Self::whole(order, bytes) {
            Some(whole) => Ok(whole),
            None => Err(Self::fault(order, bytes)),
        }
    }

    /// Returns the byte order of the record.
    #[must_use]
    #[inline]
    pub fn endianness(&self) -> Endianness {
        O::endianness(self.order)
    }

    /// Returns the byte order as the views of the record keep it.
    #[inline]
    pub(crate) fn order(&self) -> O::Value {
        self.order
    }

    /// Returns the bytes of the record, with the header.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        zerocopy::IntoBytes::as_bytes(self.bytes)
    }

    /// Returns the record in another type of byte order, which must be the same order.
    #[inline]
    pub(crate) fn typed<P: ByteOrder>(self, order: P::Value) -> RawRecord<'a, P> {
        RawRecord { bytes: self.bytes, order }
    }

    /// Does the same as [`parse_in`](Self::parse_in), but returns `None` instead of an error.
    #[inline]
    pub(crate) fn whole(order: O::Value, bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (header, _) = RawHeader::ref_from_prefix(bytes).ok()?;
        if header.may_be_simpleperf() {
            return Self::whole_of_any(order, bytes);
        }
        Self::whole_of_kernel(order, bytes)
    }

    /// As [`whole`](Self::whole), for a type below those of simpleperf, as all in a ring and all with a time are: its size has 16
    /// bits. Of another type, the size is wrong.
    #[inline]
    pub(crate) fn whole_of_kernel(order: O::Value, bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (header, _) = RawHeader::ref_from_prefix(bytes).ok()?;
        let payload = usize::from(O::u16(order, header.size)).checked_sub(HEADER)?;
        let (record, rest) = Whole::ref_from_prefix_with_elems(bytes, payload).ok()?;
        Some((Self { bytes: record, order }, rest))
    }

    /// As [`whole`](Self::whole), for any type.
    #[cold]
    #[inline(never)]
    fn whole_of_any(order: O::Value, bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let payload = Self::announced_size(order, bytes)?.checked_sub(HEADER)?;
        let (record, rest) = Whole::ref_from_prefix_with_elems(bytes, payload).ok()?;
        Some((Self { bytes: record, order }, rest))
    }

    /// Returns the size in the header at the start of `bytes`; `None` if there is no header.
    pub(crate) fn announced_size(order: O::Value, bytes: &[u8]) -> Option<usize> {
        let (header, _) = RawHeader::ref_from_prefix(bytes).ok()?;
        Some(header.size::<O>(order) as usize)
    }

    /// Returns the reason why no record is at the start of `bytes`.
    #[cold]
    pub(crate) fn fault(order: O::Value, bytes: &[u8]) -> Error {
        let available = bytes.len() as u64;
        let Ok((header, rest)) = RawHeader::ref_from_prefix(bytes) else {
            return Error::new(ErrorKind::Truncated { field: "header", needed: HEADER as u64, available }, 0);
        };
        let size = header.size::<O>(order);
        match u64::from(size).checked_sub(HEADER as u64) {
            None => Error::new(ErrorKind::RecordSize { size }, 6),
            Some(needed) => {
                let available = rest.len() as u64;
                Error::new(ErrorKind::Truncated { field: "payload", needed, available }, 8)
            }
        }
    }

    /// Returns the type of the record.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> RecordType {
        RecordType(O::u32(self.order, self.bytes.header.kind))
    }

    /// Returns the `misc` bits, whose meaning depends on the type. A record of simpleperf has none: the high half of its size
    /// takes their place, which is 0 unless the record is longer than 65535 bytes.
    #[must_use]
    #[inline]
    pub fn misc(&self) -> Misc {
        Misc(O::u16(self.order, self.bytes.header.misc))
    }

    /// Returns the size of the record in bytes, including the header. At most 65535, except for a record of simpleperf.
    #[must_use]
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the size in a header has at most 32 bits")]
    pub fn size(&self) -> u32 {
        self.len() as u32
    }

    /// Returns the size of the record in bytes, as a length.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.payload.len().wrapping_add(HEADER)
    }

    /// Returns the bytes after the header, including the `sample_id` trailer.
    #[must_use]
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes.payload
    }

    /// Returns the number of bytes after the record that belong to it: the AUX data after an AUXTRACE record, and the
    /// formats of tracepoints after HEADER_TRACING_DATA, padded to a multiple of 8 bytes. 0 if the record itself has the
    /// data: see [`inner_data`](Self::inner_data).
    ///
    /// `None` for every other record, and for one that is too short to have this number.
    #[must_use]
    pub fn trailing_size(&self) -> Option<u64> {
        let size = self.announced()?;
        match self.kind() {
            RecordType::HEADER_TRACING_DATA => Some(size.next_multiple_of(8)),
            _ => Some(size),
        }
    }

    /// Returns the data that perf stores after a record and other writers in it: simpleperf until 2018 in
    /// HEADER_TRACING_DATA. The record has the data if it has room for all of it after its fields.
    ///
    /// `None` for every other record, and if there is no data.
    #[must_use]
    pub fn inner_data(&self) -> Option<&'a [u8]> {
        let (fields, size) = self.data_size()?;
        let data = self.payload().get(fields..)?;
        data.get(..usize::try_from(size).ok()?).filter(|data| !data.is_empty())
    }

    /// Returns the number of bytes after the record that it announces, without their padding; as for
    /// [`trailing_size`](Self::trailing_size).
    pub(crate) fn announced(&self) -> Option<u64> {
        let (_, size) = self.data_size()?;
        Some(if self.inner_data().is_some() { 0 } else { size })
    }

    /// Returns the number of bytes of the fields of a record with data, and the size of the data in the record's first field.
    fn data_size(&self) -> Option<(usize, u64)> {
        let payload = self.payload();
        match self.kind() {
            RecordType::AUXTRACE => {
                Some((size_of::<wire::Auxtrace<LittleEndian>>(), O::u64(self.order, *payload.first_chunk()?)))
            }
            RecordType::HEADER_TRACING_DATA => {
                let size = O::u32(self.order, *payload.first_chunk()?);
                Some((size_of::<wire::HeaderTracingData<LittleEndian>>(), u64::from(size)))
            }
            _ => None,
        }
    }

    /// Returns the `sample_id` trailer. Takes constant time.
    ///
    /// `None` for samples, which have these fields themselves; for records of the perf tool itself; and if the event
    /// has no `sample_id_all`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] if the record is shorter than the trailer.
    pub fn sample_id(&self, layout: &'a SampleLayout) -> Result<Option<SampleId<'a, O>>, Error> {
        let (_, bytes) = self.split_trailer(layout)?;
        Ok((!bytes.is_empty()).then_some(SampleId { layout, bytes, order: self.order }))
    }

    /// Returns the time of the record, from the sample or from the trailer; `None` if the record has no time.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn time(&self, layout: &SampleLayout) -> Option<u64> {
        let payload = self.payload();
        if self.kind() == RecordType::SAMPLE {
            return word::<O>(self.order, payload, layout.sample_time_offset()?);
        }
        let payload = self.written(layout.sample_id_size());
        let trailer = payload.len().checked_sub(layout.sample_id_size())?;
        word::<O>(self.order, payload, trailer.checked_add(layout.trailer_time_offset()?)?)
    }

    /// Splits the payload from the trailer. The trailer is empty if the record has none.
    pub(crate) fn split_trailer(&self, layout: &SampleLayout) -> Result<(&'a [u8], &'a [u8]), Error> {
        let (kind, trailer) = (self.kind(), layout.sample_id_size());
        if kind == RecordType::SAMPLE || kind.is_user() {
            return Ok((self.payload(), &[]));
        }
        let payload = self.written(trailer);
        let body = payload.len().checked_sub(trailer);
        body.and_then(|body| payload.split_at_checked(body)).ok_or_else(|| {
            let (needed, available) = (trailer as u64, payload.len() as u64);
            Error::new(ErrorKind::Truncated { field: "sample_id", needed, available }, 8)
        })
    }
}

/// An iterator over contiguous records, such as the data section of a file.
///
/// It ends after an error, because the start of the next record is unknown. [`resync`](Self::resync) searches for it, and
/// the walk goes on; [`rest`](Self::rest) returns the remaining bytes.
#[derive(Clone, Debug)]
pub struct Records<'a, O: ByteOrder = Endianness> {
    rest: &'a [u8],
    failed: bool,
    order: O::Value,
}

impl<'a, O: Endian> Records<'a, O> {
    /// Walks over `bytes`, which begin with a header.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Records;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::record::RecordType;
    ///
    /// let two = b"\x44\0\0\0\0\0\x08\0\x44\0\0\0\0\0\x08\0";
    /// for record in Records::<LittleEndian>::new(two) {
    ///     assert_eq!(record?.kind(), RecordType::FINISHED_ROUND);
    /// }
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::new_in((), bytes)
    }
}

impl<'a, O: ByteOrder> Records<'a, O> {
    /// Walks over `bytes`, which begin with a header and are in the byte order `order`.
    #[must_use]
    pub fn new_in(order: O::Value, bytes: &'a [u8]) -> Self {
        Self { rest: bytes, failed: false, order }
    }

    /// After an error, skips the bytes up to the offset that `search` finds in the rest, or all of them. Returns how many.
    pub(crate) fn skip_to(&mut self, search: impl FnOnce(O::Value, &[u8]) -> Option<usize>) -> usize {
        if !self.failed {
            return 0;
        }
        let at = search(self.order, self.rest).unwrap_or(self.rest.len());
        self.rest = self.rest.get(at..).unwrap_or_default();
        self.failed = false;
        at
    }

    /// Returns the byte order.
    #[inline]
    pub(crate) fn order(&self) -> O::Value {
        self.order
    }

    /// Returns the bytes at which the next record begins; none after an error.
    #[inline]
    pub(crate) fn front(&self) -> &'a [u8] {
        if self.failed { &[] } else { self.rest }
    }

    /// Takes `size` bytes at the front, which are whole records.
    #[inline]
    pub(crate) fn take(&mut self, size: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(size).unwrap_or((&[], self.rest));
        self.rest = rest;
        taken
    }

    /// Returns the bytes that are not walked yet; after an error, the bytes that could not be walked.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a, O: ByteOrder> Iterator for Records<'a, O> {
    type Item = Result<RawRecord<'a, O>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        match RawRecord::parse_in(self.order, self.rest) {
            Ok((record, rest)) => {
                self.rest = rest;
                Some(Ok(record))
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

/// Returns the word at `offset`, which is past the end for a field that is not recorded.
#[inline]
pub(crate) fn word<O: ByteOrder>(order: O::Value, bytes: &[u8], offset: impl Into<usize>) -> Option<u64> {
    Some(O::u64(order, *word_at(bytes, offset.into())?))
}

/// Returns the two 32-bit halves of the word at `offset`, in the order in which they were written.
///
/// Each half is in the byte order of the capture. The word as a whole is not one number.
#[inline]
pub(crate) fn pair<O: ByteOrder>(
    order: O::Value,
    bytes: &[u8],
    offset: impl Into<usize>,
) -> Option<(u32, u32)> {
    let &[a, b, c, d, e, f, g, h] = word_at(bytes, offset.into())?;
    Some((O::u32(order, [a, b, c, d]), O::u32(order, [e, f, g, h])))
}

/// Returns the bytes of a word, with one check against the end.
#[inline]
fn word_at(bytes: &[u8], start: usize) -> Option<&[u8; 8]> {
    bytes.get(start..start.wrapping_add(8))?.try_into().ok()
}
