//! A column chunk: the pages of a column in a row group.
//!
//! `ArrowWriter` of the crate `parquet` hashes each value of each row, also of dictionaries. Most columns here are dictionaries
//! already, and many rows repeat the value of the previous row. See [the figures](super).

use core::mem;
use std::io;

use ::parquet::basic::{Compression, Encoding, PageType, Type};
use ::parquet::bloom_filter::Sbbf;
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnDescPtr;
use arrow_array::Array;
use bytes::Bytes;

use super::bounds::PageBounds;
use super::dictionary::{Integers, push_text};
use super::leaf::{LeafColumn, LeafLevels, LeafValues};
use super::zstd_frame::{CompressionGain, PageCompressor};
use super::{delta, hybrid};
use crate::text_table::TextTable;

/// Size in bytes from which a dictionary is given up: further values are written plainly.
const DICTIONARY: usize = 1 << 20;

/// False-positive rate of a column's Bloom filter.
const FILTER_FAULTS: f64 = 0.05;

/// A column chunk that grows page by page.
#[derive(Debug)]
pub(super) struct ColumnChunk {
    descr: ColumnDescPtr,
    store: ChunkValues,
    /// Whether the values of the next pages are written plainly.
    is_plain: bool,
    has_filter: bool,
    gain: CompressionGain,
    pages: Vec<DataPage>,
}

/// The dictionary of a chunk, if its values have one.
#[derive(Debug)]
enum ChunkValues {
    Integers(Integers),
    Texts(TextTable),
    /// None: pages have differences.
    Differences,
    /// None: pages have plain values.
    Plain,
}

/// A page, compressed.
#[derive(Debug)]
struct DataPage {
    body: Vec<u8>,
    /// Number of bytes before they were compressed.
    size: usize,
    encoding: Encoding,
    rows: usize,
    items: usize,
    missing: usize,
    /// `None` if there is no value, or if the bounds are too long.
    bounds: Option<PageBounds>,
}

/// Buffers that all chunks share.
#[derive(Debug)]
pub(super) struct PageScratch {
    zstd: PageCompressor,
    numbers: Vec<u32>,
    body: Vec<u8>,
}

impl PageScratch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { zstd: PageCompressor::new()?, numbers: Vec::new(), body: Vec::new() })
    }
}

impl ColumnChunk {
    /// Starts a chunk. `is_rising` encodes values as differences, `has_filter` adds a Bloom filter.
    pub(super) fn new(descr: ColumnDescPtr, is_rising: bool, has_filter: bool) -> Self {
        let store = match descr.physical_type() {
            Type::INT64 if is_rising => ChunkValues::Differences,
            Type::INT32 | Type::INT64 => ChunkValues::Integers(Integers::default()),
            Type::BYTE_ARRAY => ChunkValues::Texts(TextTable::default()),
            _ => ChunkValues::Plain,
        };
        Self {
            descr,
            store,
            is_plain: false,
            has_filter,
            gain: CompressionGain::default(),
            pages: Vec::new(),
        }
    }

    /// Adds a page.
    pub(super) fn add(
        &mut self,
        leaf: &LeafColumn<'_>,
        scratch: &mut PageScratch,
    ) -> Result<(), ParquetError> {
        let LeafColumn { rows, repetitions, definitions, values } = leaf;
        let mut body = mem::take(&mut scratch.body);
        body.clear();
        if let Some(repetitions) = repetitions {
            push_levels(repetitions, self.descr.max_rep_level(), &mut body);
        }
        let largest = self.descr.max_def_level();
        if largest > 0 {
            push_levels(definitions, largest, &mut body);
        }
        let items = definitions.len();
        let missing = items - definitions.count(largest.cast_unsigned().into());
        let (encoding, bounds) = if missing < items {
            self.push_values(values, &mut scratch.numbers, &mut body)
        } else {
            (Encoding::PLAIN, None)
        };
        let page = DataPage {
            body: scratch.zstd.compress_if_worth(&body, &mut self.gain)?,
            size: body.len(),
            encoding,
            rows: *rows,
            items,
            missing,
            bounds,
        };
        self.pages.push(page);
        scratch.body = body;
        Ok(())
    }

