#!/usr/bin/env bash
# Puts the Python packages of one group (tools/requirements-GROUP.txt) into .venv, and leaves a stamp.
#   tools/make_venv.sh test
set -euo pipefail
cd "$(dirname "$0")/.."
group=$1

# A .venv whose Python has gone is made anew.
.venv/bin/python -c '' 2>/dev/null || python3 -m venv --clear .venv
echo "Installing tools/requirements-$group.txt into .venv"
.venv/bin/python -m pip install -qq --disable-pip-version-check \
  -c tools/constraints.txt -r "tools/requirements-$group.txt"
touch ".venv/$group.stamp"
