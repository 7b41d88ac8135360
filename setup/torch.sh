#!/usr/bin/env bash
# Puts the CPU build of torch into an environment, and nothing else: its needs are in the lock, a CUDA build is refused.
#   setup/torch.sh [PYTHON]     default .venv/bin/python
# First from the folders of wheels that pip knows (PIP_FIND_LINKS or pip's configuration), then from PyTorch's own index of CPU
# builds. TORCH_CPU_INDEX names a mirror of that index.
set -euo pipefail

version=2.13.0
python=${1:-$(dirname "$0")/../.venv/bin/python}
index=${TORCH_CPU_INDEX:-https://download.pytorch.org/whl/cpu}

# On Linux a plain 2.13.0 is the CUDA build of several gigabytes; the local version +cpu matches no other build.
case $(uname -s) in
  Linux) wanted=torch==$version+cpu ;;
  *) wanted=torch==$version ;;
esac

main() {
  if is_cpu_build 2>/dev/null; then return; fi
  echo "torch $version (CPU build) for $("$python" --version)" >&2
  local log
  log=$(mktemp)
  if ! { install --no-index || install --index-url "$index" --retries 1; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    refuse "found no CPU build of torch $version for this Python, neither in pip's own folders of wheels nor at $index."
  fi
  rm -f "$log"
  if ! is_cpu_build; then
    "$python" -m pip uninstall --quiet --yes torch
    refuse "the torch that pip found is not the CPU build of $version, so it was removed again."
  fi
}

install() { # OPTIONS
  "$python" -m pip install --quiet --only-binary :all: --no-deps "$@" "$wanted"
}

is_cpu_build() {
  "$python" -W ignore -c "
import torch
found = torch.__version__, torch.version.cuda, torch.version.hip
exit(None if found in [('$version', None, None), ('$version+cpu', None, None)] else f'found torch {found}')"
}

refuse() {
  echo "setup/torch.sh: $1
Download the wheel of the CPU build (torch-$version+cpu-cp3…-linux_….whl) from PyTorch's site, set PIP_FIND_LINKS to the folder that holds it, and run this again." >&2
  exit 1
}

main
