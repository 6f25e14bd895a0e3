# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import gc
import os
import pickle
import threading
import weakref

import gfk
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import resident

BYTES = 12288 + 4  # of a region: more than a page, and no whole number of vectors


def paths():
    """The paths that exist here."""
    with gfk.Pipeline() as pipeline:
        return ["auto", "cpu"] + (["gpu", "both"] if pipeline.info().devices else [])


PATHS = paths()


@pytest.fixture(scope="module", params=PATHS)
def pipeline(request):
    with gfk.Pipeline(path=request.param, threads=2) as made:
        yield made


@pytest.fixture(params=[8, 16, 32, "8, 0x12d"])
def w(request):
    return gfk.Field(8, 0x12D) if isinstance(request.param, str) else request.param


def check_report(pipeline, length):
    report = pipeline.report
    assert report.cpu_bytes + report.gpu_bytes == length
    assert report.gpu_bytes == sum(report.device_bytes)
    assert len(report.device_bytes) == len(pipeline.info().devices)
    assert report.path in ("cpu", "gpu", "both") and report.reason
    assert report.device_status == gfk.Status.SUCCESS and report.redone_bytes == 0
    assert report.seconds >= 0
    if report.path == "cpu":
        assert (report.gpu_bytes, report.staged_regions, report.chunk) == (0, 0, 0)


# ---- calls ------------------------------------------------------------------------------------------
def test_multiply(pipeline, cpu_arrays, random, w):
    x = random.integers(0, 256, BYTES, numpy.uint8)
    for c in (0, 1, 2, 0x53):
        expected = gfk.multiply(c, x, field=w)
        assert (cpu_arrays.numpy(gfk.multiply(c, cpu_arrays.array(x), field=w, pipeline=pipeline)) == expected).all()
        check_report(pipeline, BYTES)
    if not cpu_arrays.is_immutable:
        out = cpu_arrays.array(x)
        assert gfk.multiply(3, cpu_arrays.array(x), field=w, out=out, accumulate=True, pipeline=pipeline) is out
        assert (cpu_arrays.numpy(out) == x ^ gfk.multiply(3, x, field=w)).all()
        gfk.multiply(7, out, field=w, out=out, pipeline=pipeline)
        assert (cpu_arrays.numpy(out) == gfk.multiply(7, x ^ gfk.multiply(3, x, field=w), field=w)).all()


def times(matrix, x, w):
    """matrix times the rows of x, a row and a constant at a time."""
    return numpy.stack([numpy.bitwise_xor.reduce([gfk.multiply(int(c), r, field=w) for c, r in zip(row, x)])
                        for row in matrix])


def test_product(pipeline, cpu_arrays, random, w):
    x = random.integers(0, 256, (5, BYTES), numpy.uint8)
    matrix = random.integers(0, 256 if isinstance(w, gfk.Field) else 1 << w, (3, 5), numpy.uint64)
    expected = times(matrix, x, w)
    for m in (matrix, matrix.tolist()):
        assert (cpu_arrays.numpy(gfk.product(m, cpu_arrays.array(x), field=w, pipeline=pipeline)) == expected).all()
        check_report(pipeline, BYTES)
    if not cpu_arrays.is_immutable:
        rows = [cpu_arrays.array(row) for row in x]
        out = [cpu_arrays.array(row) for row in x[:3]]
        assert gfk.product(matrix, rows, field=w, out=out, accumulate=True, pipeline=pipeline) is out
        assert (numpy.stack([cpu_arrays.numpy(row) for row in out]) == expected ^ x[:3]).all()


@pytest.mark.parametrize("w", [8, 16, 32])
def test_matmul(pipeline, cpu_arrays, random, w):
    dtype = f"uint{w}"
    a = random.integers(0, 1 << w, (9, 70), numpy.uint64).astype(dtype)
    b = random.integers(0, 256, (70, 1028), numpy.uint8)
    expected = gfk.matmul(a, b, field=w)
    assert (expected[:2] == times(a[:2], b, w)).all()
    c = gfk.matmul(cpu_arrays.array(a), cpu_arrays.array(b), field=w, pipeline=pipeline)
    assert (cpu_arrays.numpy(c) == expected).all()
    check_report(pipeline, 1028)
    out = expected.copy()
    gfk.matmul(a, list(b), field=w, out=out, accumulate=True, pipeline=pipeline)
    assert not out.any()


