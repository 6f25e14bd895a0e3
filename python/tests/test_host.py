# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import gc
import json
import os
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
        return ["auto", "cpu"] + (["gpu", "both"] if pipeline.info()["devices"] else [])


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
    assert len(report.device_bytes) == len(pipeline.info()["devices"])
    assert report.path in ("cpu", "gpu", "both") and report.reason
    assert report.device_status is None and report.redone_bytes == 0
    assert report.seconds >= 0
    if report.path == "cpu":
        assert (report.gpu_bytes, report.staged_regions, report.chunk) == (0, 0, 0)


# ---- calls ------------------------------------------------------------------------------------------
def test_multiply(pipeline, cpu_arrays, random, w):
    x = random.integers(0, 256, BYTES, numpy.uint8)
    for c in (0, 1, 2, 0x53):
        expected = gfk.multiply(c, x, w=w)
        assert (cpu_arrays.numpy(pipeline.multiply(c, cpu_arrays.array(x), w=w)) == expected).all()
        check_report(pipeline, BYTES)
    if not cpu_arrays.is_immutable:
        out = cpu_arrays.array(x)
        assert pipeline.multiply(3, cpu_arrays.array(x), w=w, out=out, accumulate=True) is out
        assert (cpu_arrays.numpy(out) == x ^ gfk.multiply(3, x, w=w)).all()
        pipeline.multiply(7, out, w=w, out=out)
        assert (cpu_arrays.numpy(out) == gfk.multiply(7, x ^ gfk.multiply(3, x, w=w), w=w)).all()


def times(matrix, x, w):
    """matrix times the rows of x, a row and a constant at a time."""
    return numpy.stack([numpy.bitwise_xor.reduce([gfk.multiply(int(c), r, w=w) for c, r in zip(row, x)])
                        for row in matrix])


def test_product(pipeline, cpu_arrays, random, w):
    x = random.integers(0, 256, (5, BYTES), numpy.uint8)
    matrix = random.integers(0, 256 if isinstance(w, gfk.Field) else 1 << w, (3, 5), numpy.uint64)
    expected = times(matrix, x, w)
    for m in (matrix, matrix.tolist()):
        assert (cpu_arrays.numpy(pipeline.product(m, cpu_arrays.array(x), w=w)) == expected).all()
        check_report(pipeline, BYTES)
    if not cpu_arrays.is_immutable:
        rows = [cpu_arrays.array(row) for row in x]
        out = [cpu_arrays.array(row) for row in x[:3]]
        assert pipeline.product(matrix, rows, w=w, out=out, accumulate=True) is out
        assert (numpy.stack([cpu_arrays.numpy(row) for row in out]) == expected ^ x[:3]).all()


@pytest.mark.parametrize("w", [8, 16, 32])
def test_matmul(pipeline, cpu_arrays, random, w):
    dtype = f"uint{w}"
    a = random.integers(0, 1 << w, (9, 70), numpy.uint64).astype(dtype)
    b = random.integers(0, 256, (70, 1028), numpy.uint8)
    expected = gfk.matmul(a, b, w=w)
    assert (expected[:2] == times(a[:2], b, w)).all()
    c = pipeline.matmul(cpu_arrays.array(a), cpu_arrays.array(b), w=w)
    assert (cpu_arrays.numpy(c) == expected).all()
    check_report(pipeline, 1028)
    out = expected.copy()
    pipeline.matmul(a, list(b), w=w, out=out, accumulate=True)
    assert not out.any()


def test_matmul_of_a_generated_matrix(pipeline, random):
    matrix = gfk.Matrix.random(20, 30, seed=5)
    b = random.integers(0, 256, (30, 1000), numpy.uint8)
    assert (pipeline.matmul(matrix, b) == gfk.matmul(matrix, b)).all()


