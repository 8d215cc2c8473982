# For the scripts that run under MPI: `ranks <n> <command>...`, and $scenario, the program of tests/mpi. Source it first; it
# skips the test where MPI is not built in, and failed() notes a failure in $status. $sanitized is 1 in a sanitizer's build,
# where every finding is a failure, and every leak but those of MPI (lsan_mpi.supp).

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
sanitized=0
! grep -q '^NUNA_SANITIZE:.*=.' "$NUNA_TEST_BUILD/CMakeCache.txt" || sanitized=1
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0:fast_unwind_on_malloc=0
export LSAN_OPTIONS=suppressions=$NUNA_TEST_SOURCE/tests/support/lsan_mpi.supp:print_suppressions=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
failed() { echo "FAILED: $*"; status=1; }

# ranks <n> <command>...: at most $limit_s seconds (sanitized, three times that); what it prints comes to $work/out.
ranks() {
  local n=$1 rc
  shift
  timeout -k 5 $((${limit_s:-60} * (1 + 2 * sanitized))) "$mpiexec" "${mpi_options[@]}" -n "$n" "$@" > "$work/out" 2>&1
  rc=$?
  ! told 'Sanitizer|runtime error:' || { failed "a sanitizer's finding in: $*"; cat "$work/out"; }
  return $rc
}
told() { grep -qE -- "$1" "$work/out"; }
