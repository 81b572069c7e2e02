#!/usr/bin/env bash
# Runs each libFuzzer target on its corpus; what it finds new stays in the build folder.
#   tools/fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1

for target in fuzz_npy fuzz_safetensors; do
  echo "== $target, $seconds s"
  found=build/fuzz/found/$target
  mkdir -p "$found"
  "build/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$target-" "$found" "tests/fuzz/corpus/$target" 2>&1 | grep -vE '^#[0-9]+\s+(NEW|REDUCE|pulse|RELOAD)'
done