@pytest.mark.parametrize("w", [8, 16, 32])
def test_codes(pipeline, cpu_arrays, random, w):
    rs = gfk.RS(5, 3, w)
    data = random.integers(0, 256, (5, BYTES), numpy.uint8)
    expected = rs.encode(data)
    parity = pipeline.encode(rs, cpu_arrays.array(data))
    assert (cpu_arrays.numpy(parity) == expected).all()
    check_report(pipeline, BYTES)
    assert pipeline.verify(rs, cpu_arrays.array(data), parity) is True
    check_report(pipeline, BYTES)
    wrong = expected.copy()
    wrong[2, BYTES - 1] ^= 1
    assert pipeline.verify(rs, cpu_arrays.array(data), cpu_arrays.array(wrong)) is False
    damaged = data.copy()
    damaged[[1, 4]] = 0
    for lost, wanted in (([4, 1], None), ([1, 7, 4], [4, 7])):
        rebuilt = pipeline.decode(rs, cpu_arrays.array(damaged), parity, lost, wanted)
        rows = numpy.concatenate([data, expected])[lost if wanted is None else wanted]
        assert (cpu_arrays.numpy(rebuilt) == rows).all()
        check_report(pipeline, BYTES)
    rows = [None if i in (1, 4) else cpu_arrays.array(row) for i, row in enumerate(data)]
    assert (cpu_arrays.numpy(pipeline.decode(rs, rows, parity, [1])) == data[[1]]).all()
    pipeline.decode(rs, damaged, expected, [1, 4], out=[damaged[1], damaged[4]])
    assert (damaged == data).all()
    assert pipeline.decode(rs, data, expected, []).shape == (0, BYTES)


@pytest.mark.parametrize("w", [8, 16, 32])
def test_network_coding(pipeline, cpu_arrays, random, w):
    rlnc = gfk.RLNC(6, 1000, w, seed=3)
    sources = random.integers(0, 256, (6, 1000), numpy.uint8)
    payloads = pipeline.rlnc_encode(rlnc, cpu_arrays.array(sources), 2, 5, 9)
    assert (cpu_arrays.numpy(payloads) == rlnc.encode(sources, 2, 5, 9)).all()
    check_report(pipeline, 1000)
    vectors = rlnc.vectors(2, 5, 9)
    expected = rlnc.recode(cpu_arrays.numpy(payloads), vectors, 1, 4, 77, 9)
    recoded = pipeline.rlnc_recode(rlnc, payloads, cpu_arrays.array(vectors), 1, 4, 77, 9)
    for made, row in zip(recoded, expected):
        assert (cpu_arrays.numpy(made) == row).all() and made.dtype == cpu_arrays.array(row).dtype
    out = numpy.empty((4, 1000), numpy.uint8), numpy.empty((4, 6), f"uint{w}")
    assert pipeline.rlnc_recode(rlnc, cpu_arrays.numpy(payloads), vectors, 1, 4, 77, 9, out=out)[0] is out[0]
    assert (out[0] == expected[0]).all() and (out[1] == expected[1]).all()
    with pytest.raises(ValueError, match="1000 bytes"):
        pipeline.rlnc_encode(rlnc, sources[:, :-4], 0, 1)
    with pytest.raises(gfk.Overlap):
        pipeline.rlnc_encode(rlnc, sources, 0, 6, out=sources)
    with pytest.raises(TypeError, match="RLNC"):
        pipeline.rlnc_encode(3, sources, 0, 1)
    with pytest.raises(TypeError, match="tuple"):
        pipeline.rlnc_recode(rlnc, sources, vectors, 0, 1, 7, out=sources)