def test_matmul_of_a_generated_matrix(pipeline, random):
    matrix = gfk.Matrix.random(20, 30, seed=5)
    b = random.integers(0, 256, (30, 1000), numpy.uint8)
    assert (gfk.matmul(matrix, b, pipeline=pipeline) == gfk.matmul(matrix, b)).all()


@pytest.mark.parametrize("w", [8, 16, 32])
def test_codes(pipeline, cpu_arrays, random, w):
    rs = gfk.RS(5, 3, w)
    data = random.integers(0, 256, (5, BYTES), numpy.uint8)
    expected = rs.encode(data)
    parity = rs.encode(cpu_arrays.array(data), pipeline=pipeline)
    assert (cpu_arrays.numpy(parity) == expected).all()
    check_report(pipeline, BYTES)
    assert rs.verify(cpu_arrays.array(data), parity, pipeline=pipeline) is True
    check_report(pipeline, BYTES)
    wrong = expected.copy()
    wrong[2, BYTES - 1] ^= 1
    assert rs.verify(cpu_arrays.array(data), cpu_arrays.array(wrong), pipeline=pipeline) is False
    damaged = data.copy()
    damaged[[1, 4]] = 0
    for lost, wanted in (([4, 1], None), ([1, 7, 4], [4, 7])):
        rebuilt = rs.decode(cpu_arrays.array(damaged), parity, lost, wanted, pipeline=pipeline)
        rows = numpy.concatenate([data, expected])[lost if wanted is None else wanted]
        assert (cpu_arrays.numpy(rebuilt) == rows).all()
        check_report(pipeline, BYTES)
    rows = [None if i in (1, 4) else cpu_arrays.array(row) for i, row in enumerate(data)]
    assert (cpu_arrays.numpy(rs.decode(rows, parity, [1], pipeline=pipeline)) == data[[1]]).all()
    rs.decode(damaged, expected, [1, 4], out=[damaged[1], damaged[4]], pipeline=pipeline)
    assert (damaged == data).all()
    assert rs.decode(data, expected, [], pipeline=pipeline).shape == (0, BYTES)


@pytest.mark.parametrize("w", [8, 16, 32])
def test_network_coding(pipeline, cpu_arrays, random, w):
    rlnc = gfk.RLNC(6, 1000, w, seed=3)
    sources = random.integers(0, 256, (6, 1000), numpy.uint8)
    payloads = rlnc.encode(cpu_arrays.array(sources), 2, 5, 9, pipeline=pipeline)
    assert (cpu_arrays.numpy(payloads) == rlnc.encode(sources, 2, 5, 9)).all()
    check_report(pipeline, 1000)
    vectors = rlnc.vectors(2, 5, 9)
    expected = rlnc.recode(cpu_arrays.numpy(payloads), vectors, 1, 4, 77, 9)
    recoded = rlnc.recode(payloads, cpu_arrays.array(vectors), 1, 4, 77, 9, pipeline=pipeline)
    for made, row in zip(recoded, expected):
        assert (cpu_arrays.numpy(made) == row).all() and made.dtype == cpu_arrays.array(row).dtype
    out = numpy.empty((4, 1000), numpy.uint8), numpy.empty((4, 6), f"uint{w}")
    assert rlnc.recode(cpu_arrays.numpy(payloads), vectors, 1, 4, 77, 9, out=out, pipeline=pipeline)[0] is out[0]
    assert (out[0] == expected[0]).all() and (out[1] == expected[1]).all()
    with pytest.raises(ValueError, match="1000 bytes"):
        rlnc.encode(sources[:, :-4], 0, 1, pipeline=pipeline)
    with pytest.raises(gfk.Overlap):
        rlnc.encode(sources, 0, 6, out=sources, pipeline=pipeline)
    with pytest.raises(TypeError):
        rlnc.encode(sources, 0, 1, pipeline=3)
    with pytest.raises(gfk.InvalidArgument, match="generations: a pipeline takes one"):
        rlnc.encode(sources, 0, 1, generations=2, pipeline=pipeline)
    payloads, made = rlnc.encode(sources, 2, 5, 9, vectors=True, pipeline=pipeline)
    assert (payloads == rlnc.encode(sources, 2, 5, 9)).all() and (made == vectors).all()
    with pytest.raises(TypeError, match="tuple"):
        rlnc.recode(sources, vectors, 0, 1, 7, out=sources, pipeline=pipeline)


