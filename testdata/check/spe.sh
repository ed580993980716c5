#!/usr/bin/env bash
# Compares the packets and samples of Arm SPE with those of a perf: 300,000 random packets, and 10,000 random records for
# each set of options.
#
#     spe.sh PERF
#
# The texts of packets are those of perf 6.1, or else of 7.2. Samples are those of 7.2; of 6.1, only what did not change.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: spe.sh PERF" >&2
    exit 2
fi
cd "$(dirname "$0")/../.."
PERF_TESTS_THOROUGH=1 SPE_PERF=$1 cargo test -p perf-aux --test spe_live
