import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParameters
from app.experiments.microbatch import EXPERIMENT, microbatch, token_weights


@st.composite
def states(draw):
    size = draw(st.integers(1, 16))
    counts = draw(st.lists(st.integers(1, 10**9) | st.integers(1, 4), min_size=size, max_size=size))
    losses = draw(st.lists(st.floats(-1e6, 1e6), min_size=size, max_size=size))
    return tuple(counts), tuple(losses), draw(st.integers(1, size))


def test_ten_and_thirty_tokens_come_out_as_by_hand():
    """(0.2 + 1)/2 = 0.6, but (10·0.2 + 30·1)/40 = 0.8: a token of the first batch counts 1/20, of the second 1/60."""
    result = microbatch((10, 30), (0.2, 1.0), 1)
    assert f"{result['unweighted_mean']:.12g}" == "0.6"
    assert f"{result['token_mean']:.12g}" == "0.8"
    assert result["rank_mean"] == result["token_mean"]
    assert result["difference"] == result["unweighted_mean"] - result["token_mean"]
    assert result["batches"] == [
        {"count": 10, "loss": 0.2, "token_weight_unweighted": 1 / 20, "token_weight": 1 / 40},
        {"count": 30, "loss": 1.0, "token_weight_unweighted": 1 / 60, "token_weight": 1 / 40},
    ]
    assert result["same_objective"] is False


def test_batches_are_dealt_to_ranks_round_robin():
    """10 and 20 tokens go to rank 0, 30 and 40 to rank 1: 1/(2·30) and 1/(2·70); (1/3 + 31/35)/2 = 64/105."""
    ranked = [weights[2] for weights in token_weights([10, 30, 20, 40], 2)]
    assert ranked == [Fraction(1, 60), Fraction(1, 140), Fraction(1, 60), Fraction(1, 140)]
    assert microbatch((10, 30, 20, 40), (0.2, 1.0, 0.4, 0.8), 2)["rank_mean"] == pytest.approx(64 / 105, rel=1e-15)


def test_the_case_of_transformers_34191():
    """3 tokens whose losses sum to 3 and 1 token of 5: 3.0 instead of 2.0; #34373: the same across two ranks."""
    alone = microbatch((3, 1), (1.0, 5.0), 1)
    assert (alone["unweighted_mean"], alone["token_mean"], alone["rank_mean"]) == (3.0, 2.0, 2.0)
    ranked = microbatch((3, 1), (1.0, 5.0), 2)
    assert (ranked["token_mean"], ranked["rank_mean"]) == (2.0, 3.0)


def test_torch_cross_entropy_shows_the_same_three_means():
    chance = torch.Generator().manual_seed(0)
    counts = [5, 2, 9, 4]
    logits = [torch.randn(count, 7, generator=chance, dtype=torch.float64) for count in counts]  # (tokens, classes)
    targets = [torch.randint(0, 7, (count,), generator=chance) for count in counts]
    mean = torch.nn.functional.cross_entropy
    losses = [mean(x, y).item() for x, y in zip(logits, targets, strict=True)]
    result = microbatch(tuple(counts), tuple(losses), 2)
    assert result["token_mean"] == pytest.approx(mean(torch.cat(logits), torch.cat(targets)).item(), rel=1e-14)
    assert result["unweighted_mean"] == pytest.approx(
        torch.tensor(losses, dtype=torch.float64).mean().item(), rel=1e-14
    )
    ranks = [mean(torch.cat(logits[r::2]), torch.cat(targets[r::2])).item() for r in (0, 1)]
    assert result["rank_mean"] == pytest.approx((ranks[0] + ranks[1]) / 2, rel=1e-14)


@given(states())
def test_each_mean_is_the_weighted_sum_over_tokens(state):
    counts, losses, ranks = state
    result = microbatch(counts, losses, ranks)
    size = max(map(abs, losses)) * 1e-13 + 1e-300
    exact = sum(count * Fraction(loss) for count, loss in zip(counts, losses, strict=True)) / sum(counts)
    assert abs(Fraction(result["token_mean"]) - exact) <= size
    assert abs(Fraction(result["unweighted_mean"]) - sum(map(Fraction, losses)) / len(losses)) <= size
    over_ranks = Fraction(0)
    for rank in range(ranks):
        mine = list(zip(counts, losses, strict=True))[rank::ranks]
        over_ranks += sum(count * Fraction(loss) for count, loss in mine) / sum(count for count, _ in mine) / ranks
    assert abs(Fraction(result["rank_mean"]) - over_ranks) <= size


