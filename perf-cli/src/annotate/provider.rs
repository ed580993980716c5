//! What the browsers get annotations from.

use perf_annotate::{Annotator, SampledFunction};
use perf_profile::SampleTotal;
use perf_profile::annotation::Annotation;
use perf_profile::report::percent;

use super::browser::{AnnotationProvider, FunctionRequest, HotFunction};
use crate::escape::OneLine;

/// The functions of a capture that have samples, counted when the first one is shown.
pub(crate) struct CountedFunctions<F> {
    count: F,
    /// `None` until they are counted; else why they could not be.
    counted: Option<Result<Annotator, String>>,
}

impl<F: FnMut() -> Result<Annotator, String>> CountedFunctions<F> {
    /// Has `count` called when the first function is shown.
    pub(crate) fn new(count: F) -> Self {
        Self { count, counted: None }
    }
}

impl<F: FnMut() -> Result<Annotator, String>> AnnotationProvider for CountedFunctions<F> {
    fn annotate(&mut self, request: &FunctionRequest) -> Result<Annotation, String> {
        let Self { count, counted } = self;
        match counted.get_or_insert_with(count) {
            Ok(annotator) => annotate(annotator, request),
            Err(why) => Err(why.clone()),
        }
    }
}

impl AnnotationProvider for Annotator {
    fn annotate(&mut self, request: &FunctionRequest) -> Result<Annotation, String> {
        annotate(self, request)
    }
}

fn annotate(annotator: &mut Annotator, request: &FunctionRequest) -> Result<Annotation, String> {
    let is = |it: &SampledFunction| {
        let is_dso = request.dso.is_empty() || *it.dso == *request.dso || *it.short_dso == *request.dso;
        // The symbol may be inlined into the function.
        let is_symbol = request.offset.map_or(*it.name == *request.symbol, |start| it.start == start);
        is_dso && is_symbol
    };
    let Some(index) = annotator.functions().iter().position(is) else {
        let name =
            if request.symbol.is_empty() { "it".to_owned() } else { OneLine(&request.symbol).to_string() };
        return Err(format!("no sample is in {name}"));
    };
    annotator.annotate(index).map_err(|why| why.to_string())
}

/// Returns the functions for a list, in the order of `wanted`, which are their indexes.
pub(super) fn hot_functions(annotator: &Annotator, wanted: &[usize]) -> Vec<HotFunction> {
    let all: SampleTotal = annotator.totals().first().copied().unwrap_or_default();
    let hot = |it: &SampledFunction| {
        let total = it.totals.first().copied().unwrap_or_default();
        let request = FunctionRequest {
            dso: it.dso.to_vec(),
            symbol: it.name.to_vec(),
            address: None,
            offset: Some(it.start),
        };
        HotFunction { request, percent: percent(total.period, all.period), samples: total.samples }
    };
    wanted.iter().filter_map(|&index| annotator.functions().get(index)).map(hot).collect()
}
