//! The functions that a program asked for.

use perf_profile::annotation::Annotation;

use crate::no_annotation::NoAnnotation;
use crate::sampled_function::SampledFunction;

/// The functions that a program asked for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AnnotatedFunctions {
    /// Those that can be shown.
    pub shown: Vec<Annotation>,
    /// Those that cannot be shown, and why.
    pub missing: Vec<(SampledFunction, NoAnnotation)>,
}
