//! Tables of a capture, which Arrow libraries take without a copy.

use std::collections::BTreeMap;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use perf_export::columns::{self, Options, SCHEMA_VERSION, Table as TableKind};
use perf_profile::{ProfileError, Symbols};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::account;
use crate::capture::Capture;
use crate::error::{Error, Failure};

/// A table in memory, by the interface of the Arrow PyCapsules.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Table {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<ProfileError>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::new(error.to_string()),
            },
            error => Self::new(error.to_string()),
        }
    }
}

/// Makes the tables of a capture: those of `SCHEMA.md`, and those of its tracepoints if they are wanted.
///
/// # Errors
///
/// What is wrong with the selection, and exceptions of callbacks and signals.
pub(crate) fn tables<'py>(
    capture: &Capture,
    py: Python<'py>,
    mut options: Options,
) -> PyResult<Bound<'py, PyDict>> {
    options.path = Some(capture.path.as_os_str().as_encoded_bytes().to_vec());
    options.max_stack = Some(Symbols::max_stack(capture.reader.features(), capture.names.max_stack));
    options.naming.inlines = capture.names.options.inlines;
    if let Some(threads) = std::num::NonZero::new(capture.threads) {
        options.naming.threads = threads;
    }
    let empty = |kind: &TableKind| (kind.name().to_owned(), (kind.schema(), Vec::new()));
    let mut tables: BTreeMap<String, (SchemaRef, Vec<RecordBatch>)> =
        TableKind::ALL.iter().map(empty).collect();
    let account = py.detach(|| {
        let mut add = |name: String, batch: RecordBatch| {
            tables.entry(name).or_insert_with(|| (batch.schema(), Vec::new())).1.push(batch);
        };
        let symbols = capture.symbols(false);
        let mut watch = capture.watch();
        let end =
            columns::walk(&capture.reader, capture.samples_of(), &symbols, options, &mut watch, |ready| {
                loop {
                    let batch = ready.take()?;
                    while let Some((name, batch)) = ready.take_trace() {
                        add(name.to_string(), batch);
                    }
                    let Some((table, batch)) = batch else { return Ok::<(), Failure>(()) };
                    add(table.name().to_owned(), batch);
                }
            });
        watch.end(end.map(|end| end.account().clone()))
    })?;
    account::warn(py, &account, &capture.path)?;
    let dict = PyDict::new(py);
    for (name, (schema, batches)) in tables {
        let table = Table { name: name.clone(), schema, batches };
        dict.set_item(name, Py::new(py, table)?)?;
    }
    Ok(dict)
}

#[pymethods]
impl Table {
    /// Name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Version of the columns.
    #[classattr]
    fn schema_version() -> i32 {
        SCHEMA_VERSION
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Return the batches as a capsule of Arrow's C stream interface. The type of the columns is not changed.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface permits a producer to return its own schema, which the consumer compares.
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// Return the columns as a capsule of Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| Error::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.num_rows()
    }

    fn __repr__(&self) -> String {
        format!(
            "<perfdata.Table {}, {} rows, {} columns>",
            self.name,
            self.num_rows(),
            self.schema.fields().len()
        )
    }
}
