"""Packed traces: what they hold is read as it stands plain; whatever else they are takes little memory and is told."""

import gzip
import os
import random
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import TooLarge, TraceError, Unreadable
from app.traces.comparison import compare
from app.traces.run import read_run, read_runs
from tests.traces.written import run, trace, written

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 1 << 20
PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd.compress}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return written(tmp_path / "a.jsonl", run(40))


def packed(plain: Path, suffix: str, data: bytes | None = None) -> Path:
    path = plain.with_name(f"b.jsonl{suffix}")
    path.write_bytes(PACKERS[suffix](plain.read_bytes() if data is None else data))
    return path


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_trace_is_read_as_the_plain_one(plain: Path, suffix: str) -> None:
    found = compare(plain, packed(plain, suffix))
    assert (found.level, found.steps, found.records) == ("bitwise", 40, 40 * 12 + 2)
    assert found.torn == ()


@pytest.mark.parametrize("suffix", PACKERS)
def test_members_one_after_another_are_one_trace(plain: Path, suffix: str) -> None:
    data = plain.read_bytes()
    pieces = [data[at : at + 5_000] for at in range(0, len(data), 5_000)]
    path = plain.with_name(f"b.jsonl{suffix}")
    path.write_bytes(b"".join(map(PACKERS[suffix], pieces)))
    assert len(pieces) > 10
    assert compare(plain, path).records == 40 * 12 + 2


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("kept", [0, 1, 3, 10, 200, -1])
def test_an_archive_that_ends_early_says_so(plain: Path, suffix: str, kept: int) -> None:
    path = packed(plain, suffix)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(Unreadable, match=r"^.*b\.jsonl\.(gz|zst): (cannot be unpacked|is empty)"):
        compare(plain, path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_broken_archive_gives_an_answer_or_says_so(plain: Path, suffix: str) -> None:
    whole = packed(plain, suffix).read_bytes()
    chance = random.Random(0)
    told = 0
    for _ in range(60):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (path := plain.with_name(f"b.jsonl{suffix}")).write_bytes(data)
        try:
            compare(plain, path)
        except TraceError:
            told += 1
    assert told > 20  # a .zst has no checksum unless it is asked for


@pytest.mark.parametrize("suffix", PACKERS)
def test_what_unpacks_to_very_much_is_stopped_at_the_limit(plain: Path, suffix: str) -> None:
    data = plain.read_bytes()
    line = data.splitlines(keepends=True)[-1]
    bomb = packed(plain, suffix, data + line * (64 * MB // len(line)))
    assert bomb.stat().st_size < MB
    with pytest.raises(TooLarge, match=r"b\.jsonl.*more than 8 MB unpacked"):
        flat(lambda: read_run([bomb], limit=8 * MB))


@pytest.mark.parametrize("suffix", PACKERS)
def test_an_endless_line_is_no_trace(plain: Path, suffix: str) -> None:
    endless = packed(plain, suffix, written(plain, [trace()]).read_bytes() + bytes(200 * MB))
    assert endless.stat().st_size < MB
    with pytest.raises(Unreadable, match="a line is longer than 16 MB"):
        flat(lambda: read_run([endless]))


def test_a_file_of_2_gb_without_a_line_is_no_trace(tmp_path: Path) -> None:
    with (tmp_path / "sparse.jsonl").open("wb") as file:
        os.truncate(file.fileno(), 2 << 30)
    with pytest.raises(Unreadable, match="a line is longer than 16 MB"):
        flat(lambda: read_run([tmp_path / "sparse.jsonl"]))


def test_a_window_that_would_take_much_memory_is_refused(plain: Path) -> None:
    path = plain.with_name("b.jsonl.zst")
    wide = {zstd.CompressionParameter.window_log: 24, zstd.CompressionParameter.content_size_flag: 0}
    path.write_bytes(zstd.compress(plain.read_bytes() * 2_000, options=wide))
    with pytest.raises(Unreadable, match=r"cannot be unpacked: .*too much memory"):
        read_run([path])


def test_the_files_of_a_run_share_one_limit_and_runs_do_not(plain: Path) -> None:
    size = plain.stat().st_size
    other = written(plain.with_name("a.r1.jsonl"), [trace(1, 2), *run(40)[1:]])
    assert read_run([plain, other], limit=2 * size).ranks.keys() == {0, 1}
    with pytest.raises(TooLarge, match=r"a\.r1\.jsonl: "):
        read_run([plain, other], limit=2 * size - 1)
    assert len(read_runs([plain, plain, plain], limit=size)) == 3
    with pytest.raises(TooLarge):
        read_runs([plain, other], limit=2 * size - 1)


def test_a_step_without_end_is_refused(plain: Path) -> None:
    data = plain.read_bytes()
    line = data.splitlines(keepends=True)[-1]
    endless = packed(plain, ".zst", data + line * (150 * MB // len(line)))
    with pytest.raises(Unreadable, match="the lines of step 40 take more than 128 MB"):
        compare(endless, endless)


def flat(act: Callable[[], object]) -> None:
    """Holds what is done to 100 MB."""
    tracemalloc.start()
    try:
        act()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * MB
