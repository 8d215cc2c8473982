# For the scripts that run under MPI: `ranks <n> <command>...`, and $scenario, the program of tests/mpi. Source it first; it
# skips the test where MPI is not built in, and failed() notes a failure in $status.

scenario=$NUNA_TEST_BUILD/bin/mpi_scenarios
if [ ! -x "$scenario" ]; then
  echo "skipped: this build has no MPI (NUNA_MPI=OFF)"
  exit 77
fi
mpiexec=$(cat "$NUNA_TEST_BUILD/mpiexec.txt")
mpi_options=()
if "$mpiexec" --version 2>&1 | grep -q 'Open MPI\|OpenRTE'; then
  open_mpi=1
  mpi_options=(--oversubscribe)
  [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
else
  open_mpi=0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
failed() { echo "FAILED: $*"; status=1; }

# ranks <n> <command>...: at most $limit_s seconds; what it prints comes to $work/out.
ranks() {
  local n=$1
  shift
  timeout -k 5 "${limit_s:-60}" "$mpiexec" "${mpi_options[@]}" -n "$n" "$@" > "$work/out" 2>&1
}
told() { grep -qE -- "$1" "$work/out"; }
