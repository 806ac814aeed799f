# What the tests of samples share. Each works in a directory of its own, as a stranger with an
# installed sandglass: nothing of the source or build tree is named. Sourced; needs $1, the prefix.
set -eu
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/tmp"
# rustup's cargo finds its toolchain in the user's own home.
: "${CARGO_HOME=$HOME/.cargo}" "${RUSTUP_HOME=$HOME/.rustup}"
PATH=$prefix/bin:$PATH
HOME=$work/home
TMPDIR=$work/tmp
XDG_STATE_HOME=$work/state
XDG_CONFIG_HOME=$work/config
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export CARGO_HOME RUSTUP_HOME PATH HOME TMPDIR XDG_STATE_HOME XDG_CONFIG_HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL
unset SANDGLASS_PLUGIN_PATH CDPATH

die() {
  printf '%s\n' "$*" >&2
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
need_rust() {
  version=$(rustc --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
  [ -n "$version" ] && cargo --version >/dev/null 2>&1 || skip "cargo is not installed"
  [ "$version" -ge 77 ] || skip "rustc 1.$version is older than 1.77"
}
# has TEXT FILE: a line is exactly TEXT. says TEXT FILE: it stands somewhere.
has() { grep -Fxq -e "$1" "$2" || die "no line '$1' in $2: $(cat "$2")"; }
says() { grep -Fq -e "$1" "$2" || die "nothing says '$1' in $2: $(cat "$2")"; }
no() { if "$@" >/dev/null 2>&1; then die "should have failed: $*"; fi; }

# A git workspace at $work/repo with src/style.c and old.txt.
make_workspace() {
  mkdir -p "$work/repo/src"
  printf 'int colour = 1;\nint size = 2;\n' >"$work/repo/src/style.c"
  printf 'remove me\n' >"$work/repo/old.txt"
  prepare_edit
  git -C "$work/repo" init -q
  git -C "$work/repo" add .
  git -C "$work/repo" -c user.name=t -c user.email=t@example.invalid commit -qm start
}
# What most samples are run on: a change, two creations, one with an odd name, a deletion. Files come
# by rename from outside, whole, so that no event depends on how fast the machine is.
prepare_edit() {
  mkdir "$work/new"
  printf 'int color = 1;\nint size = 2;\n' >"$work/new/style.c"
  echo new >"$work/new/notes.txt"
  printf x >"$work/new/$(printf 'od\nd')"
  edit="mv '$work/new/style.c' src; mv '$work'/new/* .; rm old.txt"
}

# Does what the README.md of a sample says, line by line, in a copy of it.
follow_readme() {
  cp -R "$prefix/share/sandglass/samples/$1" "$work/$1"
  cd "$work/$1"
  sed -n 's/^    //p' README.md >commands
  [ -s commands ] || die "$1/README.md has no commands"
  while IFS= read -r line; do
    echo "\$ $line"
    sh -ec "$line" </dev/null || die "failed: $line"
  done <commands
}
