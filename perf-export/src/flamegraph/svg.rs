//! The static picture.

use std::cmp::Reverse;
use std::io::{self, Write};

use hashbrown::HashMap;
use perf_profile::{
    CallTree, Profile,
    diff::{Normalize, seconds},
    text::OneLine,
};

use super::Options;
use super::events::{FlameEvent, FlameEvents};
use super::functions::{FlameFunction, FlameFunctions, FunctionKind};
use super::tree::FlameTree;
use crate::html::xml::push_escaped;

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW: f64 = 17.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 30.0;
/// The width of a letter of the font, which is monospaced.
const LETTER: f64 = 6.65;
/// The narrowest frame that is drawn, as a share of all.
const NARROWEST: f64 = 0.001;

/// A frame that takes less of both sides of a comparison than this part is paler: few samples differ by chance.
const PALE: f64 = 0.005;

/// A frame that is drawn.
#[derive(Clone, Copy, Debug)]
struct DrawnFrame {
    node: usize,
    /// Of all values, the sum of those to the left.
    left: u128,
}

pub(super) fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let events = FlameEvents::of(profiles);
    let shown = events.first_shown(options.event.as_deref());
    let FlamePicture { tree, functions, values, before } = picture(profiles, &events, shown, options);
    let [unit_before, unit] = units(profiles, options, [before.first(), values.first()]);
    let all = values.first().copied().unwrap_or(0);
    let (drawn, narrow) = visible(&tree, &values);
    let depth = |node: usize| tree.nodes.get(node).map_or(0, |node| node.depth);
    let rows = drawn.iter().map(|it| depth(it.node) + 1).max().unwrap_or(1);
    let height = TOP + BOTTOM + f64::from(rows) * ROW;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace\" \
font-size=\"11\" fill=\"#1c1e21\">"
    )?;
    let mut title = Vec::new();
    push_escaped(&mut title, &options.title(profiles));
    out.write_all(b"<title>")?;
    out.write_all(&title)?;
    out.write_all(b"</title>\n")?;
    // A grey that can be read on white and on black.
    write!(out, "<text x=\"{MARGIN}\" y=\"20\" font-size=\"13\" fill=\"#7d858e\">")?;
    out.write_all(&title)?;
    writeln!(out, "{}</text>", totals(events.list.get(shown)))?;
    for it in &drawn {
        let value = values.get(it.node).copied().unwrap_or(0);
        let function = tree.nodes.get(it.node).and_then(|node| functions.get(node.function as usize));
        let function = function.filter(|_| it.node > 0);
        let name = function.map_or("all", |function| &function.name);
        let scale = (WIDTH - 2.0 * MARGIN) / all.max(1) as f64;
        let (x, width) = (MARGIN + it.left as f64 * scale, value as f64 * scale);
        let y = height - BOTTOM - f64::from(depth(it.node) + 1) * ROW;
        let mut text = Vec::new();
        push_escaped(&mut text, name);
        out.write_all(b"<g><title>")?;
        out.write_all(&text)?;
        if let Some(file) = function.map(|function| &function.file).filter(|file| !file.is_empty()) {
            let mut text = Vec::new();
            push_escaped(&mut text, file);
            out.write_all(b" (")?;
            out.write_all(&text)?;
            out.write_all(b")")?;
        }
        let fill = if options.compare.is_some() {
            let before = before.get(it.node).copied().unwrap_or(0) as f64 / unit_before;
            let after = value as f64 / unit;
            let percent = if options.compare == Some(Normalize::Share) { " %" } else { "" };
            write!(out, ", {before:.2}{percent} before, {after:.2}{percent} after</title>")?;
            fill_of_change(before, after, all as f64 / unit)
        } else {
            write!(out, ", {:.2} %</title>", 100.0 * value as f64 / all.max(1) as f64)?;
            fill(function.map_or(FunctionKind::Thread, |function| function.kind), name)
        };
        let (high, wide) = (ROW - 1.0, (width - 0.6).max(0.4));
        write!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{wide:.1}\" height=\"{high}\" rx=\"2\" fill=\"{fill}\"/>"
        )?;
        if let Some(fitting) = fitting(name, width) {
            let mut text = Vec::new();
            push_escaped(&mut text, &fitting);
            write!(out, "<text x=\"{:.1}\" y=\"{}\">", x + 3.0, y + 12.0)?;
            out.write_all(&text)?;
            out.write_all(b"</text>")?;
        }
        out.write_all(b"</g>\n")?;
    }
    write!(out, "<text x=\"{MARGIN}\" y=\"{}\" fill=\"#7d858e\">", height - 10.0)?;
    if narrow > 0 {
        write!(out, "Frames narrower than 0.1 %, which are left out: {narrow}. ")?;
    }
    if options.compare.is_some() {
        write!(out, "Red: more than before; blue: less. What only the first capture has is not drawn. ")?;
    }
    writeln!(
        out,
        "Made by perfdata {}.</text>\n</svg>",
        if options.compare.is_some() { "diff" } else { "flamegraph" }
    )
}

