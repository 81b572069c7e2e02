#!/usr/bin/env bash
# Installs the Debian packages of the named groups that are missing; silent when all are there.
#   tools/install_packages.sh build test
# Needs root or passwordless sudo only when something is missing; else says what to install.
set -euo pipefail

packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build libcli11-dev libfmt-dev nlohmann-json3-dev ;;
    test) echo libgtest-dev libgmock-dev clang-14 libclang-rt-14-dev qemu-user ;;
    browser) echo chromium ;;
    bench) echo libopenblas-dev ;;
    lint) echo clang-format-14 clang-tidy-14 ;;
    aarch64) echo g++-aarch64-linux-gnu qemu-user ;;
    python) echo python3-venv ;;
    *) echo "install_packages.sh: no group named $1" >&2 && exit 2 ;;
  esac
}

# Tools may come from elsewhere (pip, a toolchain of one's own); libraries are asked of dpkg.
is_here() {
  case $1 in
    g++) command -v c++ ;;
    cmake) [[ "$(printf '%s\n' 3.25 "$(cmake --version | sed -n 's/^cmake version //p')" | sort -V | head -1)" == 3.25 ]] ;;
    ninja-build) ninja --version ;;
    python3-venv) python3 -c 'import ensurepip' ;;
    *) [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1")" == installed ]] ;;
  esac &>/dev/null
}

missing=()
for group in "$@"; do
  packages=$(packages_of "$group")
  for package in $packages; do
    is_here "$package" || missing+=("$package")
  done
done
[[ ${#missing[@]} -eq 0 ]] && exit

if ! command -v apt-get >/dev/null; then
  echo "No apt-get here: if the build stops, install the equivalents of: ${missing[*]}" >&2
  exit
fi
if [[ $EUID -eq 0 ]]; then
  as_root=(env)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo env)
else
  echo "These packages are missing, and installing them takes root. Please run, then try again:" >&2
  echo "    sudo apt-get update && sudo apt-get install ${missing[*]}" >&2
  exit 1
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
