#!/bin/sh
. "$(dirname "$0")/lib.sh"
follow_readme provider-c

make_workspace
cd "$work/repo"
sandglass run --config "$work/provider-c/twin.yaml" --json --diff -- \
  sh -c "$edit; pwd; echo \$SANDGLASS_WORKSPACE" >"$work/json"
[ -z "$(git status --porcelain)" ] || die "the workspace itself was changed"
for text in '+int color = 1;' '"type":"delete"' 'notes.txt'; do
  says "$text" "$work/json"
done
sandglass status --json >"$work/status"
says '"provider":"twin"' "$work/status"
folder=$(echo "$TMPDIR"/sandglass-twin-*)
[ -d "$folder" ] || die "there is no folder of copies"
[ -z "$(ls -A "$folder")" ] || die "a copy was left: $(ls -A "$folder")"

# Exit codes and a missing program pass through.
code=0
sandglass run --config "$work/provider-c/twin.yaml" -- sh -c 'exit 7' 2>/dev/null || code=$?
[ $code -eq 7 ] || die "exit code $code, not 7"
# A workspace whose own names are hostile to a shell.
mkdir "$work/-rf \$(touch x); \`y\`"
cd "$work/-rf \$(touch x); \`y\`"
echo kept >f
sandglass run --config "$work/provider-c/twin.yaml" -- sh -c 'cat f; rm f' >"$work/out"
has kept "$work/out"
[ "$(cat f)" = kept ] || die "the workspace itself was changed"
[ -z "$(find "$work" -name x -o -name y)" ] || die "a name was run"
# A folder that others can write is refused.
chmod 777 "$folder"
no sandglass run --config "$work/provider-c/twin.yaml" -- true
