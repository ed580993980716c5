//! Options about hardware traces, and the sizes of rings and AUX areas.

use super::values::size;
use perf_open::ring::page_bytes;

#[derive(Debug, clap::Args)]
pub(crate) struct AuxAreaArgs {
    /// Keep the newest data of a hardware trace, such as that of intel_pt//, and write it when SIGUSR2 comes; with e
    /// before the bytes also at the end. Takes the bytes of a snapshot [default: those of the AUX area]
    #[arg(short = 'S', long, value_name = "[e]BYTES", num_args = 0..=1, require_equals = true,
          default_missing_value = "", value_parser = snapshot)]
    pub(crate) snapshot: Option<Snapshot>,

    /// Add the newest data of a hardware trace to each sample of the other events in the group of the traced event, such
    /// as {intel_pt//u,branch-misses:u} [default: 4096 bytes]
    #[arg(long, value_name = "BYTES", num_args = 0..=1, require_equals = true, default_missing_value = "0",
          value_parser = number::<u32>)]
    pub(crate) aux_sample: Option<u32>,
}

/// `--snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Bytes of a snapshot; 0 for those of the AUX area.
    pub(crate) bytes: usize,
    /// Whether one is taken at the end.
    pub(crate) at_end: bool,
}

/// Parses `--snapshot`.
///
/// perf: `auxtrace_parse_snapshot_options`.
fn snapshot(text: &str) -> Result<Snapshot, String> {
    let bytes = text.strip_prefix('e');
    let at_end = bytes.is_some();
    let bytes = match bytes.unwrap_or(text) {
        "" => 0,
        bytes => number(bytes)?,
    };
    Ok(Snapshot { bytes, at_end })
}

/// Parses a number of bytes, also as hexadecimal digits after 0x.
fn number<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number = number.map_err(|_| "must be a number of bytes".to_owned())?;
    N::try_from(number).map_err(|_| "is too large".to_owned())
}

/// The pages of a ring and of an AUX area, `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MmapPages {
    pub(crate) ring: Option<usize>,
    pub(crate) aux: Option<usize>,
}

/// Parses `--mmap-pages`: pages of rings, and of AUX areas after a comma.
///
/// perf: `record__parse_mmap_pages`.
pub(super) fn mmap_pages(text: &str) -> Result<MmapPages, String> {
    match text.split_once(',') {
        None => Ok(MmapPages { ring: Some(pages(text)?), aux: None }),
        Some((ring, aux)) => {
            let ring = if ring.is_empty() { None } else { Some(pages(ring)?) };
            Ok(MmapPages { ring, aux: Some(pages(aux)?) })
        }
    }
}

/// Parses a number of pages, or a size, which is rounded up to a power of two of pages.
fn pages(text: &str) -> Result<usize, String> {
    if let Ok(pages) = text.parse() {
        return Ok(pages);
    }
    let bytes = size(text)?;
    let pages = usize::try_from(bytes.div_ceil(page_bytes() as u64)).ok();
    pages.and_then(usize::checked_next_power_of_two).ok_or_else(|| "is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_rings_and_areas() {
        let page = page_bytes() as u64;
        assert_eq!((pages("128"), pages("1B")), (Ok(128), Ok(1)));
        assert_eq!(pages(&format!("{}K", (page * 3) >> 10)), Ok(4));
        let of = |ring, aux| Ok(MmapPages { ring, aux });
        assert_eq!(mmap_pages("128"), of(Some(128), None));
        assert_eq!(mmap_pages("128,256"), of(Some(128), Some(256)));
        assert_eq!(mmap_pages(",1B"), of(None, Some(1)));
        for text in ["", ",", "1,", "1,2,3", "x", "1,-1"] {
            assert!(mmap_pages(text).is_err(), "{text}");
        }
    }

    #[test]
    fn snapshots() {
        let of = |bytes, at_end| Ok(Snapshot { bytes, at_end });
        assert_eq!((snapshot(""), snapshot("e")), (of(0, false), of(0, true)));
        assert_eq!((snapshot("4096"), snapshot("e0x1000")), (of(4096, false), of(4096, true)));
        assert_eq!(number::<u32>("0x100000000"), Err("is too large".to_owned()));
        for text in ["x", "4096e", "-1", "ee", "0x", "99999999999999999999"] {
            assert!(snapshot(text).is_err(), "{text}");
        }
    }
}
