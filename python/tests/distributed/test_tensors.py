# SPDX-License-Identifier: BSD-3-Clause
"""Which tensors a group protects, and what restore gives: dtypes, strides, and kinds that are refused."""

import copy
import json
import os
import pickle
import re
import zlib

import pytest

pytest.importorskip("torch")

import ranks  # noqa: E402
import torch  # noqa: E402

from gfk.distributed import Damaged, FolderStore, MemoryStore, NotPrepared, ParityGroup  # noqa: E402
from gfk.distributed._store import DTYPES, Manifest, tensors_of  # noqa: E402


# ---- what is refused ---------------------------------------------------------------------------------
class Quantized(torch.Tensor):
    """A tensor of float32 to others, which has integers and a scale."""

    @staticmethod
    def __new__(cls, integers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, integers.shape, dtype=torch.float32)

    def __init__(self, integers, scale):
        self.integers, self.scale = integers, scale

    def __tensor_flatten__(self):
        return ["integers", "scale"], None

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        plain = [a.integers * a.scale if isinstance(a, Quantized) else a for a in arguments]
        if function is torch.ops.aten.detach.default:
            return Quantized(arguments[0].integers, arguments[0].scale)
        return function(*plain, **(keywords or {}))


class OlderQuantized(torch.Tensor):
    """The integers are the tensor's own memory, and every function gets the values."""

    @staticmethod
    def __new__(cls, integers, scale):
        made = torch.Tensor._make_subclass(cls, integers)
        made.scale = scale
        return made

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        with torch._C.DisableTorchFunctionSubclass():
            return function(*arguments, **(keywords or {}))


def freed():
    tensor = torch.zeros(8)
    tensor.untyped_storage().resize_(0)
    return tensor


def freed_view():
    tensor = torch.zeros(8)
    view = tensor[3:]
    tensor.untyped_storage().resize_(0)
    return view


def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        return torch.zeros(8)


def distributed():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, distribute_tensor
    return distribute_tensor(torch.zeros(8), init_device_mesh("cpu", (3,)), [Replicate()])


REFUSED = {
    "quantized": (lambda: Quantized(torch.ones(8, dtype=torch.int8), torch.tensor(0.5)), r"x.integers, x.scale"),
    "parameter": (lambda: torch.nn.Parameter(Quantized(torch.ones(8, dtype=torch.int8), torch.tensor(0.5)), False),
                  r"x.integers, x.scale"),
    "older": (lambda: OlderQuantized(torch.ones(8, dtype=torch.int8), 0.5), "OlderQuantized wraps another tensor"),
    "fake": (fake, "FakeTensor"),
    "freed": (freed, "storage was freed"), "freed view": (freed_view, "storage was freed"),
    "meta": (lambda: torch.zeros(8, device="meta"), "meta"),
    "DTensor": (distributed, r"to_local\(\)"),
    "quantized by torch": (lambda: torch.quantize_per_tensor(torch.ones(8), 0.1, 0, torch.quint8),
                           "cannot be protected"),
    "functional": (lambda: torch._to_functional_tensor(torch.zeros(8)), "outside of that function"),
    "lazy": (torch.nn.UninitializedParameter, "lazy module"),
    "sparse": (lambda: torch.ones(8).to_sparse(), "cannot be protected"),
}


def refuse(rank):
    store = MemoryStore()
    group = ParityGroup(m=1, store=store)
    group.encode({"x": torch.full((8,), rank)})
    made = [(name, make(), message) for name, (make, message) in REFUSED.items()]  # a DTensor is made on all ranks
    for name, tensor, message in made:
        for call in (group.encode, group.update):
            try:
                call({"x": tensor if rank == 1 else torch.full((8,), rank)})
            except NotPrepared as error:
                assert re.search(f"^rank 1: TypeError: tensor 'x'.*{message}", str(error)), (name, error)
            else:
                raise AssertionError(f"{name} is taken")
    assert group.version == 1 and group.restore()["x"].tolist() == [rank] * 8 and group.verify()


def test_tensors_that_are_not_their_memory_are_refused():
    ranks.run(3, refuse)


def wrong_arguments(rank):
    make = {"m": (1.0, None, "1"), "piece": (256.0, "256"), "w": (8.0, "8"), "timeout": ("5", [5]),
            "store": ("x", 5, dict)}
    for name, values in make.items():
        for value in values:
            with pytest.raises(TypeError, match=f"^{name}(:| is) .*not {type(value).__name__}$"):
                ParityGroup(**{"m": 1, name: value})
    group = ParityGroup(m=1)
    for wrong in (None, 5, torch.nn.Linear(1, 1), torch.zeros(3)):
        with pytest.raises(NotPrepared, match=f"TypeError: tensors are a list .*not {type(wrong).__name__}"):
            group.encode(wrong)
    group.encode({"x": torch.zeros(8)})
    for wrong in (5, "01", b"1"):
        with pytest.raises(NotPrepared, match=f"TypeError: lost is a list .*not {type(wrong).__name__}"):
            group.rebuild(lost=wrong)
    with pytest.raises(NotPrepared, match="TypeError: position: an integer is needed, not float"):
        group.rebuild(lost=[1.0])
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle or copy a ParityGroup"):
            call(group)


def test_messages_name_the_argument():
    ranks.run(2, wrong_arguments)


