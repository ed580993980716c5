#!/usr/bin/env bash
# Builds the npm package and the page:
#
#     build.sh
#
# pkg/ is the package, with one folder for each target: bundler, node, web. dist/index.html is the page. Needs python3, cargo and its
# target wasm32-unknown-unknown; bindgen, of this workspace, writes the JavaScript.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target}
cd "$here"
cargo build --release --locked --target wasm32-unknown-unknown -p perfdata-wasm
# A tool that runs once: not worth to be optimized.
cargo build --locked -p bindgen
module=$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/perfdata_wasm.wasm
bindgen=$CARGO_TARGET_DIR/debug/bindgen

rm -rf pkg dist
mkdir -p pkg dist
for target in bundler nodejs web; do
    "$bindgen" "$module" "$target" "pkg/$target"
done
# One module is enough: the targets differ in the JavaScript that loads it.
for target in nodejs web; do
    cmp "pkg/bundler/perfdata_bg.wasm" "pkg/$target/perfdata_bg.wasm"
done
# Node takes a file for a module of its other kind unless a package says so.
echo '{ "type": "commonjs" }' >pkg/nodejs/package.json
cp package.json README.md ../../LICENSE-APACHE ../../LICENSE-MIT pkg/
python3 ../../release/inventory.py wasm32-unknown-unknown pkg .

"$bindgen" "$module" no-modules "$CARGO_TARGET_DIR/page"
python3 page/make.py "$CARGO_TARGET_DIR/page" dist/index.html
cp ../../LICENSE-APACHE ../../LICENSE-MIT pkg/THIRD-PARTY* dist/
echo "pkg/: $(gzip -9 <pkg/web/perfdata_bg.wasm | wc -c) bytes of gzipped WebAssembly; dist/index.html: $(wc -c <dist/index.html) bytes"
