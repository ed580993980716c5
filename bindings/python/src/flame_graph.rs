//! Flame graphs, which notebooks show.

use std::path::PathBuf;

use perf_export::flamegraph::FlameDocument;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::capture::Capture;
use crate::export::{self, ExportFormat, ExportOptions};
use crate::output::write_document;

/// A flame graph: a page that loads nothing, or a picture.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct FlameGraph {
    document: String,
}

impl FlameGraph {
    /// Makes the flame graph of a capture, and writes it if there is a path: a picture if that ends in `.svg`, else a page.
    ///
    /// # Errors
    ///
    /// Those of the profile, and if the file cannot be written.
    pub(crate) fn of(
        capture: &Capture,
        py: Python<'_>,
        path: Option<PathBuf>,
        event: Option<String>,
        off_cpu: bool,
    ) -> PyResult<Self> {
        let ending = path.as_deref().and_then(|it| it.extension()).map(|it| it.to_ascii_lowercase());
        let document = match ending.as_deref().and_then(|it| it.to_str()) {
            Some("svg") => FlameDocument::Svg,
            Some("html" | "htm") => FlameDocument::Page,
            None if ending.is_none() => FlameDocument::Page,
            _ => {
                let what =
                    "flame graphs are pages or pictures in SVG; give a name that ends in .html or .svg";
                return Err(PyValueError::new_err(what));
            }
        };
        let options =
            ExportOptions { event, off_cpu, ..ExportOptions::new(ExportFormat::FlameGraph(document)) };
        // It is text: names that are not are escaped in it.
        let graph = Self { document: crate::text::text(&export::bytes(capture, py, &options)?) };
        if let Some(path) = path {
            graph.save(py, path)?;
        }
        Ok(graph)
    }
}

#[pymethods]
impl FlameGraph {
    /// The page or picture as text.
    #[getter]
    fn document(&self) -> &str {
        &self.document
    }

    /// Write the page or picture into a file, which gets its name when it is complete.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_document(&path, |out| out.write_all(self.document.as_bytes())))?;
        Ok(())
    }

    /// Returns a frame for a notebook. The page in it runs its own script, without access to the notebook.
    fn _repr_html_(&self) -> String {
        let page = self.document.replace('&', "&amp;").replace('"', "&quot;");
        let style = "width:100%;height:600px;border:0";
        format!("<iframe sandbox=\"allow-scripts\" style=\"{style}\" srcdoc=\"{page}\"></iframe>")
    }

    fn __repr__(&self) -> String {
        format!("<perfdata.FlameGraph, {} bytes>", self.document.len())
    }
}
