# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Rates of methods
#
# How fast is each way to multiply in GF(2^w) on this machine? The cells of this page run in a notebook (VS
# Code, Jupyter with jupytext), or all at once, which writes rates.html:
#
#     python examples/python/rates.py [--out FOLDER] [--megabytes N] [--seconds S]
#
# The arrays are torch's or cupy's on the GPU, if there is one that gfk can use, and numpy's on the CPU.

# %%
import argparse
import base64
import html
import importlib
import importlib.util
import io
import pathlib
import time

import gfk
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
parser.add_argument("--megabytes", type=float, help="of a region; 256 on a GPU, 2 on the CPU")
parser.add_argument("--seconds", type=float, default=0.05, help="of a measurement, at least")
options, _ = parser.parse_known_args()
page = []


def say(text):
    print(text)
    page.append(f"<p>{html.escape(text)}</p>")


# %% [markdown]
# ## The place
# Arrays decide where gfk works. `wait` waits for the work of a GPU; calls on the CPU are complete on return.

# %%
on_gpu = any(k.available and k.implementation == "opt" for k in gfk.kernels())
framework = next((f for f in ("torch", "cupy") if on_gpu and importlib.util.find_spec(f)), "numpy")
module = importlib.import_module(framework)
if framework == "torch":
    to_place, wait = lambda x: module.from_numpy(x).cuda(), module.cuda.synchronize
elif framework == "cupy":
    to_place, wait = module.asarray, module.cuda.Device().synchronize
else:
    to_place, wait = lambda x: x, lambda: None
device = "cpu" if framework == "numpy" else "cuda"
megabytes = options.megabytes or (2 if device == "cpu" else 256)
size = int(megabytes * 1e6) // 64 * 64
say(f"Arrays of {framework}, {'in the memory of the CPU' if device == 'cpu' else 'on the GPU'}; "
    f"regions of {size / 1e6:g} MB.")


def rate(call, size):
    """GB/s of `size` bytes: the fastest of five runs, each of as many calls as fill the time."""
    call()
    wait()
    calls, best = 1, 0.0
    for _ in range(5):
        seconds = 0.0
        while True:
            start = time.perf_counter()
            for _ in range(calls):
                call()
            wait()
            seconds = time.perf_counter() - start
            if 5 * seconds >= options.seconds:
                break
            calls *= 2
        best = max(best, size * calls / seconds / 1e9)
    return best


# %% [markdown]
# ## A constant times an array
# One row for each kernel of `gfk.kernels()` that runs here. On the CPU the kernels are references, written to
# be read: one thread, no SIMD. Tables of gigabytes are left out.

# %%
random = numpy.random.default_rng(1)
x, out = (to_place(random.integers(0, 256, size, numpy.uint8)) for _ in range(2))
multiplies = []
for k in gfk.kernels():
    is_here = k.available and (k.implementation == "host") == (device == "cpu")
    if not is_here or k.table_bytes + k.workspace_bytes > 1 << 30:
        continue
    multiplier = gfk.Multiplier(k.w, kernel=k.id)
    found = rate(lambda: multiplier.multiply(0x53, x, out), size)
    multiplies.append((k.method, k.w, k.id, found))
    print(f"{k.id:24} {found:8.2f} GB/s")

# %% [markdown]
# ## Ten regions of data, four of parity
# The same code by each engine of `gfk.engines()` that runs here.

# %%
data = to_place(random.integers(0, 256, (10, size // 8), numpy.uint8))
parity = to_place(numpy.zeros((4, size // 8), numpy.uint8))
encodes = []
for e in gfk.engines():
    if not e.available:
        continue
    try:
        code = gfk.RS(10, 4, e.w, engine=e.id)
        found = rate(lambda: code.encode(data, parity), data.nbytes)
    except gfk.Error:  # of another place
        continue
    encodes.append((e.family, e.w, e.id, found))
    print(f"{e.id:24} {found:8.2f} GB/s of data")


# %% [markdown]
# ## The plots
# Without matplotlib the page has the tables only.

# %%
def plot(title, rows):
    if not importlib.util.find_spec("matplotlib"):
        return "<p>There is no plot, because there is no matplotlib.</p>"
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    groups = list(dict.fromkeys(row[0] for row in rows))
    figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
    for i, w in enumerate((8, 16, 32)):
        best = [max((row[3] for row in rows if row[:2] == (group, w)), default=0) for group in groups]
        axes.bar(numpy.arange(len(groups)) + 0.27 * (i - 1), best, 0.25, label=f"w = {w}")
    axes.set(title=title, ylabel="GB/s", yscale="log", xticks=range(len(groups)), xticklabels=groups)
    axes.legend()
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    plt.close(figure)
    return f'<img alt="{title}" src="data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}">'


def table(rows):
    lines = [f"<tr><td>{row[2]}<td>{row[1]}<td>{row[3]:.2f}" for row in sorted(rows, key=lambda row: -row[3])]
    return "<table><tr><th>row<th>w<th>GB/s" + "".join(lines) + "</table>"


for title, rows in (("c * x, the fastest kernel of each method", multiplies),
                    ("RS(10, 4).encode, each family of engines", encodes)):
    page += [f"<h2>{title}</h2>", plot(title, rows), table(rows)]
options.out.mkdir(parents=True, exist_ok=True)
style = "body {font-family: sans-serif; max-width: 60em; margin: auto} td:last-child {text-align: right}"
(options.out / "rates.html").write_text(
    f"<!DOCTYPE html><meta charset=utf-8><title>Rates of methods</title><style>{style}</style>"
    f"<h1>Rates of methods, gfk {gfk.__version__}</h1>" + "\n".join(page), encoding="utf-8")
print(f"wrote {options.out / 'rates.html'}")