@given(states())
def test_the_weights_of_all_tokens_add_up_to_one(state):
    counts, losses, ranks = state
    for name in ("token_weight", "token_weight_unweighted"):
        weights = [batch["count"] * batch[name] for batch in microbatch(counts, losses, ranks)["batches"]]
        assert math.fsum(weights) == pytest.approx(1, rel=1e-12)


@given(states())
def test_the_objective_is_one_where_counts_are_equal_and_ranks_hold_equally_many(state):
    counts, losses, ranks = state
    expected = len(set(counts)) == 1 and len(counts) % ranks == 0
    assert microbatch(counts, losses, ranks)["same_objective"] is expected
    equal = microbatch(tuple(counts[0] for _ in counts), losses, ranks)
    assert equal["same_objective"] is (len(counts) % ranks == 0)


def test_one_token_more_in_a_thousand_million_is_another_objective():
    assert microbatch((10**9, 10**9 - 1), (1.0, 1.0), 1)["same_objective"] is False
    assert microbatch((49, 49, 49), (1.0, 2.0, 3.0), 3)["same_objective"] is True


def test_what_does_not_fit_together_is_refused_all_at_once():
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse({"counts": "1,2,3", "losses": "1,2", "ranks": "4"})
    assert [(problem.parameter, problem.message.en) for problem in refused.value.problems] == [
        ("losses", "needs as many numbers as counts: 3, not 2"),
        ("ranks", "at most one rank a batch: 3"),
    ]


@pytest.mark.parametrize(
    "given_",
    [{"counts": "0,1"}, {"counts": "1.5,2"}, {"counts": ""}, {"losses": "1e7,1"}, {"losses": "nan,1"}, {"ranks": "0"}],
)
def test_what_is_out_of_range_is_refused(given_):
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse(given_)
    assert [problem.parameter for problem in refused.value.problems] == list(given_)


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        (
            {},
            "The mean of means is 0.6, the token mean 0.8."
            " A token of the smallest batch counts 3 times as much as one of the largest.",
            "均值的均值是 0.6，按词元平均是 0.8。最小批次里一个词元的分量是最大批次里的 3 倍。",
        ),
        (
            {"losses": "0.5,0.5"},
            "The mean of means and the token mean are both 0.5, equal here only because the losses are:"
            " a token of the smallest batch still counts 3 times as much as one of the largest.",
            "均值的均值和按词元平均都是 0.5，只因各批次的损失相等：最小批次里一个词元的分量仍然是最大批次里的 3 倍。",
        ),
        (
            {"counts": "1,2,1", "losses": "0,0.5,1"},  # (0 + 2·0.5 + 1)/4 is 0.5 too
            "The mean of means and the token mean are both 0.5, equal for these losses only:"
            " a token of the smallest batch still counts 2 times as much as one of the largest.",
            "均值的均值和按词元平均都是 0.5，换一组损失就不等了：最小批次里一个词元的分量仍然是最大批次里的 2 倍。",
        ),
        (
            {"counts": "1000000000,999999999"},
            "The mean of means and the token mean are both 0.6, equal for these losses only:"
            " a token of the smallest batch still counts a little more than one of the largest.",
            "均值的均值和按词元平均都是 0.6，换一组损失就不等了：最小批次里一个词元的分量仍然略大于最大批次里的。",
        ),
        (
            {"ranks": "2"},
            "The mean of means is 0.6, the token mean 0.8. Averaging each rank's own token mean gives 0.6;"
            " a token on the rank with the fewest counts 3 times as much as one on the rank with the most.",
            "均值的均值是 0.6，按词元平均是 0.8。2 个进程各自按词元平均，再取均值，得到 0.6；"
            "词元最少的进程里，一个词元的分量是词元最多的进程里的 3 倍。",
        ),
        (
            {"counts": "10,10,10", "losses": "0.2,1,0.6", "ranks": "2"},  # ((0.2 + 0.6)/2 + 1)/2 = 0.7
            "The mean of means and the token mean are both 0.6. Averaging each rank's own token mean gives 0.7;"
            " a token on the rank with the fewest counts 2 times as much as one on the rank with the most.",
            "均值的均值和按词元平均都是 0.6。2 个进程各自按词元平均，再取均值，得到 0.7；"
            "词元最少的进程里，一个词元的分量是词元最多的进程里的 2 倍。",
        ),
        (
            {"counts": "20,20", "ranks": "2"},
            "Every token weighs the same, so the means agree: 0.6.",
            "每个词元的权重相同，几种均值一致：0.6。",
        ),
    ],
)
def test_the_sentence_says_which_tokens_weigh_more(texts, english, chinese):
    params = EXPERIMENT.parse(texts)
    said = EXPERIMENT.sentence(params, EXPERIMENT.run(**params))
    assert (said.en, said.zh) == (english, chinese)
