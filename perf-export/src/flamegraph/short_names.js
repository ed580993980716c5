// Names without what makes those of C++ and Rust long: template arguments, traits and hashes.

// The index after the bracket that closes the one at `start`; -1 if none does. `->` closes nothing.
function closing(name, start) {
    let depth = 0;
    for (let i = start; i < name.length; i++) {
        if (name[i] === '<') depth++;
        else if (name[i] === '>' && name[i - 1] !== '-' && --depth === 0) return i + 1;
    }
    return -1;
}

// The place of ` as ` or ` for ` that is in no other bracket; -1 without one.
function between(text, word) {
    let depth = 0;
    for (let i = 0; i < text.length; i++) {
        if (text[i] === '<') depth++;
        else if (text[i] === '>' && text[i - 1] !== '-') depth--;
        else if (depth === 0 && text.startsWith(word, i)) return i;
    }
    return -1;
}

// What remains of `<T as Trait>` and `<impl Trait for T>`: the type. Null for others.
function typeOf(text) {
    const as = between(text, ' as ');
    if (as >= 0) return text.slice(0, as);
    if (!text.startsWith('impl ')) return null;
    const of = between(text, ' for ');
    return of < 0 ? text.slice(5) : text.slice(of + 5);
}

function shortName(full) {
    const name = full.replace(/::h[0-9a-f]{16}$/, '');
    let [short, at] = ['', 0];
    while (at < name.length) {
        const operator = /^operator(?:<=>|<<=?|<=?|>>=?|>=?|->\*?)/.exec(name.slice(at, at + 12));
        if (operator) {
            short += operator[0];
            at += operator[0].length;
            continue;
        }
        if (name[at] !== '<') {
            short += name[at++];
            continue;
        }
        const end = closing(name, at);
        if (end < 0) return name;
        const inner = name.slice(at + 1, end - 1);
        const isPart = name.startsWith('::', end) || end === name.length;
        const type = isPart && (at === 0 || /[^\w]$/.test(short)) ? typeOf(inner) : null;
        const isAlone = at === 0 && end === name.length;
        short += type !== null ? shortName(type) : isAlone ? name : inner === '' ? '<>' : '<…>';
        at = end;
    }
    return short;
}

const shortNames = new Map();
// A name as it is drawn.
function shownName(full) {
    if (!state.short) return full;
    let short = shortNames.get(full);
    if (short === undefined) shortNames.set(full, short = shortName(full));
    return short;
}

// Whether a short name differs at all. Names without these characters do not.
const canShorten = () => functions.names.some((name) => /[<]|::h[0-9a-f]{16}$/.test(name) && shortName(name) !== name);
