// Arrows of the jumps within a function, in lanes at the left of the addresses.

const LANES = 8;
const LANE = 7;
// Jumps over more instructions, and those for which no lane is free, are drawn only when they are pointed at.
const FAR = 2000;

class Arrows {
    constructor(of) {
        this.list = [];
        of.jump.forEach((to, from) => {
            if (to >= 0 && to < of.count) this.list.push({ from, to, first: Math.min(from, to), last: Math.max(from, to), lane: -1 });
        });
        // Short jumps are the next to the addresses. Each bit is a lane that is taken at an instruction.
        const taken = new Uint8Array(of.count);
        const byLength = [...this.list].sort((a, b) => a.last - a.first - (b.last - b.first));
        for (const arrow of byLength) {
            if (arrow.last - arrow.first > FAR) break;
            let lanes = 0;
            for (let row = arrow.first; row <= arrow.last; row++) lanes |= taken[row];
            let lane = 0;
            while (lane < LANES && (lanes >> lane & 1) === 1) lane++;
            if (lane === LANES) continue;
            arrow.lane = lane;
            for (let row = arrow.first; row <= arrow.last; row++) taken[row] |= 1 << lane;
        }
        const most = this.list.reduce((most, { lane }) => Math.max(most, lane + 1), 0);
        const isFull = this.list.some(({ lane }) => lane < 0);
        this.far = most;
        this.width = this.list.length > 0 ? (most + (isFull ? 1 : 0)) * LANE + 12 : 0;
    }

    // Those that can be seen between two instructions; those that leave or reach a chosen one are the last, on top.
    between(first, last, chosen) {
        const seen = this.list.filter((it) => it.first <= last && it.last >= first);
        const rank = ({ from, to }) => chosen.includes(from) ? 2 : chosen.includes(to) ? 1 : 0;
        const shown = seen.map((arrow) => ({ ...arrow, rank: rank(arrow) })).filter(({ lane, rank }) => lane >= 0 || rank > 0);
        return shown.sort((a, b) => a.rank - b.rank);
    }

    // Draws arrows between lines of some height, from a line on.
    draw(svg, arrows, yOf, height) {
        const svgMake = (tag, attributes) => {
            const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
            for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
            return element;
        };
        svg.setAttribute('width', this.width);
        svg.setAttribute('height', height);
        const right = this.width - 2;
        svg.replaceChildren(...arrows.map(({ from, to, lane, rank }) => {
            const x = right - 8 - (lane < 0 ? this.far : lane) * LANE;
            const clamp = (y) => Math.max(-20, Math.min(height + 20, y));
            const [start, end] = [clamp(yOf(from)), clamp(yOf(to))];
            const turn = Math.min(4, Math.abs(end - start) / 2) * Math.sign(end - start);
            const bend = Math.abs(turn);
            const path = `M${right} ${start}H${x + bend}Q${x} ${start} ${x} ${start + turn}V${end - turn}Q${x} ${end} ${x + bend} ${end}H${right - 4}`;
            const group = svgMake('g', { class: ['arrow', 'arrow to', 'arrow from'][rank], 'data-from': from, 'data-to': to });
            group.append(svgMake('path', { d: path, fill: 'none' }), svgMake('path', { d: `M${right - 5} ${end - 3.5}L${right} ${end}L${right - 5} ${end + 3.5}Z`, class: 'head' }));
            return group;
        }));
    }
}
