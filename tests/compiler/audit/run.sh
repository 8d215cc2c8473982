#!/bin/sh
# What the kernels of apps/cuda and of tests/compiler/audit touch, against what nunacc says of them: on one device and on three.
#   [NUNACC=...] tests/compiler/audit/run.sh
. "$(dirname "$0")/../prelude.sh"
status=0
for source in "$here"/../../../apps/cuda/*.cu "$here"/*.cu; do
  name=$(basename "$source" .cu)
  "$NUNACC" -std=c++17 -O3 --audit "$source" -o "$work/program" || {
    echo "FAILED: $name does not compile"
    status=1
    continue
  }
  for devices in 1 3; do
    NUNA_AUDIT=1 NUNA_DEVICES=$devices timeout 120 "$work/program" >"$work/out" 2>&1 &&
      grep -q ' blocks, 0 misses$' "$work/out" && {
      echo "$name on $devices: $(grep ' blocks, ' "$work/out")"
      continue
    }
    echo "FAILED: $name on $devices devices"
    tail -20 "$work/out"
    status=1
  done
done

# A model that is wrong: changed in the program, to the same length.
"$NUNACC" -std=c++17 -O3 --audit "$here/../../../apps/cuda/vecadd.cu" -o "$work/program" || status=1
must_be_caught() { # what is wrong, the change, what is said of it
  sed "$2" "$work/program" >"$work/broken" && chmod +x "$work/broken"
  for devices in 1 3; do
    NUNA_AUDIT=1 NUNA_DEVICES=$devices timeout 120 "$work/broken" >"$work/out" 2>&1
    [ $? -ne 0 ] && grep -q "$3" "$work/out" && continue
    echo "FAILED: a model that says too $1 passes on $devices devices"
    tail -20 "$work/out"
    status=1
  done
}
must_be_caught little 's/"factor":-1,"parameters":\[\],"variable":-1/"factor":-9,"parameters":[],"variable":-1/g' \
  'argument 2: writes bytes \[4194272, 4194304) at .*vecadd.cu:7, which its model does not'
must_be_caught much 's/"bytes":4,"domain"/"bytes":8,"domain"/g' \
  'argument 2: does not write bytes \[.*), which its model says it does at .*vecadd.cu:7'
exit $status