@pytest.mark.parametrize("w", [8, 16, 32])
def test_network_decoding(pipeline, cpu_arrays, random, w):
    n, generation, names = 6, 9, numpy.array([9, 9, 8, 9, 9, 9, 9, 9, 9])
    rlnc = gfk.RLNC(n, 1000, w, seed=3, systematic=True)
    sources = random.integers(0, 256, (n, 1000), numpy.uint8)
    packets, vectors = rlnc.encode(sources, 0, 9, generation, vectors=True)
    of_array = cpu_arrays.array(packets)
    result, decoded, record = pipeline.rlnc_decode(rlnc, range(9), of_array, generation=generation, generations=names)
    assert cpu_arrays.numpy(decoded).all() and (cpu_arrays.numpy(result) == sources).all()
    assert record == {"generation": 9, "status": "GFK_STATUS_SUCCESS", "rank": n, "kept": 2, "dropped": 0,
                      "refused": 0, "determined": n}
    check_report(pipeline, 1000)
    # Not enough of them: what is not determined stays.
    out = numpy.full((n, 1000), 7, numpy.uint8)
    result, decoded, record = pipeline.rlnc_decode(rlnc, None, packets[2:6], vectors[2:6], generation, out=out)
    assert result is out and decoded.tolist() == [False, False, True, True, True, True]
    assert (out[2:] == sources[2:]).all() and (out[:2] == 7).all()
    assert (record["status"], record["rank"], record["determined"]) == (gfk.Singular.status, 4, 4)
    recoded = pipeline.rlnc_recode(rlnc, packets, vectors, 0, n + 3, 77, generation)
    result, _, record = pipeline.rlnc_decode(rlnc, None, *recoded, generation)
    assert (result == sources).all() and record["rank"] == n
    # A packet that was changed on its way.
    packets[1, 5] ^= 1
    with pytest.raises(gfk.Corrupt, match="generation 9"):
        pipeline.rlnc_decode(rlnc, range(9), packets, None, generation)
    _, decoded, record = pipeline.rlnc_decode(rlnc, range(9), packets, None, generation, check=False)
    assert decoded.all() and record["status"] == gfk.Corrupt.status
    pipeline.rlnc_decode(rlnc, range(n), packets[:n], None, generation)  # from n packets nothing can be noticed
    assert pipeline.rlnc_decode(rlnc, [], packets[:0], None, generation)[2]["rank"] == 0


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
            pipeline.rlnc_decode(rlnc, *arguments)
    with pytest.raises(TypeError, match="RLNC"):
        pipeline.rlnc_decode(3, range(4), packets)
    with pytest.raises(gfk.Overlap):
        pipeline.rlnc_decode(rlnc, range(4), packets, out=packets[:3])
    with pytest.raises(ValueError):
        pipeline.rlnc_decode(rlnc, range(4), packets, out=sources[:2])
    assert (rlnc.encode(sources, 0, 4) == packets).all()


def test_code_statuses(pipeline):
    rs = gfk.RS(3, 2)
    data, parity = numpy.zeros((3, 64), numpy.uint8), numpy.zeros((2, 64), numpy.uint8)
    with pytest.raises(gfk.TooManyErasures):
        pipeline.decode(rs, data, parity, [0, 1, 2])
    with pytest.raises(gfk.InvalidArgument):
        pipeline.decode(rs, data, parity, [5])
    with pytest.raises(gfk.Overlap):
        pipeline.encode(rs, data, out=data[:2])
    with pytest.raises(ValueError, match="3 regions"):
        pipeline.encode(rs, data[:2])
    with pytest.raises(TypeError):
        pipeline.encode(3, data)


def test_statuses(pipeline):
    x, before = numpy.ones((2, 64), numpy.uint8), pipeline.report
    with pytest.raises(gfk.InvalidConstant):
        pipeline.multiply(256, x)
    with pytest.raises(gfk.InvalidConstant):
        pipeline.product([[1, 256]], x)
    with pytest.raises(gfk.InvalidSize):
        pipeline.multiply(2, x[0, :3], w=16)
    with pytest.raises(gfk.Overlap):
        pipeline.product([[1, 2]], x, out=x[:1])
    with pytest.raises(gfk.Overlap):
        pipeline.multiply(2, x[0, 1:], out=x[0, :-1])
    with pytest.raises(ValueError, match="64 bytes, and out 128"):
        pipeline.multiply(2, x[0], out=x)
    with pytest.raises(ValueError, match="out is needed"):
        pipeline.product([[1, 2]], x, accumulate=True)
    with pytest.raises(ValueError, match="3 regions"):
        pipeline.product([[1, 2, 3]], x)
    with pytest.raises(ValueError, match="contiguous"):
        pipeline.multiply(2, x.T)
    with pytest.raises(TypeError, match="uint8"):
        pipeline.multiply(2, x.astype(float))
    with pytest.raises(TypeError):
        pipeline.multiply(2, 3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        pipeline.multiply(2, x, out=x)
    assert (x == 1).all() and pipeline.report is before


def test_arrays_on_a_device(pipeline, fake_cuda):
    array, rs = fake_cuda(numpy.zeros((2, 64), numpy.uint8)), gfk.RS(2, 2)
    calls = [("multiply", lambda: pipeline.multiply(2, array)),
             ("product", lambda: pipeline.product([[1, 2]], array)),
             ("matmul", lambda: pipeline.matmul(gfk.Matrix.random(2, 2, seed=1), array)),
             ("RS.encode", lambda: pipeline.encode(rs, array)),
             ("RS.decode", lambda: pipeline.decode(rs, array, array, [1])),
             ("RS.verify", lambda: pipeline.verify(rs, array, array)),
             ("RLNC.encode", lambda: pipeline.rlnc_encode(gfk.RLNC(2, 64), array, 0, 1)),
             ("RLNC.recode", lambda: pipeline.rlnc_recode(gfk.RLNC(64, 64), array, array, 0, 1, 7)),
             ("RLNCDecoder", lambda: pipeline.rlnc_decode(gfk.RLNC(2, 64), range(2), array))]
    for name, call in calls:
        with pytest.raises(gfk.WrongDevice, match=rf"gfk\.{name}"):
            call()


def test_arrays_of_two_places(pipeline, fake_cuda):
    x = numpy.zeros((2, 64), numpy.uint8)
    with pytest.raises(gfk.WrongDevice, match="one place"):
        pipeline.multiply(2, x, out=fake_cuda(x))


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2000), st.integers(0, 3), st.randoms())
def test_any_shape(rows, cols, length, offset, random):
    x = numpy.frombuffer(random.randbytes(cols * (length + offset)), numpy.uint8)
    x = x.reshape(cols, -1)[:, offset:]
    matrix = [[random.randrange(256) for _ in range(cols)] for _ in range(rows)]
    with gfk.Pipeline() as pipeline:
        assert (pipeline.product(matrix, x) == times(matrix, numpy.ascontiguousarray(x), 8)).all()
        assert pipeline.report.cpu_bytes + pipeline.report.gpu_bytes == length


