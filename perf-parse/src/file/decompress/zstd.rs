//! Decompression by the C library.

use alloc::string::ToString;
use alloc::vec::Vec;

use zstd::stream::raw::{self, DParameter, InBuffer, Operation, OutBuffer};

/// A zstd stream.
pub(super) struct LibzstdDecoder(Option<raw::Decoder<'static>>);

impl LibzstdDecoder {
    /// Creates a decoder that refuses windows of more than 2^`window_log` bytes.
    pub(super) fn new(window_log: u32) -> Self {
        let limited = |mut decoder: raw::Decoder<'static>| {
            decoder.set_parameter(DParameter::WindowLogMax(window_log)).map(|()| decoder)
        };
        Self(raw::Decoder::new().and_then(limited).ok())
    }

    /// Decompresses from `input` into `out`, which makes room for `most` bytes. Returns how many bytes it consumed and
    /// how many it appended.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<(usize, usize), &'static str> {
        let decoder = self.0.as_mut().ok_or("the zstd library could not be set up")?;
        let start = out.len();
        out.reserve_exact(most);
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around_pos(out, start);
        let result = decoder.run(&mut source, &mut target);
        let (taken, end) = (source.pos(), target.pos());
        result.map(|_| (taken, end.saturating_sub(start))).map_err(|error| {
            match error.to_string().contains("too much memory") {
                true => "has a window beyond the limit (by default 128 MiB)",
                false => "is not a zstd stream, or is damaged",
            }
        })
    }

    /// Outputs the bytes that the decoder still holds: none, as each step outputs all.
    pub(super) fn finish(&mut self, _: &mut Vec<u8>) -> usize {
        0
    }
}
