#!/bin/sh
# Builds the examples of sdk/README.md as it says: with plain compilers, and with the installed package.
#   readme_test.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

block() { awk -v fence="\`\`\`$1" '$0 == fence {on = 1; next} /^```/ {on = 0} on' "$source/sdk/README.md"; }
block c > paths.c
block cpp > paths.cpp
block cmake > CMakeLists.txt
for file in paths.c paths.cpp CMakeLists.txt; do
  [ -s "$file" ] || { echo "sdk/README.md has no example for $file"; exit 1; }
done

ln -s "$source/sdk" sdk
grep -E '^    (gcc|g\+\+) ' "$source/sdk/README.md" > commands
[ "$(wc -l < commands)" -eq 2 ]
while read -r command; do
  $command
  nm -D --defined-only paths.so | grep -q ' sg_plugin_v1$'
  rm paths.so
done < commands

cmake --install "$build" --component sdk --prefix "$work/prefix" > install.log
cmake -S . -B out -DCMAKE_PREFIX_PATH="$work/prefix" > configure.log
cmake --build out > build.log
symbols=$(nm -D --defined-only out/paths.so | awk '{print $3}')
[ "$symbols" = sg_plugin_v1 ] || { echo "paths.so shows more than its table: $symbols"; exit 1; }
