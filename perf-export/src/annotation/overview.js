// A picture of the whole function at the right: where the samples are, and what is visible.

function drawOverview({ of, lines, hot, state }) {
    const canvas = $('annotation-overview');
    const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
    canvas.width = Math.max(1, width * ratio);
    canvas.height = Math.max(1, height * ratio);
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const totals = of.totals[state.event];
    const share = (row) => of.percent(state.event, totals, row, state.bySamples, false);
    const most = hot.length > 0 ? share(hot[0]) : 0;
    // The hottest instruction has the strongest colour; all can be told from the ground.
    for (const row of [...hot].reverse()) {
        const heat = Math.max(3, heatOf(HEATS[HEATS.length - 1] * share(row) / most));
        context.fillStyle = style.getPropertyValue(`--heat-${heat}`);
        context.fillRect(2, lines.places[row] / lines.count * height, width - 4, Math.max(2, height / lines.count));
    }
    const grid = $('annotation-grid');
    const whole = lines.count * LINE;
    if (whole <= grid.clientHeight) return;
    context.strokeStyle = style.getPropertyValue('--soft');
    context.strokeRect(0.5, grid.scrollTop / whole * height + 0.5, width - 1, Math.max(4, grid.clientHeight / whole * height - 1));
}
