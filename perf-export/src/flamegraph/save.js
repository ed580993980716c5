// What is shown as a picture in SVG, which is made in the page and saved as a file.

const escaped = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff\ud800-\udfff]/gu, '\ufffd').replace(/[&<>"]/g, (it) => `&#${it.charCodeAt(0)};`);
const rounded = (value) => Math.round(value * 100) / 100;

// Has what the drawing uses of a canvas, and keeps it as elements.
class SvgContext {
    constructor(measure) {
        this.measure = measure;
        this.parts = [];
        this.globalAlpha = 1;
        this.fillStyle = this.title = '';
    }

    measureText(text) {
        return this.measure.measureText(text);
    }

    fillRect(x, y, w, h) {
        const alpha = this.globalAlpha < 1 ? ` fill-opacity="${this.globalAlpha}"` : '';
        const title = this.title ? `><title>${escaped(this.title)}</title></rect>` : '/>';
        this.parts.push(`<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(w)}" height="${rounded(h)}" fill="${escaped(this.fillStyle.trim())}"${alpha}${title}`);
        this.title = '';
    }

    fillText(text, x, y) {
        this.parts.push(`<text x="${rounded(x)}" y="${rounded(y)}" fill="${escaped(this.fillStyle.trim())}">${escaped(text)}</text>`);
    }

    // What is chosen is for the screen.
    strokeRect() {}
}

function pictureOfShown() {
    const style = getComputedStyle(document.documentElement);
    const font = getComputedStyle(document.body).fontFamily;
    const measure = $('graph').getContext('2d');
    const context = new SvgContext(measure);
    const height = tallest * rowHeight();
    const head = 44;
    if (state.lanes) drawLanes(context, style, columns, height, 0);
    else drawGraph(context, style, columns, height, (row) => (state.flame ? tallest - 1 - row : row) * rowHeight());
    const [ink, soft, paper] = ['--ink', '--soft', '--paper'].map((name) => style.getPropertyValue(name).trim());
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${columns}" height="${height + head}" font-family="${escaped(font)}" font-size="12" dominant-baseline="central">`,
        `<rect width="100%" height="100%" fill="${paper}"/>`,
        `<text x="4" y="14" fill="${ink}" font-size="15">${escaped($('title').textContent)}</text>`,
        `<text x="4" y="32" fill="${soft}">${escaped([$('totals').textContent, ...chipTexts()].join(' · '))}</text>`,
        `<g transform="translate(0 ${head})">`, ...context.parts, '</g>', '</svg>', '',
    ].join('\n');
}

function savePicture() {
    const address = URL.createObjectURL(new Blob([pictureOfShown()], { type: 'image/svg+xml' }));
    const link = make('a');
    link.href = address;
    link.download = `${meta.captures[0] ?? 'flamegraph'}.svg`.replace(/[^\w.-]+/g, '_');
    link.click();
    // The browser reads it after the click.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    $('said').textContent = `Saved ${link.download}`;
}