# ---- pipelines ----------------------------------------------------------------------------------
def test_info():
    with gfk.Pipeline(device_memory=1 << 20, pinned_memory=1 << 19, chunk=4096, streams=3, threads=5) as p:
        info = p.info()
    expected = {"device_memory": 1 << 20, "pinned_memory": 1 << 19, "chunk": 4096, "streams": 3, "threads": 5,
                "calibrated": False, "calibration": None}
    assert {key: info[key] for key in expected} == expected
    assert info["path"] == ("auto" if info["devices"] else "cpu")
    assert set(info) == set(expected) | {"path", "devices"}


@pytest.mark.parametrize("path", PATHS)
def test_memory_limits(random, path):
    x = random.integers(0, 256, (4, 1 << 18), numpy.uint8)
    matrix = [[1, 2, 3, 4], [5, 6, 7, 8]]
    with gfk.Pipeline(path=path, device_memory=1 << 18, pinned_memory=1 << 18, chunk=1 << 16, streams=2) as p:
        assert (p.product(matrix, x) == times(matrix, x, 8)).all()
        check_report(p, 1 << 18)


def test_arguments():
    with pytest.raises(gfk.InvalidArgument, match="path"):
        gfk.Pipeline(path="bus")
    with pytest.raises(gfk.InvalidArgument, match="devices"):
        gfk.Pipeline(devices=[])
    with pytest.raises(gfk.InvalidArgument):
        gfk.Pipeline(devices=[0], path="cpu")
    with pytest.raises(gfk.NoDevice):
        gfk.Pipeline(devices=[1000])
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
            ({"devices": [0, -5]}, "devices: an integer from 0 .* not -5"),
            ({"devices": [3, 1, 3]}, "devices: 3 .* twice"), ({"devices": range(17)}, "devices.* 17, .* 16"),
            ({"threads": 4097}, "threads: an integer from 0 to 4096 .* not 4097")):
        with pytest.raises(gfk.InvalidArgument, match=message):
            call(**arguments)
    with pytest.raises(gfk.InvalidArgument, match='devices: path="cpu"'):
        gfk.Pipeline(devices=[0], path="cpu")
    with pytest.raises(gfk.InvalidArgument, match="streams: .* 0 to 64 is needed, not 65"):
        gfk.Pipeline(streams=65)
    gfk.Pipeline(threads=4096, streams=64).close()


