#!/usr/bin/env python3
"""Makes the page: one file, with the module, the worker, the style and the script.

    make.py MODULE_FOLDER OUT

MODULE_FOLDER is what bindgen wrote for the target no-modules.
"""

import base64
import pathlib
import sys

module, out = map(pathlib.Path, sys.argv[1:])
here = pathlib.Path(__file__).parent


def read(*paths):
    return "".join(path.read_text() for path in paths)


parts = {
    "style": read(here / "style.css"),
    "module": base64.b64encode((module / "perfdata_bg.wasm").read_bytes()).decode(),
    "worker": read(module / "perfdata.js", here / "worker.js"),
    "script": read(here / "reader.js", here / "views.js", here / "main.js"),
}
for name, text in parts.items():
    # Either would end the element or change how its end is found.
    if "</script" in text.lower() or "<!--" in text:
        sys.exit(f"{name} cannot be part of a page: it has </script or <!--")
page = read(here / "index.html")
for name, text in parts.items():
    page = page.replace("{" + name + "}", text, 1)
out.write_text(page)
