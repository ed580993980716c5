//! Plain objects of JavaScript.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::JsValue;

/// An object that is filled member by member.
#[derive(Debug, Default)]
pub(crate) struct Members(Object);

impl Members {
    /// Adds a member.
    pub(crate) fn set(&self, name: &str, value: impl Into<JsValue>) {
        // Setting a member of a plain object cannot fail.
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &value.into());
    }

    /// Adds a member that counts something.
    pub(crate) fn count(&self, name: &str, count: u64) {
        self.set(name, number(count));
    }

    /// Adds a text of the capture, `null` if there is none.
    pub(crate) fn text(&self, name: &str, bytes: Option<&[u8]>) {
        self.set(name, bytes.map_or(JsValue::NULL, text));
    }
}

impl From<Members> for JsValue {
    fn from(members: Members) -> Self {
        members.0.into()
    }
}

/// Returns a count as a number. Beyond 2^53 it is rounded.
#[allow(clippy::cast_precision_loss, reason = "documented in types.d.ts")]
pub(crate) fn number(count: u64) -> JsValue {
    JsValue::from_f64(count as f64)
}

/// Returns a text of the capture. Bytes that are not UTF-8 become `\xNN`, as in the program's JSON.
pub(crate) fn text(bytes: &[u8]) -> JsValue {
    JsValue::from_str(&shown(bytes))
}

/// Returns a text of the capture as [`text`] does, for Rust.
pub(crate) fn shown(bytes: &[u8]) -> String {
    struct Shown<'a>(&'a [u8]);
    impl core::fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            perf_profile::text::write_escaped(f, self.0, |_| true)
        }
    }
    Shown(bytes).to_string()
}

/// Returns a list of values.
pub(crate) fn list<T: Into<JsValue>>(values: impl IntoIterator<Item = T>) -> Array {
    values.into_iter().map(Into::into).collect()
}
