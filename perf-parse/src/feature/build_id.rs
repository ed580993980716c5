//! `BUILD_ID`: the build ids of the files that samples hit.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, I32, U16};
use perf_abi::record::{CpuMode, Header, HeaderBuildId, Misc};
use zerocopy::IntoBytes;

use super::codec::{Fault, SectionField, put_name, put_number};
use super::{Entries, FeatureSection, FieldValue, Fields};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, FileError};
pub use crate::record::user::BuildId;

/// `[kernel.kallsyms]`, read four bytes too late.
const SHIFTED_KERNEL: &[u8] = b"nel.kallsyms]";

/// The context of entries without a pid.
const WITHOUT_PID: u32 = 1;

/// Decodes the entries before the first fault, and returns the fault.
///
/// Entries of perf before 2.6.35 have no pid, and no field marks them. perf and this function recognise them by the
/// name of the kernel, which would lack its first four letters if the entry had a pid. All entries of a section have
/// the same layout.
///
/// perf: `perf_header__read_build_ids` and `perf_header__read_build_ids_abi_quirk`, `tools/perf/util/header.c`.
pub(super) fn until_fault<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> (Entries<'a, BuildId<'a>>, Option<FileError>) {
    let from = Cursor::new(section.bytes, 0);
    let (mut entries, mut context) = (from, 0);
    while let Ok((_, body, _)) = entry::<O>(&mut entries) {
        let name = body.get(size_of::<HeaderBuildId<O>>()..);
        if name.is_some_and(|name| name.starts_with(SHIFTED_KERNEL)) {
            context = WITHOUT_PID;
        }
    }
    let (mut at, mut nr) = (from, 0_u64);
    while !at.rest().is_empty() {
        let before = at;
        if let Err(error) = BuildId::take::<O>(&mut at, "", context) {
            return (Entries::between::<O>(&from, &before, nr, context), Some(section.error(error)));
        }
        nr = nr.saturating_add(1);
    }
    (Entries::between::<O>(&from, &at, nr, context), None)
}

pub(super) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, BuildId<'a>>, FileError> {
    FeatureSection::all(until_fault::<O>(section))
}

/// Encodes the entries. `BUILD_ID_SIZE` is added to each `misc`.
///
/// perf: `write_buildid`, `tools/perf/util/build-id.c`, which also leaves the type 0.
pub(super) fn encode<O: Endian>(ids: &Entries<'_, BuildId<'_>>, out: &mut Vec<u8>) -> Result<(), Fault> {
    ids.put_all::<O>(out, "")
}

/// Takes an entry: `misc` of its header, the bytes after the header, and their offset.
fn entry<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<(Misc, &'a [u8], u32), Error> {
    let start = at.offset();
    let header = at.fixed::<Header<O>>("header")?;
    let size = header.size.get();
    let Some(body) = size.checked_sub(8) else {
        return Err(Error::new(ErrorKind::RecordSize { size: size.into() }, start.saturating_add(6)));
    };
    let offset = at.offset();
    Ok((Misc(header.misc.get()), at.bytes(u64::from(body), "build_id")?, offset))
}

impl<'a> SectionField<'a> for BuildId<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, context: u32) -> Result<Self, Error> {
        let (misc, body, offset) = entry::<O>(at)?;
        let mut at = Cursor::new(body, offset);
        if context != WITHOUT_PID {
            return BuildId::parse::<O>(&mut at, misc);
        }
        let [build_id @ .., _, _, _, _] = at.fixed::<[u8; 24]>("build_id")?;
        let guest = matches!(misc.cpumode(), CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER);
        Ok(BuildId {
            misc,
            pid: if guest { 0 } else { -1 },
            build_id,
            filename: at.string("filename")?.into(),
        })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        let mut build_id = [0; 20];
        let used = build_id.get_mut(..self.build_id.len()).ok_or(("build_id", "at most 20 bytes"))?;
        used.copy_from_slice(self.build_id);
        let fixed = HeaderBuildId::<O> {
            pid: I32::new(self.pid),
            build_id,
            size: u8::try_from(self.build_id.len()).unwrap_or(20),
            reserved_1: 0,
            reserved_2: U16::ZERO,
        };
        let mut filename = Vec::new();
        put_name(&mut filename, &self.filename, "filename")?;
        let size = filename.len().saturating_add(size_of_val(&fixed)).saturating_add(size_of::<Header<O>>());
        let too_long = ("filename", "so short that the entry has at most 65535 bytes");
        let size = u16::try_from(size).map_err(|_| too_long)?;
        put_number::<O>(out, 0);
        out.extend_from_slice(U16::<O>::new(self.misc.union(Misc::BUILD_ID_SIZE).0).as_bytes());
        out.extend_from_slice(U16::<O>::new(size).as_bytes());
        out.extend_from_slice(fixed.as_bytes());
        out.append(&mut filename);
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for BuildId<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("misc", FieldValue::Number(u64::from(self.misc.0)));
        to("pid", FieldValue::Signed(i64::from(self.pid)));
        to("build_id", FieldValue::Bytes(self.build_id));
        to("filename", FieldValue::Text(self.filename));
    }
}
