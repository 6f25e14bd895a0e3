# SPDX-License-Identifier: BSD-3-Clause
"""What calls return that is no array: NamedTuples. The extension module makes them by position (src/records.h)."""

import os
from typing import Any, NamedTuple

from . import _core


class KernelInfo(NamedTuple):
    """A kernel that multiplies regions, a row of gfk.kernels()."""

    id: str
    w: int
    method: str
    implementation: str  # "host", "naive" or "opt"
    variant: str
    parameters: str
    compute_capability: tuple[int, int]  # the lowest and the highest, 90 is 9.0; 0: no bound
    table_bytes: int
    workspace_bytes: int
    available: bool  # here, or on the device that was asked for
    reason: str  # why not


class EngineInfo(NamedTuple):
    """An engine of products, a row of gfk.engines()."""

    id: str
    w: int  # 0: all widths
    family: str
    method: str
    adds_equal_columns: bool  # once, and multiplies the sum
    compute_capability: tuple[int, int]  # as of KernelInfo
    available: bool
    reason: str


class CompiledKernelInfo(NamedTuple):
    """A row of gfk.compiled_kernels(). Bounds are the smallest and the largest; 0: no bound."""

    id: str
    w: int
    inputs: tuple[int, int]  # of invert_batch and rlnc_take: rows and columns
    outputs: tuple[int, int]
    batch: tuple[int, int]  # of rlnc_take: generations
    compute_capability: tuple[int, int]


class MultiplierInfo(NamedTuple):
    """What a Multiplier is at a place."""

    kernel: str  # an id of gfk.kernels()
    device: str
    table_bytes: int
    workspace_bytes: int


class ProductInfo(NamedTuple):
    """What a Product or a decoder of a code is at a place."""

    engine: str  # an id of gfk.engines()
    kernel: str | None  # None: the engine lists none
    device: str
    table_bytes: int


class RSInfo(NamedTuple):
    """What an RS is at a place: its matrix, and a ProductInfo."""

    matrix: str  # the name; "custom"
    mds: bool | None  # can any m lost regions be rebuilt? None: not known
    locatable: int  # wrong symbols per position that locate always names; 0: locate does not support the code
    engine: str
    kernel: str | None
    device: str
    table_bytes: int


class Located(NamedTuple):
    """What RS.locate found. A position is one symbol of every region, at one offset."""

    corrupt: int  # positions where the parity does not match the data
    located: int  # corrupt positions whose wrong symbols are named
    unexplained: int  # corrupt positions with more wrong symbols than the code can name; nothing is repaired there
    first_corrupt: int | None  # the lowest byte offset of a corrupt position
    counts: Any  # positions at which each region was named: numpy, uint64, data regions first, then parity

    def __repr__(self):
        regions = {region: int(count) for region, count in enumerate(self.counts) if count}
        return (f"gfk.Located(corrupt={self.corrupt}, located={self.located}, unexplained={self.unexplained}, "
                f"first_corrupt={self.first_corrupt}, regions={regions})")


class RLNCRecord(NamedTuple):
    """The state of a generation in a decoder."""

    generation: int
    status: _core.Status  # SINGULAR: sources are not determined yet; CORRUPT: kept packets contradict them; SUCCESS
    rank: int  # innovative packets
    kept: int  # dependent packets that are kept, to be checked
    dropped: int  # dependent packets for which there was no place
    refused: int  # zero vectors
    determined: int  # sources that the last decode could compute


class PipelineInfo(NamedTuple):
    """What the arguments of a Pipeline resolved to."""

    path: str  # "cpu" if "auto" finds no device
    devices: tuple[str, ...]
    device_memory: int
    pinned_memory: int
    chunk: int  # 0: chosen for each call
    streams: int  # 0: chosen for each call
    threads: int
    calibrated: bool
    calibration: _core.Status  # SUCCESS: in use, or none was named; IO, CORRUPT, WRONG_DEVICE: why it is not used


class Report(NamedTuple):
    """What a call with a Pipeline did. The counts are in bytes of one region: cpu_bytes + gpu_bytes is the
    length of a region."""

    path: str  # "cpu", "gpu" or "both"
    reason: str  # for the choice, one sentence
    cpu_bytes: int
    gpu_bytes: int
    device_bytes: tuple[int, ...]  # gpu_bytes by device, in the order of info().devices
    redone_bytes: int  # the part of cpu_bytes that a failed device should have done
    device_status: _core.Status  # of the first device that failed; SUCCESS: none failed
    staged_regions: int  # regions that went through pinned buffers; 0 on the CPU
    chunk: int  # bytes of one chunk, all regions together; 0 on the CPU
    seconds: float


class Advice(NamedTuple):
    """What Calibration.advise predicts."""

    path: str  # the fastest: "cpu", "gpu" or "both"
    why: str  # one sentence
    cpu_seconds: float
    gpu_seconds: float | None  # None: there is no such path
    both_seconds: float | None
    crossover: int | None  # bytes of a region from which the GPU is faster than the CPU; None: never


Rates = tuple[float, ...]


class Calibration(NamedTuple):
    """The rates of a machine, in bytes per second and seconds: gfk.calibrate measures them, load reads them.

    cpu, kernel: a row or number for w = 8 with 0x11d, w = 8 with another polynomial, w = 16, w = 32. A row of cpu:
    input bytes per second for 1 input and 1 output, and for 8 inputs and 1, 2, 4, 8 outputs. kernel: input bytes
    times outputs per second. bus: for pageable and for pinned memory to the devices, from them, and both ways
    together. both: for pageable and pinned memory the rate of CPU and GPU together, divided by the sum of their
    rates. cpu_call, gpu_call: seconds of the shortest call. Without devices their numbers are 0."""

    host: str
    processor: str
    threads: int
    devices: tuple[str, ...]  # names
    cpu: tuple[Rates, Rates, Rates, Rates]
    bus: tuple[Rates, Rates]
    kernel: Rates
    cpu_call: float
    gpu_call: float
    both: Rates

    @classmethod
    def load(cls, file: str | bytes | os.PathLike) -> "Calibration":
        """The calibration of a file, also of another machine's. Raises Io, Corrupt."""
        return cls._make(_core._load_calibration(file))

    def save(self, file: str | bytes | os.PathLike) -> None:
        """Writes a file for Pipeline(calibration_file=), replaced as a whole. Raises Io, InvalidArgument (an
        impossible rate or name), TypeError (a field that is no such number)."""
        _core._save_calibration(self, file)

    def advise(self, k: int, m: int, bytes: int, field: "_core.Field | int" = 8, *, pinned: bool = False) -> Advice:
        """The predicted time of every path for a product of k inputs and m outputs of `bytes` bytes each.

        pinned: the arrays are in pinned memory (gfk.pinned_empty). Raises InvalidArgument, TypeError as save."""
        return _core._advise(self, k, m, bytes, field, pinned)
