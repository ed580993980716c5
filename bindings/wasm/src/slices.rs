//! A file that is read by slices.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

use js_sys::{Function, Uint8Array};
use wasm_bindgen::prelude::*;

/// Number of bytes that are read at once. Each slice of a `File` costs some 50 microseconds, whatever its size.
const WINDOW: u64 = 1 << 20;

#[wasm_bindgen]
extern "C" {
    /// A `File` or another `Blob`.
    #[derive(Clone)]
    pub type Blob;

    #[wasm_bindgen(method, getter)]
    fn size(this: &Blob) -> f64;

    #[wasm_bindgen(method, catch)]
    fn slice(this: &Blob, start: f64, end: f64) -> Result<Blob, JsValue>;

    /// Reads without waiting for an event. Workers alone have it.
    type FileReaderSync;

    #[wasm_bindgen(constructor, catch)]
    fn new() -> Result<FileReaderSync, JsValue>;

    #[wasm_bindgen(method, catch, js_name = readAsArrayBuffer)]
    fn read(this: &FileReaderSync, blob: &Blob) -> Result<JsValue, JsValue>;
}

/// What reads the slices.
#[derive(Clone)]
enum SliceReader {
    File(Blob),
    Function(Function),
}

impl SliceReader {
    #[allow(clippy::cast_precision_loss, reason = "sizes of files are exact up to 2^53")]
    fn read(&self, start: u64, end: u64) -> Result<Uint8Array, JsValue> {
        match self {
            Self::File(file) => {
                let slice = file.slice(start as f64, end as f64)?;
                Ok(Uint8Array::new(&FileReaderSync::new()?.read(&slice)?))
            }
            Self::Function(read) => {
                let length = end - start;
                let bytes = read.call2(&JsValue::NULL, &(start as f64).into(), &(length as f64).into())?;
                bytes.dyn_into::<Uint8Array>().map_err(|_| JsValue::from_str("read returned no Uint8Array"))
            }
        }
    }
}

thread_local! {
    /// The readers. Values of JavaScript cannot be sent to another thread, and a reader of captures takes only what can: so it
    /// gets the number of one of these.
    static READERS: RefCell<Vec<Option<SliceReader>>> = const { RefCell::new(Vec::new()) };
}

/// A file that was opened.
#[derive(Debug)]
pub(crate) struct SlicedFile {
    number: usize,
    size: u64,
}

impl SlicedFile {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Outside of a worker.
    pub(crate) fn of_blob(file: Blob) -> Result<Self, JsValue> {
        FileReaderSync::new().map_err(|_| {
            crate::error::of("Capture.fromFile works in a worker only; elsewhere use new Capture(new Uint8Array(await file.arrayBuffer()))")
        })?;
        let size = file.size();
        Ok(Self::new(SliceReader::File(file), size))
    }

    /// Opens what a function reads.
    pub(crate) fn of_function(size: f64, read: Function) -> Self {
        Self::new(SliceReader::Function(read), size)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
    fn new(reader: SliceReader, size: f64) -> Self {
        let number = READERS.with_borrow_mut(|readers| {
            let number = readers.iter().position(Option::is_none).unwrap_or(readers.len());
            match readers.get_mut(number) {
                Some(free) => *free = Some(reader),
                None => readers.push(Some(reader)),
            }
            number
        });
        Self { number, size: size as u64 }
    }

    /// Returns the number of bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the file from its start.
    pub(crate) fn open(&self) -> Slices {
        Slices { number: self.number, size: self.size, position: 0, start: 0, window: Vec::new() }
    }
}

impl Drop for SlicedFile {
    fn drop(&mut self) {
        READERS.with_borrow_mut(|readers| {
            if let Some(reader) = readers.get_mut(self.number) {
                *reader = None;
            }
        });
    }
}

/// The bytes of a file. One window of them is in memory.
#[derive(Debug)]
pub(crate) struct Slices {
    number: usize,
    size: u64,
    position: u64,
    /// The offset of the window.
    start: u64,
    window: Vec<u8>,
}

impl Slices {
    /// Returns the bytes of the window from the position on; empty if it is outside.
    fn rest(&self) -> &[u8] {
        let at = self.position.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.window.get(at..)).unwrap_or_default()
    }
}

impl Read for Slices {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest().is_empty() && self.position < self.size {
            let reader = READERS.with_borrow(|readers| readers.get(self.number).cloned().flatten());
            let reader = reader.ok_or(io::ErrorKind::NotFound)?;
            let end = self.size.min(self.position.saturating_add(WINDOW));
            // The error of a reader has the kind alone.
            let slice = reader.read(self.position, end).map_err(|_| io::ErrorKind::Other)?;
            self.window.resize(slice.length() as usize, 0);
            slice.copy_to(&mut self.window);
            self.start = self.position;
        }
        let mut rest = self.rest();
        let read = rest.read(out)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Slices {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
