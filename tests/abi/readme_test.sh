#!/bin/sh
# Does what sdk/README.md says, from the installed package: writes the files it shows and types each of
# its commands, in order, as someone would who has read nothing else.
#   readme_test.sh PREFIX
. "$(dirname "$0")/../samples/lib.sh"
readme=$(find "$prefix/share/doc" -path '*/sdk/README.md')
[ -f "$readme" ] || die "the package has no sdk/README.md"

# Its parts as one script: a block of sh is typed; any other goes into the file that was named last.
python3 - "$readme" >"$work/script" <<'EOF'
import re, shlex, sys
text = open(sys.argv[1]).read()
print("set -eux")
for before, language, block in re.findall(r"(.*?)^```(\w+)\n(.*?)^```$", text, re.S | re.M):
    if language == "sh":
        print(block)
        continue
    named = re.findall(r"`([\w.]+\.(?:cpp|c|txt|yaml))`", before)
    assert named, "no file is named before: " + block
    print("printf %s " + shlex.quote(block) + " >" + named[-1])
EOF
[ "$(grep -c '' "$work/script")" -gt 60 ] || die "sdk/README.md has lost its examples"
cd "$HOME"
sh -e "$work/script" >"$work/out" 2>&1 </dev/null || die "$(cat "$work/out")"

says 'seen: create hello.txt' "$work/out"
says 'paths.so: usable, com.example.paths 1.0.0' "$work/out"
has "loaded   $HOME/plain/paths.so" "$work/out"
says 'hello.txt' "$HOME/mine.txt"
symbols=$(nm -D --defined-only "$HOME/paths/build/paths.so" | awk '{print $3}')
[ "$symbols" = sg_plugin_v1 ] || die "paths.so shows more than its table: $symbols"
# What it says of the samples is so.
for kind in hook:c hook:cpp hook:rust provider:c watcher:cpp; do
  sandglass plugin new there --kind "${kind%:*}" --lang "${kind#*:}" --dir "$work/${kind#*:}-${kind%:*}" >"$work/new"
done
