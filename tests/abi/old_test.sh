#!/bin/sh
# Plugins that were compiled against each released minor of the ABI, used by this host: an old
# provider runs the command, an old watcher sees what it did, an old hook is told.
#   old_test.sh SOURCE_DIR SANDGLASS
set -eu
source=$1 sandglass=$2
if [ "$(uname -m)" != x86_64 ]; then
  echo "skipped: the old plugins are for x86_64"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_STATE_HOME="$work/state" XDG_CONFIG_HOME="$work/config"
unset SANDGLASS_PLUGIN_PATH

says() { grep -Fq -e "$1" "$2" || { echo "nothing says '$1':"; cat "$2"; exit 1; } >&2; }

sets=0
for set in "$source"/tests/abi/old/*/; do
  sets=$((sets + 1))
  abi=$(basename "$set")
  echo "ABI $abi"
  rm -rf "$work/plugins" "$work/repo" "$work/state"
  mkdir -p "$work/plugins" "$work/repo"
  for plugin in "$set"*.so; do
    install -m 644 "$plugin" "$work/plugins" # whatever the umask of the checkout was
    "$sandglass" plugin check "$work/plugins/$(basename "$plugin")"
  done
  cat >"$work/old.yaml" <<'EOF'
version: 1
plugins:
  - file: plugins/old_hook.so
  - file: plugins/old_provider.so
  - file: plugins/old_watcher.so
sandboxes:
  old:
    provider: old_provider
    fileEvents: {watcher: old_watcher, interval: 50ms}
    hooks:
      onFile:
        use: old_hook
        with: {word: seen, number: 7, flag: true, wait: 1500ms, room: 2 KiB, ratio: 0.5}
EOF
  "$sandglass" check "$work/old.yaml"
  cd "$work/repo"
  echo before >changed
  echo gone >deleted
  git init -q .
  git add .
  git -c user.name=t -c user.email=t@example.invalid commit -qm start
  code=0
  "$sandglass" run --config "$work/old.yaml" -- \
    sh -c 'echo after >changed; rm deleted; mkdir -p a/b; echo new >a/b/made; cat; exit 9' \
    </dev/null >"$work/out" 2>"$work/err" || code=$?
  [ $code -eq 9 ] || { echo "exit code $code, not 9"; cat "$work/err"; exit 1; } >&2
  hook='old hook [seen 7 1 1500 ms 2048 bytes 0.5]'
  for line in 'kind 0 path a/b/made patch of' 'kind 1 path changed patch of' \
              'kind 2 path deleted patch of'; do
    says "$hook $line" "$work/err"
  done
  says 'old hook was flushed' "$work/err"
  says 'old hook is done' "$work/err"
  if grep 'patch of 0 bytes' "$work/err"; then exit 1; fi
  "$sandglass" status --json >"$work/status"
  for text in '"watcher":"old_watcher"' '"provider":"old_provider"'; do says "$text" "$work/status"; done
  "$sandglass" diff >"$work/diff"
  says '+after' "$work/diff"
done
[ $sets -gt 0 ] || { echo "there are no old plugins" >&2; exit 1; }
