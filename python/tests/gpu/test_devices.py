# SPDX-License-Identifier: BSD-3-Clause
"""Two GPUs: calls work where their arrays are, whatever the current device is."""

import gfk
import numpy
import pytest
from support import in_threads

pytestmark = pytest.mark.gpu(2)


def device_of(arrays, x):
    if arrays.name == "torch":
        return x.device.index
    return x.device.id if arrays.name == "cupy" else next(iter(x.devices())).local_hardware_id


def current_device(arrays):
    if arrays.name == "jax":
        return 0
    return arrays.module.cuda.current_device() if arrays.name == "torch" else arrays.module.cuda.Device().id


def test_results_are_where_the_arrays_are(gpu_arrays, data, call):
    contents = data()
    expected = call(contents)
    for device in (1, 0, 1):
        result = call(gpu_arrays.array(contents, device))
        assert device_of(gpu_arrays, result) == device
        assert current_device(gpu_arrays) == 0
        assert (gpu_arrays.numpy(result) == expected).all()


def test_arrays_of_two_devices_are_refused(gpu_arrays, data):
    contents = data()[:8]
    code = gfk.RS(8, 2)
    x, parity = gpu_arrays.array(contents, 0), gpu_arrays.array(code.encode(contents), 1)
    with pytest.raises(gfk.WrongDevice, match="on another GPU"):
        code.verify(x, parity)
    with pytest.raises(gfk.WrongDevice):
        code.encode([gpu_arrays.array(contents[i], i % 2) for i in range(8)])


def test_the_current_device_may_be_another(streams, data):
    """The other device's current stream counts, not the current device's."""
    arrays, contents = streams.arrays, data()
    x = arrays.array(contents, 0)
    with streams.module.cuda.device(1) if arrays.name == "torch" else streams.module.cuda.Device(1):
        result = gfk.multiply(0x53, x)
        assert current_device(arrays) == 1
    assert device_of(arrays, result) == 0
    streams.synchronize()
    assert (arrays.numpy(result) == gfk.multiply(0x53, contents)).all()


def test_threads_on_two_devices(streams, data, call):
    arrays, contents, wrong = streams.arrays, data(), []
    expected = call(contents)

    def work(device):
        x = arrays.array(contents, device)
        for _ in range(25):
            result = call(x)
            if device_of(arrays, result) != device or (arrays.numpy(result) != expected).any():
                wrong.append(device)

    in_threads(work, [i % 2 for i in range(4)])
    assert not wrong


def test_views_of_the_second_device(gpu_arrays):
    contents = numpy.arange(64, dtype=numpy.uint8).reshape(4, 16)
    x = gpu_arrays.array(contents, 1)
    assert (gpu_arrays.numpy(gfk.multiply(2, x[1:3])) == gfk.multiply(2, contents[1:3])).all()
