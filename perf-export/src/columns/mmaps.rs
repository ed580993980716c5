//! `mmaps`: the MMAP and MMAP2 records.

use perf_abi::record::Misc;
use perf_parse::record::FileId;
use perf_parse::{EventRecord, Record};

use super::column::{Column, columns};
use super::context::{Context, hex};
use super::rows::TableRows;
use perf_profile::text::mode_name;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    time ? Int64, "ns", "Time of the event's clock. Null if it is not recorded; 0 in most records that perf synthesises.";
    utc ? Timestamp, "us", "The same time in UTC, as in `samples`.";
    pid: Int32, "", "Process id; -1 for the kernel.";
    tid: Int32, "", "Thread id.";
    mode: Word, "", "Whose code is mapped, as in `samples.mode`.";
    start: Int64, "address", "First address.";
    length: Int64, "bytes", "Length.";
    page_offset: Int64, "bytes", "Offset of the mapping in the file.";
    path ? Text, "", "Path of the file, or the kernel's name for what has no file.";
    build_id ? Text, "", "Build id of an MMAP2 record, in hexadecimal.";
    device ? Text, "", "`MAJOR:MINOR` of the device, in decimal. Null if it is not recorded.";
    inode ? Int64, "", "Number of the inode. Null if it is not recorded.";
    protection ? Int32, "bits", "`PROT_*` of mmap(2). Null for an MMAP record.";
    flags ? Int32, "bits", "`MAP_*` of mmap(2). Null for an MMAP record.";
    is_data: Boolean, "", "Whether the record is of data that is not executable.";
    is_guessed: Boolean, "", "Whether the bytes of an MMAP2 record fit two layouts, so that protection, flags and path are a guess.";
};

/// Writes a record with what it decodes to; does nothing for others.
pub(super) fn push(rows: &mut TableRows, context: &Context, record: &EventRecord<'_>, decoded: &Record<'_>) {
    let (pid, tid, addr, len, pgoff, filename, id, prot_flags) = match decoded {
        Record::Mmap(it) => (it.pid, it.tid, it.addr, it.len, it.pgoff, it.filename, None, None),
        Record::Mmap2(it) => {
            (it.pid, it.tid, it.addr, it.len, it.pgoff, it.filename, Some(it.id), it.prot_flags)
        }
        _ => return,
    };
    let is_guessed = matches!(decoded, Record::Mmap2(it) if !it.reading.is_certain());
    let time = record.time();
    rows.text(context.capture.as_str());
    rows.int64(time);
    rows.timestamp(context.utc(time));
    rows.int32(pid);
    rows.int32(tid);
    rows.text(mode_name(record.misc().cpumode()));
    rows.int64(addr);
    rows.int64(len);
    rows.int64(pgoff);
    let is_path = filename.starts_with(b"/") && !filename.starts_with(b"//anon");
    if is_path {
        rows.text(context.path(filename).as_deref());
    } else {
        rows.bytes(filename);
    }
    rows.text(id.and_then(|id| id.build_id().map(hex)).as_deref());
    let inode = match id {
        Some(FileId::Inode { maj, min, ino, .. }) => Some((format!("{maj}:{min}"), ino)),
        _ => None,
    };
    rows.text(inode.as_ref().map(|(device, _)| device.as_str()));
    rows.int64(inode.as_ref().map(|&(_, ino)| ino));
    rows.int32(prot_flags.map(|(prot, _)| prot.cast_signed()));
    rows.int32(prot_flags.map(|(_, flags)| flags.cast_signed()));
    rows.boolean(record.misc().contains(Misc::MMAP_DATA));
    rows.boolean(is_guessed);
    rows.end();
}
