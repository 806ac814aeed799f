#!/bin/sh
# Builds the set of plugins of a released minor from the sources in its folder, once: a set that is
# there is never built again, or it would no longer be old.
#   make.sh 1.0
set -eu
cd "$(dirname "$0")"
header=../../../sdk/include/sandglass/plugin.h
minor=$(sed -n 's/^#define SG_ABI_MINOR \([0-9]*\)u$/\1/p' "$header")
[ "$1" = "1.$minor" ] || { echo "plugin.h is ABI 1.$minor, not $1" >&2; exit 1; }
[ "$(uname -m)" = x86_64 ] || { echo "the sets are built for x86_64" >&2; exit 1; }
for kind in hook provider watcher; do
  if [ -e "$1/old_$kind.so" ]; then
    echo "$1/old_$kind.so is there: it stays" >&2
    exit 1
  fi
done
for kind in hook provider watcher; do
  gcc -std=gnu11 -Os -shared -fPIC -fvisibility=hidden -nostartfiles -Wall -Wextra -Werror \
    -Wl,-z,defs,-z,now,-z,noseparate-code -Wl,--build-id=none -s -I../../../sdk/include \
    -o "$1/old_$kind.so" "$1/old_$kind.c"
done