    /// Writes values, and returns their encoding and bounds.
    fn push_values(
        &mut self,
        values: &LeafValues<'_>,
        numbers: &mut Vec<u32>,
        body: &mut Vec<u8>,
    ) -> (Encoding, Option<PageBounds>) {
        numbers.clear();
        match (&mut self.store, values) {
            (ChunkValues::Integers(dictionary), LeafValues::Int32(values)) => {
                let bounds = PageBounds::of_integers(values.iter().map(|&it| it.into()));
                if !self.is_plain {
                    dictionary.number(values.iter().map(|&it| it.into()), numbers);
                }
                (
                    self.push_numbers(numbers, 4, body, |body| extend(body, values, |it| it.to_le_bytes())),
                    bounds,
                )
            }
            (ChunkValues::Integers(dictionary), LeafValues::Int64(values)) => {
                let bounds = PageBounds::of_integers(values.iter().copied());
                if !self.is_plain {
                    dictionary.number(values.iter().copied(), numbers);
                }
                (
                    self.push_numbers(numbers, 8, body, |body| extend(body, values, |it| it.to_le_bytes())),
                    bounds,
                )
            }
            (ChunkValues::Differences, LeafValues::Int64(values)) => {
                delta::encode(values, body);
                (Encoding::DELTA_BINARY_PACKED, PageBounds::of_integers(values.iter().copied()))
            }
            (ChunkValues::Texts(dictionary), LeafValues::Texts(texts)) => {
                let bounds = PageBounds::of_texts(texts.iter().copied());
                if !self.is_plain {
                    numbers.extend(texts.iter().map(|text| dictionary.number(text)));
                }
                let plain = |body: &mut Vec<u8>| texts.iter().for_each(|text| push_text(text, body));
                (self.push_numbers(numbers, 0, body, plain), bounds)
            }
            (ChunkValues::Texts(dictionary), LeafValues::Words(keys, words)) => {
                let word = |key: i32| words.value(key as usize);
                let mut number_of = vec![None; words.len()];
                for &key in &**keys {
                    let Some(number) = number_of.get_mut(key as usize) else { continue };
                    let is_plain = self.is_plain;
                    let find = || if is_plain { 0 } else { dictionary.number(word(key)) };
                    numbers.push(*number.get_or_insert_with(find));
                }
                let used = (0..).zip(&number_of).filter(|(_, number)| number.is_some());
                let bounds = PageBounds::of_texts(used.map(|(key, _)| word(key)));
                let plain = |body: &mut Vec<u8>| keys.iter().for_each(|&key| push_text(word(key), body));
                (self.push_numbers(numbers, 0, body, plain), bounds)
            }
            (_, LeafValues::Float64(values)) => {
                extend(body, values, |it| it.to_le_bytes());
                (Encoding::PLAIN, None)
            }
            (_, LeafValues::Booleans(values)) => {
                let bits = values
                    .chunks(8)
                    .map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit)));
                body.extend(bits);
                (Encoding::PLAIN, PageBounds::of_booleans(values))
            }
            // Values of another type than the column's: the writer of tables compares the schemas.
            _ => (Encoding::PLAIN, None),
        }
    }

    /// Writes the indices of values in the dictionary; or the values, by `plain`, if there are no indices or the dictionary is
    /// too large. A value has `bytes` bytes.
    fn push_numbers(
        &mut self,
        numbers: &[u32],
        bytes: usize,
        body: &mut Vec<u8>,
        plain: impl FnOnce(&mut Vec<u8>),
    ) -> Encoding {
        let (len, size) = match &self.store {
            ChunkValues::Integers(dictionary) => {
                (dictionary.values().len(), dictionary.values().len() * bytes)
            }
            ChunkValues::Texts(dictionary) => (dictionary.len(), dictionary.size() + 4 * dictionary.len()),
            _ => (0, 0),
        };
        // A dictionary of values that do not come again is larger than the values.
        let is_useless = self.pages.is_empty() && len >= 1 << 10 && len > numbers.len() / 2;
        if is_useless && !self.has_filter {
            match &mut self.store {
                ChunkValues::Integers(dictionary) => dictionary.clear(),
                ChunkValues::Texts(dictionary) => dictionary.clear(),
                _ => {}
            }
            self.is_plain = true;
        }
        if self.is_plain {
            plain(body);
            return Encoding::PLAIN;
        }
        let width = hybrid::width(len.saturating_sub(1) as u32);
        body.push(width as u8);
        hybrid::encode(numbers, width, body);
        self.is_plain = size >= DICTIONARY;
        Encoding::RLE_DICTIONARY
    }

    /// Ends the chunk and returns it with its description. The next page starts another one.
    pub(super) fn finish(
        &mut self,
        scratch: &mut PageScratch,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let pages = mem::take(&mut self.pages);
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let (mut sizes, mut dictionary_offset, mut first_page) = ([0, 0], None, None);
        let mut encodings = Vec::new();
        if pages.iter().any(|page| page.encoding == Encoding::RLE_DICTIONARY) {
            let (bytes, len) = self.dictionary();
            let body = scratch.zstd.compress(&bytes)?;
            let page = Page::DictionaryPage {
                buf: body.into(),
                num_values: len as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = writer.write_page(CompressedPage::new(page, bytes.len()))?;
            sizes = [written.compressed_size as i64, written.uncompressed_size as i64];
            dictionary_offset = Some(written.offset as i64);
            encodings.push((PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
        }
        let mut offsets = OffsetIndexBuilder::new();
        let mut index = ColumnIndexBuilder::new(self.descr.physical_type());
        let (mut rows, mut items, mut missing) = (0, 0, 0);
        let bounds =
            PageBounds::of_pages(pages.iter().map(|page| (page.bounds.as_ref(), page.missing < page.items)));
        let order = PageBounds::order(pages.iter().filter_map(|page| page.bounds.as_ref()));
        for page in pages {
            let (min, max) =
                page.bounds.as_ref().map(|it| it.bytes(self.descr.physical_type())).unwrap_or_default();
            index.append(page.missing == page.items, min, max, page.missing as i64);
            rows += page.rows;
            items += page.items;
            missing += page.missing;
            match encodings.last_mut() {
                Some((PageType::DATA_PAGE, encoding, count)) if *encoding == page.encoding => *count += 1,
                _ => encodings.push((PageType::DATA_PAGE, page.encoding, 1)),
            }
            let size = page.size;
            let data = Page::DataPage {
                buf: page.body.into(),
                num_values: page.items as u32,
                encoding: page.encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let written = writer.write_page(CompressedPage::new(data, size))?;
            offsets.append_row_count(page.rows as i64);
            offsets.append_offset_and_size(written.offset as i64, written.compressed_size as i32);
            first_page.get_or_insert(written.offset as i64);
            let [compressed, uncompressed] = &mut sizes;
            *compressed += written.compressed_size as i64;
            *uncompressed += written.uncompressed_size as i64;
        }
        let has_index = bounds.is_some() || missing == items;
        let stats = encodings.iter();
        let stats =
            stats.map(|&(page_type, encoding, count)| PageEncodingStats { page_type, encoding, count });
        let mut all: Vec<_> = encodings.iter().map(|&(_, encoding, _)| encoding).collect();
        all.push(Encoding::RLE);
        let [compressed, uncompressed] = sizes;
        let mut metadata = ColumnChunkMetaData::builder(self.descr.clone())
            .set_compression(Compression::ZSTD(Default::default()))
            .set_encodings(all)
            .set_page_encoding_stats(stats.collect())
            .set_total_compressed_size(compressed)
            .set_total_uncompressed_size(uncompressed)
            .set_num_values(items as i64)
            .set_data_page_offset(first_page.unwrap_or(0))
            .set_dictionary_page_offset(dictionary_offset);
        metadata = metadata.set_statistics(PageBounds::statistics(
            bounds,
            self.descr.physical_type(),
            missing as u64,
        ));
        index.set_boundary_order(order);
        let bloom_filter = self.filter()?;
        let bytes_written = sink.bytes_written() as u64;
        self.clear();
        Ok((
            sink.into_inner()?.into(),
            ColumnCloseResult {
                bytes_written,
                rows_written: rows as u64,
                metadata: metadata.build()?,
                bloom_filter,
                column_index: has_index.then(|| index.build()).transpose()?,
                offset_index: Some(offsets.build()),
            },
        ))
    }

    /// Returns the bytes of the dictionary and its length.
    fn dictionary(&self) -> (Vec<u8>, usize) {
        let mut bytes = Vec::new();
        match &self.store {
            ChunkValues::Integers(dictionary) => {
                let values = dictionary.values();
                if self.descr.physical_type() == Type::INT32 {
                    extend(&mut bytes, values, |it| (it as i32).to_le_bytes());
                } else {
                    extend(&mut bytes, values, |it| it.to_le_bytes());
                }
                (bytes, values.len())
            }
            ChunkValues::Texts(dictionary) => {
                dictionary.iter().for_each(|text| push_text(text, &mut bytes));
                (bytes, dictionary.len())
            }
            ChunkValues::Differences | ChunkValues::Plain => (bytes, 0),
        }
    }

    /// Returns the Bloom filter of a column of texts.
    fn filter(&self) -> Result<Option<Sbbf>, ParquetError> {
        let ChunkValues::Texts(dictionary) = &self.store else { return Ok(None) };
        if !self.has_filter || self.is_plain {
            return Ok(None);
        }
        let mut filter = Sbbf::new_with_ndv_fpp(dictionary.len() as u64, FILTER_FAULTS)?;
        dictionary.iter().for_each(|text| filter.insert(text.as_bytes()));
        Ok(Some(filter))
    }

    fn clear(&mut self) {
        self.is_plain = false;
        match &mut self.store {
            ChunkValues::Integers(dictionary) => dictionary.clear(),
            ChunkValues::Texts(dictionary) => dictionary.clear(),
            ChunkValues::Differences | ChunkValues::Plain => {}
        }
    }
}

/// Writes levels with the number of their bytes before them.
fn push_levels(levels: &LeafLevels, largest: i16, body: &mut Vec<u8>) {
    let width = hybrid::width(largest.cast_unsigned().into());
    let start = body.len();
    body.extend_from_slice(&[0; 4]);
    match levels {
        LeafLevels::Same(level, count) => hybrid::run(*level, *count, width, body),
        LeafLevels::Each(levels) => hybrid::encode(levels, width, body),
    }
    let size = (body.len() - start - 4) as u32;
    if let Some(place) = body.get_mut(start..start + 4) {
        place.copy_from_slice(&size.to_le_bytes());
    }
}

/// Writes the bytes of values.
fn extend<T: Copy, const N: usize>(out: &mut Vec<u8>, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
    out.reserve(values.len() * N);
    values.iter().for_each(|&value| out.extend_from_slice(&bytes(value)));
}
