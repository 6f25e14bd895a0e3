#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Protects a dict of tensors with m parities, loses some of the tensors, rebuilds them, and compares hashes.

  examples/python/protect_tensors.py [-m PARITIES] [--numpy]

Tensors of one length in bytes are the data regions of a code, whatever their shapes and dtypes: of each such
group any m may be lost. Nothing is copied or padded. The tensors are torch's, on the GPU if there is one that
gfk can use, or numpy's where torch is missing.
"""

import argparse
import hashlib
import importlib.util
import random

import gfk
import numpy


# ---- what a program takes over ---------------------------------------------------------------------
def bytes_of(tensor):
    """The tensor's memory as a tensor of bytes; no copy."""
    flat = tensor.reshape(-1)
    if isinstance(tensor, numpy.ndarray):
        return flat.view(numpy.uint8)
    import torch
    return flat.view(torch.uint8)


def empty_like(tensor, shape):
    """A new tensor of the same dtype, in the same place."""
    return numpy.empty(shape, tensor.dtype) if isinstance(tensor, numpy.ndarray) else tensor.new_empty(shape)


class Protected:
    """The parity of a dict of tensors. Call protect again after the tensors have changed."""

    def __init__(self, tensors, m):
        groups = {}
        for name, tensor in tensors.items():
            groups.setdefault(tensor.nbytes, []).append(name)
        self.groups = [(names, gfk.RS(len(names), m)) for names in groups.values()]
        self.shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        self.models = {name: empty_like(tensor, 0) for name, tensor in tensors.items()}  # dtype and place
        self.parities = [None] * len(self.groups)
        self.protect(tensors)

    def protect(self, tensors):
        for i, (names, code) in enumerate(self.groups):
            self.parities[i] = code.encode([bytes_of(tensors[name]) for name in names], out=self.parities[i])

    def rebuild(self, tensors):
        """Puts the tensors that are missing back into the dict; their names."""
        rebuilt = []
        for (names, code), parity in zip(self.groups, self.parities):
            lost = [name for name in names if name not in tensors]
            if not lost:
                continue
            made = {name: empty_like(self.models[name], self.shapes[name]) for name in lost}
            data = [bytes_of(tensors[name]) if name in tensors else None for name in names]
            code.decode(data, parity, [names.index(name) for name in lost],
                        out=[bytes_of(tensor) for tensor in made.values()])
            tensors.update(made)
            rebuilt += lost
        return rebuilt


# ---- the demonstration ---------------------------------------------------------------------------------
def model(framework):
    """The weights of a small network, four layers of equal shapes."""
    shapes = {"embedding": (1000, 256), "head": (1000, 256), "scale": ()}
    for layer in range(4):
        shapes.update({f"layer{layer}.weight": (256, 256), f"layer{layer}.up": (128, 512),
                       f"layer{layer}.bias": (256,)})
    generator = numpy.random.default_rng(1)
    tensors = {name: generator.standard_normal(shape).astype("float32") for name, shape in shapes.items()}
    tensors = {name: numpy.asarray(x) for name, x in tensors.items()}
    if framework == "numpy":
        return tensors
    import torch
    has_kernels = any(k.available and k.implementation == "opt" for k in gfk.kernels())
    place = "cuda" if torch.cuda.is_available() and has_kernels else "cpu"
    return {name: torch.from_numpy(x).to(place) for name, x in tensors.items()}


def hash_of(tensor):
    on_host = tensor if isinstance(tensor, numpy.ndarray) else tensor.cpu().numpy()
    return hashlib.sha256(on_host.tobytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", type=int, default=2, help="tensors of each group that may be lost")
    parser.add_argument("--numpy", action="store_true", help="numpy's tensors, also where there is torch")
    arguments = parser.parse_args()
    framework = "torch" if importlib.util.find_spec("torch") and not arguments.numpy else "numpy"

    tensors = model(framework)
    before = {name: hash_of(tensor) for name, tensor in tensors.items()}
    place = getattr(tensors["head"], "device", "cpu")
    total = sum(tensor.nbytes for tensor in tensors.values())
    print(f"{len(tensors)} tensors of {framework}, {place}: {total:,} bytes")

    protected = Protected(tensors, arguments.m)
    for (names, code), parity in zip(protected.groups, protected.parities):
        print(f"  {len(names)} of {parity[0].nbytes:,} bytes and {code.m} parities, computed by "
              f"{code.info(place).engine}")

    for names, _ in protected.groups:
        for name in random.Random(len(names)).sample(names, min(arguments.m, len(names))):
            del tensors[name]
    print(f"lost: {', '.join(name for name in before if name not in tensors)}")
    protected.rebuild(tensors)
    same = {name: hash_of(tensor) for name, tensor in tensors.items()} == before
    print("the hashes of all tensors are as before" if same else "WRONG: a hash differs")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
