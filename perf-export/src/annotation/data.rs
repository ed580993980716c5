//! Annotated functions as JSON, which `data.js` reads.

use perf_profile::annotation::Annotation;
use serde_json::{Value, json};

use super::links::FunctionLinks;
use super::numbers::FunctionNumbers;
use crate::html::numbers::base64;
use crate::strings::Strings;

/// Returns functions as JSON: their texts, each once, and for each function what is known of it. `frames` returns the numbers of
/// the functions of a flame graph that one is.
pub(crate) fn json(annotations: &[Annotation], frames: &dyn Fn(&Annotation) -> Vec<u32>) -> Value {
    let mut numbers = FunctionNumbers { strings: Strings::default(), links: FunctionLinks::of(annotations) };
    let functions: Vec<_> = annotations.iter().map(|it| function(it, frames(it), &mut numbers)).collect();
    let strings: Vec<_> = numbers.strings.list().iter().map(|text| &**text).collect();
    json!({ "strings": strings, "functions": functions })
}

fn function(of: &Annotation, frames: Vec<u32>, numbers: &mut FunctionNumbers<'_>) -> Value {
    let bytes = base64(&numbers.bytes(of));
    let strings = &mut numbers.strings;
    let events: Vec<_> = of
        .events
        .iter()
        .map(|event| {
            let (total, all) = (event.total, event.of_capture);
            json!({
                "name": strings.number(event.name.as_bytes()),
                "samples": total.samples,
                "period": total.period,
                "allSamples": all.samples,
                "allPeriod": all.period,
                "precise": event.precise_ip,
            })
        })
        .collect();
    let sources: Vec<_> = of
        .sources
        .iter()
        .map(|it| json!([strings.number(&it.path), !it.text.is_empty(), it.is_newer]))
        .collect();
    json!({
        "name": strings.number(&of.symbol),
        "guess": of.guess.map(|guess| guess.name()),
        "dso": strings.number(&of.dso),
        "buildId": of.build_id.map(|id| id.to_string()),
        "origin": of.origin.name(),
        // Numbers of JavaScript have 53 bits.
        "start": format!("{:x}", of.start),
        "size": of.end.saturating_sub(of.start),
        "events": events,
        "sources": sources,
        "counts": [of.functions.len(), of.lines.len(), of.instructions.len()],
        "numbers": String::from_utf8_lossy(&bytes),
        "frames": frames,
    })
}

#[cfg(test)]
mod tests {
    use perf_profile::annotation::{AnnotatedInstruction, AnnotatedLine, AnnotatedSource};

    use super::*;
    use crate::html::json_text;

    #[test]
    fn source_text_cannot_end_the_element() {
        let mut source = AnnotatedSource::default();
        source.path = b"</script><img src=x onerror=alert(1)>.c"[..].into();
        source.first = 7;
        source.text = vec![b"\"</script><img onerror=alert(2)>\xe2\x80\xa8".to_vec().into()];
        let mut line = AnnotatedLine::default();
        line.line = 7;
        let mut instruction = AnnotatedInstruction::default();
        instruction.text = "nop <!--".into();
        instruction.line = Some(0);
        let mut annotation = Annotation::default();
        annotation.symbol = b"f<script>"[..].into();
        annotation.sources = vec![source];
        annotation.lines = vec![line];
        annotation.instructions = vec![instruction];
        let text = json_text(&json(&[annotation], &|_| Vec::new()));
        assert!(!text.contains('<') && !text.contains('\u{2028}'), "{text}");
        let expected = r#""\"\u003c/script>\u003cimg onerror=alert(2)>\\u{2028}""#;
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn texts_are_kept_once() {
        let mut instruction = AnnotatedInstruction::default();
        instruction.text = "nop".into();
        let mut annotation = Annotation::default();
        annotation.symbol = b"f"[..].into();
        annotation.instructions = vec![instruction; 100];
        let data = json(&[annotation.clone(), annotation], &|_| vec![3]);
        assert_eq!(data["strings"], json!(["nop", "f", ""]));
        assert_eq!(data["functions"][1]["counts"], json!([0, 0, 100]));
        assert_eq!(data["functions"][1]["frames"], json!([3]));
    }
}
