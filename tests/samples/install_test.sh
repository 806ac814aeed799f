#!/bin/sh
# Installs the product, moves it, and uses it from there; and the SDK alone.
#   install_test.sh PREFIX BUILD_DIR    leaves the moved prefix for other tests at PREFIX
prefix=$1 build=$2
rm -rf "$prefix" "$prefix.sdk" "$prefix.first"
cmake --install "$build" --prefix "$prefix.first" >/dev/null
cmake --install "$build" --prefix "$prefix.sdk" --component sdk >/dev/null
mv "$prefix.first" "$prefix"
. "$(dirname "$0")/lib.sh"

for file in bin/sandglass lib/sandglass/provider-local.so include/sandglass/plugin.h \
            lib/cmake/sandglass-sdk/sandglass-sdk-config.cmake share/sandglass/configs/sandglass.yaml \
            share/sandglass/sandglass.schema.json share/sandglass/samples/hook-c/sizes.c; do
  [ -f "$prefix/$file" ] || die "not installed: $file"
done
[ -n "$(find "$prefix/share/doc" -name LICENSE)" ] || die "no licence is installed"
[ ! -e "$prefix.sdk/bin" ] || die "the SDK alone holds executables"
[ -f "$prefix.sdk/include/sandglass/plugin.hpp" ] || die "the SDK alone has no headers"
if grep -rlF -e "$build" -e "$prefix.first" "$prefix/lib/cmake" "$prefix/include" "$prefix/share"; then
  die "installed files name where they were built or first installed"
fi
for file in "$prefix/bin/sandglass" "$prefix"/lib/sandglass/*.so; do
  if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "$build"; then die "$file searches $build"; fi
done

sandglass plugin list >"$work/list"
for plugin in provider-local watcher-inotify hook-log hook-command; do
  has "loaded   $prefix/lib/sandglass/$plugin.so" "$work/list"
done
no grep -q refused "$work/list"
sandglass check "$prefix/share/sandglass/configs/sandglass.yaml"
python3 -m json.tool "$prefix/share/sandglass/sandglass.schema.json" >/dev/null

make_workspace
cd "$work/repo"
sandglass run -- sh -c 'echo hi > f'
sandglass diff >"$work/diff"
has '+hi' "$work/diff"
