"""python -m bench [PART …]: all of it into bench/RESULTS.md, or some parts to standard output only."""

import sys
import time
from collections.abc import Callable

from bench.browser import browsing, changes, visits
from bench.comparison import comparison
from bench.experiments import accumulation, exact
from bench.pages import pages
from bench.recorder import recording
from bench.results import RESULTS, Row, write
from bench.start import memory, start
from bench.vaults import vaults


def main(wanted: list[str]) -> None:
    if sys.platform != "linux":
        sys.exit("the benchmarks read memory and processor time from /proc, so they run on Linux only")
    began = time.perf_counter()
    rows: list[Row] = []
    with browsing() as (browser, htmx):
        parts: dict[str, Callable[[], list[Row]]] = {
            "pages": pages,
            "visits": lambda: visits(browser, htmx),
            "changes": lambda: changes(browser, htmx),
            "exact": exact,
            "accumulation": accumulation,
            "start": start,
            "memory": memory,
            "vaults": vaults,
            "recording": recording,
            "comparison": comparison,
        }
        for name in wanted or parts:
            print(f"{name} …", file=sys.stderr)
            found = parts[name]()
            print(*(row.line for row in found), sep="\n")
            rows += found
        version = f"{browser.browser_type.name} {browser.version}".capitalize()
    if not wanted:
        write(rows, version, time.perf_counter() - began)
        print(f"{RESULTS.name} written", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