/// Returns what the values of both sides are divided by, so that they are comparable.
fn units(profiles: &[Profile], options: &Options, sums: [Option<&u128>; 2]) -> [f64; 2] {
    let unit = |side: usize| {
        let unit = match options.compare {
            Some(Normalize::Share) => {
                sums.get(side).copied().flatten().map_or(0.0, |&sum| sum as f64 / 100.0)
            }
            Some(Normalize::Time) => profiles.get(side).map_or(0.0, seconds),
            Some(Normalize::Nothing) | None => 1.0,
        };
        // A side without samples has 0 of everything.
        if unit > 0.0 { unit } else { 1.0 }
    };
    [unit(0), unit(1)]
}

/// Returns what is after the title: the number of samples, and what they count.
fn totals(event: Option<&FlameEvent>) -> String {
    let Some(event) = event else { return ": no samples".to_owned() };
    let (samples, period) = (event.total.samples, event.total.period);
    let mut name = Vec::new();
    push_escaped(&mut name, &event.name);
    let name = String::from_utf8_lossy(&name);
    match event.unit {
        "ns" => format!(": {samples} samples, {name} {:.1} ms", period as f64 / 1e6),
        _ => format!(": {samples} samples, {period} {name}"),
    }
}

/// The tree of a picture and its values.
struct FlamePicture {
    tree: FlameTree,
    functions: Vec<FlameFunction>,
    /// Weight of the stacks through each node; in a comparison, of the second capture.
    values: Vec<u128>,
    /// The same in the first capture of a comparison; otherwise 0.
    before: Vec<u128>,
}

/// Returns the tree of the event with a number. What samples of an event without periods count is their number.
fn picture(profiles: &[Profile], events: &FlameEvents, shown: usize, options: &Options) -> FlamePicture {
    let has_periods = events.list.get(shown).is_some_and(|event| event.total.period > 0);
    let mut functions = FlameFunctions::default();
    let mut builder = CallTree::default();
    let comms = profiles.iter().flat_map(|profile| profile.threads()).map(|thread| &thread.comm);
    let mut comms: Vec<_> = comms.collect();
    comms.sort_unstable();
    comms.dedup();
    let mut weights: HashMap<u32, [u128; 2]> = HashMap::new();
    for (capture, profile) in profiles.iter().enumerate() {
        let of_frames = functions.of_frames(profile);
        let roots: Vec<_> = profile
            .threads()
            .iter()
            .map(|thread| {
                if comms.len() < 2 {
                    return 0;
                }
                let name = OneLine(&thread.comm).to_string();
                let (file, kind) = (String::new(), FunctionKind::Thread);
                builder.child(0, functions.number(FlameFunction { name, file, kind }))
            })
            .collect();
        let mut nodes = HashMap::new();
        for sample in profile.samples() {
            if events.number(capture, sample.event) as usize != shown {
                continue;
            }
            let root = roots.get(sample.thread as usize).copied().unwrap_or(0);
            let node = *nodes.entry((root, sample.stack)).or_insert_with(|| {
                let mut frames: Vec<_> = profile.stacks().frames(sample.stack).collect();
                frames.reverse();
                let functions = frames.iter().flat_map(|&frame| of_frames.get(frame));
                functions.fold(root, |node, &function| builder.child(node, function))
            });
            let value = if has_periods { sample.total.period } else { sample.total.samples };
            let [before, after] = weights.entry(node).or_default();
            let is_before = options.compare.is_some() && capture == 0;
            *(if is_before { before } else { after }) += u128::from(value);
        }
    }
    let functions = functions.sorted();
    let tree = FlameTree::new(builder, &functions.ranks);
    let mut values = vec![0_u128; tree.nodes.len()];
    let mut before = values.clone();
    for (node, [of_before, of_after]) in weights {
        let number = tree.number_of(node) as usize;
        if let Some((before, value)) = before.get_mut(number).zip(values.get_mut(number)) {
            *before += of_before;
            *value += of_after;
        }
    }
    add_to_callers(&tree, &mut values);
    add_to_callers(&tree, &mut before);
    FlamePicture { tree, functions: functions.list, values, before }
}

/// Adds what each node counts to its callers, which have lower numbers.
fn add_to_callers(tree: &FlameTree, values: &mut [u128]) {
    for node in (1..values.len()).rev() {
        let value = values.get(node).copied().unwrap_or(0);
        let caller = tree.nodes.get(node).map_or(0, |node| node.caller);
        if let Some(sum) = values.get_mut(caller as usize) {
            *sum += value;
        }
    }
}

