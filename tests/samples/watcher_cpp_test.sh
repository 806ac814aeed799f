#!/bin/sh
. "$(dirname "$0")/lib.sh"
follow_readme watcher-cpp 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
says 'hello.txt' "$work/err"

make_workspace
cd "$work/repo"
sandglass run --config "$work/watcher-cpp/glance.yaml" --json -- \
  sh -c "$edit; mkdir -p a/b .git/x; echo 1 >a/b/c; mv a d; ln -s d l" >"$work/json"
python3 - "$work/json" >"$work/seen" <<'EOF'
import json, sys
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event.get("name") == "sandbox.file":
        print(event["value"]["type"], json.dumps(event["value"]["path"]))
EOF
sort -o "$work/seen" "$work/seen"
cat >"$work/expected" <<'EOF'
change "/workspace/src/style.c"
create "/workspace/d/b/c"
create "/workspace/l"
create "/workspace/notes.txt"
create "/workspace/od\nd"
delete "/workspace/old.txt"
EOF
diff "$work/expected" "$work/seen" || die "other events came"
[ -z "$(find . -name '.sandglass-*')" ] || die "the canary was left"
sandglass status --json >"$work/status"
says '"watcher":"glance"' "$work/status"
