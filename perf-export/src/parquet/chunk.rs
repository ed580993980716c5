//! A column chunk: the pages of a column in a row group.
//!
//! The writer of the crate `parquet` hashes each value of each row again. What the tables have is known better: most columns
//! are dictionaries already, and many rows have the values of the row before.

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

use super::bounds::Bounds;
use super::dictionary::{Integers, push_text};
use super::leaf::{Leaf, Levels, Values};
use super::zstd_frame::{Gain, Zstd};
use super::{delta, hybrid};
use crate::text_table::TextTable;

/// Number of bytes of a dictionary after which values are written one by one.
const DICTIONARY: usize = 1 << 20;

/// Probability that the filter of a column has a value that the column does not have.
const FILTER_FAULTS: f64 = 0.05;

/// A column chunk that grows page by page.
#[derive(Debug)]
pub(super) struct Chunk {
    descr: ColumnDescPtr,
    store: Store,
    /// Whether the next pages have their values one by one.
    is_plain: bool,
    has_filter: bool,
    gain: Gain,
    pages: Vec<DataPage>,
}

/// What is kept of the values.
#[derive(Debug)]
enum Store {
    Integers(Integers),
    Texts(TextTable),
    /// Nothing: pages have differences.
    Differences,
    /// Nothing: pages have the values.
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
    bounds: Option<Bounds>,
}

/// What all chunks share.
#[derive(Debug)]
pub(super) struct Scratch {
    zstd: Zstd,
    numbers: Vec<u32>,
    body: Vec<u8>,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { zstd: Zstd::new()?, numbers: Vec::new(), body: Vec::new() })
    }
}

impl Chunk {
    /// Starts a chunk. `is_rising` says whether values are like the ones before them, `has_filter` whether a reader finds out
    /// which values there are.
    pub(super) fn new(descr: ColumnDescPtr, is_rising: bool, has_filter: bool) -> Self {
        let store = match descr.physical_type() {
            Type::INT64 if is_rising => Store::Differences,
            Type::INT32 | Type::INT64 => Store::Integers(Integers::default()),
            Type::BYTE_ARRAY => Store::Texts(TextTable::default()),
            _ => Store::Plain,
        };
        Self { descr, store, is_plain: false, has_filter, gain: Gain::default(), pages: Vec::new() }
    }

