#!/usr/bin/env bash
# clang-format 16 would change no source.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v clang-format-16 >/dev/null; then
    echo "SKIP: clang-format-16 is not installed"
    exit 77
fi
# Other tests make and remove files in these folders meanwhile, so the list is that of git.
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z -- '*.h' '*.cpp' | xargs -0 clang-format-16 --dry-run -Werror
else
    find config nic feed actors tests \( -name '*.h' -o -name '*.cpp' \) -exec clang-format-16 --dry-run -Werror {} +
fi
