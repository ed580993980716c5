//! The content of a ring as one slice, oldest record first.

use alloc::borrow::Cow;

use perf_abi::endian::Endian;
use perf_parse::file::{FileError, FileErrorKind};
use perf_parse::ring::{AuxArea, Buffer, DataArea, DecidedBy, Direction, Dump, RingError};

use crate::args::RingArgs;
use crate::dump::{RingOrigin, WriteDirection};

/// The content of a ring. Borrows the dump, unless the ring wraps or is written backward.
#[derive(Debug)]
pub(super) struct Linear<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Where `bytes` are in the dump.
    pub(super) origin: RingOrigin,
    /// Its AUX area; `None` if the dump does not have it.
    pub(super) aux: Result<Option<AuxArea<'a>>, FileError>,
    /// Messages that are not errors.
    pub(super) remarks: Vec<String>,
    /// The error in the ring, and the number of bytes that cannot be read because of it.
    pub(super) fault: Option<FileError>,
    pub(super) unread: u64,
}

/// Where the positions of a ring come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Positions {
    /// The control page at the start of the dump, of a page of this size if it is known.
    Page(Option<u64>),
    /// The command line.
    Given { head: u64, tail: u64 },
}

impl Positions {
    /// Returns those of the dump with this number.
    pub(super) fn of(args: &RingArgs, dump: usize) -> Self {
        match args.head.get(dump) {
            Some(&head) => Self::Given { head, tail: args.tail.get(dump).copied().unwrap_or(0) },
            None => Self::Page(args.page_size),
        }
    }

    /// Returns the head and the tail that the command line gives; 0 if it gives none.
    fn given(self) -> (u64, u64) {
        match self {
            Self::Given { head, tail } => (head, tail),
            Self::Page(_) => (0, 0),
        }
    }
}

/// Returns whether a dump begins with a control page that describes the rest of it.
pub(super) fn has_control_page<O: Endian>(mapping: &[u8], direction: Direction) -> bool {
    let dump = Dump::<O>::open(mapping, direction, None);
    // Without the offset of its data, a page of an old kernel cannot be told from records.
    dump.is_ok_and(|dump| dump.data_area().by == DecidedBy::Page)
}

impl<'a> Linear<'a> {
    /// Linearizes the ring that `mapping` is a dump of. `aux` is a separate dump of its AUX area.
    pub(super) fn new<O: Endian>(
        mapping: &'a [u8],
        aux: Option<&'a [u8]>,
        direction: Direction,
        positions: &Positions,
    ) -> Result<Self, FileError> {
        let dump = match *positions {
            Positions::Given { head, tail } => Dump::<O>::new(mapping, direction, tail, head),
            Positions::Page(page_size) => Dump::open(mapping, direction, page_size),
        };
        // An error before the first record is in a field of the control page.
        let dump = dump.map_err(|error| fault(error, error.position))?;
        let area = dump.data_area();
        let aux = aux.map_or_else(|| dump.aux(), |aux| dump.separate_aux(aux));
        let mut linear = match direction {
            Direction::Forward => Self::forward(mapping, &dump, *positions),
            Direction::Backward => Self::backward(dump, *positions),
        };
        linear.aux = aux.map_err(|error| fault(error, error.position));
        if area.by == DecidedBy::Length {
            let page = area.offset;
            linear.remarks.push(format!(
                "data_offset: is 0, as kernels before 4.1 leave it; the page size is taken to be {page} bytes, from the \
                 length of the dump"
            ));
        }
        Ok(linear)
    }

    /// Takes the bytes from the tail to the head. The reader finds those that are not records.
    fn forward<O: Endian>(mapping: &'a [u8], dump: &Dump<'a, O>, positions: Positions) -> Self {
        let DataArea { offset: area, size, .. } = dump.data_area();
        let (head, tail) = dump.page().map_or(positions.given(), |page| (page.data_head, page.data_tail));
        // `Dump` has checked that the area is in the mapping and that the bytes from tail to head fit in the area.
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let data = mapping.get(index(area)..).and_then(|from| from.get(..index(size))).unwrap_or_default();
        let start = tail % size;
        let (before, from) = data.split_at(index(start));
        let length = index(head - tail);
        let bytes = match from.get(..length) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => Cow::Owned([from, &before[..length - from.len()]].concat()),
        };
        let origin = RingOrigin { area, size, written: WriteDirection::Forward(start) };
        Self { bytes, origin, aux: Ok(None), remarks: Vec::new(), fault: None, unread: 0 }
    }

    /// Reverses the order of the records. Leaves out the oldest if it is torn.
    fn backward<O: Endian>(dump: Dump<'a, O>, positions: Positions) -> Self {
        let DataArea { offset: area, size, .. } = dump.data_area();
        let head = dump.page().map_or(positions.given().0, |page| page.data_head);
        let in_dump = |position: u64| area + position % size;
        let mut dump = dump.oldest_first();
        let (mut bytes, mut starts, mut wrong) = (Vec::new(), Vec::new(), None);
        let mut buffer = Box::new(Buffer::new());
        while let Some(record) = dump.next(&mut buffer) {
            match record {
                Ok(record) => {
                    starts.push(bytes.len() as u64);
                    record.write(&mut bytes);
                }
                Err(error) => wrong = Some(fault(error, in_dump(error.position))),
            }
        }
        // The newest record, which is the last here, starts at the head.
        let ends = starts.iter().skip(1).copied().chain([bytes.len() as u64]);
        let in_file = |end| in_dump(head.wrapping_add(bytes.len() as u64 - end));
        let records = starts.iter().copied().zip(ends.map(in_file)).collect();
        let origin = RingOrigin { area, size, written: WriteDirection::Backward(records) };
        let account = dump.account();
        let torn = account.torn.map(|torn| {
            let (at, bytes) = (in_dump(torn.position), torn.bytes);
            format!(
                "{at:#x}: newer records overwrote the end of the oldest record; {bytes} bytes of it are left out"
            )
        });
        let unread = account.unread;
        Self {
            bytes: Cow::Owned(bytes),
            origin,
            aux: Ok(None),
            remarks: torn.into_iter().collect(),
            fault: wrong,
            unread,
        }
    }
}

/// Returns an error of a ring, at `offset` in its dump.
pub(super) fn fault(error: RingError, offset: u64) -> FileError {
    FileError { offset, kind: FileErrorKind::Ring(error) }
}
