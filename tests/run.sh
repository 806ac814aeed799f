#!/bin/sh
# Installs what is missing, builds, and runs every test: with ASan and UBSan, with TSan, and last the
# release build, whose summary ends the output. Repeat it as often as you like; only what changed is
# built again. `sh tests/run.sh release` runs that one alone.
set -eu
cd "$(dirname "$0")/.."
sh .ci/packages.sh test

log=$(mktemp)
trap 'rm -f "$log"' EXIT
skipped=0
failed=

run() {
  preset=$1
  shift
  echo "== $preset"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" | tail -n 1
  ctest --preset "$preset" --output-on-failure -j 2 "$@" >"$log" 2>&1 || failed="$failed $preset"
  count=$(grep -c '(Skipped)$' "$log" || true)
  skipped=$((skipped + count / 2))
  if [ -n "$failed" ]; then cat "$log"; else tail -n 40 "$log" | sed -n '/tests passed/,$p'; fi
}

[ "${1:-all}" = release ] || {
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 run asan -LE bench
  TSAN_OPTIONS=halt_on_error=1 run tsan -LE bench
}
run release -LE long
echo "skipped in all: $skipped"
[ -z "$failed" ] || { echo "failed in:$failed"; exit 1; }
tail -n 40 "$log" | sed -n '/tests passed/p'
