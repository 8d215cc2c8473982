#!/usr/bin/env bash
# The stencil on a real velocity model, compared bit by bit with the serial reference. Skipped where the model is not: it
# lies in $NUNA_TEST_DATA, or in ../shared/data beside the source tree.
set -u
model=${NUNA_TEST_DATA:-$NUNA_TEST_SOURCE/../shared/data}/seismic/marmousi_vp_1601x401.f32
if [ ! -f "$model" ]; then
  echo "skipped: there is no $model (set NUNA_TEST_DATA to the folder that holds seismic/)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$NUNA_TEST_BUILD/bin/stencil" --velocity "$model" --shape 1601x401 --velocity-unit km/s --spacing 7.5 --devices 2 --verify \
  --json --output "$work/marmousi" | tee "$work/log" || exit 1
tail -n 1 "$work/log" | grep -q '"verified":true' || { echo "not verified"; exit 1; }

# Another division of the same work, shorter.
"$NUNA_TEST_BUILD/bin/stencil" --velocity "$model" --shape 1601x401 --velocity-unit km/s --spacing 7.5 --ranks 3 --devices 2 \
  --steps 200 --verify --json --no-output | tee "$work/log" || exit 1
tail -n 1 "$work/log" | grep -q '"verified":true' || { echo "not verified"; exit 1; }
