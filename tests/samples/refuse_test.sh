#!/bin/sh
# What `sandglass plugin new` and `plugin check` refuse, and the words they do it with.
. "$(dirname "$0")/lib.sh"
cd "$work"

# refuses CODE WORDS COMMAND...
refuses() {
  wanted=$1 words=$2 code=0
  shift 2
  "$@" >out 2>err || code=$?
  [ $code -eq "$wanted" ] || die "exit code $code, not $wanted: $* ($(cat err))"
  says "$words" err
}

for name in Big 1a a/b ../a 'a b' '' "$(printf 'a\033[31m')" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do
  refuses 2 "write a-z, 0-9, '-' and '_', first a letter, at most 40" \
    sandglass plugin new "$name" --kind hook --lang c --dir there
  [ ! -e there ] || die "something was made for the name '$name'"
done
refuses 2 'there is: hook in c, hook in cpp, hook in rust, provider in c, watcher in cpp' \
  sandglass plugin new mine --kind watcher --lang rust
refuses 1 "there is a hook 'log' already" sandglass plugin new log --kind hook --lang c
mkdir mine
refuses 1 'mine is there already' sandglass plugin new mine --kind hook --lang c
[ -z "$(ls -A mine)" ] || die "something was put into a directory that was there"
refuses 3 'cannot make no/such/mine' sandglass plugin new mine --kind hook --lang c --dir no/such/mine

cat >wrong.c <<'EOF'
#include <sandglass/plugin.h>
static uint64_t interests(void *self) { return self ? 0 : SG_EV_FILES; }
static sg_status on_event(void *self, sg_call *call, const sg_event *event) {
  return self || !call || !event ? SG_E_FAILED : SG_OK;
}
static sg_status create(const sg_host *host, sg_call *call, const sg_config *config, void **self) {
  *self = 0;
  return host && call && config ? SG_OK : SG_E_FAILED;
}
static void destroy(void *self) { (void)self; }
static const sg_hook whole = {sizeof(sg_hook), 0, interests, on_event, 0, 0};
static const sg_hook half = {sizeof(sg_hook), 0, interests, 0, 0, 0};
static const sg_watcher none = {sizeof(sg_watcher), 0, 0, 0, 0};
#define TYPE(kind, name, schema, table) \
  {sizeof(sg_type), 0, kind, name, "A summary", schema, &table, create, destroy, 0}
static const sg_type list[] = {
    TYPE(SG_KIND_HOOK, "half", 0, half), TYPE(SG_KIND_WATCHER, "none", 0, none),
    TYPE(SG_KIND_HOOK, "broken", "{\"type\": \"object\",", whole),
    TYPE(SG_KIND_HOOK, "log", "{}", whole), TYPE("sandglass.sink/1", "later", 0, whole)};
static const sg_type *const types[] = {TYPES, 0};
const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), MAJOR, SG_ABI_MINOR, 0, "com.example.wrong",
                                "0.1.0", 0, 0, types};
EOF
build() {
  cc -shared -fPIC -fvisibility=hidden -I"$prefix/include" -DMAJOR="$2" -DTYPES="$3" -o "$1" wrong.c
}

# All that is wrong is said, not the first alone.
build two.so 1 '&list[0], &list[1]'
refuses 2 "two.so: its hook 'half' has no on_event(), which every hook needs" sandglass plugin check two.so
says "two.so: its watcher 'none' has no run(), which every watcher needs" err
build broken.so 1 '&list[2], &list[4]'
refuses 2 "its hook 'broken' has a config_schema that is no JSON Schema" sandglass plugin check broken.so
build major.so 2 '&list[3]'
refuses 2 'plugin ABI 2' sandglass plugin check major.so
refuses 2 'is not an ELF file' sandglass plugin check wrong.c
refuses 2 'No such file or directory' sandglass plugin check nothing.so
chmod 666 two.so
refuses 2 'can be written by everyone' sandglass plugin check two.so

build log.so 1 '&list[3], &list[4]'
sandglass plugin check log.so >out
says 'log.so: usable, com.example.wrong 0.1.0, plugin ABI 1.0' out
says 'note: where both are loaded one is refused' out
says 'does not know the kind: sandglass.sink/1' out
sandglass plugin check log.so --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
assert found["usable"] and found["abi"] == "1.0" and found["problems"] == [], found
assert found["types"] == [{"kind": "hook", "name": "log", "summary": "A summary", "schema": True}], found'
chmod 644 two.so
sandglass plugin check two.so --json >json && die "a wrong plugin is called usable"
python3 -c 'import json; found = json.load(open("json")); assert len(found["problems"]) == 2, found'
