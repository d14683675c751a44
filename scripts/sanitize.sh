#!/usr/bin/env bash
# Builds the extension modules in a copy of this checkout, in ways that no user sees, and runs the tests of the C++ code
# on each: with the address and undefined-behaviour sanitizers, with narrow vectors, and with none.
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
cp --parents spacy_mindroot/doc/*.so "$work" # nothing to vary there: as it is
cd "$work"
export MINDROOT_DATA="$work/no data"

check() { # what precedes the command...
    "$@" "$python" -m tests.fuzz.core_against_twin --count 1000 --seconds 300
    # CI: hypothesis has no deadline. A sanitizer keeps memory that is freed, so memory is not measured.
    CI=true "$@" "$python" -m pytest -q -p no:cacheprovider --ignore tests/core/test_memory.py \
        tests/core tests/inference tests/rules/test_labelled.py tests/arc_scorer/test_{bilstm,maxout,character_ngrams,optimizer}.py
}

build() { # flags...
    local include extension name
    include=$("$python" -c "import sysconfig; print(sysconfig.get_path('include'))")
    for extension in core/_core core/_inference core/_rules arc_scorer/_lstm arc_scorer/_layers; do
        name=spacy_mindroot/$extension
        "$python" -m cython -3 --cplus "$name.pyx" -o "$name.cpp"
        "$compiler" -std=c++17 -O1 -g -fPIC -shared -pthread -w -Wno-psabi -DPy_LIMITED_API=0x030B0000 "$@" \
            -Ispacy_mindroot/core "-I$(dirname "$name")" "-I$include" "$name.cpp" -o "$name.abi3.so"
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
            check env ASAN_OPTIONS=detect_leaks=0 "LD_PRELOAD=$runtime"
            ;;
        vectors-16) build -DMINDROOT_DISPATCH=0 ;;
        vectors-32) build -DMINDROOT_VECTOR_BYTES=32 ;;
        no-vectors) build -DMINDROOT_VECTORS=0 ;;
        *)
            echo "$variant: no such variant" >&2
            exit 2
            ;;
    esac
    if [ "$variant" != sanitizers ]; then check; fi
done
