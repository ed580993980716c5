// Elements and texts of a page.

const $ = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString('en-US');
const reducedTo = (value, digits) => value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });

function make(tag, text = '', className = '') {
    const element = document.createElement(tag);
    element.textContent = text;
    if (className) element.className = className;
    return element;
}

function percent(part, all) {
    const share = all > 0 ? 100 * part / all : 0;
    return share > 0 && share < 0.01 ? '< 0.01 %' : `${reducedTo(share, share >= 10 ? 1 : 2)} %`;
}
