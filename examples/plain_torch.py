"""A plain PyTorch loop with gcbs: batches of hard negatives, ordered by what training sees anyway."""

import gcbs
import torch
from torch.nn.functional import cross_entropy, normalize
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
meaning = torch.randn(20, 64).repeat_interleave(60, 0) + torch.randn(1200, 64)  # 20 topics
pairs = [meaning + torch.randn(1200, 64) for _ in "xy"]
data = TensorDataset(torch.arange(1200), *pairs)  # each sample brings its row number
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
sampler = gcbs.BatchSampler(data, batch_size=50)
loader = DataLoader(data, batch_sampler=sampler)

for epoch in range(4):
    sampler.set_epoch(epoch)  # waits for the order that the last epoch led to
    losses = []
    for ids, x, y in loader:
        x, y = normalize(model(x)), normalize(model(y))
        sampler.observe(ids, x, y)
        loss = cross_entropy(x @ y.T / 0.05, torch.arange(len(ids)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    sampler.refresh_async()
    print(f"epoch {epoch}: loss in batches {sum(losses) / len(losses):.3f}")