@pytest.mark.parametrize("w", [8, 16, 32])
def test_network_decoding(pipeline, cpu_arrays, random, w):
    n, generation, names = 6, 9, numpy.array([9, 9, 8, 9, 9, 9, 9, 9, 9])
    rlnc = gfk.RLNC(n, 1000, w, seed=3, systematic=True)
    sources = random.integers(0, 256, (n, 1000), numpy.uint8)
    packets, vectors = rlnc.encode(sources, 0, 9, generation, vectors=True)
    of_array = cpu_arrays.array(packets)
    result, decoded, record = rlnc.decode(range(9), of_array, generation=generation, generations=names,
                                          pipeline=pipeline)
    assert cpu_arrays.numpy(decoded).all() and (cpu_arrays.numpy(result) == sources).all()
    assert record == (9, gfk.Status.SUCCESS, n, 2, 0, 0, n)
    assert rlnc.decode(range(9), of_array, generation=generation, generations=names)[2] == record
    check_report(pipeline, 1000)
    # Not enough of them: what is not determined stays.
    out = numpy.full((n, 1000), 7, numpy.uint8)
    result, decoded, record = rlnc.decode(None, packets[2:6], vectors[2:6], generation, out=out, pipeline=pipeline)
    assert result is out and decoded.tolist() == [False, False, True, True, True, True]
    assert (out[2:] == sources[2:]).all() and (out[:2] == 7).all()
    assert (record.status, record.rank, record.determined) == (gfk.Singular.status, 4, 4)
    recoded = rlnc.recode(packets, vectors, 0, n + 3, 77, generation, pipeline=pipeline)
    result, _, record = rlnc.decode(None, *recoded, generation, pipeline=pipeline)
    assert (result == sources).all() and record.rank == n
    # A packet that was changed on its way.
    packets[1, 5] ^= 1
    with pytest.raises(gfk.Corrupt, match="generation 9"):
        rlnc.decode(range(9), packets, None, generation, pipeline=pipeline)
    _, decoded, record = rlnc.decode(range(9), packets, None, generation, check=False, pipeline=pipeline)
    assert decoded.all() and record.status == gfk.Corrupt.status
    rlnc.decode(range(n), packets[:n], None, generation, pipeline=pipeline)  # from n packets nothing can be noticed
    assert rlnc.decode([], packets[:0], None, generation, pipeline=pipeline)[2].rank == 0


def test_network_decoding_refuses(pipeline, random):
    rlnc = gfk.RLNC(3, 64)
    sources = random.integers(0, 256, (3, 64), numpy.uint8)
    packets, vectors = rlnc.encode(sources, 0, 4, vectors=True)
    for arguments, error in (((range(3), packets), ValueError), ((range(4), packets[:, :63].copy()), ValueError),
                             ((None, packets), TypeError), ((None, packets, vectors[:3]), ValueError),
                             ((None, packets, vectors[:, :2]), ValueError),
                             (([-1, 0, 1, 2], packets), gfk.InvalidArgument),
                             (([0, 1, 2, 2**32], packets), gfk.InvalidArgument), ((range(4), None), TypeError)):
        with pytest.raises(error):
            rlnc.decode(*arguments, pipeline=pipeline)
    with pytest.raises(gfk.Overlap):
        rlnc.decode(range(4), packets, out=packets[:3], pipeline=pipeline)
    with pytest.raises(ValueError):
        rlnc.decode(range(4), packets, out=sources[:2], pipeline=pipeline)
    assert (rlnc.encode(sources, 0, 4) == packets).all()


def test_code_statuses(pipeline):
    rs = gfk.RS(3, 2)
    data, parity = numpy.zeros((3, 64), numpy.uint8), numpy.zeros((2, 64), numpy.uint8)
    with pytest.raises(gfk.TooManyErasures):
        rs.decode(data, parity, [0, 1, 2], pipeline=pipeline)
    with pytest.raises(gfk.InvalidArgument):
        rs.decode(data, parity, [5], pipeline=pipeline)
    with pytest.raises(gfk.Overlap):
        rs.encode(data, out=data[:2], pipeline=pipeline)
    with pytest.raises(ValueError, match="3 regions"):
        rs.encode(data[:2], pipeline=pipeline)
    with pytest.raises(TypeError):
        rs.encode(data, pipeline=3)


