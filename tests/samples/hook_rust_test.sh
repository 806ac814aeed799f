#!/bin/sh
. "$(dirname "$0")/lib.sh"
version=$(rustc --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
[ -n "$version" ] && cargo --version >/dev/null 2>&1 || skip "cargo is not installed"
[ "$version" -ge 77 ] || skip "rustc 1.$version is older than 1.77"
follow_readme hook-rust 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
says 'file events by extension: .txt 1' "$work/err"

make_workspace
cd "$work/repo"
sandglass run --config "$work/hook-rust/tally.yaml" -- sh -c "$edit" 2>"$work/err"
says 'file events by extension: .txt 2, none 1, .c 1' "$work/err"
