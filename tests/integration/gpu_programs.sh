#!/usr/bin/env bash
# What tests/gpu/run does on a machine with a GPU, in small and on the stand-in for the driver: the stencil and the examples give the
# bits of the host's devices, and probe and benchmark run.
set -u
if [ ! -x "$NUNA_TEST_BUILD/bin/gpu/stencil" ]; then
  echo "skipped: this build has no kernels for CUDA devices (NUNA_CUDA is off, or the programs or examples are)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset NUNA_CUDA_DRIVER
OUT=$work "$NUNA_TEST_SOURCE/tests/gpu/run" --standin --small --only probe,programs,benchmark --build "$NUNA_TEST_BUILD" > "$work/told" 2>&1
status=$?
grep -v '^{' "$work/log.txt"
[ "$(cut -f 2 "$work/summary.tsv" | sort -u)" = ok ] || { cat "$work/told"; status=1; }
rows=$(wc -l < "$work/benchmark-meaningless.jsonl")
[ "$rows" -ge 20 ] || { echo "the benchmark has only $rows rows"; status=1; }
exit $status
