#!/bin/sh
# Builds the fuzz targets with clang and runs each for some seconds, beginning with its corpus.
#   sh tests/fuzz/run.sh [SECONDS [TARGET]...]
# An input that breaks one is left in build/fuzz/found: fix the cause and put the input into the corpus.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- yaml schema patch ignore attributes lfs gitconfig baseline pack index elf journal event

cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target fuzzers -j 2

found=build/fuzz/found
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$found"
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
broken=
for target; do
  mkdir "$work/$target" "$work/tmp"
  TMPDIR=$work/tmp "build/fuzz/tests/${target}_fuzz" "$work/$target" "tests/fuzz/corpus/$target" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found/$target-" \
    >"$work/log" 2>&1 || { broken="$broken $target"; tail -n 40 "$work/log"; }
  sed -n "s/^Done \([0-9]*\) runs in \([0-9]*\) second(s)/$target: \1 inputs in \2 s/p" "$work/log"
  rm -rf "$work/tmp"
done
[ -z "$broken" ] || { echo "broken:$broken; inputs are in $found"; exit 1; }
