#!/usr/bin/env bash
# Builds the packages, and passes them to a test that boots Debian 12 (boot_test.py, machine_test.py).
# Takes some minutes, and much longer if the compiler's cache is empty.
#
#   boot.sh TEST.py
set -euo pipefail
python3 -B "$1" # ends here if a tool is missing
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/../../deploy/package" "$folder"
python3 -B "$1" "$folder"/pinstrike_*.deb "$folder"/pinstrike-gateway_*.deb "$folder"/pinstrike-kafka_*.deb \
    "$folder"/pinstrike-bridge_*.deb "$folder"/libpinstrike*.deb
