"""Hugging Face's Trainer with gcbs: docstrings find their functions.

python examples/transformers_gcbs.py [MODEL]
"""

import sys

import torch
from gcbs.integrations.transformers import GCBS
from stdlib_pairs import collect_pairs
from torch.nn.functional import cross_entropy, normalize
from transformers import AutoModel, AutoTokenizer, Trainer, TrainingArguments

name = (sys.argv[1:2] or ["microsoft/unixcoder-base"])[0]
tokenizer = AutoTokenizer.from_pretrained(name)


class PairEncoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)

    def forward(self, text, code):
        x, y = (normalize(self.encoder(**side).last_hidden_state[:, 0]) for side in (text, code))
        return cross_entropy(20 * x @ y.T, torch.arange(len(x), device=x.device)), x, y


def collate(pairs):
    shape = {"padding": True, "truncation": True, "max_length": 128, "return_tensors": "pt"}
    return {side: tokenizer([getattr(of, side) for of in pairs], **shape) for side in ("text", "code")}


order = GCBS(lambda model, inputs: model(**inputs)[1:])  # how rows are embedded
args = TrainingArguments("build/transformers", per_device_train_batch_size=64, remove_unused_columns=False)
trainer = Trainer(PairEncoder(), args, collate, collect_pairs(), callbacks=[order])
trainer.train()