def test_strings_with_a_nul(calibrated, tmp_path):
    for path in ("a\0", "cpu\0", "\0"):
        with pytest.raises(ValueError, match="path.*NUL"):
            gfk.Pipeline(path=path)
    with pytest.raises(ValueError, match="where.*NUL"):
        gfk.advise(calibrated[0], 10, 4, 64, where="pinned\0")
    for key, value in (("host", "a\0b"), ("processor", "a\0"), ("devices", ["a\0b"])):
        with pytest.raises(ValueError, match=f"{key}.*NUL"):
            gfk.save_calibration(calibrated[0] | {key: value}, tmp_path / "file")
    for file in (f"{tmp_path}/file\0", os.fsencode(tmp_path) + b"/file\0x"):
        for call in (lambda f: gfk.Pipeline(calibration_file=f), gfk.load_calibration, gfk.calibrate,
                     lambda f: gfk.save_calibration(calibrated[0], f)):
            with pytest.raises(ValueError, match="null"):
                call(file)
    assert not os.listdir(tmp_path)


def test_folder_as_a_calibration(tmp_path):
    with gfk.Pipeline(calibration_file=tmp_path) as pipeline:
        assert not pipeline.info()["calibrated"] and pipeline.info()["calibration"] is not None
    assert "folder" in gfk.Pipeline.__doc__


def test_close():
    x = numpy.ones(64, numpy.uint8)
    pipeline = gfk.Pipeline()
    assert pipeline.report is None
    with pipeline as same:
        assert same is pipeline
        pipeline.multiply(2, x)
    with pytest.raises(ValueError, match="closed"):
        pipeline.multiply(2, x)
    pipeline.close()
    assert pipeline.report.cpu_bytes + pipeline.report.gpu_bytes == 64
    assert pipeline.info()["threads"] >= 1
    with pytest.raises(KeyError), gfk.Pipeline():
        raise KeyError


def test_each_thread_has_its_report():
    def work(n):
        with gfk.Pipeline(threads=1) as own:
            for i in range(1, 20):
                for pipeline in (shared, own):
                    x = numpy.full(n + i, i, numpy.uint8)
                    assert (pipeline.multiply(n, x) == gfk.multiply(n, x)).all()
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
                assert (pipeline.product([[1, 1, 1, 1]], x) == 0).all()
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
    assert (pipeline.product([[1, 2, 4]], array) == times([[1, 2, 4]], array, 8)).all()
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
    return gfk.calibrate(file), file


