"""The digest again, in plain Python: one word at a time, in whole numbers, from the words of its description."""

import hashlib
import struct

BLOCK = 32768
LIMIT = 2**64
PI = ((0x243F6A8885A308D3, 0x13198A2E03707344), (0xA4093822299F31D0, 0x082EFA98EC4E6C89))


def splitmix(seed: int, number: int) -> int:
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) % LIMIT
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % LIMIT
    z = (z ^ z >> 27) * 0x94D049BB133111EB % LIMIT
    return z ^ z >> 31


def key(lane: int, place: int) -> int:
    inner, outer = PI[lane]
    return (splitmix(inner, place % BLOCK) | 1) * (splitmix(outer, place // BLOCK) | 1)


def hashed(text: str) -> tuple[int, int]:
    return struct.unpack("<QQ", hashlib.blake2b(text.encode(), digest_size=16).digest())  # type: ignore[return-value]


def words(data: bytes, size: int) -> list[int]:
    """The signed words of elements of `size` bytes; those of 8 bytes are two."""
    kind = {1: "b", 2: "h", 4: "i", 8: "i"}[size]
    return list(struct.unpack(f"<{len(data) // min(size, 4)}{kind}", data))


def digest(data: bytes, size: int, dtype: str, shape: list[int]) -> str:
    lanes = [sum(key(lane, place) * word for place, word in enumerate(words(data, size))) for lane in (0, 1)]
    fold = hashed(f"{dtype}{shape}")
    return "".join(f"{(one + other) % LIMIT:016x}" for one, other in zip(lanes, fold, strict=True))
