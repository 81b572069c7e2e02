"""A plain PyTorch loop with gcbs: batches of hard negatives, ordered by what training sees anyway."""

import gcbs
import torch
from torch.nn.functional import cross_entropy, normalize
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
topics = torch.randn(40, 64).repeat_interleave(50, 0)  # 2,000 pairs about 40 topics
pairs = [topics + torch.randn(2000, 64) + 0.5 * torch.randn(2000, 64) for _ in range(2)]
data = TensorDataset(torch.arange(2000), *pairs)  # rows bring their number

model = torch.nn.Linear(64, 32)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
sampler = gcbs.BatchSampler(data, batch_size=50, method="pack")
loader = DataLoader(data, batch_sampler=sampler)

for epoch in range(4):
    sampler.set_epoch(epoch)
    total = 0.0
    for ids, x, y in loader:
        x, y = normalize(model(x)), normalize(model(y))
        sampler.observe(ids, x, y)
        loss = cross_entropy(x @ y.T / 0.05, torch.arange(len(ids)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    sampler.refresh_async()  # the next epoch's start waits for it
    print(f"epoch {epoch}: loss {total:.3f}")
