//! Options, as a caller gives them.

use js_sys::{Array, Function, Object, Reflect};
use perf_export::fold;
use perf_profile::report::{self, KeyList};
use perf_profile::{ProfileOptions, SampleDetail, Selection, Symbols, TimeDetail, Weight};
use wasm_bindgen::{JsCast, JsValue};

use crate::error::{self, of_profile};
use crate::observer::ProgressObserver;

/// The options of every method.
const SELECTION: [&str; 11] =
    ["time", "comm", "pid", "tid", "cpu", "event", "dso", "symbol", "offCpu", "maxStack", "progress"];

/// The object with the options of a call.
#[derive(Debug)]
pub(crate) struct GivenOptions(JsValue);

impl GivenOptions {
    /// Takes an object, or nothing.
    ///
    /// # Errors
    ///
    /// If it has an option that is neither one of every method nor among `others`.
    pub(crate) fn new(options: JsValue, others: &[&str]) -> Result<Self, JsValue> {
        if options.is_undefined() || options.is_null() {
            return Ok(Self(JsValue::UNDEFINED));
        }
        let object = options.dyn_ref::<Object>().ok_or_else(|| error::of("the options must be an object"))?;
        for name in Object::keys(object).iter().filter_map(|name| name.as_string()) {
            let all = || SELECTION.iter().chain(others);
            if !all().any(|known| **known == *name) {
                let all: Vec<_> = all().copied().collect();
                return Err(error::of(format!("{name}: no such option; the options are {}", all.join(", "))));
            }
        }
        Ok(Self(options))
    }

    fn get(&self, name: &str) -> Option<JsValue> {
        if self.0.is_undefined() {
            return None;
        }
        Reflect::get(&self.0, &name.into()).ok().filter(|it| !it.is_undefined() && !it.is_null())
    }

    /// Returns an option that is a text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, JsValue> {
        let text = |it: JsValue| it.as_string().ok_or_else(|| error::of(format!("{name}: must be a string")));
        self.get(name).map(text).transpose()
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, JsValue> {
        let flag =
            |it: JsValue| it.as_bool().ok_or_else(|| error::of(format!("{name}: must be true or false")));
        self.get(name).map(flag).transpose()
    }

    fn number(&self, name: &str) -> Result<Option<f64>, JsValue> {
        let number = |it: JsValue| {
            it.as_f64()
                .filter(|it| *it >= 0.0)
                .ok_or_else(|| error::of(format!("{name}: must be a number, at least 0")))
        };
        self.get(name).map(number).transpose()
    }

    fn texts(&self, name: &str) -> Result<Vec<Vec<u8>>, JsValue> {
        let values = self.get(name).map(|it| it.dyn_into::<Array>().unwrap_or_else(|it| Array::of1(&it)));
        let text = |it: JsValue| {
            let wrong = || error::of(format!("{name}: must be a string or a list of strings"));
            it.as_string().map(String::into_bytes).ok_or_else(wrong)
        };
        values.iter().flat_map(|values| values.iter()).map(text).collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "an id has 32 bits; a larger one selects nothing")]
    fn ids(&self, name: &str) -> Result<Vec<i32>, JsValue> {
        let values = self.get(name).map(|it| it.dyn_into::<Array>().unwrap_or_else(|it| Array::of1(&it)));
        let id = |it: JsValue| {
            let wrong = || error::of(format!("{name}: must be a number or a list of numbers"));
            it.as_f64().map(|id| id as i32).ok_or_else(wrong)
        };
        values.iter().flat_map(|values| values.iter()).map(id).collect()
    }

    /// Returns the samples that are selected.
    pub(crate) fn selection(&self) -> Result<Selection, JsValue> {
        let parsed = |text: Option<String>| text.as_deref().map(str::parse).transpose();
        Ok(Selection {
            comms: self.texts("comm")?,
            pids: self.ids("pid")?,
            tids: self.ids("tid")?,
            cpus: self
                .text("cpu")?
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(of_profile)?
                .unwrap_or_default(),
            time: parsed(self.text("time")?).map_err(of_profile)?.unwrap_or_default(),
            event: self.text("event")?,
            dsos: self.texts("dso")?,
            symbols: self.texts("symbol")?,
            no_idle: false,
        })
    }

    /// Returns what reports the progress.
    pub(crate) fn observer(&self) -> Result<ProgressObserver, JsValue> {
        let function =
            |it: JsValue| it.dyn_into::<Function>().map_err(|_| error::of("progress: must be a function"));
        Ok(ProgressObserver::new(self.get("progress").map(function).transpose()?))
    }

    /// Returns whether times off the CPU are counted.
    pub(crate) fn off_cpu(&self) -> Result<bool, JsValue> {
        Ok(self.flag("offCpu")?.unwrap_or(false))
    }

    /// Returns the largest number of frames of a stack.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
    fn max_stack(&self) -> Result<usize, JsValue> {
        Ok(self.number("maxStack")?.map_or(Symbols::MAX_CHAIN, |it| it as usize))
    }

    /// Returns what a profile has.
    pub(crate) fn profile(
        &self,
        times: TimeDetail,
        cpus: bool,
        marks: bool,
    ) -> Result<ProfileOptions, JsValue> {
        let mut options = ProfileOptions::default();
        options.detail = SampleDetail { times, cpus, max_stack: self.max_stack()? };
        (options.off_cpu, options.marks) = (self.off_cpu()?, marks);
        Ok(options)
    }

    /// Returns the options of a report.
    pub(crate) fn report(&self) -> Result<report::Options, JsValue> {
        let keys = |name: &str| -> Result<Option<KeyList>, JsValue> {
            let list = self.text(name)?;
            let wrong = |error| error::of(format!("{name} {error}"));
            list.as_deref().map(str::parse).transpose().map_err(wrong)
        };
        let mut options = report::Options::default();
        (options.sort, options.fields) = (keys("sort")?, keys("fields")?);
        options.children = self.flag("children")?.unwrap_or(options.children);
        options.percent_limit = self.number("percentLimit")?;
        (options.off_cpu, options.max_stack) = (self.off_cpu()?, self.max_stack()?);
        Ok(options)
    }

    /// Returns the options of folded stacks.
    pub(crate) fn fold(&self) -> Result<fold::Options, JsValue> {
        let mut options = fold::Options::default();
        options.root = match self.text("root")?.as_deref() {
            None | Some("comm") => fold::Root::Comm,
            Some("pid") => fold::Root::Pid,
            Some("tid") => fold::Root::Tid,
            Some(other) => return Err(error::of(format!("root {other}: must be comm, pid or tid"))),
        };
        options.weight = self.weight()?;
        Ok(options)
    }

    /// Returns what a sample counts.
    pub(crate) fn weight(&self) -> Result<Weight, JsValue> {
        match self.text("weight")?.as_deref() {
            None | Some("period") => Ok(Weight::Period),
            Some("samples") => Ok(Weight::Samples),
            Some(other) => Err(error::of(format!("weight {other}: must be period or samples"))),
        }
    }
}
