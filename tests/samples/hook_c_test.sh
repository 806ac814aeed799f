#!/bin/sh
. "$(dirname "$0")/lib.sh"
follow_readme hook-c
has 'create 3 hello.txt' "$HOME/sizes.log"

make_workspace
cd "$work/repo"
rm "$HOME/sizes.log"
sandglass run --config "$work/hook-c/sizes.yaml" -- sh -c "$edit"
sort "$HOME/sizes.log" >"$work/log"
cat >"$work/expected" <<'EOF'
change 29 src/style.c
create 1 od\x0ad
create 4 notes.txt
delete 0 old.txt
EOF
diff "$work/expected" "$work/log" || die "the log is another"

# A file that cannot be opened: the words of the hook, at the line of the YAML.
sed 's|"${HOME}/sizes.log"|/nowhere/at/all|' "$work/hook-c/sizes.yaml" >"$work/hook-c/wrong.yaml"
no sandglass run --config "$work/hook-c/wrong.yaml" -- true
sandglass run --config "$work/hook-c/wrong.yaml" -- true 2>"$work/err" || true
says 'wrong.yaml:9' "$work/err"
says 'cannot be opened for writing: No such file or directory' "$work/err"
# The schema is checked before: a relative path is no path here.
sed 's|"${HOME}/sizes.log"|sizes.log|' "$work/hook-c/sizes.yaml" >"$work/hook-c/relative.yaml"
no sandglass check "$work/hook-c/relative.yaml"