def test_statuses(pipeline):
    x, before = numpy.ones((2, 64), numpy.uint8), pipeline.report
    with pytest.raises(gfk.InvalidConstant):
        gfk.multiply(256, x, pipeline=pipeline)
    with pytest.raises(gfk.InvalidConstant):
        gfk.product([[1, 256]], x, pipeline=pipeline)
    with pytest.raises(gfk.InvalidSize):
        gfk.multiply(2, x[0, :3], field=16, pipeline=pipeline)
    with pytest.raises(gfk.Overlap):
        gfk.product([[1, 2]], x, out=x[:1], pipeline=pipeline)
    with pytest.raises(gfk.Overlap):
        gfk.multiply(2, x[0, 1:], out=x[0, :-1], pipeline=pipeline)
    with pytest.raises(ValueError, match="64 bytes, and out 128"):
        gfk.multiply(2, x[0], out=x, pipeline=pipeline)
    with pytest.raises(ValueError, match="out is needed"):
        gfk.product([[1, 2]], x, accumulate=True, pipeline=pipeline)
    with pytest.raises(ValueError, match="3 regions"):
        gfk.product([[1, 2, 3]], x, pipeline=pipeline)
    with pytest.raises(ValueError, match="contiguous"):
        gfk.multiply(2, x.T, pipeline=pipeline)
    with pytest.raises(TypeError, match="uint8"):
        gfk.multiply(2, x.astype(float), pipeline=pipeline)
    with pytest.raises(TypeError):
        gfk.multiply(2, 3, pipeline=pipeline)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gfk.multiply(2, x, out=x, pipeline=pipeline)
    assert (x == 1).all() and pipeline.report is before


def test_arrays_on_a_device(pipeline, fake_cuda):
    array, rs = fake_cuda(numpy.zeros((2, 64), numpy.uint8)), gfk.RS(2, 2)
    calls = [("multiply", lambda: gfk.multiply(2, array, pipeline=pipeline)),
             ("product", lambda: gfk.product([[1, 2]], array, pipeline=pipeline)),
             ("matmul", lambda: gfk.matmul(gfk.Matrix.random(2, 2, seed=1), array, pipeline=pipeline)),
             ("RS.encode", lambda: rs.encode(array, pipeline=pipeline)),
             ("RS.decode", lambda: rs.decode(array, array, [1], pipeline=pipeline)),
             ("RS.verify", lambda: rs.verify(array, array, pipeline=pipeline)),
             ("RLNC.encode", lambda: gfk.RLNC(2, 64).encode(array, 0, 1, pipeline=pipeline)),
             ("RLNC.recode", lambda: gfk.RLNC(64, 64).recode(array, array, 0, 1, 7, pipeline=pipeline)),
             ("RLNCDecoder", lambda: gfk.RLNC(2, 64).decode(range(2), array, pipeline=pipeline))]
    for name, call in calls:
        with pytest.raises(gfk.WrongDevice, match="a pipeline takes arrays in the CPU's memory"):
            call()


def test_arrays_of_two_places(pipeline, fake_cuda):
    x = numpy.zeros((2, 64), numpy.uint8)
    with pytest.raises(gfk.WrongDevice, match="CPU's memory"):
        gfk.multiply(2, x, out=fake_cuda(x), pipeline=pipeline)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2000), st.integers(0, 3), st.randoms())
def test_any_shape(rows, cols, length, offset, random):
    x = numpy.frombuffer(random.randbytes(cols * (length + offset)), numpy.uint8)
    x = x.reshape(cols, -1)[:, offset:]
    matrix = [[random.randrange(256) for _ in range(cols)] for _ in range(rows)]
    with gfk.Pipeline() as pipeline:
        assert (gfk.product(matrix, x, pipeline=pipeline) == times(matrix, numpy.ascontiguousarray(x), 8)).all()
        assert pipeline.report.cpu_bytes + pipeline.report.gpu_bytes == length


# ---- pipelines ----------------------------------------------------------------------------------
def test_info():
    with gfk.Pipeline(device_memory=1 << 20, pinned_memory=1 << 19, chunk=4096, streams=3, threads=5) as p:
        info = p.info()
    assert info[2:] == (1 << 20, 1 << 19, 4096, 3, 5, False, gfk.Status.SUCCESS)
    assert info.path == ("auto" if info.devices else "cpu")


