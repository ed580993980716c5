//! Code of a file in memory that was laid over its mapping.

use object::elf;
use perf_session::Mapping;

use crate::image::ElfImage;

/// The smallest page.
const SMALLEST_PAGE: u64 = 1 << 12;
/// The largest page that a kernel for Arm, Power, MIPS or LoongArch may use.
const LARGEST_PAGE: u64 = 1 << 16;

/// Returns whether memory is within one executable segment of the file that was mapped there before. Pages are mapped whole.
pub(crate) fn is_in_code(image: &ElfImage, file: &Mapping, memory: &Mapping) -> bool {
    let page = page_size(image.machine(), file, memory);
    let start = file.offset_of(memory.range().start);
    let end = start.saturating_add(memory.range().end.saturating_sub(memory.range().start));
    image.segments().iter().filter(|it| it.is_executable).any(|it| {
        let last = it.offset.saturating_add(it.size);
        it.offset & !page.wrapping_sub(1) <= start
            && end <= last.checked_next_multiple_of(page).unwrap_or(last)
    })
}

/// Returns the size of the pages of the machine that recorded, in bytes. A capture does not have it: it is the largest one that the
/// processor may have and that all bounds of the mappings are multiples of.
fn page_size(machine: u16, file: &Mapping, memory: &Mapping) -> u64 {
    if [elf::EM_X86_64, elf::EM_386, elf::EM_ARM, elf::EM_RISCV, elf::EM_S390]
        .contains(&elf::Machine(machine))
    {
        return SMALLEST_PAGE;
    }
    let (file_range, memory_range) = (file.range(), memory.range());
    let bounds = file_range.start | file_range.end | file.pgoff() | memory_range.start | memory_range.end;
    (1_u64 << bounds.trailing_zeros().min(LARGEST_PAGE.trailing_zeros())).max(SMALLEST_PAGE)
}
