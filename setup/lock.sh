#!/usr/bin/env bash
# Makes both locks anew, for every Python from 3.11 on, Linux and macOS; the newest versions that pyproject.toml admits.
#   setup/lock.sh [PYTHON]
# uv is needed for this alone, so it lives in a folder that is thrown away.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=$(mktemp -d)
trap 'rm -rf "$uv"' EXIT
"${1:-python3}" -m venv "$uv"
"$uv/bin/pip" install --quiet uv

compile() { # LOCK OPTIONS: what the installed project, torch and the build need, one version of each for all Pythons
  local lock=$1
  shift
  rm -f "$lock"
  "$uv/bin/uv" pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
    --custom-compile-command "make lock" --output-file "$lock" "$@" pyproject.toml setup/torch.in setup/build.in
}

compile setup/requirements.lock
compile setup/requirements-test.lock --extra test --constraint setup/requirements.lock