@pytest.mark.parametrize("path", PATHS)
def test_memory_limits(random, path):
    x = random.integers(0, 256, (4, 1 << 18), numpy.uint8)
    matrix = [[1, 2, 3, 4], [5, 6, 7, 8]]
    with gfk.Pipeline(path=path, device_memory=1 << 18, pinned_memory=1 << 18, chunk=1 << 16, streams=2) as p:
        assert (gfk.product(matrix, x, pipeline=p) == times(matrix, x, 8)).all()
        check_report(p, 1 << 18)


def test_arguments():
    with pytest.raises(gfk.InvalidArgument, match="path"):
        gfk.Pipeline(path="bus")
    with pytest.raises(gfk.InvalidArgument, match="devices"):
        gfk.Pipeline(devices=[])
    with pytest.raises(gfk.InvalidArgument):
        gfk.Pipeline(devices=["cuda:0"], path="cpu")
    with pytest.raises(gfk.NoDevice):
        gfk.Pipeline(devices=["cuda:1000"])
    if "gpu" not in PATHS:
        for path in ("gpu", "both"):
            with pytest.raises(gfk.NoDevice):
                gfk.Pipeline(path=path)
    with pytest.raises(gfk.InvalidArgument):
        gfk.Pipeline(threads=4097)
    with pytest.raises(gfk.InvalidArgument, match="threads: .* 0 to 4096 .* -1"):
        gfk.Pipeline(threads=-1)
    with pytest.raises(TypeError):
        gfk.Pipeline("cpu")


@pytest.mark.parametrize("call", [gfk.Pipeline, gfk.calibrate])
def test_messages_about_arguments(call):
    for arguments, message in (
            ({"devices": []}, "devices: the list is empty"),
            ({"devices": ["cuda:0", "cuda:-5"]}, "devices: \"cuda:-5\" is no device"),
            ({"devices": ["cpu"]}, "devices: CUDA devices are needed"),
            ({"devices": ["cuda:3", "cuda:1", "cuda:3"]}, "devices: cuda:3 .* twice"),
            ({"devices": [f"cuda:{i}" for i in range(17)]}, "devices.* 17, .* 16"),
            ({"threads": 4097}, "threads: an integer from 0 to 4096 .* not 4097")):
        with pytest.raises(gfk.InvalidArgument, match=message):
            call(**arguments)
    with pytest.raises(gfk.InvalidArgument, match='devices: path="cpu"'):
        gfk.Pipeline(devices=["cuda:0"], path="cpu")
    with pytest.raises(gfk.InvalidArgument, match="streams: .* 0 to 64 is needed, not 65"):
        gfk.Pipeline(streams=65)
    gfk.Pipeline(threads=4096, streams=64).close()


def test_strings_with_a_nul(calibrated, tmp_path):
    for path in ("a\0", "cpu\0", "\0"):
        with pytest.raises(ValueError, match="path.*NUL"):
            gfk.Pipeline(path=path)
    for key, value in (("host", "a\0b"), ("processor", "a\0"), ("devices", ["a\0b"])):
        with pytest.raises(TypeError, match=key):
            calibrated[0]._replace(**{key: value}).save(tmp_path / "file")
    for file in (f"{tmp_path}/file\0", os.fsencode(tmp_path) + b"/file\0x"):
        for call in (lambda f: gfk.Pipeline(calibration_file=f), gfk.Calibration.load,
                     calibrated[0].save):
            with pytest.raises(ValueError, match="null"):
                call(file)
    assert not os.listdir(tmp_path)


def test_folder_as_a_calibration(tmp_path):
    with gfk.Pipeline(calibration_file=tmp_path) as pipeline:
        assert not pipeline.info().calibrated and pipeline.info().calibration != gfk.Status.SUCCESS
    assert "folder" in gfk.Pipeline.__doc__


