// Puts each new flame graph in place of the old one. The next one is loaded behind the one that is seen, with the same selections,
// which the flame graph keeps in its address; so nothing flickers, and nothing that was chosen is lost.

(() => {
'use strict';

// How long a user is left alone after a key, or a movement of the pointer.
const CALM = 1200;

const $ = (id) => document.getElementById(id);
let [front, back] = document.querySelectorAll('iframe');
let [shown, newest, isPaused, isLoading] = [0, 0, false, false];
let touched = -CALM;

// Whether the user is about to do something with what is seen.
function isBusy() {
    const page = front.contentDocument;
    if (shown === 0 || !page) return false;
    const isTyping = document.activeElement === front && ['INPUT', 'SELECT'].includes(page.activeElement?.tagName);
    return isTyping || page.querySelector('dialog[open]') !== null || performance.now() - touched < CALM;
}

function load() {
    if (isLoading || isPaused || shown === newest) return;
    if (isBusy()) {
        setTimeout(load, CALM / 4);
        return;
    }
    isLoading = true;
    const version = newest;
    const hash = shown === 0 ? location.hash : front.contentWindow.location.hash;
    back.onload = () => show(version);
    // Not an entry of the history: the way back leads to what was selected before.
    back.contentWindow.location.replace(`flamegraph?${version}${hash}`);
}

function show(version) {
    isLoading = false;
    if (isPaused) return;
    if (isBusy()) {
        // What was chosen meanwhile is not in the address of the next one.
        setTimeout(load, CALM / 4);
        return;
    }
    const [scroll, from] = [back, front].map((frame) => frame.contentDocument?.getElementById('scroll'));
    if (scroll && from) scroll.scrollTop = from.scrollTop;
    const hadFocus = document.activeElement === front;
    [front, back] = [back, front];
    front.removeAttribute('aria-hidden');
    front.tabIndex = 0;
    front.title = 'Flame graph';
    back.setAttribute('aria-hidden', 'true');
    back.tabIndex = -1;
    back.title = 'Flame graph, next update';
    if (hadFocus) front.contentWindow.focus();
    for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel']) {
        front.contentWindow.addEventListener(type, () => { touched = performance.now(); }, { passive: true });
    }
    shown = version;
    $('save').hidden = false;
    $('save').href = `flamegraph?${version}`;
    load();
}

function tell(facts) {
    const number = (value) => value.toLocaleString('en-US');
    const parts = [`${number(facts.samples)} samples${facts.seconds ? ` of the last ${facts.seconds} s` : ''}`];
    if (facts.lost > 0) parts.push(`${number(facts.lost)} lost`);
    if (facts.faults > 0) parts.push(`${number(facts.faults)} faults`);
    if (facts.own_percent !== undefined) parts.push(`perfdata takes ${facts.own_percent.toFixed(1)} % of a CPU`);
    $('status').textContent = parts.join(' · ');
}

const updates = new EventSource('updates');
updates.onmessage = (event) => {
    const facts = JSON.parse(event.data);
    newest = facts.version;
    if (!isPaused) tell(facts);
    load();
};
updates.addEventListener('end', () => {
    updates.close();
    $('status').textContent += ' · the recording has ended';
});
updates.onerror = () => {
    $('status').textContent = 'perfdata serve does not answer; the last update is shown.';
};
$('pause').onclick = () => {
    isPaused = !isPaused;
    $('pause').setAttribute('aria-pressed', isPaused);
    $('pause').textContent = isPaused ? 'Go on' : 'Pause';
    load();
};
})();
