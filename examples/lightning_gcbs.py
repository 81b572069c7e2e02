"""Lightning with gcbs: docstrings find their functions.

python examples/lightning_gcbs.py [MODEL]
"""

import sys

import lightning
import torch
from gcbs.integrations.lightning import GCBS
from sentence_transformers import SentenceTransformer
from stdlib_pairs import collect_pairs
from torch.nn.functional import cross_entropy, normalize


class PairEncoder(lightning.LightningModule):
    def __init__(self, name):
        super().__init__()
        self.encoder = SentenceTransformer(name)

    def embed(self, sides):
        features = [self.encoder.preprocess(list(texts)) for texts in sides]
        features = self.transfer_batch_to_device(features, self.device, 0)
        return [normalize(self.encoder(of)["sentence_embedding"]) for of in features]

    def training_step(self, sides):
        x, y = self.embed(sides)
        return cross_entropy(20 * x @ y.T, torch.arange(len(x), device=self.device))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 2e-5)


model = PairEncoder(*sys.argv[1:2] or ["sentence-transformers/all-MiniLM-L6-v2"])
order = GCBS([(pair.text, pair.code) for pair in collect_pairs()], 64, PairEncoder.embed)
trainer = lightning.Trainer(max_epochs=3, callbacks=[order], use_distributed_sampler=False)
trainer.fit(model, order.dataloader())