def test_close():
    x = numpy.ones(64, numpy.uint8)
    pipeline = gfk.Pipeline()
    assert pipeline.report is None
    with pipeline as same:
        assert same is pipeline
        gfk.multiply(2, x, pipeline=pipeline)
    with pytest.raises(ValueError, match="closed"):
        gfk.multiply(2, x, pipeline=pipeline)
    pipeline.close()
    assert pipeline.report.cpu_bytes + pipeline.report.gpu_bytes == 64
    assert pipeline.info().threads >= 1
    with pytest.raises(KeyError), gfk.Pipeline():
        raise KeyError


def test_each_thread_has_its_report():
    def work(n):
        with gfk.Pipeline(threads=1) as own:
            for i in range(1, 20):
                for pipeline in (shared, own):
                    x = numpy.full(n + i, i, numpy.uint8)
                    assert (gfk.multiply(n, x, pipeline=pipeline) == gfk.multiply(n, x)).all()
                    assert pipeline.report.cpu_bytes + pipeline.report.gpu_bytes == n + i
        return True

    with gfk.Pipeline() as shared, concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(50, 54)))
        assert shared.report is None


def test_close_during_calls():
    x = numpy.ones((4, 1 << 20), numpy.uint8)

    def work():
        done = 0
        try:
            while done < 2000:
                assert (gfk.product([[1, 1, 1, 1]], x, pipeline=pipeline) == 0).all()
                done += 1
                if done == 1:
                    begun.wait(20)
        except ValueError as error:
            assert "closed" in str(error)
        return done

    begun = threading.Barrier(3)
    pipeline = gfk.Pipeline(threads=1)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(work) for _ in range(2)]
        begun.wait(20)
        pipeline.close()
        assert all(1 <= call.result() < 2000 for call in calls)


# ---- pinned memory ------------------------------------------------------------------------------
def test_pinned_empty(pipeline):
    array = gfk.pinned_empty((3, 5000))
    assert (array.shape, array.dtype, array.ctypes.data % 4096) == ((3, 5000), numpy.uint8, 0)
    array[:] = numpy.arange(5000) % 251
    assert (gfk.product([[1, 2, 4]], array, pipeline=pipeline) == times([[1, 2, 4]], array, 8)).all()
    assert gfk.pinned_empty(7, "uint32").shape == (7,)
    assert gfk.pinned_empty((2, 3), numpy.uint16).strides == (6, 2)
    assert gfk.pinned_empty(()).shape == ()
    assert gfk.pinned_empty((0, 4)).shape == (0, 4)
    with pytest.raises(ValueError):
        gfk.pinned_empty((2, -1))
    with pytest.raises(TypeError):
        gfk.pinned_empty(3, object)
    with pytest.raises(gfk.OutOfMemory):
        gfk.pinned_empty(1 << 60)


def test_pinned_memory_is_freed():
    part = gfk.pinned_empty((4, 1 << 20))[1:, 3:]
    owner = part
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    freed = weakref.ref(owner)
    part[:] = 1
    del owner
    gc.collect()
    assert freed() is not None and (part == 1).all()
    before = resident()
    for _ in range(20):
        gfk.pinned_empty(1 << 24)[:] = 1
    assert resident() < before + (100 << 20)
    del part
    assert freed() is None


# ---- calibrations ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A calibration of this machine, and its file."""
    file = tmp_path_factory.mktemp("calibration") / "cal\u00fc\udcff file"
    made = gfk.calibrate()
    made.save(file)
    return made, file


def test_calibration_file(calibrated, tmp_path):
    calibration, file = calibrated
    loaded = gfk.Calibration.load(file)
    assert type(loaded) is gfk.Calibration and loaded[:4] == calibration[:4]
    for one, other in zip(loaded[4:], calibration[4:]):
        assert numpy.allclose(one, other, rtol=1e-3, atol=1e-8)
    assert numpy.shape(loaded.cpu) == (4, 5) and numpy.min(loaded.cpu) > 0
    assert pickle.loads(pickle.dumps(loaded)) == loaded
    loaded.save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == file.read_bytes()
    with gfk.Pipeline(calibration_file=os.fsencode(file)) as pipeline:
        assert (pipeline.info().calibrated, pipeline.info().calibration) == (True, gfk.Status.SUCCESS)
        gfk.multiply(2, numpy.ones(64, numpy.uint8), pipeline=pipeline)
    with gfk.Pipeline(calibration_file=file, threads=calibration.threads + 1) as pipeline:
        assert (pipeline.info().calibrated, pipeline.info().calibration) == (
            False, gfk.Status.WRONG_DEVICE)


