//! The progress of a walk over a capture.

use js_sys::Function;
use perf_profile::Observer;
use wasm_bindgen::JsValue;

use crate::object::number;

/// Number of bytes between two reports. A call of JavaScript costs little, a message to a page more.
const STEP: u64 = 1 << 20;

/// Calls a function with the number of bytes that were read; the walk ends if the function returns `false`.
#[derive(Debug)]
pub(crate) struct ProgressObserver {
    function: Option<Function>,
    next: u64,
    is_cancelled: bool,
}

impl ProgressObserver {
    pub(crate) fn new(function: Option<Function>) -> Self {
        Self { function, next: STEP, is_cancelled: false }
    }
}

impl Observer for ProgressObserver {
    fn bytes(&mut self, reached: u64) {
        let Some(function) = self.function.as_ref().filter(|_| reached >= self.next) else { return };
        self.next = reached.saturating_add(STEP);
        // A function that throws ends the walk, too.
        let goes_on = function.call1(&JsValue::NULL, &number(reached)).is_ok_and(|it| it != JsValue::FALSE);
        self.is_cancelled |= !goes_on;
    }

    fn is_cancelled(&mut self) -> bool {
        self.is_cancelled
    }
}
