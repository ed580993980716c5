//! The first records of a capture, which describe it: the attrs and features of a pipe, the units and scales of events, the
//! layout of MMAP2.

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::knowledge::Knowledge;
use super::source::ByteSource;
use super::walk::HEADER;
use crate::account::Account;
use crate::error::FileError;
use crate::event::Events;
use crate::layout::Mmap2Layout;
use crate::limits::Limits;
use crate::record::{RawRecord, Record};

/// Number of bytes at the start of a file's records that are searched for records about events. perf writes these among
/// the first records, which are about the kernel.
const FILE_LOOK_AHEAD: usize = 1 << 16;

/// Applies the first records, as far as they describe the capture, and leaves them in the source. In a pipe, which may
/// deliver its bytes slowly, these are the records before the first one of the kernel; in a file, those before the
/// first sample.
pub(super) fn look_ahead<'r, O: Endian, S: ByteSource<'r>>(
    source: &mut S,
    knowledge: &mut Knowledge<'_>,
    limits: &Limits,
    account: &mut Account,
) -> Result<(), FileError> {
    let start = source.offset();
    let mut at = 0_usize;
    let mut layouts = Mmap2Layouts::default();
    let is_pipe = knowledge.is_pipe();
    let most = if is_pipe { limits.look_ahead } else { limits.look_ahead.min(FILE_LOOK_AHEAD) };
    // Pieces of one record are applied together, or by the walk.
    let mut split_at = None;
    while at < most || (split_at.is_some() && at < limits.look_ahead) {
        fill(source, at.saturating_add(HEADER))?;
        let header = source.front().get(at..).unwrap_or_default();
        let size = RawRecord::<O>::announced_size((), header).unwrap_or(0);
        if size > most.max(usize::from(u16::MAX)) {
            break;
        }
        fill(source, at.saturating_add(size))?;
        let bytes = source.front().get(at..).unwrap_or_default();
        let Ok((raw, _)) = RawRecord::<O>::parse(bytes) else { break };
        let kind = raw.kind();
        let is_end = match kind {
            RecordType::AUXTRACE | RecordType::COMPRESSED | RecordType::COMPRESSED2 => true,
            _ => !kind.is_user() && (is_pipe || kind == RecordType::SAMPLE),
        };
        if is_end {
            break;
        }
        let trailing = raw.trailing_size().unwrap_or(0);
        let trailing = usize::try_from(trailing).unwrap_or(usize::MAX);
        let end = at.saturating_add(size).saturating_add(trailing);
        match kind {
            RecordType::SPLIT => split_at = split_at.or(Some(at)),
            _ => split_at = split_at.filter(|_| kind == RecordType::SPLIT_END),
        }
        // Tracing data alone may be large.
        if trailing > most || fill(source, end)? < end {
            break;
        }
        if let Ok((raw, trailing)) = RawRecord::<O>::parse(source.front().get(at..end).unwrap_or_default()) {
            knowledge.apply(&raw, trailing, start.saturating_add(at as u64), account);
            layouts.add(&raw, knowledge.events());
        }
        at = end;
        split_at = split_at.filter(|_| kind != RecordType::SPLIT_END);
    }
    let at = split_at.unwrap_or(at);
    knowledge.set_applied(start.saturating_add(at as u64));
    knowledge.set_mmap2_layout(layouts.found());
    if is_pipe {
        knowledge.name_events(account);
    }
    Ok(())
}

/// The layouts of the MMAP2 records whose bytes fit one layout only.
#[derive(Debug, Default)]
struct Mmap2Layouts {
    current: bool,
    old: bool,
}

impl Mmap2Layouts {
    fn add<O: Endian>(&mut self, raw: &RawRecord<'_, O>, events: &Events) {
        if raw.kind() != RecordType::MMAP2 {
            return;
        }
        let decoded = events.layout_of(raw).map(|layout| raw.decode(layout));
        if let Some(Ok(Record::Mmap2(it))) = decoded {
            // A record with a build id has the current layout, also among records of the old one.
            if it.reading.is_certain() && it.id.build_id().is_none() {
                self.current |= it.prot_flags.is_some();
                self.old |= it.prot_flags.is_none();
            }
        }
    }

    /// Returns the layout of all of them; `None` if there are none, and if they disagree.
    fn found(&self) -> Option<Mmap2Layout> {
        match (self.current, self.old) {
            (true, false) => Some(Mmap2Layout::Current),
            (false, true) => Some(Mmap2Layout::Old),
            _ => None,
        }
    }
}

fn fill<'r, S: ByteSource<'r>>(source: &mut S, need: usize) -> Result<usize, FileError> {
    source.fill(need).map_err(|kind| FileError::new(kind, source.offset()))
}
