"""The examples of the trainers run as they are, on fewer pairs and with models that are small."""

import re
import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("accelerate")

import torch  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ROWS = 300


@pytest.fixture(scope="module")
def first_pairs():
    sys.path.insert(0, str(EXAMPLES))
    import stdlib_pairs

    yield stdlib_pairs.collect_pairs()[:ROWS]
    sys.path.remove(str(EXAMPLES))


@pytest.fixture
def pairs(monkeypatch, first_pairs):
    monkeypatch.setattr("stdlib_pairs.collect_pairs", lambda: first_pairs)
    return first_pairs


@pytest.fixture
def tokenizer(pairs):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    texts = [text for pair in pairs for text in (pair.text, pair.code)]
    made.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[UNK]", "[PAD]"]))
    return made


@pytest.fixture
def static_model(tokenizer, tmp_path):
    from sentence_transformers import SentenceTransformer
    from test_trainer_sentence_transformers import StaticEmbedding

    torch.manual_seed(0)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)], device="cpu")
    model.save_pretrained(str(tmp_path / "model"))
    return str(tmp_path / "model")


@pytest.fixture
def small_bert(tokenizer, tmp_path):
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=tokenizer.get_vocab_size(), **size)).save_pretrained(tmp_path / "model")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")
    fast.save_pretrained(tmp_path / "model")
    return str(tmp_path / "model")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The names of an example after it has run in a folder of its own."""

    def run(name, model):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, model])
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return runpy.run_path(str(EXAMPLES / name))
        finally:
            torch.set_num_threads(before)

    return run


def test_sentence_transformers(run, static_model):
    pytest.importorskip("datasets")
    names = run("sentence_transformers_gcbs.py", static_model)
    assert names["trainer"].state.global_step == 3 * -(-ROWS // 64)
    assert sorted(names["args"].batch_sampler.samplers[0].order) == list(range(ROWS))


def test_transformers(run, small_bert):
    names = run("transformers_gcbs.py", small_bert)
    assert names["trainer"].state.global_step == 3 * -(-ROWS // 64)


def test_lightning(run, static_model):
    pytest.importorskip("lightning")
    names = run("lightning_gcbs.py", static_model)
    assert names["trainer"].global_step == 3 * -(-ROWS // 64)
    assert sorted(names["order"].order.order) == list(range(ROWS))


@pytest.mark.parametrize("name", ["sentence_transformers", "transformers", "lightning"])
def test_the_quick_starts_are_parts_of_the_examples(name):
    """Fifteen lines at most, each of them one that the tests above run."""
    page = (ROOT / "docs" / "trainers.md").read_text(encoding="utf-8")
    block = re.search(rf"^```python\n# examples/{name}_gcbs.py\n(.*?)^```", page, re.M | re.S)[1]
    shown = [line for line in block.splitlines() if line.strip()]
    assert 5 < len(shown) <= 15
    code = (EXAMPLES / f"{name}_gcbs.py").read_text(encoding="utf-8").splitlines()
    named = [line for line in shown if line not in code]
    assert len(named) <= 1  # the model's name, which the example takes from the command line
    assert all("all-MiniLM-L6-v2" in line for line in named)