def test_damaged_calibration(calibrated, tmp_path):
    content = calibrated[1].read_bytes()
    damaged = tmp_path / "damaged"
    for wrong in (b"", content[:-2], content.replace(b"cpu w8 ", b"cpu w8 1"), b"x" * 10000):
        damaged.write_bytes(wrong)
        with pytest.raises(gfk.Corrupt, match="damaged"):
            gfk.Calibration.load(damaged)
        with gfk.Pipeline(calibration_file=damaged) as pipeline:
            assert pipeline.info().calibration == gfk.Status.CORRUPT
    with pytest.raises(gfk.Io, match="absent"):
        gfk.Calibration.load(tmp_path / "absent")
    with gfk.Pipeline(calibration_file=tmp_path / "absent") as pipeline:
        assert pipeline.info().calibration == gfk.Status.IO
    with pytest.raises(gfk.Io):
        calibrated[0].save(tmp_path / "absent" / "file")
    for call in (gfk.Calibration.load, lambda f: gfk.Pipeline(calibration_file=f)):
        with pytest.raises(TypeError):
            call(3)
        with pytest.raises(ValueError):
            call("a\0b")


@pytest.mark.parametrize("key, value", [
    ("threads", 0), ("cpu", [[-1.0] * 5] * 4), ("cpu", [[0.0] * 5] * 4), ("cpu_call", float("nan")), ("host", ""),
    ("processor", "a\nb"), ("devices", [""])])
def test_calibrations_that_no_machine_has(calibrated, tmp_path, key, value):
    with pytest.raises(gfk.InvalidArgument, match="^calibration: "):
        calibrated[0]._replace(**{key: value}).save(tmp_path / "file")
    assert not (tmp_path / "file").exists()
    if key in ("threads", "cpu", "cpu_call"):
        with pytest.raises(gfk.InvalidArgument, match="^calibration: "):
            calibrated[0]._replace(**{key: value}).advise(10, 4, 64)


@pytest.mark.parametrize("key, value", [
    ("threads", -1), ("threads", 1 << 40), ("threads", 1.5), ("threads", "1"), ("threads", None), ("cpu_call", "1"),
    ("gpu_call", None), pytest.param("cpu_call", 10**400, id="large"), ("cpu", 3), ("cpu", [["1"] * 5] * 4),
    ("cpu", [1.0] * 4), ("cpu", [[1.0] * 5] * 3), ("bus", {0: 1, 1: 2}), ("kernel", "1234"), ("kernel", [1.0] * 5),
    ("both", None), ("both", [0.5, [0.5]]), ("host", 3), ("host", "h" * 64), ("processor", b"x"), ("devices", "ab"),
    ("devices", 3), ("devices", [3]), ("devices", ["x"] * 17)])
def test_calibrations_of_wrong_types(calibrated, tmp_path, key, value):
    wrong = calibrated[0]._replace(**{key: value})
    for call in (lambda: wrong.save(tmp_path / "file"), lambda: wrong.advise(10, 4, 64)):
        with pytest.raises(TypeError, match=f"calibration: {key} "):
            call()
    assert not (tmp_path / "file").exists()


def test_advise(calibrated):
    slow = calibrated[0]._replace(cpu=[[1e9] * 5] * 4)
    advice = slow.advise(10, 4, 1 << 30)
    if not slow.devices:
        assert (advice.path, advice.gpu_seconds, advice.both_seconds, advice.crossover) == ("cpu", None, None, None)
    fast = slow._replace(devices=["A GPU"], bus=[[20e9, 20e9, 25e9], [50e9, 50e9, 90e9]], kernel=[9e12] * 4,
                         gpu_call=50e-6, both=[0.8, 0.9])
    advice = fast.advise(10, 4, 1 << 30, field=16, pinned=True)
    assert advice.path in ("gpu", "both") and "pinned" in advice.why
    assert 0 < advice.gpu_seconds < advice.cpu_seconds and advice.crossover > 0
    assert fast.advise(10, 4, 64, gfk.Field(8)).path == "cpu"
    for arguments, name in (((0, 2, 64), "k"), ((4, -1, 64), "m"), ((4, 2, -1), "bytes")):
        with pytest.raises(gfk.InvalidArgument, match=f"{name}: an integer from"):
            slow.advise(*arguments)
