#!/bin/sh
# Installs what is missing, builds, and runs every test: with ASan and UBSan, with TSan, and last the
# release build, whose summary ends the output. Repeat it as often as you like; only what changed is
# built again. `sh tests/run.sh release` runs the release build alone. A test that fails is tried once
# more, and that is said: a busy machine is no fault of the code.
set -eu
cd "$(dirname "$0")/.."
sh .ci/packages.sh test

log=$(mktemp)
names=$(mktemp)
trap 'rm -f "$log" "$names"' EXIT
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
failed=

# Name and reason of each skipped test: GoogleTest's own lines, and scripts that end with 77.
skipped() {
  awk '/^\[  SKIPPED \] .*\(/ { print $4 ": " before }
       /^"[^"]*" start time/ { split($0, part, "\""); name = part[2] }
       /^<end of output>/ { last = before }
       /^Skip return code/ { print name ": " last }
       { before = $0 }' "$1" | sort -u
}

run() {
  preset=$1
  shift
  echo "== $preset"
  began=$(date +%s)
  cmake --preset "$preset" "$@" >"$log" 2>&1 && cmake --build --preset "$preset" >>"$log" 2>&1 || {
    cat "$log"
    echo "$preset does not build"
    exit 1
  }
  built=$(date +%s)
  ctest --preset "$preset" --output-on-failure -j 3 --repeat until-pass:2 -LE 'long|bench' >"$log" 2>&1 || {
    failed="$failed $preset"
    cat "$log"
  }
  grep -E '\*\*\*(Failed|Timeout|Exception)' "$log" | sed "s/^/tried again in $preset: /" || true
  skipped "build/$preset/Testing/Temporary/LastTest.log" | sed "s/^/$preset: /" >>"$names"
  sed -n '/tests passed/p' "$log"
  echo "built in $((built - began)) s, tested in $(($(date +%s) - built)) s"
}

[ "${1:-all}" = release ] || { run asan; run tsan; }
run release -DSANDGLASS_WERROR="${SANDGLASS_WERROR:-OFF}"
echo "skipped: $(wc -l <"$names")"
cat "$names"
[ -z "$failed" ] || { echo "failed in:$failed"; exit 1; }
sed -n '/tests passed/,$p' "$log"
