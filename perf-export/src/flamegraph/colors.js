// The colours of frames. Text in the page's ink has a contrast of at least 4.5 on each of them, as WCAG 2 AA asks for.

const KINDS = ['user', 'kernel', 'inlined', 'generated (JIT)', 'without a name', 'not mapped'];
// Hue, its range, saturation, and lightness in light and dark mode.
const COLORS = [
    [24, 15, 88, 67, 29], [206, 14, 62, 72, 30], [44, 8, 88, 70, 25], [140, 22, 44, 68, 26], [220, 0, 4, 80, 31],
    [335, 8, 34, 80, 32],
];
const GROUP = [250, 0, 18, 84, 32];
// How much of its colour a frame keeps that is around the zoomed one, or that a search does not find.
const FADED = 0.45;

function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
    return (value >>> 8) % 1000 / 1000;
}

// The colour of a frame: `part`, from 0 to 1, tells neighbours of a kind apart.
function shade(kind, part, dark) {
    const [hue, range, saturation, light, inDark] = COLORS[kind] ?? GROUP;
    const lightness = (dark ? inDark : light) + 7 * (part - 0.5);
    return `hsl(${hue + range * (part - 0.5)} ${dark ? saturation * 0.72 : saturation}% ${lightness}%)`;
}

const paints = new Map();
function paint(kind, name, dark) {
    const part = Math.round(hash(name) * 12) / 12;
    const id = `${kind} ${part} ${dark}`;
    let color = paints.get(id);
    if (!color) paints.set(id, color = shade(kind, part, dark));
    return color;
}

const paintMatch = (dark) => dark ? 'hsl(292 60% 36%)' : 'hsl(292 84% 78%)';

// Blue is less, red is more; `part` is from -1 to 1.
function paintChange(part, dark) {
    const strength = Math.round(Math.abs(part) * 20) / 20;
    const [hue, most] = part > 0 ? [6, 12] : [214, 8];
    const lightness = dark ? 26 + most * strength : 90 - 26 * strength;
    return `hsl(${hue} ${Math.round(86 * Math.sqrt(strength))}% ${lightness}%)`;
}