# ---- dtypes and strides ---------------------------------------------------------------------------------
def of_all_kinds(rank):
    made = {}
    for number, (name, dtype) in enumerate(DTYPES.items()):
        generator = torch.Generator().manual_seed(100 * rank + number)
        count = 6 * dtype.itemsize
        raw = torch.randint(0, 2 if name == "bool" else 256, (count,), dtype=torch.uint8, generator=generator)
        made[name] = raw.view(dtype).view(2, 3)
        made[f"{name}, one"] = raw.view(dtype)[:1].view(())
        made[f"{name}, transposed"] = raw.view(dtype).view(2, 3).T
        made[f"{name}, gaps"] = raw.view(dtype).view(3, 2)[:, 0]
    image = torch.arange(2 * 3 * 4 * 5 * 6, dtype=torch.float32) + rank
    made["channels_last"] = image[:360].view(2, 3, 10, 6).contiguous(memory_format=torch.channels_last)
    made["channels_last_3d"] = image.view(2, 3, 4, 5, 6).contiguous(memory_format=torch.channels_last_3d)
    made["one channel"] = image[:120].view(2, 1, 10, 6).contiguous(memory_format=torch.channels_last)
    made["permuted"] = image.view(2, 3, 4, 5, 6).permute(3, 1, 0, 4, 2)
    made["slice"] = image.view(24, 30)[:, ::2]
    made["expanded"] = image[:1].expand(5)
    made["nothing"] = torch.zeros(0, 3).T
    made["conjugated"] = torch.complex(image[:4], image[4:8]).conj()
    made["parameter"] = torch.nn.Parameter(image[:6])
    return made


def bytes_of(tensor):
    return tensor.detach().resolve_conj().contiguous().view(-1).view(torch.uint8).tolist() if tensor.numel() else []


def is_dense(tensor):
    return tensor.numel() > 0 and torch.ops.aten.is_non_overlapping_and_dense.default(tensor.detach())


def check(found, wanted):
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        made = found[name]
        assert (made.dtype, made.shape, bytes_of(made)) == (tensor.dtype, tensor.shape, bytes_of(tensor)), name
        if is_dense(tensor):
            assert made.stride() == tensor.stride(), name
        else:
            assert made.is_contiguous(), name


def lose(rank, folder):
    folders = folder is not None
    store = FolderStore(folder / str(rank)) if folders else MemoryStore()
    group = ParityGroup(m=1, store=store)
    group.encode(of_all_kinds(rank))
    check(group.restore(), of_all_kinds(rank))
    if rank == 1:
        store = FolderStore(folder / "new") if folders else MemoryStore()
    again = ParityGroup(m=1, store=store)
    assert again.rebuild() == [1]
    check(again.restore(), of_all_kinds(rank))
    again.update({"channels_last": of_all_kinds(rank + 10)["channels_last"].contiguous()})
    found = again.restore()["channels_last"]
    assert torch.equal(found, of_all_kinds(rank + 10)["channels_last"]) and again.verify()
    assert found.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("in_folders", [False, True])
def test_every_dtype_and_order_of_dimensions(tmp_path, in_folders):
    assert {"float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1fn_x2", "complex32"} <= set(DTYPES)
    ranks.run(3, lose, tmp_path if in_folders else None)


@pytest.mark.parametrize("strides", [[1], [1, 3, 9], [1, 4], [0, 1], [-1, 3], [1, 1], [2, 6], [1, 1 << 60], "13",
                                     [[1], 3], [1.0, 3]], ids=str)
def test_strides_that_are_not_dense_are_refused(strides):
    assert tensors_of([["x", "uint8", [3, 4], [1, 3]]]) == (("x", "uint8", (3, 4), (1, 3)),)
    with pytest.raises(Damaged):
        tensors_of([["x", "uint8", [3, 4], strides]])


# ---- files that claim to be large -------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1 << 28, 1 << 40, 1 << 43])
@pytest.mark.parametrize("part", ["snapshot", "parity"])
def test_a_forged_entry_of_a_huge_sparse_file_is_refused(tmp_path, size, part):
    """The manifest and the lengths of the files agree, and the disk has next to nothing of them."""
    described = ((("x", "uint8", (size,)),), ())
    manifest = Manifest("0123456789abcdef", 1, 1, size, 8, "cauchy", described)
    store = FolderStore(tmp_path)
    small = Manifest("fedcba9876543210", 1, 1, 256, 8, "cauchy", ((("x", "uint8", (16,)),), ()))
    entry = store.new(small, 0)
    entry.snapshot.zero_(), entry.parity.zero_()
    store.put(entry)
    text, name = manifest.encode(), f"{manifest.session}-1-0"
    crc = {"snapshot": 1, "parity": 1}
    head = {"position": 0, "rebuilt": 0, "manifest": zlib.crc32(text), **crc}
    if part == "parity":  # of a snapshot without elements
        manifest = Manifest("0123456789abcdef", 1, 1, size, 8, "cauchy", ((), ()))
        text = manifest.encode()
        head |= {"manifest": zlib.crc32(text), "snapshot": 0}
    (tmp_path / f"{name}.json").write_bytes(json.dumps(head).encode() + b"\n" + text)
    lengths = {"snapshot": manifest.bytes_of(0), "parity": size}
    for what, length in lengths.items():
        try:
            with open(tmp_path / f"{name}.{what}", "wb") as file:
                os.truncate(file.fileno(), length)
        except OSError:
            pytest.skip("the file system has no such files")
    found = store.entries()
    assert [e.manifest.session for e in found] == [small.session]
    assert list(store.refused) == [f"{name}.json"] and part in store.refused[f"{name}.json"]
