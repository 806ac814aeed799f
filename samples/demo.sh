#!/bin/sh
# Installs what is missing, builds sandglass, and shows its main job: a command changes a small real
# git repository, and sandglass tells which files, and how, against the commit at the start.
# Needs Debian 12 and root, or a user who may use sudo.
set -eu
cd "$(dirname "$0")/.."
sh .ci/packages.sh build
cmake --preset release -DSANDGLASS_TESTS=OFF -DSANDGLASS_BENCH=OFF >/dev/null
cmake --build --preset release | tail -n 1
sandglass=$PWD/build/release/bin/sandglass

demo=$(mktemp -d)
trap 'rm -rf "$demo"' EXIT
XDG_STATE_HOME=$demo/state
export XDG_STATE_HOME
mkdir -p "$demo/shop/src"
cd "$demo/shop"
git init -q -b main .
printf 'int colour = 1;\nint size = 2;\n' >src/style.c
printf 'build/\n.env\n' >.gitignore
printf 'remove me\n' >old.txt
git add .
git -c user.name=demo -c user.email=demo@example.invalid commit -qm 'Start'

show() { echo; echo "\$ $*"; }

show "sandglass run -- sh -c 'sed -i s/colour/color/ src/style.c; echo new > notes.txt; rm old.txt; echo KEY=1 > .env'"
"$sandglass" run -- sh -c 'sed -i s/colour/color/ src/style.c; echo new > notes.txt; rm old.txt; echo KEY=1 > .env'
show "sandglass diff"
"$sandglass" diff
show "sandglass diff | git apply --check --reverse    # the patch is exact"
"$sandglass" diff 2>/dev/null | git apply --check --reverse && echo yes
show "sandglass events"
"$sandglass" events
