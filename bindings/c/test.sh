#!/usr/bin/env bash
# test.sh PERFDATA: builds and installs the library into a scratch folder, builds the examples as a stranger would, and compares
# what they print with the program PERFDATA, over all captures of testdata. Then runs them under the address sanitizer and valgrind,
# over damaged captures too. QUICK=1 runs these two on fewer captures.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 PERFDATA" >&2; exit 2; }
perfdata=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
testdata=$here/../../testdata
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

"$here/build.sh" "$scratch/usr"
export PKG_CONFIG_PATH=$scratch/usr/lib/pkgconfig
export LD_LIBRARY_PATH=$scratch/usr/lib

echo "== exported symbols"
nm -D --defined-only "$scratch/usr/lib/libperfdata.so" | awk '$2 ~ /[TWDBVRi]/ { print $3 }' | sed 's/@@.*//' | sort >"$scratch/exported"
grep -o 'perfdata_[a-z_]*(' "$scratch/usr/include/perfdata.h" | tr -d '(' | sort -u >"$scratch/declared"
diff "$scratch/declared" "$scratch/exported" >&2 || fail "the header and the exported symbols differ"
nm --defined-only --extern-only "$scratch/usr/lib/libperfdata.a" | awk 'NF == 3 { print $3 }' | sort | diff "$scratch/declared" - >&2 ||
    fail "the static library has other global symbols than the API"
readelf -d "$scratch/usr/lib/libperfdata.so" | grep -q 'SONAME.*libperfdata\.so\.0' || fail "the soname"

warnings=(-Wall -Wextra -Werror -pedantic)
# build FOLDER CC CXX [OPTION...]: builds the examples.
build() {
    local folder=$1 cc=$2 cxx=$3
    shift 3
    mkdir -p "$folder"
    local flags
    read -ra flags < <(pkg-config --cflags perfdata)
    local libs
    read -ra libs < <(pkg-config --libs perfdata)
    local name
    for name in script interned fields sources export annotate; do
        "$cc" -std=c11 -O1 -g "${warnings[@]}" "$@" "${flags[@]}" -o "$folder/$name" "$here/examples/$name.c" "${libs[@]}" -lpthread
    done
    for name in fold annotation; do
        "$cxx" -std=c++17 -O1 -g "${warnings[@]}" "$@" "${flags[@]}" -o "$folder/$name" "$here/examples/$name.cpp" "${libs[@]}"
    done
}

compilers=()
for pair in gcc:g++ clang:clang++; do
    if command -v "${pair%:*}" >/dev/null && command -v "${pair#*:}" >/dev/null; then
        compilers+=("$pair")
        build "$scratch/${pair%:*}" "${pair%:*}" "${pair#*:}"
        echo "built with ${pair%:*}"
    else
        echo "SKIPPED: ${pair%:*} is not there"
    fi
