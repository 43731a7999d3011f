#!/usr/bin/env bash
# Checks shell scripts with shellcheck, YAML with yamllint, and the spelling.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in shellcheck yamllint codespell; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIP: $tool is not installed"
        exit 77
    fi
done
# shellcheck disable=SC2046  # our own file names hold no blanks
shellcheck $(grep -rlE '^#!/usr/bin/env bash' deploy tests .ci)
yamllint -d '{extends: default, rules: {line-length: {max: 100}, document-start: disable, truthy: {allowed-values: ["true", "false", "on", "off"]}, comments: {min-spaces-from-content: 1}}}' config
codespell --quiet-level 2 --skip '*.pcap,*/corpus/*,*.svg,*/package-lock.json,./.git,./build*' -L 'ba,ans,offen,te,nd,fo,crate,inout,nam,lod,nmae,firt' \
    README.md DESIGN.md CONTRIBUTING.md CHANGELOG.md config nic feed actors deploy tests
