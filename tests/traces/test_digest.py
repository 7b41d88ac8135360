"""The digest of a tensor: what it sees, what it does not depend on, and a twin that computes it word by word."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app.traces import recorder
from app.traces.recorder import BLOCK, add_digests, canonical_digest, digest
from tests.traces import twin

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
KINDS = [
    *FLOATS,
    *(torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool),
    *(torch.complex32, torch.complex64, torch.complex128),
]
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
MANY = settings(max_examples=60, deadline=None)


def some(dtype: torch.dtype, *shape: int, seed: int = 0) -> torch.Tensor:
    """Random bits, read as this dtype."""
    size = torch.empty((), dtype=dtype).element_size()
    made = torch.Generator().manual_seed(seed)
    raw = torch.randint(0, 2 if dtype == torch.bool else 256, (*shape, size), dtype=torch.uint8, generator=made)
    return raw.view(dtype).reshape(shape)


def raw(tensor: torch.Tensor) -> bytes:
    flat = tensor.contiguous().reshape(-1)
    return bytes((torch.view_as_real(flat) if flat.is_complex() else flat).reshape(-1).view(torch.uint8).tolist())


def twins(tensor: torch.Tensor) -> str:
    size = tensor.element_size() // 2 if tensor.is_complex() else tensor.element_size()
    return twin.digest(raw(tensor), size, str(tensor.dtype).removeprefix("torch."), list(tensor.shape))


# The twin


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5, 2)], ids=str)
def test_a_twin_in_plain_python_finds_the_same(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = some(dtype, *shape)
    assert digest(tensor) == twins(tensor)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_the_twin_agrees_over_several_blocks(dtype: torch.dtype) -> None:
    tensor = some(dtype, 2 * BLOCK + 77)
    assert digest(tensor) == twins(tensor)


def test_many_blocks_are_the_sum_of_their_parts() -> None:
    """More than are summed at once."""
    tensor = some(torch.int32, 35 * BLOCK + 5)
    cuts = [0, 3, BLOCK, 20 * BLOCK + 1, 35 * BLOCK, 35 * BLOCK + 5]
    parts = [digest(tensor[a:b], offset=a, shape=tuple(tensor.shape)) for a, b in pairwise(cuts)]
    assert add_digests(parts) == digest(tensor)
    assert digest(tensor[20 * BLOCK :], offset=20 * BLOCK) == shifted(tensor, 20 * BLOCK)


def shifted(tensor: torch.Tensor, first: int) -> str:
    lanes = [
        sum(twin.key(lane, place) * word for place, word in enumerate(tensor[first:].tolist(), first))
        for lane in (0, 1)
    ]
    return "".join(f"{one % twin.LIMIT:016x}" for one in lanes)


def test_an_empty_tensor_has_a_digest_by_dtype_and_shape() -> None:
    shapes = [torch.zeros(0), torch.zeros(0, 3), torch.zeros(3, 0), torch.zeros(0, dtype=torch.int32)]
    assert len({digest(one) for one in shapes}) == 4


def test_the_digest_is_what_it_was_when_it_was_named() -> None:
    """From the twin; a new construction needs a new name, since old traces are compared with new ones."""
    assert recorder.DIGEST == "wrapping-sum-1"
    assert digest(torch.tensor([1.0, -2.5, 0.0])) == "083c2386b74b4c46a002368a23d2b8c4"
    assert (
        twin.digest(bytes.fromhex("0000803f000020c000000000"), 4, "float32", [3]) == "083c2386b74b4c46a002368a23d2b8c4"
    )


# What it sees


@MANY
@given(st.sampled_from(KINDS), st.integers(1, 40), st.data())
def test_every_single_bit_is_seen(dtype: torch.dtype, count: int, data: st.DataObject) -> None:
    tensor = some(dtype, count, seed=data.draw(st.integers(0, 99)))
    changed = tensor.clone()
    if dtype == torch.bool:
        place = data.draw(st.integers(0, count - 1))
        changed[place] = ~changed[place]
    else:
        octets = (torch.view_as_real(changed) if changed.is_complex() else changed).reshape(-1).view(torch.uint8)
        octets[data.draw(st.integers(0, octets.numel() - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert digest(changed) != digest(tensor)


def test_each_of_the_bits_of_a_small_tensor_is_seen() -> None:
    tensor = some(torch.float32, 33)
    seen = {digest(tensor)}
    for place in range(33):
        for bit in range(32):
            changed = tensor.clone()
            changed.view(torch.int32)[place] ^= 1 << bit if bit < 31 else -(1 << 31)
            seen.add(digest(changed))
    assert len(seen) == 33 * 32 + 1


@MANY
@given(st.integers(2, 60), st.data())
def test_a_swap_is_seen(count: int, data: st.DataObject) -> None:
    tensor = torch.randn(count, generator=torch.Generator().manual_seed(count))
    one, other = sorted(data.draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)))
    swapped = tensor.clone()
    swapped[[one, other]] = tensor[[other, one]]
    assert digest(swapped) != digest(tensor)


def test_a_swap_of_elements_in_the_same_place_of_two_blocks_is_seen() -> None:
    tensor = some(torch.int32, 3 * BLOCK)
    swapped = tensor.clone()
    swapped[[5, 5 + BLOCK]] = tensor[[5 + BLOCK, 5]]
    blocks = tensor.view(3, BLOCK)[[1, 0, 2]].reshape(-1)
    assert len({digest(tensor), digest(swapped), digest(blocks)}) == 3


@MANY
@given(st.permutations(range(12)))
def test_a_permutation_of_the_rows_is_seen(order: list[int]) -> None:
    tensor = torch.arange(48.0).view(12, 4)
    assert (digest(tensor[order]) == digest(tensor)) == (order == list(range(12)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_two_flipped_signs_do_not_hide_each_other(dtype: torch.dtype) -> None:
    """A sum with odd keys modulo 2**64 of words of 64 bits would not see them."""
    tensor = some(dtype, 40)
    seen = {digest(tensor)}
    for place in range(39):
        changed = tensor.clone()
        changed[place : place + 2] *= -1
        seen.add(digest(changed))
    assert len(seen) == 40


def test_shape_and_dtype_are_seen() -> None:
    tensor = torch.arange(12, dtype=torch.int32)
    views = [tensor, tensor.view(3, 4), tensor.view(4, 3), tensor.view(torch.float32), tensor.view(1, 12)]
    assert len({digest(one) for one in views}) == 5


# What it does not depend on


@MANY
@given(st.sampled_from(KINDS), st.integers(1, 6), st.integers(1, 6), st.data())
def test_shards_in_any_cut_add_up(dtype: torch.dtype, rows: int, columns: int, data: st.DataObject) -> None:
    tensor = some(dtype, rows, columns)
    inner = data.draw(st.lists(st.integers(0, rows * columns), max_size=4))
    cuts = sorted([0, *inner, rows * columns])
    flat = tensor.reshape(-1)
    pieces = [(a, flat[a:b]) for a, b in pairwise(cuts) if b > a]
    for of in (digest, canonical_digest):
        parts = [of(piece, offset=a, shape=(rows, columns)) for a, piece in reversed(pieces)]
        assert add_digests(parts) == of(tensor)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_only_the_elements_count_and_not_how_they_lie(dtype: torch.dtype) -> None:
    tensor = some(dtype, 6, 8)
    lying = tensor.T.contiguous().T
    strided = torch.stack([tensor, tensor], 1)[:, 0]
    assert not lying.is_contiguous() and not strided.is_contiguous()
    assert digest(lying) == digest(strided) == digest(tensor)
    assert digest(tensor[::2, 1::3]) == digest(tensor[::2, 1::3].clone())


def test_a_conjugate_that_is_not_carried_out_counts_as_carried_out() -> None:
    tensor = some(torch.complex64, 9)
    assert digest(tensor.conj()) == digest(tensor.conj().resolve_conj())
    assert digest(tensor.conj().imag) == digest(tensor.conj().imag.clone().resolve_neg())


def test_channels_last_is_the_same_tensor() -> None:
    tensor = torch.randn(2, 3, 4, 5)
    assert digest(tensor.to(memory_format=torch.channels_last)) == digest(tensor)


def test_a_sparse_tensor_is_digested_as_the_dense_one() -> None:
    dense = torch.eye(5)[:, :3]
    assert digest(dense.to_sparse()) == digest(dense)


def test_threads_and_modes_change_nothing() -> None:
    tensor = torch.randn(200_000)
    want, threads = digest(tensor), torch.get_num_threads()
    torch.set_num_threads(1 if threads > 1 else 2)
    try:
        assert digest(tensor) == want
    finally:
        torch.set_num_threads(threads)
    with torch.inference_mode():
        assert digest(tensor) == want
        assert digest(tensor.clone()) == want
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert digest(tensor) == want
    torch.set_default_dtype(torch.float64)
    try:
        assert digest(tensor) == want
    finally:
        torch.set_default_dtype(torch.float32)


# Equal in value, not in bits


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_canonical_digest_does_not_see_the_sign_of_zero(dtype: torch.dtype) -> None:
    plus, minus = torch.tensor([0.0, 1.5], dtype=dtype), torch.tensor([-0.0, 1.5], dtype=dtype)
    assert torch.equal(plus, minus)
    assert digest(plus) != digest(minus)
    assert canonical_digest(plus) == canonical_digest(minus) == digest(plus)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_canonical_digest_knows_one_nan(dtype: torch.dtype) -> None:
    one = torch.tensor([math.nan, 1.0], dtype=dtype)
    other = one.clone()
    other.view(torch.uint8)[0] ^= 1
    assert other.isnan().tolist() == [True, False]
    assert digest(one) != digest(other)
    assert canonical_digest(one) == canonical_digest(other)
    assert canonical_digest(one) != canonical_digest(torch.tensor([1.0, 1.0], dtype=dtype))


@MANY
@given(st.lists(st.floats(width=32), min_size=1, max_size=30), st.lists(st.floats(width=32), min_size=1, max_size=30))
def test_canonical_digests_agree_as_values_do(one: list[float], other: list[float]) -> None:
    a, b = torch.tensor(one), torch.tensor(other)
    equal = a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)
    assert (canonical_digest(a) == canonical_digest(b)) == equal
    mirrored = torch.where(a == 0, -a, a)
    assert canonical_digest(a) == canonical_digest(mirrored)


def test_a_minus_zero_far_inside_is_found() -> None:
    tensor = torch.ones(20 * BLOCK)
    other = tensor.clone()
    tensor[19 * BLOCK + 3], other[19 * BLOCK + 3] = 0.0, -0.0
    assert digest(tensor) != digest(other)
    assert canonical_digest(tensor) == canonical_digest(other)


# Many tensors by name


@MANY
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 50)), max_size=8))
def test_tensors_together_are_the_sum_of_each_times_its_key(parts: list[tuple[torch.dtype, int]]) -> None:
    named = [(f"layer{place}.weight", some(dtype, size, seed=place)) for place, (dtype, size) in enumerate(parts)]
    lanes = [0, 0]
    for name, tensor in named:
        each = digest(tensor)
        for lane, part in enumerate((each[:16], each[16:])):
            lanes[lane] += int(part, 16) * (twin.hashed(name)[lane] | 1)
    want = "".join(f"{lane % twin.LIMIT:016x}" for lane in lanes)
    assert recorder._hex(recorder._together(named).digest) == want


def test_names_and_not_their_order_count() -> None:
    a, b = torch.randn(5), torch.randn(5)
    both = [
        recorder._hex(recorder._together(named).digest)
        for named in ([("a", a), ("b", b)], [("b", b), ("a", a)], [("a", b), ("b", a)])
    ]
    assert both[0] == both[1] != both[2]
