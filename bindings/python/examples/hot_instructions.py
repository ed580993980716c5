"""The instructions with the most samples, with their source lines: python hot_instructions.py perf.data."""

import sys

import perfdata

for function in perfdata.open(sys.argv[1]).annotate().functions:
    event = function.events[0]
    print(f"{function.symbol} in {function.dso}: {100 * event.samples / event.all_samples:.2f} % of {event.name}")
    hot = [it for it in function.instructions if it.samples[0] > 0]
    for it in sorted(hot, key=lambda it: it.samples[0], reverse=True)[:5]:
        line = None if it.line is None else function.lines[it.line]
        place = f"{function.sources[line.source].path}:{line.line}" if line else ""
        print(f"{it.samples[0]:8}  {it.address:x}  {it.text:40} {place}")
