#!/usr/bin/env bash
# Finds or installs the browser that the tests drive, and fonts for Chinese labels; prints the browser's path.
#   setup/browser.sh [PYTHON]     default .venv/bin/python, whose Playwright is asked when the system has no browser
# In this order: CHROMIUM, a Chromium or Chrome on PATH, Debian's package (as root), Playwright's own download.
set -euo pipefail

python=${1:-$(dirname "$0")/../.venv/bin/python}

main() {
  if ! has_chinese_fonts && can_apt; then apt_install fontconfig fonts-noto-cjk || true; fi
  if ! has_chinese_fonts; then
    echo "setup/browser.sh: no Chinese font was found; install one (fonts-noto-cjk on Debian), or Chinese labels have no glyphs." >&2
  fi
  system_browser && return
  if can_apt && apt_install chromium && system_browser; then return; fi
  own_browser
}

system_browser() {
  local name path
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    path=$(command -v "${name:-/nowhere}") || continue
    # Ubuntu's chromium-browser may be a script that only names a snap, so it has to answer.
    if "$path" --version >/dev/null 2>&1; then
      echo "$path"
      return
    fi
  done
  return 1
}

own_browser() {
  local deps=()
  if can_apt; then deps=(--with-deps); fi
  "$python" -m playwright install ${deps[@]+"${deps[@]}"} chromium >&2
  "$python" -c "
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)"
}

has_chinese_fonts() {
  # macOS brings its own.
  [ "$(uname -s)" = Darwin ] || [ -n "$(fc-list :lang=zh 2>/dev/null)" ]
}

can_apt() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

apt_install() { # PACKAGES
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } >&2
}

main
