#!/usr/bin/env bash
# Builds the extension modules in a copy of this checkout, in ways that no user sees, and runs the tests of the core on
# each: with the address and undefined-behaviour sanitizers, with narrow vectors, and with none.
#
#     scripts/sanitize.sh [sanitizers] [vectors-16] [vectors-32] [no-vectors]      (default: all that the processor can)
#
# Needs GCC or Clang (CXX), and a Python (PYTHON, default: python) with the packages of the `test` extra and Cython.
# The wider vectors are what a normal build uses where the processor has them.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
python=$("${PYTHON:-python}" -c "import sys; print(sys.executable)")
compiler=${CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$checkout"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work"
cp --parents spacy_mindroot/pipeline/*.so "$work"  # not of the core: as it is
cd "$work"
export MINDROOT_DATA="$work/no data"
compared="--count 1000 --seconds 300"

build() { # flags...
    local include extension
    include=$("$python" -c "import sysconfig; print(sysconfig.get_path('include'))")
    for extension in _core _inference _rules; do
        "$python" -m cython -3 --cplus spacy_mindroot/core/$extension.pyx -o $extension.cpp
        "$compiler" -std=c++17 -O1 -g -fPIC -shared -pthread -w -DPy_LIMITED_API=0x030B0000 "$@" \
            -Ispacy_mindroot/core "-I$include" $extension.cpp -o spacy_mindroot/core/$extension.abi3.so
    done
}

default="sanitizers vectors-16 no-vectors"
if grep -q avx2 /proc/cpuinfo 2> /dev/null; then default+=" vectors-32"; fi
for variant in ${*:-$default}; do
    echo "== $variant"
    case $variant in
        sanitizers)
            build -DMINDROOT_DISPATCH=0 -fsanitize=address,undefined -fno-sanitize-recover=undefined
            # The runtime must be loaded before Python is. Python does not free everything at its end.
            runtime="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libstdc++.so)"
            ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$runtime "$python" -m tests.fuzz.core_against_twin $compared
            ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$runtime "$python" -m pytest -q -p no:cacheprovider tests/core
            ;;
        vectors-16) build -DMINDROOT_DISPATCH=0 ;;
        vectors-32) build -DMINDROOT_VECTOR_BYTES=32 ;;
        no-vectors) build -DMINDROOT_VECTORS=0 ;;
        *)
            echo "$variant: no such variant" >&2
            exit 2
            ;;
    esac
    if [ "$variant" != sanitizers ]; then
        "$python" -m tests.fuzz.core_against_twin $compared
        "$python" -m pytest -q -p no:cacheprovider tests/core
    fi
done
