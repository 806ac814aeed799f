#!/bin/sh
# Installs the Debian packages that are missing. usage: packages.sh build|test
# Needs root, or a user who may use sudo.
set -eu

build="g++ cmake ninja-build pkg-config git libboost1.81-dev libboost-filesystem1.81-dev libgit2-dev
libyaml-cpp-dev libspdlog-dev libsqlite3-dev nlohmann-json3-dev libvalijson-dev libcli11-dev
libssl-dev libexpected-dev zlib1g-dev"
# Optional: with both, the writers of files are followed with BPF.
bpf="clang libbpf-dev"
test="libgtest-dev libgmock-dev libbenchmark-dev clang libclang-rt-14-dev python3 ccache procps bsdutils
busybox-static toybox bindfs fuse3"

case "${1:-build}" in
  build) wanted="$build $bpf" ;;
  test) wanted="$build $bpf $test" ;;
  *) echo "usage: packages.sh build|test" >&2; exit 2 ;;
esac

missing=
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "cannot install$missing: run this as root, or install sudo" >&2; exit 1; }
  sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q >/dev/null
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
