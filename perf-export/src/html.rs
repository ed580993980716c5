//! Pages: each is one file that loads nothing, and whose policy (`Content-Security-Policy`) allows its own scripts and style
//! alone, by their hashes.

pub(crate) mod numbers;
pub(crate) mod xml;

use std::io::{self, Write};

use serde_json::Value;
use sha2::{Digest, Sha256};

use numbers::base64;
use xml::push_escaped;

/// The start of all pages.
const HEAD: &str = include_str!("html/head.html");
/// The style that all pages have.
pub(crate) const STYLE: &str = include_str!("html/common.css");
/// The parts of a script that all pages have.
pub(crate) const SCRIPT: [&str; 2] = [include_str!("html/text.js"), include_str!("html/numbers.js")];

/// A page without its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'a> {
    /// The page from `<body>` on, in which a word in braces, such as `{title}`, is a part.
    pub(crate) text: &'a str,
    /// The picture that browsers show beside the title, as the URL of its data.
    pub(crate) icon: &'a str,
    pub(crate) title: &'a str,
    pub(crate) style: &'a str,
    pub(crate) script: &'a str,
}

impl Template<'_> {
    /// Writes the page. `write_part` writes the parts other than `title`, `policy`, `icon`, `style` and `script`.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        write_part: &dyn Fn(&str, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.write_text(HEAD, out, write_part)?;
        self.write_text(self.text, out, write_part)
    }

    fn write_text(
        &self,
        text: &str,
        out: &mut dyn Write,
        write_part: &dyn Fn(&str, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut texts = text.split('{');
        out.write_all(texts.next().unwrap_or_default().as_bytes())?;
        for text in texts {
            let (part, text) = text.split_once('}').unwrap_or_default();
            match part {
                "title" => {
                    let mut title = Vec::new();
                    push_escaped(&mut title, self.title);
                    out.write_all(&title)?;
                }
                "policy" => write!(
                    out,
                    "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
                    source(self.style),
                    source(self.script)
                )?,
                "icon" => out.write_all(self.icon.as_bytes())?,
                "style" => out.write_all(self.style.as_bytes())?,
                "script" => out.write_all(self.script.as_bytes())?,
                _ => write_part(part, out)?,
            }
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Returns the names of the parts of a page.
    #[cfg(test)]
    pub(crate) fn parts(text: &str) -> Vec<&str> {
        HEAD.split('{')
            .skip(1)
            .chain(text.split('{').skip(1))
            .filter_map(|text| Some(text.split_once('}')?.0))
            .collect()
    }
}

/// Returns a script of parts, which share their names, without the comments and the indentation of their sources. No string of
/// a part may have several lines.
pub(crate) fn script(parts: &[&str]) -> String {
    let mut script = String::from("(() => {\n'use strict';\n");
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        script.push_str(line);
        script.push('\n');
    }
    script.push_str("})();\n");
    script
}

/// Returns JSON that can be the text of a `script` element.
pub(crate) fn json_text(value: &Value) -> String {
    // Only strings have the character that could end the element.
    value.to_string().replace('<', "\\u003c")
}

/// Returns the name of a script or a style in the policy.
fn source(text: &str) -> String {
    let hash = base64(&Sha256::digest(text.as_bytes()));
    format!("sha256-{}", String::from_utf8_lossy(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_no_comments_and_no_indentation() {
        let parts = ["// Adds.\nlet sum = 0;\n\n", "if (a) {\n    // A comment.\n    sum += 'b // c';\n}\n"];
        let expected = "(() => {\n'use strict';\nlet sum = 0;\nif (a) {\nsum += 'b // c';\n}\n})();\n";
        assert_eq!(script(&parts), expected);
    }

    #[test]
    fn texts_of_json_cannot_end_an_element() {
        let text = json_text(&serde_json::json!(["</script><!--", "<"]));
        assert_eq!(text, r#"["\u003c/script>\u003c!--","\u003c"]"#);
    }
}