def test_calibration_file(calibrated, tmp_path):
    calibration, file = calibrated
    loaded = gfk.load_calibration(file)
    for key in ("host", "processor", "threads", "devices"):
        assert loaded[key] == calibration[key]
    for key in ("cpu", "bus", "kernel", "cpu_call", "gpu_call", "both"):
        assert numpy.allclose(loaded[key], calibration[key], rtol=1e-3, atol=1e-8)
    assert numpy.shape(loaded["cpu"]) == (4, 5) and numpy.min(loaded["cpu"]) > 0
    assert json.loads(json.dumps(loaded)) == loaded
    gfk.save_calibration(loaded, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == file.read_bytes()
    with gfk.Pipeline(calibration_file=os.fsencode(file)) as pipeline:
        assert (pipeline.info()["calibrated"], pipeline.info()["calibration"]) == (True, None)
        pipeline.multiply(2, numpy.ones(64, numpy.uint8))
    with gfk.Pipeline(calibration_file=file, threads=calibration["threads"] + 1) as pipeline:
        assert (pipeline.info()["calibrated"], pipeline.info()["calibration"]) == (
            False, "GFK_STATUS_WRONG_DEVICE")


def test_damaged_calibration(calibrated, tmp_path):
    content = calibrated[1].read_bytes()
    damaged = tmp_path / "damaged"
    for wrong in (b"", content[:-2], content.replace(b"cpu w8 ", b"cpu w8 1"), b"x" * 10000):
        damaged.write_bytes(wrong)
        with pytest.raises(gfk.Corrupt, match="damaged"):
            gfk.load_calibration(damaged)
        with gfk.Pipeline(calibration_file=damaged) as pipeline:
            assert pipeline.info()["calibration"] == "GFK_STATUS_CORRUPT"
    with pytest.raises(gfk.Io, match="absent"):
        gfk.load_calibration(tmp_path / "absent")
    with gfk.Pipeline(calibration_file=tmp_path / "absent") as pipeline:
        assert pipeline.info()["calibration"] == "GFK_STATUS_IO"
    with pytest.raises(gfk.Io):
        gfk.save_calibration(calibrated[0], tmp_path / "absent" / "file")
    for call in (gfk.load_calibration, lambda f: gfk.Pipeline(calibration_file=f)):
        with pytest.raises(TypeError):
            call(3)
        with pytest.raises(ValueError):
            call("a\0b")


def test_wrong_calibrations(calibrated, tmp_path):
    calibration = dict(calibrated[0])
    for key, value, error in (
            ("threads", 0, gfk.InvalidArgument), ("cpu", [[-1.0] * 5] * 4, gfk.InvalidArgument),
            ("cpu", [[1.0] * 5] * 3, ValueError), ("kernel", [1.0] * 5, ValueError),
            ("host", "h" * 64, ValueError), ("devices", ["x"] * 17, ValueError),
            ("host", "", gfk.InvalidArgument)):
        with pytest.raises(error):
            gfk.save_calibration(calibration | {key: value}, tmp_path / "file")
    for key in calibration:
        with pytest.raises(KeyError):
            gfk.save_calibration({k: v for k, v in calibration.items() if k != key}, tmp_path / "file")
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("key, value, error", [
    ("threads", -1, ValueError), ("threads", 1 << 40, ValueError), ("threads", 1.5, TypeError),
    ("threads", "1", TypeError), ("threads", None, TypeError), ("cpu_call", "1", TypeError),
    ("gpu_call", None, TypeError), pytest.param("cpu_call", 10**400, ValueError, id="large"),
    ("threads", numpy.int64(-1), ValueError), ("cpu", 3, TypeError),
    ("cpu", [["1"] * 5] * 4, TypeError), ("cpu", [1.0] * 4, TypeError), ("bus", {0: 1, 1: 2}, TypeError),
    ("kernel", "1234", TypeError), ("both", None, TypeError), ("both", [0.5, [0.5]], TypeError),
    ("host", 3, TypeError), ("processor", b"x", TypeError), ("devices", "ab", TypeError),
    ("devices", 3, TypeError), ("devices", [3], TypeError)])
def test_calibrations_of_wrong_types(calibrated, tmp_path, key, value, error):
    calibration = calibrated[0] | {key: value}
    for call in (lambda: gfk.save_calibration(calibration, tmp_path / "file"),
                 lambda: gfk.advise(calibration, 10, 4, 64)):
        with pytest.raises(error, match=f"calibration: {key}: "):
            call()
    assert not (tmp_path / "file").exists()


def test_calibration_of_numpy_values(calibrated, tmp_path):
    same = {key: numpy.array(value) if key in ("cpu", "bus", "kernel", "both") else value
            for key, value in calibrated[0].items()}
    same |= {"threads": numpy.uint32(same["threads"]), "cpu_call": numpy.float64(same["cpu_call"])}
    gfk.save_calibration(same, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == calibrated[1].read_bytes()


GPU_RATES = {"devices": ["A GPU"], "bus": [[20e9, 20e9, 25e9], [50e9, 50e9, 90e9]], "kernel": [9e12] * 4,
             "gpu_call": 50e-6, "both": [0.8, 0.9]}


def test_advise(calibrated):
    slow = calibrated[0] | {"cpu": [[1e9] * 5] * 4}
    advice = gfk.advise(slow, 10, 4, 1 << 30)
    assert set(advice) == {"path", "why", "cpu_seconds", "gpu_seconds", "both_seconds", "crossover"}
    if not slow["devices"]:
        assert (advice["path"], advice["gpu_seconds"], advice["both_seconds"], advice["crossover"]) == (
            "cpu", None, None, None)
    advice = gfk.advise(slow | GPU_RATES, 10, 4, 1 << 30, w=16, where="pinned")
    assert advice["path"] in ("gpu", "both") and "pinned" in advice["why"]
    assert 0 < advice["gpu_seconds"] < advice["cpu_seconds"] and advice["crossover"] > 0
    assert gfk.advise(slow | GPU_RATES, 10, 4, 64, gfk.Field(8))["path"] == "cpu"
    with pytest.raises(gfk.InvalidArgument, match="where"):
        gfk.advise(slow, 10, 4, 64, where="disk")
    with pytest.raises(gfk.InvalidArgument):
        gfk.advise(slow, 0, 4, 64)
    with pytest.raises(KeyError):
        gfk.advise({}, 10, 4, 64)
