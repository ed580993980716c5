//! Annotated functions: a page for a browser that shows their instructions and source lines.
//!
//! The page is one file, which loads nothing from elsewhere. Its policy (`Content-Security-Policy`) allows its own script and
//! style alone, by their hashes. Flame graphs show the same functions in the same way: see
//! [`flamegraph::Options::annotations`](crate::flamegraph::Options::annotations).

mod data;
mod links;
mod numbers;
pub(crate) mod panel;

use std::io::{self, Write};

use perf_profile::{annotation::Annotation, text::OneLine};

use crate::html::{self, Template};
pub(crate) use data::json;

const PAGE: &str = include_str!("annotation/page.html");
const ICON: &str = include_str!("annotation/icon.txt");
const STYLE: &str = include_str!("annotation/page.css");
const SCRIPT: &str = include_str!("annotation/page.js");

/// Options of a page of annotated functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The heading, such as the name of the capture. Empty for `Annotated functions`.
    pub title: Vec<u8>,
}

/// Writes a page of annotated functions: a list of them in their order, and a panel that shows one of them, first the first.
///
/// The page has the texts of the source lines that have instructions, not the other lines of their files, and the first 2,000
/// bytes of a text. A call of a function that is on the page leads to it.
///
/// Costs memory for the distinct texts, and for a few bytes of each instruction.
///
/// # Errors
///
/// Those of `out`.
///
/// # Examples
///
/// ```
/// use perf_export::annotation;
///
/// let mut page = Vec::new();
/// annotation::write(&[], &annotation::Options::default(), &mut page)?;
/// assert!(page.starts_with(b"<!doctype html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(annotations: &[Annotation], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let title = match &*options.title {
        b"" => "Annotated functions".to_owned(),
        title => OneLine(title).to_string(),
    };
    let data = json(annotations, &|_| Vec::new());
    let template = Template { text: PAGE, icon: ICON, title: &title, style: &style(), script: &script() };
    template.write(out, &|part, out| match part {
        "panel" => out.write_all(panel::HTML.as_bytes()),
        "annotations" => panel::write_data(&data, out),
        _ => Ok(()),
    })
}

fn style() -> String {
    [html::STYLE, panel::STYLE, STYLE].concat()
}

fn script() -> String {
    let mut parts = html::SCRIPT.to_vec();
    parts.extend(panel::SCRIPT);
    parts.push(SCRIPT);
    html::script(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_in_the_page() {
        let expected = ["policy", "icon", "title", "style", "title", "panel", "annotations", "script"];
        assert_eq!(Template::parts(PAGE), expected);
        // What would end the elements that they are in.
        assert!(!script().contains("</script") && !script().contains("<!--") && !style().contains("</style"));
    }

    #[test]
    fn a_hostile_title_stays_text() {
        let options = Options { title: b"</title><img src=x>\xe2\x80\xa8".to_vec() };
        let mut page = Vec::new();
        write(&[], &options, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert_eq!(page.matches("&lt;/title&gt;&lt;img src=x&gt;\\u{2028}").count(), 2);
        assert!(!page.contains("<img"));
    }
}
