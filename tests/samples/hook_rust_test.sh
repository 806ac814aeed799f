#!/bin/sh
. "$(dirname "$0")/lib.sh"
need_rust
follow_readme hook-rust 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
says 'file events by extension: .txt 1' "$work/err"

make_workspace
cd "$work/repo"
sandglass run --config "$work/hook-rust/tally.yaml" -- sh -c "$edit" 2>"$work/err"
says 'file events by extension: .txt 2, none 1, .c 1' "$work/err"
