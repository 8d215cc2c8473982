#!/usr/bin/env bash
# What libnuna.so shows to its users: names of namespace nuna and C functions nuna_*, and among them version(), by which a
# program knows which library it was given.
#
#   tests/tree/exported_symbols.sh <libnuna.so>
set -u
library=${1:?usage: $0 libnuna.so}
symbols=$(nm --dynamic --defined-only --demangle "$library" | sed -E 's/^[0-9a-f]* +[A-Za-z] //') || exit 1
strangers=$(grep -vE '^((typeinfo( name)?|vtable|VTT) for )?nuna(::|_)' <<< "$symbols")
if [ -z "$symbols" ]; then
  echo "$library shows nothing: are its functions marked NUNA_API?"
  exit 1
fi
if ! grep -qx 'nuna::v[0-9]*::version()' <<< "$symbols"; then
  echo "$library does not show nuna::version()"
  exit 1
fi
if [ -n "$strangers" ]; then
  echo "$library shows names that are not its own:"
  echo "$strangers"
  exit 1
fi
echo "$(wc -l <<< "$symbols") symbols, all of nuna"
