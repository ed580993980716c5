//! A file as an ELF file, with its debug files taken from the same bytes: every symbol and every line is looked up.

use std::io;
use std::path::Path;
use std::sync::Arc;

use perf_symbol::{ElfImage, FileBytes, Files, SymbolOptions, Symbolizer};

/// One file at every path of a few.
pub(crate) struct One(pub(crate) FileBytes);

impl Files for One {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let is_there = path.starts_with("/bin") || path.starts_with("/src");
        if !is_there || self.0.len() as u64 > limit {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(self.0.clone())
    }
}

/// Number of addresses that are looked up.
const ADDRESSES: u64 = 64;

/// `data` is the file.
pub fn run(data: &[u8]) -> bool {
    let bytes = FileBytes::new(data.to_vec());
    let Ok(image) = ElfImage::parse(bytes.clone()) else { return false };
    for section in image.sections() {
        assert!(image.raw_data(section).len() <= data.len());
    }
    for lines in [true, false] {
        look_up(&bytes, &image, lines);
    }
    true
}

/// Looks up addresses in all sections. `lines` is whether lines are looked up too.
fn look_up(bytes: &FileBytes, image: &ElfImage, lines: bool) {
    let mut options = SymbolOptions::default();
    options.cache = None;
    options.lines = lines;
    options.limits.decompressed = 1 << 20;
    options.limits.inlined = 16;
    let mut symbolizer = Symbolizer::with_files(options, Arc::new(One(bytes.clone())));
    let starts = image.sections().iter().map(|section| section.address).chain([0, u64::MAX]);
    for start in starts.take(16) {
        for step in 0..ADDRESSES {
            let functions = symbolizer.functions_in(b"/bin/a", start.wrapping_add(step));
            assert!(functions.len() <= 17);
            assert!(lines || functions.iter().all(|function| function.line.is_none()));
            // The last one is not inlined, and only it has an offset.
            assert!(functions.last().is_none_or(|function| !function.is_inlined));
            assert!(
                functions
                    .iter()
                    .rev()
                    .skip(1)
                    .all(|function| function.is_inlined && function.offset.is_none())
            );
        }
    }
}