done
[ ${#compilers[@]} -gt 0 ] || { echo "no C compiler" >&2; exit 1; }
first=${compilers[0]%:*}
bin=$scratch/$first
read -ra static < <(pkg-config --cflags --libs --static perfdata)
"$first" -std=c11 "${warnings[@]}" -o "$bin/script-static" "$here/examples/script.c" \
    "${static[@]/-lperfdata/$scratch/usr/lib/libperfdata.a}"
ldd "$bin/script-static" | grep -q libperfdata && fail "the static program needs the shared library"

captures=("$testdata"/captures/* "$testdata"/synthetic/*.data)
hostile=("$testdata"/hostile/*.data)
# Cut captures, and captures with bytes changed.
mkdir "$scratch/broken"
for capture in "$testdata"/captures/{callchain,dwarf,tracing.pipe,compressed.zstd.pipe}.data; do
    name=$(basename "$capture")
    head -c $(($(stat -c %s "$capture") / 2)) "$capture" >"$scratch/broken/half.$name"
    head -c 40 "$capture" >"$scratch/broken/start.$name"
    cp "$capture" "$scratch/broken/changed.$name"
    for at in 9 120 700 1500 4100; do
        printf '\377\377\377' | dd of="$scratch/broken/changed.$name" bs=1 seek="$at" conv=notrunc status=none
    done
done
broken=("$scratch"/broken/*)

# fields_of CAPTURE: the fields that the program can print, and writes its text to $scratch/expected.
fields_of() {
    local fields=comm,pid,tid,cpu,time,period,event,ip,sym missing
    until "$perfdata" script -F "$fields" "$1" >"$scratch/expected" 2>"$scratch/why"; do
        missing=$(sed -n 's/^perfdata: -F \([a-z]*\): .*/\1/p' "$scratch/why")
        if [ -z "$missing" ] || [[ ",$fields," != *",$missing,"* ]]; then
            # It read the capture, and has faults: the text is all there is.
            break
        fi
        fields=$(tr , '\n' <<<"$fields" | grep -vx "$missing" | paste -sd,)
    done
    echo "$fields"
}

echo "== examples, compared with the program"
compared=0 lines=0
for capture in "${captures[@]}"; do
    fields=$(fields_of "$capture")
    case ${capture##*/} in
        # Counts and errors of traces, which script prints too; these captures have no samples.
        perf_stat.* | user_records.*) : >"$scratch/expected" ;;
    esac
    for program in script script-static; do
        "$bin/$program" "$capture" "$fields" >"$scratch/text" 2>/dev/null || true
        diff "$scratch/expected" "$scratch/text" >"$scratch/diff" || {
            case ${capture##*/} in
                # The text of script has no stack whose call chain has a marker that perf does not know.
                contexts.*) echo "differs as documented: ${capture##*/}" ;;
                *) head -6 "$scratch/diff" >&2; fail "$program $capture ($fields)" ;;
            esac
        }
    done
    lines=$((lines + $(wc -l <"$scratch/text")))
    "$perfdata" fold "$capture" >"$scratch/expected" 2>/dev/null || true
    "$bin/fold" "$capture" >"$scratch/text" 2>/dev/null || true
    diff "$scratch/expected" "$scratch/text" >&2 || fail "fold $capture"
    compared=$((compared + 1))
done
echo "$compared captures are equal: $lines lines of script"

echo "== interned tables: their samples, spelled out, are the lines of fold"
for name in callchain dwarf plain touch.zstd user_regs; do
    capture=$testdata/captures/$name.data
    "$bin/interned" "$capture" | awk -F '\t' '
        $1 == "thread" { comm[$2] = $5; gsub(" ", "_", comm[$2]) }
        $1 == "dso" { n = split($3, parts, "/"); dso[$2] = "[" parts[n] "]" }
        $1 == "function" { name[$2] = $3 ($5 ? " [guessed]" : "") }
        $1 == "frame" {
            text[$2] = ""
            for (i = $6 - 1; i >= 0; i--) text[$2] = text[$2] ";" name[$5 + i]
            if ($6 == 0) text[$2] = ";" ($4 in dso ? dso[$4] : "[unknown]") ($7 ? " [guessed]" : "")
        }
        $1 == "stack" { stack[$2] = stack[$3] text[$4] }
        $1 == "sample" && $4 == 0 { folded[comm[$3] stack[$6]] += $7 }
        END { for (line in folded) print line, folded[line] }' | LC_ALL=C sort >"$scratch/text"
    "$perfdata" fold "$capture" 2>/dev/null | LC_ALL=C sort >"$scratch/expected"
    [ -s "$scratch/expected" ] || fail "interned $name: there is nothing to compare"
    diff "$scratch/expected" "$scratch/text" >"$scratch/diff" || {
        head -6 "$scratch/diff" >&2
        fail "interned $name"
    }
done

echo "== formats, byte for byte"
for name in callchain dwarf everything tracing.pipe switch touch.zstd; do
    for format in folded svg pprof speedscope firefox otlp otlp-json; do
        (
            cd "$testdata/captures"
            if [ "$format" = svg ]; then
                "$perfdata" flamegraph "$name.data" -o "$scratch/expected.svg"
                mv "$scratch/expected.svg" "$scratch/expected"
            else
                "$perfdata" export --to "$format" "$name.data" -o - >"$scratch/expected"
            fi
            "$bin/export" "$format" "$name.data" >"$scratch/text"
        ) 2>/dev/null
        cmp "$scratch/expected" "$scratch/text" >&2 || fail "export $format $name"
    done
    # The program names the capture in another way.
    "$bin/export" flamegraph "$testdata/captures/$name.data" | grep -q '</html>' || fail "export flamegraph $name"
done

echo "== samples of AUX data"
if command -v python3 >/dev/null; then
    python3 "$here/../python/tests/made.py" "$scratch/spe.data"
    for format in folded pprof speedscope; do
        "$perfdata" export --to "$format" "$scratch/spe.data" -o - >"$scratch/expected" || fail "perfdata: $format of AUX data"
        "$bin/export" "$format" "$scratch/spe.data" >"$scratch/text" || fail "export $format of AUX data"
        cmp "$scratch/expected" "$scratch/text" >&2 || fail "export $format of AUX data differs"
    done
    "$bin/export" folded "$scratch/spe.data" | grep -q '^prog;' || fail "no samples of AUX data"
    "$bin/fold" "$scratch/spe.data" >"$scratch/text" || fail "fold of AUX data"
    "$perfdata" fold "$scratch/spe.data" | cmp - "$scratch/text" >&2 || fail "fold of AUX data differs"
else
    echo "SKIPPED: python3 is not there" >&2
fi

echo "== branch stacks"
branch_stacks=$(dirname "$perfdata")/examples/branch_stacks
if [ -x "$branch_stacks" ]; then
    branches=(7f0000002010:7f0000002100 7f0000002200:7f0000002004 7f0000002104:7f0000002180)
    "$branch_stacks" "$scratch/branches.data" "$(command -v env)" 7f0000000000 0 8000 3 chain "${branches[@]}"
    for format in brstack preagg autofdo; do
        "$perfdata" export --to "$format" "$scratch/branches.data" -o - >"$scratch/expected" 2>/dev/null || fail "perfdata: $format"
        "$bin/export" "$format" "$scratch/branches.data" >"$scratch/text" || fail "export $format"
        [ -s "$scratch/text" ] || fail "export $format prints nothing"
        cmp "$scratch/expected" "$scratch/text" >&2 || fail "export $format differs"
    done
    "$bin/export" preagg "$testdata/captures/plain.data" 2>"$scratch/text" && fail "branches of a capture without them"
    grep -q "no sample has a branch stack" "$scratch/text" || fail "the error for a capture without branches"
else
    echo "SKIPPED: $branch_stacks is not there; cargo build -p perf-parse --example branch_stacks" >&2
fi

echo "== annotated functions"
if ! command -v jq >/dev/null; then
    echo "SKIPPED: jq is not there"
elif [ ! -x "$branch_stacks" ]; then
    echo "SKIPPED: $branch_stacks is not there; cargo build -p perf-parse --example branch_stacks" >&2
else
    cat >"$scratch/hot.c" <<'END'
static int state;
static inline __attribute__((always_inline)) int step(int value)
{
    return value * 31 + state;
}
__attribute__((noinline)) int hot(int count)
{
    for (int i = 0; i < count; i++)
        state = step(state ^ i);
    return state;
}
int outer(int count)
{
    return hot(count) + hot(count + 1);
}
END
    # With one segment, addresses are offsets in the file.
    "$first" -g -O1 -fPIC -fno-plt -shared -nostdlib -Wl,-z,noseparate-code,-Bsymbolic -o "$scratch/hot.so" "$scratch/hot.c"
    offset() { nm "$scratch/hot.so" | awk -v name="$1" '$3 == name { print $1 }'; }
    # address FUNCTION OFFSET: an address of the mapped program.
    address() { printf '%x' $((0x7f0000000000 + 0x$(offset "$1") + $2)); }
    for function in hot outer; do
        # The samples are at the target of the first branch.
        branches=("$(address hot 12):$(address $function 4)" "$(address outer 8):$(address $function 0)" "$(address hot 20):$(address outer 4)")
        "$branch_stacks" "$scratch/annotate.data" "$scratch/hot.so" 7f0000000000 0 8000 5 chain "${branches[@]}"
        "$perfdata" annotate --format json --percent-limit 0 -i "$scratch/annotate.data" 2>"$scratch/why" | jq -r '
            def row: map(if . == true then 1 elif . == false then 0 else . end) | join("\t");
            def place: if . == null then "" else "\(.address) \(.symbol // "") \(.offset)" end;
            def target: if . == null then "" else "\(place) \(if .is_call then 1 else 0 end)" end;
            .functions[] |
            (["symbol", .symbol, .dso, .build_id, .code, .start, .end] | row),
            (.events[] | ["event", .name, .precise_ip, .samples, .period, .all_samples, .all_period] | row),
            (.functions[] | ["function", .name, .caller, .samples[0], .period[0]] | row),
            (.sources[] | (["source", .path, .is_newer, .first, (.text | length)] | row), (.text[] | ["text", .] | row)),
            (.lines[] | ["line", .source, .line, .samples[0], .period[0]] | row),
            (.branches[] | ["branch", .from, .to, .count, .mispredicted, .cycles, .timed] | row),
            (.instructions[] | ["instruction", .address, .bytes, .text, .function, .line, .column // 0, .discriminator // 0,
                .is_stmt // false, (.target | target), (.data | place), .samples[0], .period[0]] | row)
            ' >"$scratch/expected" || fail "perfdata annotate: $(cat "$scratch/why")"
        for kind in symbol event function source text line branch instruction; do
            grep -q "^$kind	" "$scratch/expected" || fail "annotation: there is no $kind to compare"
        done
        "$bin/annotation" "$scratch/annotate.data" >"$scratch/text" || fail "annotation"
        diff "$scratch/expected" "$scratch/text" >"$scratch/diff" || {
            head -6 "$scratch/diff" >&2
            fail "annotation differs"
        }
        echo "$(wc -l <"$scratch/text") rows are equal"
        awk -F '\t' '$1 == "symbol" { functions++ } functions == 1 && $1 == "event" { all = $5 }
            functions == 1 && $1 == "instruction" && $13 > 0 { printf "%6.2f %8x  %s\n", $13 * 100 / all, $2, $4 }' "$scratch/expected" |
            sort -k1,1nr -s | head -10 >"$scratch/hottest"
        "$bin/annotate" "$scratch/annotate.data" | sed '1d; s/ <.*//; s/  # line .*//' | diff "$scratch/hottest" - >&2 || fail "annotate differs"
        "$bin/annotate" "$scratch/annotate.data" $function | grep -q '# line [0-9]*: .*[{)]' || fail "annotate: the source line"
        "$bin/annotate" "$scratch/annotate.data" nothing 2>"$scratch/why" && fail "annotate: a function that is not there"
    done
fi

echo "== records and their fields, and every way to open"
for capture in "${captures[@]}"; do
    [ -f "$capture" ] || continue
    "$perfdata" dump --format jsonl "$capture" 2>/dev/null |
        sed -n 's/^{"offset":\([0-9]*\),.*"type_id":\([0-9]*\),.*/\1 \2/p' | sort >"$scratch/expected" || true
    "$bin/fields" "$capture" 2>/dev/null | sed -n 's/^record \([0-9]*\) at \([0-9]*\),.*/\2 \1/p' | sort >"$scratch/text" || true
    diff "$scratch/expected" "$scratch/text" >"$scratch/diff" || {
        head -6 "$scratch/diff" >&2
        fail "fields $capture: offsets and types of records"
    }
    "$bin/sources" "$capture" 2>"$scratch/why" || fail "sources $capture: $(cat "$scratch/why")"
done

if [ "${QUICK:-0}" = 1 ]; then
    some=("$testdata"/captures/{callchain,dwarf,tracing.pipe,compressed.zstd.pipe,everything}.data)
else
    some=("${captures[@]}")
fi
# run NAME LIMIT PROGRAM...: runs the examples on captures, whatever their result; only crashes and findings count.
run_all() {
    local what=$1
    shift
    local capture name
    for capture in "${some[@]}" "${hostile[@]}" "${broken[@]}"; do
        for name in script interned fields sources fold annotate annotation; do
            timeout 300 "$@" "$folder/$name" "$capture" >/dev/null 2>"$scratch/why" || {
                code=$?
                [ "$code" -le 1 ] || { tail -30 "$scratch/why" >&2; fail "$what: $name $capture ends with $code"; }
            }
        done
    done
    echo "$what: $((7 * (${#some[@]} + ${#hostile[@]} + ${#broken[@]}))) runs"
}

echo "== address sanitizer"
if build "$scratch/asan" gcc g++ -fsanitize=address,undefined -fno-sanitize-recover=undefined 2>"$scratch/why"; then
    folder=$scratch/asan
    ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=98 LSAN_OPTIONS=exitcode=97 run_all "address sanitizer" env
else
    echo "SKIPPED: gcc has no address sanitizer here: $(head -1 "$scratch/why")"
fi

echo "== valgrind"
if command -v valgrind >/dev/null; then
    folder=$bin
    some=("$testdata"/captures/{callchain,tracing.pipe,compressed.zstd.pipe}.data)
    hostile=("$testdata"/hostile/comm_esc.data)
    broken=("$scratch"/broken/*callchain.data)
    run_all valgrind valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect
else
    echo "SKIPPED: valgrind is not there"
fi

[ "$failures" = 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "All is equal."
