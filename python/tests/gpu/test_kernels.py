# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of matmul by their ids, in every call that takes one: the CPU's bytes, or NotSupported."""

import gfk
import numpy
import pytest

N, LENGTH = 70, 1200


def results(a, x, w, **options):
    return [gfk.matmul(a, x, field=w, **options), gfk.invert(a, field=w, **options), gfk.solve(a, x, field=w, **options),
            gfk.RLNC(N, LENGTH, w, seed=3, **options).encode(x, 0, 90)]


@pytest.mark.parametrize("w, dtype", [(8, "uint8"), (16, "int16"), (32, "int32")])
def test_kernels_of_products(gpu_arrays, w, dtype):
    a = gfk.Matrix.cauchy(N, N).to_numpy(w).view(dtype)
    x = numpy.random.default_rng(w).integers(0, 256, (N, LENGTH), numpy.uint8)
    right = results(a, x, w)
    a, x = gpu_arrays.array(a), gpu_arrays.array(x)
    ran = []
    for kernel in (k.id for k in gfk.compiled_kernels(f"matmul_w{w}")):
        try:
            gfk.matmul(a, x, field=w, kernel=kernel)
        except gfk.NotSupported:
            code = gfk.RLNC(N, LENGTH, w, kernel=kernel)
            for call in (lambda: gfk.invert(a, field=w, kernel=kernel), lambda: gfk.solve(a, x, field=w, kernel=kernel),
                         lambda: gfk.rank(a, field=w, kernel=kernel), lambda: code.encode(x, 0, 90)):
                with pytest.raises(gfk.NotSupported):
                    call()
            continue
        for got, expected in zip(results(a, x, w, kernel=kernel), right):
            assert (gpu_arrays.numpy(got) == expected).all()
        assert gfk.rank(a, field=w, kernel=kernel) == N
        ran.append(kernel)
    assert ran, "the GPU runs one of them at least"
