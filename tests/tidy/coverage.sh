#!/usr/bin/env bash
# Prints which lines of the program the tests reach, by file. Builds with clang's coverage in
# build-coverage and runs the tests.
#
#   coverage.sh SOURCE_ROOT [TEST...]     these tests; without any, suites unit, property and contract
set -euo pipefail
cd "$1"
shift
build='build-coverage'
export LLVM_PROFILE_FILE="$PWD/$build/profiles/%p-%m.profraw"
if [ ! -f "$build/build.ninja" ]; then
    flags='-fprofile-instr-generate -fcoverage-mapping'
    CC="${CC:-clang-19}" CXX="${CXX:-clang++-19}" meson setup "$build" -Doptimization=0 \
        "-Dcpp_args=$flags" "-Dcpp_link_args=$flags"
fi
rm -rf "$build/profiles"
mkdir "$build/profiles"
tests=(--suite unit --suite unsanitized --suite property --suite contract)
if [ $# -gt 0 ]; then
    tests=("$@")
fi
meson test -C "$build" --timeout-multiplier 10 "${tests[@]}" # without optimisation, they are slow
llvm-profdata-19 merge -sparse "$build"/profiles/*.profraw -o "$build/coverage.profdata"
# Coverage counts for the executables that ran.
mapfile -t programs < <(find "$build/tests" -type f -name 'test_*' -perm -100)
objects=()
for program in "${programs[@]:1}"; do
    objects+=(-object "$program")
done
llvm-cov-19 report "${programs[0]}" "${objects[@]}" -instr-profile="$build/coverage.profdata" \
    -ignore-filename-regex='(^|/)tests/|/usr/'
