//! Annotated functions as a JSON document.

use perf_annotate::AnnotatedFunctions;
use perf_parse::file::Account;
use perf_profile::SampleTotal;
use perf_profile::annotation::{AnnotatedInstruction, AnnotatedTarget, Annotation};
use perf_symbol::Guess;
use serde_json::{Map, Value, json};

use crate::escape::{Hex, json_text, push_json_value};
use crate::outcome::Failure;
use crate::output::Output;
use crate::render::account;

/// Writes functions as a JSON document. Returns whether there is still a reader.
pub(super) fn push(all: &AnnotatedFunctions, read: &Account, output: &mut Output) -> Result<bool, Failure> {
    output.buffer.extend_from_slice(b"{\"functions\":[");
    for (number, annotation) in all.shown.iter().enumerate() {
        output.buffer.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        if !push_function(annotation, output)? {
            return Ok(false);
        }
    }
    output.buffer.extend_from_slice(b"],\n\"missing\":");
    let missing: Vec<_> = all
        .missing
        .iter()
        .map(|(it, why)| json!({"symbol": json_text(&it.name), "dso": json_text(&it.dso), "why": why.to_string()}))
        .collect();
    push_json_value(&mut output.buffer, &missing.into());
    output.buffer.extend_from_slice(b",\n\"account\":");
    push_json_value(&mut output.buffer, &account::value(read));
    output.buffer.extend_from_slice(b"}\n");
    output.flush()
}

fn push_function(it: &Annotation, output: &mut Output) -> Result<bool, Failure> {
    let mut head = Map::new();
    head.insert("symbol".to_owned(), json_text(&it.symbol));
    insert_some(&mut head, "guess", it.guess.map(Guess::name));
    head.insert("dso".to_owned(), json_text(&it.dso));
    insert_some(&mut head, "build_id", it.build_id.map(|id| id.to_string()));
    head.insert("code".to_owned(), it.origin.name().into());
    head.insert("start".to_owned(), it.start.into());
    head.insert("end".to_owned(), it.end.into());
    let events = it.events.iter().map(|event| {
        json!({"name": &*event.name, "precise_ip": event.precise_ip, "samples": event.total.samples,
               "period": event.total.period, "all_samples": event.of_capture.samples, "all_period": event.of_capture.period})
    });
    head.insert("events".to_owned(), events.collect::<Vec<_>>().into());
    let functions = it.functions.iter().map(|function| {
        let mut value = totals(&function.totals);
        value.insert("name".to_owned(), json_text(&function.name));
        insert_some(&mut value, "caller", function.caller);
        Value::from(value)
    });
    head.insert("functions".to_owned(), functions.collect::<Vec<_>>().into());
    let sources = it.sources.iter().map(|source| {
        let lines: Vec<_> = source.text.iter().map(|line| json_text(line)).collect();
        json!({"path": json_text(&source.path), "is_newer": source.is_newer, "first": source.first, "text": lines})
    });
    head.insert("sources".to_owned(), sources.collect::<Vec<_>>().into());
    let lines = it.lines.iter().map(|line| {
        let mut value = totals(&line.totals);
        value.insert("source".to_owned(), line.source.into());
        value.insert("line".to_owned(), line.line.into());
        Value::from(value)
    });
    head.insert("lines".to_owned(), lines.collect::<Vec<_>>().into());
    let branches = it.branches.iter().map(|branch| {
        let mut value = Map::new();
        insert_some(&mut value, "from", branch.from);
        insert_some(&mut value, "to", branch.to);
        let counts = [
            ("count", branch.count),
            ("mispredicted", branch.mispredicted),
            ("cycles", branch.cycles),
            ("timed", branch.timed),
        ];
        value.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
        Value::from(value)
    });
    head.insert("branches".to_owned(), branches.collect::<Vec<_>>().into());
    // The instructions are the last member.
    push_json_value(&mut output.buffer, &head.into());
    output.buffer.pop();
    output.buffer.extend_from_slice(b",\"instructions\":[");
    for (number, instruction) in it.instructions.iter().enumerate() {
        output.buffer.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        push_json_value(&mut output.buffer, &value_of(instruction).into());
        if !output.flush_full()? {
            return Ok(false);
        }
    }
    output.buffer.extend_from_slice(b"]}");
    Ok(true)
}

fn value_of(it: &AnnotatedInstruction) -> Map<String, Value> {
    let mut value = totals(&it.totals);
    value.insert("address".to_owned(), it.address.into());
    value.insert("bytes".to_owned(), Hex(&it.bytes).to_string().into());
    value.insert("text".to_owned(), json_text(it.text.as_bytes()));
    insert_some(&mut value, "target", it.target.as_ref().map(target));
    insert_some(&mut value, "data", it.data.as_ref().map(target));
    insert_some(&mut value, "line", it.line);
    insert_some(&mut value, "column", it.column);
    if it.line.is_some() {
        value.insert("is_stmt".to_owned(), it.is_stmt.into());
        value.insert("discriminator".to_owned(), it.discriminator.into());
    }
    value.insert("function".to_owned(), it.function.into());
    value
}

fn target(it: &AnnotatedTarget) -> Value {
    let mut value = Map::new();
    value.insert("address".to_owned(), it.address.into());
    insert_some(&mut value, "symbol", (!it.name.is_empty()).then(|| json_text(&it.name)));
    value.insert("offset".to_owned(), it.offset.into());
    value.insert("is_call".to_owned(), it.is_call.into());
    value.into()
}

/// Returns samples and periods, a number for each event.
fn totals(all: &[SampleTotal]) -> Map<String, Value> {
    let of = |number: fn(&SampleTotal) -> u64| Value::from(all.iter().map(number).collect::<Vec<_>>());
    let members = [("samples", of(|it| it.samples)), ("period", of(|it| it.period))];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn insert_some<T: Into<Value>>(to: &mut Map<String, Value>, name: &str, value: Option<T>) {
    to.extend(value.map(|value| (name.to_owned(), value.into())));
}
