//! Examples of the sections of Android's simpleperf.

use perf_abi::feature::Feature;

use super::Example;
use crate::Bytes;

/// Returns an example of each section, with at least two items in each list.
pub(super) fn examples(big: bool) -> Vec<Example> {
    let section = |feature, parts: &[Vec<u8>]| {
        let end = |upto| parts.iter().take(upto).map(Vec::len).sum();
        Example { feature, bytes: parts.concat(), whole: (0..=parts.len()).map(end).collect() }
    };
    let info = [&b"clockid\0monotonic\0"[..], b"event_type_info\0cpu-cycles,0,0\nsched:sched_switch,2,91\0"];
    vec![
        section(Feature::FILE, &files(big)),
        section(Feature::META_INFO, &info.map(Vec::from)),
        section(Feature::DEBUG_UNWIND, &debug_unwind()),
        section(Feature::FILE2, &files2(big)),
        section(Feature::ETM_BRANCH_LIST, &etm_branch_list()),
        section(Feature::INIT_MAP, &init_map(big)),
    ]
}

/// The files of a section `FILE`.
#[must_use]
pub fn files(big: bool) -> Vec<Vec<u8>> {
    let sized = |body: Bytes| Bytes::new(big).u32(u32::try_from(body.len()).unwrap()).raw(&body.out).out;
    vec![
        sized(
            Bytes::new(big)
                .raw(b"/system/lib64/libc.so\0") // path
                .u32(2) // type: ELF_FILE
                .u64(0x1000) // min_vaddr
                .u32(2) // symbol_count
                .u64(0x2000) // vaddr
                .u32(0x40) // len
                .raw(b"malloc\0") // name
                .u64(0x3000)
                .u32(0)
                .raw(b"_ZN3art6ThreadE\0")
                .u64(0x800), // file_offset_of_min_vaddr
        ),
        sized(
            Bytes::new(big)
                .raw(b"/data/app/a/b/base.vdex\0") // path
                .u32(3) // type: DEX_FILE
                .u64(0) // min_vaddr
                .u32(0) // symbol_count
                .u32(2) // dex_file_offset_count
                .u64(0x28) // dex_file_offsets
                .u64(0x1_0000_0028),
        ),
        sized(
            Bytes::new(big)
                .raw(b"wlan.ko\0") // path
                .u32(1) // type: KERNEL_MODULE
                .u64(8) // min_vaddr
                .u32(0) // symbol_count
                .u64(16), // memory_offset_of_min_vaddr
        ),
    ]
}

/// The files of a section `FILE2`: messages with their sizes.
#[must_use]
pub fn files2(big: bool) -> Vec<Vec<u8>> {
    let symbol = |vaddr, len, name: &[u8]| message(4, [number(1, vaddr), number(2, len), bytes(3, name)]);
    let sized =
        |message: Vec<u8>| Bytes::new(big).u32(u32::try_from(message.len()).unwrap()).raw(&message).out;
    let offsets = [varint(0x28), varint(0x1_0000_0028)].concat();
    vec![
        sized(
            [
                bytes(1, b"/system/lib64/libc.so"),
                number(2, 2),
                number(3, 0x1000),
                symbol(0x2000, 0x40, b"malloc"),
                symbol(0x3000, 0, b"_ZN3art6ThreadE"),
                message(6, [number(1, 0x800)]),
            ]
            .concat(),
        ),
        sized([bytes(1, b"lib/base.vdex"), number(2, 3), message(5, [bytes(1, &offsets)])].concat()),
        sized([bytes(1, b"wlan-1.ko"), number(2, 1), number(3, 8), message(7, [number(1, 16)])].concat()),
        sized([bytes(1, b"[kernel.kallsyms]"), symbol(0xffff_ffc0_0808_0000, 4, b"_text")].concat()),
    ]
}

/// The messages of a section `DEBUG_UNWIND`.
#[must_use]
pub fn debug_unwind() -> Vec<Vec<u8>> {
    let file = |path: &[u8], size| message(1, [bytes(1, path), number(2, size)]);
    vec![file(b"/system/lib64/libc.so", 1_100_000), file(b"[vdso]", 0)]
}

/// The fields of a section `ETM_BRANCH_LIST`.
#[must_use]
pub fn etm_branch_list() -> Vec<Vec<u8>> {
    let branch = |taken: &[u8], size, count| message(2, [bytes(1, taken), number(2, size), number(3, count)]);
    vec![
        bytes(1, b"simpleperf:EtmBranchList"),
        message(
            2,
            [
                bytes(1, b"/data/local/tmp/etm_test_loop"),
                bytes(2, b"0c9a20bf9c009d0e4e8bbf9fad0300ae00000000"),
                message(3, [number(1, 0x1000), branch(&[0b101], 3, 2), branch(&[0xff, 1], 9, u64::MAX)]),
                message(3, [number(1, 0x1010), branch(&[0], 1, 1)]),
            ],
        ),
        message(2, [bytes(1, b"[kernel.kallsyms]"), number(4, 1), message(5, [number(1, 0xffff_0000)])]),
    ]
}

/// The records of a section `INIT_MAP`: an MMAP and a COMM, without trailers.
#[must_use]
pub fn init_map(big: bool) -> Vec<Vec<u8>> {
    let mmap = Bytes::new(big).i32(7).i32(7).u64(0x1000).u64(0x2000).u64(0).padded(b"/bin/sh", 8);
    vec![mmap.record(1, 2), Bytes::new(big).i32(7).i32(7).padded(b"sh", 8).record(3, 0)]
}

/// A number in the wire format of protobuf.
#[must_use]
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

/// A field of a message with a number.
#[must_use]
pub fn number(field: u64, value: u64) -> Vec<u8> {
    if value == 0 { Vec::new() } else { [varint(field << 3), varint(value)].concat() }
}

/// A field of a message with bytes.
#[must_use]
pub fn bytes(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A field of a message that is a message.
#[must_use]
pub fn message<const N: usize>(field: u64, fields: [Vec<u8>; N]) -> Vec<u8> {
    bytes(field, &fields.concat())
}
