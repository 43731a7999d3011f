#!/usr/bin/env bash
# clang-format 16 would change no source.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v clang-format-16 >/dev/null; then
    echo "SKIP: clang-format-16 is not installed"
    exit 77
fi
find config nic feed actors tests \( -name '*.h' -o -name '*.cpp' \) -exec clang-format-16 --dry-run -Werror {} +