/// Returns the frames that are wide enough, and the number of those that are not.
fn visible(tree: &FlameTree, values: &[u128]) -> (Vec<DrawnFrame>, usize) {
    let all = values.first().copied().unwrap_or(0);
    // Where the next frame that each node calls begins.
    let mut next = vec![0_u128; values.len()];
    let mut drawn = Vec::new();
    let mut narrow = 0;
    // By caller, as the place of a frame follows from that of its caller; the widest one first.
    let mut order: Vec<_> = (0..values.len()).collect();
    let value_of = |node: usize| values.get(node).copied().unwrap_or(0);
    let caller_of = |node: usize| tree.nodes.get(node).map_or(0, |node| node.caller as usize);
    order.sort_by_key(|&node| (node > 0, caller_of(node), Reverse(value_of(node))));
    for node in order {
        let (caller, value) = (caller_of(node), value_of(node));
        let left = next.get(caller).copied().unwrap_or(0);
        if let Some(next) = next.get_mut(caller).filter(|_| node > 0) {
            *next += value;
        }
        if let Some(next) = next.get_mut(node) {
            *next = left;
        }
        if node == 0 || value as f64 >= NARROWEST * all as f64 && value > 0 {
            drawn.push(DrawnFrame { node, left });
        } else {
            narrow += 1;
        }
    }
    (drawn, narrow)
}

/// Returns the part of a name that fits into a frame. Letters that are not ASCII may be twice as wide.
fn fitting(name: &str, width: f64) -> Option<String> {
    let room = ((width - 6.0) / LETTER).floor();
    let columns = |character: char| if character.is_ascii() { 1.0 } else { 2.0 };
    if name.chars().map(columns).sum::<f64>() <= room {
        return Some(name.to_owned());
    }
    let mut text = String::new();
    let mut used = 2.0;
    for character in name.chars() {
        used += columns(character);
        if used > room {
            break;
        }
        text.push(character);
    }
    (text.len() > 1).then(|| text + "..")
}

/// Returns the colour of a frame.
fn fill(kind: FunctionKind, name: &str) -> String {
    let (hue, range, saturation, lightness) = match kind {
        FunctionKind::User => (24.0, 15.0, 88.0, 67.0),
        FunctionKind::Kernel => (206.0, 14.0, 62.0, 72.0),
        FunctionKind::Inlined => (44.0, 8.0, 88.0, 70.0),
        FunctionKind::Jit => (140.0, 22.0, 44.0, 68.0),
        FunctionKind::Unnamed => (220.0, 0.0, 4.0, 80.0),
        FunctionKind::Unmapped => (335.0, 8.0, 34.0, 80.0),
        FunctionKind::Thread => (250.0, 0.0, 18.0, 84.0),
    };
    // FNV-1a: the same name has the same shade everywhere.
    let hash =
        name.bytes().fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    let shade = f64::from((hash >> 8) % 13) / 12.0 - 0.5;
    rgb(hue + range * shade, saturation / 100.0, (lightness + 7.0 * shade) / 100.0)
}

/// Returns the colour of a frame of a comparison: red if it takes more after, blue if it takes less, and the paler the less
/// it takes on both sides. `compare.js` has the same.
fn fill_of_change(before: f64, after: f64, all: f64) -> String {
    let most = before.max(after);
    let change = if most > 0.0 { (after - before) / most } else { 0.0 };
    let strength = change.abs() * (most / (PALE * all)).min(1.0);
    rgb(if change > 0.0 { 6.0 } else { 214.0 }, 0.86 * strength.sqrt(), 0.9 - 0.26 * strength)
}

/// Returns a colour as `#rrggbb`, which all programs that show SVG know.
fn rgb(hue: f64, saturation: f64, lightness: f64) -> String {
    let amplitude = saturation * lightness.min(1.0 - lightness);
    let part = |offset: f64| {
        let at = (offset + hue / 30.0) % 12.0;
        let value = lightness - amplitude * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(8.0), part(4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_where_a_frame_ends() {
        let room = |letters: f64| 6.0 + LETTER * letters + 0.1;
        assert_eq!(fitting("abcdef", room(6.0)).as_deref(), Some("abcdef"));
        assert_eq!(fitting("abcdef", room(5.0)).as_deref(), Some("abc.."));
        assert_eq!(fitting("abcdef", room(2.0)), None);
        assert_eq!(fitting("\u{5b57}\u{5b57}\u{5b57}", room(5.0)).as_deref(), Some("\u{5b57}.."));
    }

    #[test]
    fn changes_are_red_and_blue_and_small_frames_pale() {
        let parts = |text: &str| [1, 3, 5].map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap());
        let [red, _, blue] = parts(&fill_of_change(0.0, 50.0, 100.0));
        assert!(red > 200 && blue < 120, "{red} {blue}");
        let [red, _, blue] = parts(&fill_of_change(50.0, 0.0, 100.0));
        assert!(red < 120 && blue > 200, "{red} {blue}");
        assert_eq!(fill_of_change(7.0, 7.0, 100.0), rgb(0.0, 0.0, 0.9));
        assert_eq!(fill_of_change(0.0, 0.0, 0.0), rgb(0.0, 0.0, 0.9));
        let [_, green, _] = parts(&fill_of_change(0.0, 50.0, 100.0));
        let [_, pale, _] = parts(&fill_of_change(0.0, 0.05, 100.0));
        assert!(pale > green);
    }

    #[test]
    fn colours() {
        assert_eq!(rgb(0.0, 1.0, 0.5), "#ff0000");
        assert_eq!(rgb(120.0, 1.0, 0.25), "#008000");
        assert_eq!(rgb(240.0, 1.0, 0.5), "#0000ff");
        assert_eq!(rgb(77.0, 0.0, 0.5), "#808080");
    }
}
