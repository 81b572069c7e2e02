"""sentence-transformers with gcbs: docstrings find their functions.

python examples/sentence_transformers_gcbs.py [MODEL]
"""

import sys

from datasets import Dataset
from gcbs.integrations.sentence_transformers import GCBS
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from stdlib_pairs import collect_pairs

pairs = Dataset.from_list([{"anchor": pair.text, "positive": pair.code} for pair in collect_pairs()])
model = SentenceTransformer(*sys.argv[1:2] or ["sentence-transformers/all-MiniLM-L6-v2"])
args = SentenceTransformerTrainingArguments(
    output_dir="build/sentence_transformers",
    per_device_train_batch_size=64,
    num_train_epochs=3,
    batch_sampler=GCBS(model),  # the only line that is not usual
)
trainer = SentenceTransformerTrainer(model, args, pairs, loss=MultipleNegativesRankingLoss(model))
trainer.train()
