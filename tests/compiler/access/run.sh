#!/bin/sh
# What kernels touch, as nunacc tells it: in words (kernels.cu says what it expects), and, as JSON, beside what they wrote when they
# ran. Takes some seconds.
#   [NUNACC=...] tests/compiler/access/run.sh [folder for what is built]
. "$(dirname "$0")/../prelude.sh"
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
cd "$work" || exit 2

"$NUNACC" -std=c++17 --explain "$here/kernels.cu" >explanation.txt || fail "--explain"
python3 "$here/expectations.py" "$here/kernels.cu" explanation.txt || failed=1
[ "$(ls)" = explanation.txt ] || fail "--explain made more than its text: $(ls)"

"$NUNACC" -w -std=c++17 --model models.json "$here/oracle.cu" -o oracle && ./oracle >run.txt || fail "oracle"
python3 "$here/oracle.py" models.json run.txt || failed=1

# The models are the same, whether something is compiled besides or not.
"$NUNACC" -w -std=c++17 --explain --model explained.json "$here/oracle.cu" >/dev/null || fail "--explain --model"
cmp models.json explained.json || fail "--explain --model says something else than --model"
# Every kernel's model is in the program, for the runtime.
grep -q '"name":"_Z7stencilPKfPfii"' oracle || fail "the program has no model"

[ $failed -eq 0 ] && echo "access models passed"
exit $failed