    /// Adds a page.
    pub(super) fn add(&mut self, leaf: &Leaf<'_>, scratch: &mut Scratch) -> Result<(), ParquetError> {
        let Leaf { rows, repetitions, definitions, values } = leaf;
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

    /// Writes values, and returns how.
    fn push_values(
        &mut self,
        values: &Values<'_>,
        numbers: &mut Vec<u32>,
        body: &mut Vec<u8>,
    ) -> (Encoding, Option<Bounds>) {
        numbers.clear();
        match (&mut self.store, values) {
            (Store::Integers(dictionary), Values::Int32(values)) => {
                let bounds = Bounds::of_integers(values.iter().map(|&it| it.into()));
                if !self.is_plain {
                    dictionary.number(values.iter().map(|&it| it.into()), numbers);
                }
                (
                    self.push_numbers(numbers, 4, body, |body| extend(body, values, |it| it.to_le_bytes())),
                    bounds,
                )
            }
            (Store::Integers(dictionary), Values::Int64(values)) => {
                let bounds = Bounds::of_integers(values.iter().copied());
                if !self.is_plain {
                    dictionary.number(values.iter().copied(), numbers);
                }
                (
                    self.push_numbers(numbers, 8, body, |body| extend(body, values, |it| it.to_le_bytes())),
                    bounds,
                )
            }
            (Store::Differences, Values::Int64(values)) => {
                delta::encode(values, body);
                (Encoding::DELTA_BINARY_PACKED, Bounds::of_integers(values.iter().copied()))
            }
            (Store::Texts(dictionary), Values::Texts(texts)) => {
                let bounds = Bounds::of_texts(texts.iter().copied());
                if !self.is_plain {
                    numbers.extend(texts.iter().map(|text| dictionary.number(text)));
                }
                let plain = |body: &mut Vec<u8>| texts.iter().for_each(|text| push_text(text, body));
                (self.push_numbers(numbers, 0, body, plain), bounds)
            }
            (Store::Texts(dictionary), Values::Words(keys, words)) => {
                let word = |key: i32| words.value(key as usize);
                let mut number_of = vec![None; words.len()];
                for &key in &**keys {
                    let Some(number) = number_of.get_mut(key as usize) else { continue };
                    let is_plain = self.is_plain;
                    let find = || if is_plain { 0 } else { dictionary.number(word(key)) };
                    numbers.push(*number.get_or_insert_with(find));
                }
                let used = (0..).zip(&number_of).filter(|(_, number)| number.is_some());
                let bounds = Bounds::of_texts(used.map(|(key, _)| word(key)));
                let plain = |body: &mut Vec<u8>| keys.iter().for_each(|&key| push_text(word(key), body));
                (self.push_numbers(numbers, 0, body, plain), bounds)
            }
            (_, Values::Float64(values)) => {
                extend(body, values, |it| it.to_le_bytes());
                (Encoding::PLAIN, None)
            }
            (_, Values::Booleans(values)) => {
                let bits = values
                    .chunks(8)
                    .map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit)));
                body.extend(bits);
                (Encoding::PLAIN, Bounds::of_booleans(values))
            }
            // Values of another type than the column's: the writer of tables compares the schemas.
            _ => (Encoding::PLAIN, None),
        }
    }

    /// Writes the numbers of values in the dictionary, or with `plain` the values, if there are no numbers or too many. A
    /// value has so many bytes.
    fn push_numbers(
        &mut self,
        numbers: &[u32],
        bytes: usize,
        body: &mut Vec<u8>,
        plain: impl FnOnce(&mut Vec<u8>),
    ) -> Encoding {
        let (len, size) = match &self.store {
            Store::Integers(dictionary) => (dictionary.values().len(), dictionary.values().len() * bytes),
            Store::Texts(dictionary) => (dictionary.len(), dictionary.size() + 4 * dictionary.len()),
            _ => (0, 0),
        };
        // A dictionary of values that do not come again is larger than the values.
        let is_useless = self.pages.is_empty() && len >= 1 << 10 && len > numbers.len() / 2;
        if is_useless && !self.has_filter {
            match &mut self.store {
                Store::Integers(dictionary) => dictionary.clear(),
                Store::Texts(dictionary) => dictionary.clear(),
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
        scratch: &mut Scratch,
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
            Bounds::of_pages(pages.iter().map(|page| (page.bounds.as_ref(), page.missing < page.items)));
        let order = Bounds::order(pages.iter().filter_map(|page| page.bounds.as_ref()));
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
        metadata =
            metadata.set_statistics(Bounds::statistics(bounds, self.descr.physical_type(), missing as u64));
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
            Store::Integers(dictionary) => {
                let values = dictionary.values();
                if self.descr.physical_type() == Type::INT32 {
                    extend(&mut bytes, values, |it| (it as i32).to_le_bytes());
                } else {
                    extend(&mut bytes, values, |it| it.to_le_bytes());
                }
                (bytes, values.len())
            }
            Store::Texts(dictionary) => {
                dictionary.iter().for_each(|text| push_text(text, &mut bytes));
                (bytes, dictionary.len())
            }
            Store::Differences | Store::Plain => (bytes, 0),
        }
    }

    /// Returns the filter by which a reader finds out whether the column has a text.
    fn filter(&self) -> Result<Option<Sbbf>, ParquetError> {
        let Store::Texts(dictionary) = &self.store else { return Ok(None) };
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
            Store::Integers(dictionary) => dictionary.clear(),
            Store::Texts(dictionary) => dictionary.clear(),
            Store::Differences | Store::Plain => {}
        }
    }
}

/// Writes levels with the number of their bytes before them.
fn push_levels(levels: &Levels, largest: i16, body: &mut Vec<u8>) {
    let width = hybrid::width(largest.cast_unsigned().into());
    let start = body.len();
    body.extend_from_slice(&[0; 4]);
    match levels {
        Levels::Same(level, count) => hybrid::run(*level, *count, width, body),
        Levels::Each(levels) => hybrid::encode(levels, width, body),
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
