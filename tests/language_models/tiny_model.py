"""A small language model, trained in the test, of texts in which an attribute shows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from optional_libraries import torch

WORDS, LENGTH, WIDTH, LAYERS = 24, 16, 32, 3
PAD = WORDS  # one more word


def texts(n, seed):
    """Return texts and the attribute of each: each group favours some words."""
    rng = np.random.default_rng(seed)
    usual = np.random.default_rng(0).dirichlet(np.full(WORDS, 0.1), size=WORDS)
    favoured = np.arange(WORDS)[None, :] // 6 == np.array([[0], [1]])  # six words of each group
    attribute = rng.integers(0, 2, n)
    follows = (0.8 * usual + 0.2 / 6 * favoured[:, None, :]).cumsum(axis=2)
    words = np.empty((n, LENGTH), dtype=np.int64)
    words[:, 0] = rng.integers(0, WORDS, n)
    for i in range(1, LENGTH):
        drawn = rng.random((n, 1)) * 0.999999
        words[:, i] = (follows[attribute, words[:, i - 1]] < drawn).sum(axis=1)
    return words, attribute


def batches_of(n, seed, size=100):
    """Return batches of inputs and attributes, in a list."""
    words, attribute = texts(n, seed)
    parts = [slice(i, i + size) for i in range(0, n, size)]
    return [(torch.from_numpy(words[part]), torch.from_numpy(attribute[part])) for part in parts]


def language_model():
    """Return an untrained model of causal blocks, which return a tuple as those of transformers."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))
            self.dropout = nn.Dropout(0.1)

        def forward(self, x, hidden_from):
            h = self.before(x)
            h, weights = self.attention(h, h, h, attn_mask=hidden_from)
            x = x + h
            return self.dropout(x + self.mlp(self.between(x))), weights

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS + 1, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
            self.head = nn.Linear(WIDTH, WORDS)

        def forward(self, input_ids, attention_mask=None):
            t = input_ids.shape[1]
            x = self.words(input_ids) + self.places(torch.arange(t))
            hidden_from = torch.ones(t, t, dtype=torch.bool).triu(1)
            for block in self.blocks:
                x, _ = block(x, hidden_from)
            return self.head(x)

    return Model()


def next_word_loss(logits, batch):
    """Return the mean loss of predicting each next word."""
    words = batch[0]
    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten())


@dataclass
class Trained:
    """A trained model, batches to fit erasers to, and others."""

    model: Any
    train: list[Any]
    held_out: list[Any]


def trained_model():
    """Return a model after some seconds of training; the draws of others are not changed."""
    train, held_out = batches_of(3000, seed=1), batches_of(1000, seed=2)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = language_model()
        step = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(8):
            for batch in train:
                step.zero_grad()
                next_word_loss(model(batch[0]), batch).backward()
                step.step()
    return Trained(model.eval(), train, held_out)
