# SPDX-License-Identifier: BSD-3-Clause
"""The operators of gfk.torch: torch's own checks of an operator, and compiled functions."""

import pytest

torch = pytest.importorskip("torch")

import gfk  # noqa: E402
import gfk.torch  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() and any(e.available for e in gfk.engines()
                                                                  if e.family == "bmma") else [])


def random(shape, device, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator).to(device)


@pytest.fixture(params=DEVICES)
def stripe(request):
    data = random((6, 4096), request.param)
    return data, gfk.RS(6, 3).encode(data)


def operators(data, parity):
    yield gfk.torch.multiply, (7, data)
    yield gfk.torch.matmul, (random((5, 6), data.device, seed=2), data)
    yield gfk.torch.rs_encode, (data, 3)
    yield gfk.torch.rs_encode_out, (data, torch.empty_like(parity))
    yield gfk.torch.rs_decode, (data, parity, [1, 4, 7])
    yield gfk.torch.rs_verify, (data, parity)


def test_operators_pass_the_checks_of_torch(stripe):
    for operator, arguments in operators(*stripe):
        torch.library.opcheck(operator, arguments)


def test_operators_give_what_the_package_gives(stripe):
    data, parity = stripe
    out = torch.empty_like(parity)
    gfk.torch.rs_encode_out(data, out)
    assert torch.equal(gfk.torch.rs_encode(data, 3), parity)
    assert torch.equal(out, parity)
    assert torch.equal(gfk.torch.rs_decode(data, parity, [7, 1]), torch.stack([parity[1], data[1]]))
    assert torch.equal(gfk.torch.multiply(7, data), gfk.multiply(7, data))
    a = random((5, 6), data.device, seed=2)
    assert torch.equal(gfk.torch.matmul(a, data), gfk.matmul(a, data))
    assert int(gfk.torch.rs_verify(data, parity)) == 0
    damaged = data.clone()
    damaged[2, 100] ^= 1
    assert int(gfk.torch.rs_verify(damaged, parity)) == 1


def test_a_compiled_function_has_no_breaks(stripe):
    data, parity = stripe

    @torch.compile(fullgraph=True, backend="aot_eager")
    def protect_and_rebuild(x):
        p = gfk.torch.rs_encode(x ^ 1, 3)
        return gfk.torch.rs_decode(x ^ 1, p, [0, 5]) ^ 1

    assert torch.equal(protect_and_rebuild(data), data[[0, 5]])


def test_errors_are_those_of_the_package(stripe):
    data, parity = stripe
    with pytest.raises(gfk.TooManyErasures):
        gfk.torch.rs_decode(data, parity, [0, 1, 2, 3])
    with pytest.raises(TypeError, match="uint8"):
        gfk.torch.rs_encode(data.float(), 3)
