//! The page.

use std::io::{self, Write};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::numbers::base64;
use super::xml::push_escaped;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// One script: its parts share their names.
const SCRIPT: [&str; 10] = [
    "(() => {\n'use strict';\n",
    include_str!("data.js"),
    include_str!("trees.js"),
    include_str!("page.js"),
    include_str!("compare.js"),
    include_str!("draw.js"),
    include_str!("timeline.js"),
    include_str!("about.js"),
    include_str!("controls.js"),
    "})();\n",
];

/// The content of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageParts<'a> {
    pub(super) title: &'a str,
    pub(super) meta: &'a Value,
    pub(super) functions: &'a [u8],
    pub(super) tree: &'a [u8],
    pub(super) samples: &'a [u8],
}

/// Fills the page in: a word in braces, such as `{title}`, is a part.
pub(super) fn write(parts: &PageParts<'_>, out: &mut dyn Write) -> io::Result<()> {
    let script = SCRIPT.concat();
    let mut texts = PAGE.split('{');
    out.write_all(texts.next().unwrap_or_default().as_bytes())?;
    for text in texts {
        let (part, text) = text.split_once('}').unwrap_or_default();
        match part {
            "title" => {
                let mut title = Vec::new();
                push_escaped(&mut title, parts.title);
                out.write_all(&title)?;
            }
            "policy" => write!(
                out,
                "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
                source(STYLE),
                source(&script)
            )?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "script" => out.write_all(script.as_bytes())?,
            "meta" => {
                // Only strings have the character that could end the element.
                let text = parts.meta.to_string().replace('<', "\\u003c");
                out.write_all(text.as_bytes())?;
            }
            "functions" => out.write_all(&base64(parts.functions))?,
            "tree" => out.write_all(&base64(parts.tree))?,
            "samples" => out.write_all(&base64(parts.samples))?,
            _ => {}
        }
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Returns what the policy calls a script or a style.
fn source(text: &str) -> String {
    let hash = base64(&Sha256::digest(text.as_bytes()));
    format!("sha256-{}", String::from_utf8_lossy(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_in_the_page() {
        let parts: Vec<_> =
            PAGE.split('{').skip(1).filter_map(|text| Some(text.split_once('}')?.0)).collect();
        let expected = ["policy", "title", "style", "meta", "functions", "tree", "samples", "script"];
        assert_eq!(parts, expected);
        // What would end the elements that they are in.
        assert!(!SCRIPT.concat().contains("</script") && !SCRIPT.concat().contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }
}
