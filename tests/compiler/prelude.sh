# Read by scripts of tests/compiler that compile by themselves: sets NUNACC, here (the script's folder) and work, a folder that goes with the script
# unless it was given as the first argument. No PTX is made.
set -u
here=$(cd "$(dirname "$0")" && pwd)
NUNACC=${NUNACC:-${NUNA_TEST_BUILD:+$NUNA_TEST_BUILD/bin/nunacc}}
if [ -z "${NUNACC:-}" ]; then
  echo "say NUNACC=... which nunacc is tested"
  exit 2
fi
work=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
export NUNACC_PTX=off
