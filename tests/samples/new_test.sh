#!/bin/sh
# Makes a plugin with `sandglass plugin new` and does exactly what that prints.
#   new_test.sh PREFIX KIND LANGUAGE
. "$(dirname "$0")/lib.sh"
kind=$2 language=$3
[ "$language" != rust ] || need_rust

cd "$work"
sandglass plugin new my-own2 --kind "$kind" --lang "$language" --dir 'the plugin' >new
if grep -rniE -e 'sizes|ledger|tally|twin|glance' 'the plugin'; then die "the sample's name was left"; fi
sed -n '/^next:$/,$s/^  //p' new >commands
[ "$(wc -l <commands)" -ge 3 ] || die "too few commands: $(cat new)"
sh -ec "$(cat commands)" </dev/null >out 2>&1 || die "failed: $(cat commands out)"
sandglass plugin check "$(find 'the plugin' -name '*my[-_]own2.so' | head -n 1)" >check
says "com.example.my-own2" check
says "$kind my-own2: " check
sandglass check 'the plugin/my-own2.yaml'
says "\$schema=$prefix/share/sandglass/sandglass.schema.json" 'the plugin/my-own2.yaml'
case $kind-$language in
  hook-c) has 'create 3 hello.txt' "$HOME/my-own2.log" ;;
  hook-cpp) says 'hello.txt' "$HOME/my-own2.txt" ;;
  hook-rust) says 'file events by extension: .txt 1' out ;;
  provider-c) says "$TMPDIR/sandglass-my-own2-" out ;;
  watcher-cpp)
    sandglass status --json >status
    says '"watcher":"my-own2"' status
    ;;
esac
