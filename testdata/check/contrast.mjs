// Contrast of text, as WCAG 2 counts it: at least 4.5 for AA.

import { readFileSync } from 'node:fs';

const LEAST = 4.5;

const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);

export function contrast(one, other) {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
}

const mixed = (color, below, part) => color.map((it, i) => it * part + below[i] * (1 - part));

function hexOf(text) {
    const digits = text.length === 4 ? [...text.slice(1)].map((digit) => digit + digit).join('') : text.slice(1);
    return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}

function hslOf(text) {
    const [hue, saturation, lightness] = text.match(/[\d.]+/g).map(Number);
    const [s, l] = [saturation / 100, lightness / 100];
    return [0, 8, 4].map((n) => {
        const k = (n + hue / 30) % 12;
        return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
    });
}

// The contrasts of text on frames, by the sources of the page: those that are too low, and the number of all.
export function contrastsOfFrames(sources) {
    const style = readFileSync(new URL('html/common.css', sources), 'utf8');
    const script = readFileSync(new URL('flamegraph/colors.js', sources), 'utf8');
    const { shade, paintMatch, paintChange, FADED, COLORS } = new Function(`${script}; return { shade, paintMatch, paintChange, FADED, COLORS };`)();
    const themes = style.split('\n').filter((line) => line.startsWith(':root') && line.includes('--paper'));
    const low = [];
    let count = 0;
    themes.forEach((theme, number) => {
        const dark = number === 1;
        const variable = (name) => hexOf(theme.match(new RegExp(`--${name}: (#[0-9a-f]+);`))[1]);
        const [ink, paper] = [variable('ink'), variable('paper')];
        const colors = [[paintMatch(dark), 'found']];
        for (let kind = -1; kind < COLORS.length; kind++) {
            for (let part = 0; part <= 12; part++) colors.push([shade(kind, part / 12, dark), `kind ${kind}`]);
        }
        for (let part = -20; part <= 20; part++) colors.push([paintChange(part / 20, dark), `change ${part / 20}`]);
        for (const [color, what] of colors) {
            for (const part of [1, FADED]) {
                const ratio = contrast(ink, mixed(hslOf(color), paper, part));
                count++;
                if (ratio < LEAST) low.push(`${what} ${color} at ${part}, ${dark ? 'dark' : 'light'}: ${ratio.toFixed(2)}`);
            }
        }
        for (const name of ['ink', 'soft', 'accent']) {
            for (const below of ['paper', 'panel']) {
                const ratio = contrast(variable(name), variable(below));
                count++;
                if (ratio < LEAST) low.push(`${name} on ${below}, ${dark ? 'dark' : 'light'}: ${ratio.toFixed(2)}`);
            }
        }
    });
    return { low, count };
}

// Runs in the page: of each element that shows text and is not disabled, its colour, the colours below it, and its text.
const SEEN = `[...document.querySelectorAll('body *')].filter((it) => it.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && !it.closest(':disabled') && ([...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || it.placeholder)).map((it) => {
    const below = [];
    let opacity = 1;
    for (let at = it; at; at = at.parentElement) {
        below.push(getComputedStyle(at).backgroundColor);
        opacity *= Number(getComputedStyle(at).opacity);
    }
    return { what: it.tagName + '#' + it.id + ' ' + it.textContent.slice(0, 20), color: it.placeholder ? getComputedStyle(it, '::placeholder').color : getComputedStyle(it).color, below, opacity };
})`;

// The same of the elements that a page shows.
export async function contrastsOfElements(evaluate) {
    const parse = (text) => text.match(/[\d.]+/g).map(Number);
    const seen = await evaluate(SEEN);
    const low = [];
    for (const { what, color, below, opacity } of seen) {
        let background = [255, 255, 255];
        for (const it of below.map(parse).reverse()) background = mixed(it.slice(0, 3), background, it[3] ?? 1);
        const ratio = contrast(mixed(parse(color).slice(0, 3), background, opacity), background);
        if (ratio < LEAST) low.push(`${what}: ${ratio.toFixed(2)}`);
    }
    return { low, count: seen.length };
}
