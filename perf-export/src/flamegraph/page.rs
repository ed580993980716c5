//! The page.

use std::io::{self, Write};

use serde_json::Value;

use crate::annotation::panel;
use crate::html::{self, Template, json_text, numbers::base64};

const PAGE: &str = include_str!("page.html");
const ICON: &str = include_str!("icon.txt");
const STYLE: &str = include_str!("page.css");
/// Parts of the script that read, draw and change what is shown.
const SHOW: [&str; 20] = [
    include_str!("data.js"),
    include_str!("trees.js"),
    include_str!("colors.js"),
    include_str!("transforms.js"),
    include_str!("sandwich.js"),
    include_str!("page.js"),
    include_str!("compare.js"),
    include_str!("short_names.js"),
    include_str!("matches.js"),
    include_str!("draw.js"),
    include_str!("timeline.js"),
    include_str!("heatmap.js"),
    include_str!("lane_data.js"),
    include_str!("lanes.js"),
    include_str!("actions.js"),
    include_str!("about.js"),
    include_str!("function_table.js"),
    include_str!("save.js"),
    include_str!("url_state.js"),
    include_str!("keys.js"),
];
/// The part of the script that opens annotated functions.
const ANNOTATED: &str = include_str!("annotated.js");
/// The last part of the script, which starts it.
const START: &str = include_str!("controls.js");

/// The content of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageParts<'a> {
    pub(super) title: &'a str,
    pub(super) meta: &'a Value,
    pub(super) functions: &'a [u8],
    pub(super) tree: &'a [u8],
    pub(super) samples: &'a [u8],
    /// The annotated functions; `None` leaves out their panel with its script and style.
    pub(super) annotations: Option<&'a Value>,
}

/// Writes the page with its parts.
pub(super) fn write(parts: &PageParts<'_>, out: &mut dyn Write) -> io::Result<()> {
    let is_annotated = parts.annotations.is_some();
    let template = Template {
        icon: ICON,
        text: PAGE,
        title: parts.title,
        style: &style(is_annotated),
        script: &script(is_annotated),
    };
    template.write(out, &|part, out| match part {
        "meta" => out.write_all(json_text(parts.meta).as_bytes()),
        "functions" => out.write_all(&base64(parts.functions)),
        "tree" => out.write_all(&base64(parts.tree)),
        "samples" => out.write_all(&base64(parts.samples)),
        "panel" if is_annotated => out.write_all(panel::HTML.as_bytes()),
        "annotations" => parts.annotations.map_or(Ok(()), |data| panel::write_data(data, out)),
        _ => Ok(()),
    })
}

fn style(is_annotated: bool) -> String {
    [html::STYLE, STYLE, if is_annotated { panel::STYLE } else { "" }].concat()
}

fn script(is_annotated: bool) -> String {
    let mut parts = html::SCRIPT.to_vec();
    parts.extend(SHOW);
    if is_annotated {
        parts.extend(panel::SCRIPT);
        parts.push(ANNOTATED);
    }
    parts.push(START);
    html::script(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_in_the_page() {
        let expected = [
            "policy",
            "icon",
            "title",
            "style",
            "panel",
            "meta",
            "functions",
            "tree",
            "samples",
            "annotations",
            "script",
        ];
        assert_eq!(Template::parts(PAGE), expected);
        // What would end the elements that they are in.
        for is_annotated in [false, true] {
            let script = script(is_annotated);
            assert!(!script.contains("</script") && !script.contains("<!--"));
            assert!(!style(is_annotated).contains("</style"));
            // A string of several lines would lose its indentation.
            assert!(script.lines().all(|line| line.matches('`').count() % 2 == 0));
        }
    }
}
