"""Trains the reader: the built-in embedding model with low-rank differences, on a GPU.

    python -m bench.reader.train FOLDER --to OUT [--begin READER] [--rank 16] [--epochs 10]
        [--seconds 240]

FOLDER holds what `bench.reader.examples` wrote. READER: a `reader.safetensors` of the same rank to
go on from.
Needs torch and safetensors, nothing of Trivium. The base weights stand still; of every product of a
layer a difference of low rank is trained, with the biases, the norms and a head that says of each
token how well it begins and ends the answer, and of the first one that there is none. `--rank 0`
trains everything, to see what the differences cost.

Writes `reader.safetensors` (differences in 8 bits by row, the rest in 16), and prints, for the
articles that were kept: how often the best token is inside an answer, and how well answerable
passages are told from others (AUROC), by source.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file, save_file
from torch import nn

Tensor: TypeAlias = Any  # of torch, which isn't installed where this is checked

LAYERS, HEADS, HIDDEN = 6, 12, 384
PARTS = ("attention.self.query", "attention.self.key", "attention.self.value",
         "attention.output.dense", "intermediate.dense", "output.dense")  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
BATCH = 192
SEED = 21


class Reader(nn.Module):  # type: ignore[misc]
    def __init__(self, weights: dict[str, Tensor], rank: int, dropout: float) -> None:
        super().__init__()
        self.rank, self.dropout = rank, dropout
        self.base = nn.ParameterDict()
        self.own = nn.ParameterDict()
        for name, value in weights.items():
            trained = rank == 0 or ("encoder" in name and value.dim() == 1)
            kept = self.own if trained and "position_ids" not in name else self.base
            kept[name.replace(".", "/")] = nn.Parameter(value.float(), requires_grad=trained)
        self.low = nn.ParameterDict()
        if rank:
            for layer in range(LAYERS):
                for part in PARTS:
                    name = f"encoder.layer.{layer}.{part}"
                    out, inner = weights[f"{name}.weight"].shape
                    key = name.replace(".", "/")
                    self.low[f"{key}/a"] = nn.Parameter(torch.randn(rank, inner) / math.sqrt(inner))
                    self.low[f"{key}/b"] = nn.Parameter(torch.zeros(out, rank))
        self.head = nn.Linear(HIDDEN, 2)
        nn.init.normal_(self.head.weight, std=0.02)

    def w(self, name: str) -> Tensor:
        key = name.replace(".", "/")
        return self.own[key] if key in self.own else self.base[key]

    def dense(self, at: str, x: Tensor) -> Tensor:
        key = at.replace(".", "/")
        y = F.linear(x, self.w(f"{at}.weight"), self.w(f"{at}.bias"))
        if f"{key}/a" in self.low:
            inner = F.dropout(x, self.dropout, self.training)
            y = y + F.linear(F.linear(inner, self.low[f"{key}/a"]), self.low[f"{key}/b"]) * 2
        return y

    def norm(self, at: str, x: Tensor) -> Tensor:
        return F.layer_norm(
            x.float(), (HIDDEN,), self.w(f"{at}.weight"), self.w(f"{at}.bias"), 1e-12
        )

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        length = ids.shape[1]
        x = F.embedding(ids, self.w("embeddings.word_embeddings.weight"))
        x = x + self.w("embeddings.position_embeddings.weight")[:length]
        x = x + F.embedding(types, self.w("embeddings.token_type_embeddings.weight"))
        x = self.norm("embeddings.LayerNorm", x)
        seen = mask[:, None, None, :]
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            q, k, v = (
                self.dense(f"{at}.{part}", x).view(*ids.shape, HEADS, -1).transpose(1, 2)
                for part in PARTS[:3]
            )
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
            y = self.dense(f"{at}.{PARTS[3]}", y.transpose(1, 2).reshape(*ids.shape, HIDDEN))
            x = self.norm(f"{at}.{NORMS[0]}", x + F.dropout(y, self.dropout, self.training))
            y = self.dense(f"{at}.{PARTS[5]}", F.gelu(self.dense(f"{at}.{PARTS[4]}", x)))
            x = self.norm(f"{at}.{NORMS[1]}", x + F.dropout(y, self.dropout, self.training))
        return self.head(x)


class Data:
    def __init__(self, path: Path, device: str, few: int) -> None:
        opened = np.load(path)
        kept = {name: opened[name] for name in opened}
        lengths = kept["lengths"]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        rows = len(lengths) if not few else min(few, len(lengths))
        longest = int(lengths[:rows].max())
        ids = np.zeros((rows, longest), np.int64)
        marks = np.zeros((rows, longest), np.int64)
        for at in range(rows):
            s, e = starts[at], starts[at + 1]
            ids[at, : e - s] = kept["ids"][s:e]
            marks[at, : e - s] = kept["marks"][s:e]
        self.lengths = lengths[:rows]
        self.labels = kept["labels"][:rows]
        self.held = kept["held"][:rows]
        self.sources = kept["sources"][:rows]
        self.names = list(kept["names"])
        self.ids = torch.tensor(ids, device=device)
        self.marks = torch.tensor(marks, device=device)
        self.begins = torch.tensor(kept["begins"][:rows].astype(np.int64), device=device)
        self.ends = torch.tensor(self.lengths.astype(np.int64), device=device)

    def batch(self, at: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        longest = -(-int(self.lengths[at].max()) // 32) * 32
        rows = torch.tensor(at, device=self.ids.device)
        ids = self.ids[rows, :longest]
        places = torch.arange(ids.shape[1], device=ids.device)
        mask = places < self.ends[rows, None]
        passage = (places >= self.begins[rows, None]) & (places < self.ends[rows, None] - 1)
        types = (places >= self.begins[rows, None]).long() * mask
        return ids, types, mask, passage, self.marks[rows, : ids.shape[1]]


def loss_of(logits: Tensor, passage: Tensor, marks: Tensor) -> Tensor:
    """Of the tokens of the passage and the first one, which means that there is no answer."""
    open_ = passage.clone()
    open_[:, 0] = True
    total: Tensor = 0.0
    for side in (0, 1):
        scores = logits[..., side].float().masked_fill(~open_, -1e4)
        right = (marks & (1 << side)) > 0
        right = right & passage
        none = ~right.any(1)
        right[:, 0] |= none
        logs = F.log_softmax(scores, 1)
        total = total - torch.logsumexp(logs.masked_fill(~right, -1e4), 1)
    return total.mean() / 2


@torch.no_grad()  # type: ignore[untyped-decorator]
def judge(model: Reader, data: Data, rows: Any) -> tuple[Any, Any]:
    model.eval()
    score: list[float] = []
    inside: list[bool] = []
    for at in np.array_split(rows, max(1, len(rows) // 512)):
        ids, types, mask, passage, marks = data.batch(at)
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.device.type == "cuda"):
            logits = model(ids, types, mask).float()
        logs = logits.masked_fill(~passage[..., None], -1e4)
        # log odds that there is an answer
        odds = (torch.logsumexp(logs, 1) - logits[:, 0]).mean(1)
        first = logs[..., 0].argmax(1)
        hit = (marks.gather(1, first[:, None])[:, 0] & 1) > 0
        score += odds.tolist()
        inside += hit.tolist()
    model.train()
    return np.array(score), np.array(inside)


def auroc(score: Any, label: Any) -> float:
    order = score.argsort().argsort() + 1.0
    n = label.sum()
    return float((order[label].sum() - n * (n + 1) / 2) / max(1, n * (len(label) - n)))


def packed(model: Reader) -> dict[str, Tensor]:
    found = {}
    for key, value in model.low.items():
        rows = value.detach().float().cpu()
        scale = rows.abs().amax(1, keepdim=True).clamp_min(1e-9) / 127
        found[key.replace("/", ".")] = torch.round(rows / scale).to(torch.int8)
        found[key.replace("/", ".") + ".scale"] = scale[:, 0].half()
    for key, value in model.own.items():
        found[key.replace("/", ".")] = value.detach().half().cpu()
    found["reader.weight"] = model.head.weight.detach().half().cpu()
    found["reader.bias"] = model.head.bias.detach().half().cpu()
    return {name: value.contiguous() for name, value in found.items()}


def begin_with(model: Reader, path: Path) -> None:
    """The other way round: what `packed` wrote."""
    read = load_file(path)
    head = {"reader.weight": model.head.weight, "reader.bias": model.head.bias}
    parts = {
        name.replace("/", "."): value for name, value in [*model.low.items(), *model.own.items()]
    }
    with torch.no_grad():
        for name, value in {**parts, **head}.items():
            scale = read[f"{name}.scale"].float()[:, None] if f"{name}.scale" in read else 1.0
            value.copy_(read[name].float() * scale)


def train(
    model: Reader, data: Data, rows: Any, epochs: int, rate: float, seconds: float, device: str
) -> None:
    random = np.random.default_rng(SEED)
    groups = [{"params": [*model.low.values(), *model.head.parameters()], "weight_decay": 0.01},
              {"params": list(model.own.values()), "weight_decay": 0.0,
               "lr": rate / 4 if model.rank else rate}]  # fmt: skip
    optimiser = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=device == "cuda")
    base = [group["lr"] for group in optimiser.param_groups]
    steps = epochs * (len(rows) // BATCH)
    began, step = time.time(), 0
    for epoch in range(epochs):
        order = random.permutation(rows)
        # Neighbours of like length, in shuffled runs.
        runs = [
            r[np.argsort(data.lengths[r])]
            for r in np.array_split(order, max(1, len(order) // (BATCH * 40)))
        ]
        batches = [run[s : s + BATCH] for run in runs for s in range(0, len(run), BATCH)]
        random.shuffle(batches)
        total: Tensor = 0.0
        for at in batches:
            done = max(step / max(1, steps), (time.time() - began) / seconds)
            if done >= 1:
                break
            now = min(1.0, step / 200) * (1 - done)
            for group, first in zip(optimiser.param_groups, base, strict=True):
                group["lr"] = first * now
            ids, types, mask, passage, marks = data.batch(at)
            with torch.autocast(ids.device.type, torch.bfloat16, enabled=device == "cuda"):
                logits = model(ids, types, mask)
            loss = loss_of(logits, passage, marks)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            total += loss.detach()
            step += 1
        mean, taken = float(total) / max(1, len(batches)), time.time() - began
        print(f"epoch {epoch} step {step} loss {mean:.4f} {taken:.0f} s", flush=True)
        if done >= 1:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--begin", type=Path)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--few", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="the kept articles too")
    given = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(4)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kept = np.load(given.folder / "model.npz")
    weights = {name: torch.tensor(kept[name].astype(np.float32)) for name in kept}
    data = Data(given.folder / "examples.npz", device, given.few)
    model = Reader(weights, given.rank, given.dropout).to(device)
    if given.begin:
        begin_with(model, given.begin)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    held = np.flatnonzero(data.held)
    rows = np.arange(len(data.held)) if given.all else np.flatnonzero(~data.held)
    print(
        f"rank {given.rank}, {trained} numbers, {len(rows)} rows, {len(held)} kept, {device}",
        flush=True,
    )
    train(model, data, rows, given.epochs, given.rate, given.seconds, device)
    score, inside = judge(model, data, held)
    label, source = data.labels[held], data.sources[held]
    for at, name in [(-1, "all"), *enumerate(data.names)]:
        mine = (source == at) | (at < 0)
        if mine.any():
            first, sign = inside[mine & label].mean(), ((score[mine] > 0) == label[mine]).mean()
            ranked = auroc(score[mine], label[mine])
            print(f"{name}: first token right {first:.3f}, AUROC {ranked:.3f}, sign {sign:.3f}")
    given.to.mkdir(parents=True, exist_ok=True)
    if given.rank:
        save_file(packed(model), given.to / "reader.safetensors")


if __name__ == "__main__":
    main()
