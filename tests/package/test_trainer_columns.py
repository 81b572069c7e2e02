"""Rows that share a value, as lists of groups: against looking at all pairs of rows."""

import gcbs
import numpy as np
import pytest

datasets = pytest.importorskip("datasets")

from gcbs.integrations._columns import groups_of_codes, shared_value_groups  # noqa: E402
from gcbs.integrations._state import from_json, to_json  # noqa: E402


def meet(lists, rows):
    """rows x rows: do they have the same id in some list?"""
    found = np.zeros((rows, rows), dtype=bool)
    for ids in lists:
        found |= ids[:, None] == ids[None, :]
    np.fill_diagonal(found, False)
    return found


def share(values):
    """The definition."""
    found = np.array([[bool(set(row) & set(other) - {None}) for other in values] for row in values])
    np.fill_diagonal(found, False)
    return found


@pytest.mark.parametrize("values", [1, 3, 12, 40, 200])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_rows_meet_in_a_list_iff_they_share_a_value(values, width):
    rng = np.random.default_rng(values * 10 + width)
    for rows in (1, 2, 17, 40):
        codes = rng.integers(-1, values, size=(rows, width))
        wanted = share([[code if code >= 0 else None for code in row] for row in codes.tolist()])
        assert np.array_equal(meet(groups_of_codes(codes), rows), wanted)


def test_no_groups_where_nothing_is_shared():
    assert groups_of_codes(np.arange(20).reshape(10, 2)) == []
    assert groups_of_codes(np.empty((0, 2), dtype=np.int64)) == []


def test_columns_of_a_data_set():
    columns = {
        "a": ["x", "y", "z", None, "x", "q"],
        "b": ["u", "x", None, "z", "x", "r"],
        "n": [1, 2, 3, 4, 5, 1],
        "l": [["x"], ["y"], ["x"], [], ["z"], []],
    }
    data = datasets.Dataset.from_dict(columns)
    for names in (["a"], ["a", "b"], ["n"]):
        wanted = share(list(zip(*[columns[name] for name in names], strict=True)))
        assert np.array_equal(meet(shared_value_groups(data, names), 6), wanted)
    assert np.array_equal(
        meet(shared_value_groups(data, ["l"]), 6), share([[str(of)] for of in columns["l"]])
    )
    rows = [4, 0, 3, 2]
    wanted = share([[columns["a"][row], columns["b"][row]] for row in rows])
    assert np.array_equal(meet(shared_value_groups(data.select(rows), ["a", "b"]), 4), wanted)


def test_many_pieces_of_a_column_are_one():
    parts = [
        datasets.Dataset.from_dict({"a": [str(i % 7) for i in range(first, first + 50)]}) for first in (0, 50)
    ]
    whole = datasets.concatenate_datasets(parts)
    found = shared_value_groups(whole, ["a"])
    assert np.array_equal(meet(found, 100), share([[str(i % 7)] for i in range(100)]))


def test_states_survive_json():
    import json

    sampler = gcbs.BatchSampler(50, 5, extra=3)
    sampler.refresh(np.random.default_rng(0).normal(size=(50, 8)))
    sampler.set_epoch(3)
    state = sampler.state_dict()
    written = json.dumps(to_json(state))
    assert from_json(json.loads(written)) == state
    again = gcbs.BatchSampler(50, 5, extra=3)
    again.load_state_dict(from_json(json.loads(written)))
    assert list(again) == list(sampler)
