#!/usr/bin/env bash
# Builds the package, and tries it on a booted Debian 12 (boot_test.py). Some minutes, and much longer where the
# compiler's cache is empty.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/../../deploy/package" "$folder"
python3 -B "$here/boot_test.py" "$folder"/pinstrike_*.deb
