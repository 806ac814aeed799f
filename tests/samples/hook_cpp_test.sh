#!/bin/sh
. "$(dirname "$0")/lib.sh"
follow_readme hook-cpp
says 'hello.txt' "$HOME/ledger.txt"

make_workspace
cd "$work/repo"
sandglass run --config "$work/hook-cpp/ledger.yaml" -- sh -c "$edit"
printf '+1 -0\tnotes.txt\n+1 -0\tod\\x0ad\n+0 -1\told.txt\n+1 -1\tsrc/style.c\n' >"$work/expected"
diff "$work/expected" "$HOME/ledger.txt" || die "the ledger is another"
[ ! -e "$HOME/ledger.txt.new" ] || die "a temporary file was left"
