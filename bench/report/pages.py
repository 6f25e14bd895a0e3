# SPDX-License-Identifier: BSD-3-Clause
"""The tables of every page: heading, text, rows, columns, lines, cells. A new table is a new entry here;
rows.py has the rows that take more than a query."""

from . import repeat, rows
from .frame import GIB, METHODS
from .text import Table

CELL = "{rate}[ ({percent:.0f} %)]"
PRECISE = "{data_GBps:rate}[ ({percent:.1f} %)]"
TABLES = "[, {tables} table]"
LONG = "stripes <= 1 and k + m <= 128"
SUSTAINED = {"sustained GB/s": "{sustained_data_GBps:rate}",
             "sustained, % of ceiling": "{sustained_percent_of_roofline:.1f}",
             "W": "{sustained_watts:.0f}", "GB per joule": "{data_GB_per_joule:.2f}"}

T_PER_S = {"T/s": "{tmuladds_per_s:.1f}", "x plain bit-MMAs": "{of_mmas:.3f}"}

README = {  # the tables of the project's README, by their marks
    "rates": Table("Rates", "", rows.asked,
                   {"w = 8, GB/s of data": "{what}", "one GPU": "{data_GBps:rate}",
                    "percent of the limit": "{percent:.0f} % of {limit}",
                    "the CPU, all cores": "{on_cpu}"}),
    "methods": Table("Methods", "", rows.grid,
                     {"naive / optimized, GB/s": "{method}", "w = 8": "{w8}", "w = 16": "{w16}", "w = 32": "{w32}"})}

FRONT = [  # the front page of a folder of results
    Table("Methods and widths",
          """Each cell is a rate in GB/s of source: a region[ (of 1 GiB on a {gpu})] is multiplied by a
          constant. [{gpu:if}Percentages of a plain copy in the same run stand in parentheses. Where tables have
          gigabytes, their size follows the rate, because lookups in them are the limit. ]The columns
          of GF-Complete have its fastest variant on {threads} threads, as a median, and in parentheses the span of all
          passes; n/a: GF-Complete does not offer the method.""",
          rows.overview, "w={w} {series}", ("method", "{method}"), CELL + TABLES, by="place", every=METHODS),
    Table("Products and codes",
          """Each cell is a rate in GB/s of data, for up to {data_bytes:size} of data[{gpu:if} (update: for
          one changed region)]. [{gpu:if}Percentages of a plain kernel in the same run stand in parentheses: for
          encode and decode the plain kernel XORs the regions, for stripes the same bytes in long regions; for
          verify it reads k + m regions, for update it reads 2 + m and writes m. ][{memory:if}From host memory the
          data are {nominal_bytes:size}, and the percentage is of the bus. ][The columns of the CPU are for {threads:count}
          threads: medians, and in parentheses the span of all passes.]""",
          rows.operations, "{who}", ("w = 8", "{what}"), CELL, by="place"),
    Table("Matrices in device memory",
          """C = A B with A in device memory, by gfk_matmul: 10^12 multiply-adds of bytes per second, and how many times
          the rate of plain bit-MMAs that is: of a loop over b1 warpgroup MMAs in the same run; where the calls took
          seconds, of the loop over seconds. The loop counts w x w products of bits for each element. gfk_matmul computes
          down to 81 of 256 of them (docs/engines/matmul.md).[ On this card the rows have the kernel {named}, which
          `--engine` gave: AUTO was not measured.]""",
          lambda results: rows.matrices(results).query(
              "operation == 'matmul' and where == 'gpu' and (k == 4096 or not square)"),
          {"w": "{w}", "rows x columns": "{m} x {k}", "bytes of a region": "{region}", **T_PER_S,
           "over seconds, T/s": "{sustained_tmuladds_per_s:.1f}",
           "over seconds, x plain bit-MMAs": "{of_mmas_sustained:.3f}"}),
    Table("Bursts and sustained rates",
          """The rates above are burst rates, except those from host memory and of calls that took seconds: a replay takes
          some milliseconds, and a pause follows. Without pauses the card's power limit lowers the clock of kernels that compute much.
          The sustained rate is that of two seconds without a pause, as a job of seconds sees it. The ceiling
          is the plain copy for methods and XOR-only for products. A ceiling has a row of its own. Its sustained
          rate differs by some percent from run to run and from machine to machine, more than those of the other rows, so a
          row can have more than 100 % of it: compare GB/s (docs/engines/README.md, "Jobs of seconds"). GB per joule count the
          source or data, and the energy of the whole board.""",
          lambda results: rows.sustained(results).query("k < 20 or k == 20 and family in ('', 'bmma')"),
          {"row": "`{id}`", "(k, m)": "{shape}", "burst GB/s": "{data_GBps:rate}", **SUSTAINED})]

METHODS_PAGE = [
    Table("Every method and width",
          "GB/s of source,[{gpu:if} percent of a plain copy,] and microseconds of set-up where there is one.",
          rows.methods, "{series}", ("method", "{method}"), CELL + TABLES + "[; {setup_us:.1f} us]",
          by="place", every=METHODS, parts="w = {w}"),
    Table("Region sizes", "GB/s of source[{gpu:if}, and percent of the best plain copy of the same size].",
          "kind == 'region' and constants == 'rotating' and src_offset + dst_offset == 0 and not giant and "
          "state == 'measured'", "{size}", ("kernel", "`{id}`"), CELL, by="nominal_bytes",
          parts="{mode}, {heat}, on the {where:upper}"),
    Table("Limits",
          """Each constant timed alone: GB/s of source, percent of a plain copy, for xor of a plain
          read-read-write kernel; GB/s with the worst and the best constant, and the mean.""",
          rows.limits, "{which}", ("kernel", "`{id}`"),
          PRECISE + "[; {worst_constant_GBps:rate} to {best_constant_GBps:rate}, mean "
          "{mean_constant_GBps:rate}]", parts="{mode}, {size}"),
    Table("Odd addresses",
          "GB/s of source and percent of a copy, with src and dst this many bytes after a multiple of 512.",
          rows.offsets, "{src_offset}, {dst_offset}", ("kernel", "`{id}`"), CELL),
    Table("Giant tables",
          """TABLE and LOG at w = 32 look every symbol up in tables of gigabytes. Their ceiling is a plain
          kernel that only gathers from 16 GiB, at random addresses or at hashed ones (1 to 8 gathers in
          flight).""",
          "state == 'measured' and (operation == 'gather' or kind == 'region' and giant)",
          {"row": "`{id}`", "table": "{tables}", "10^9 symbols/s": "{gsymbols_per_s:.2f}",
           "10^9 gathers/s": "{ggathers_per_s:.2f}", "% of the best plain gather": "{percent_of_gathers:.1f}",
           "GB/s of source": "{data_GBps:rate}", "us": "{time_us_median:.0f}",
           "set-up us": "{setup_us:.0f}"}),
    Table("GF-Complete's variants", "GB/s of source.", f"implementation == 'gf-complete' and {rows.PLAIN}",
          "{on}", ("variant", "`{id}`"), CELL)]

PRODUCTS_PAGE = [
    Table("3 GiB of data",
          """GB/s of data and percent of the XOR-only kernel, which reads k regions and writes m. AUTO
          names the engine that it took. xor in a heading: outputs ^= products.""",
          lambda results: rows.long_products(results).dropna(subset="place"), "{label}",
          ("(k, m)", "{shape}"), PRECISE + "[ {taken}]", by="place", parts="w = {w}, {mode}"),
    Table("Sustained rate and energy",
          "Columns as on the front page, for every row that has a sustained rate.",
          rows.sustained, {"row": "`{id}`", "(k, m)": "{shape}", "burst GB/s": PRECISE, **SUSTAINED}),
    Table("Fastest engine over k and m",
          """The fastest engine for k inputs and m outputs, 1 GiB of data, and its percent of the XOR-only
          kernel. In parentheses AUTO where it took another engine, by the preference of its build, made from
          an earlier run. Where an engine is far below 100, arithmetic is the limit, not memory: with clmad the FP64
          unit (docs/engines/clmad.md), with bmma the instructions that pack sums of bits into bytes
          (docs/engines/bmma.md).""",
          rows.maps, "m = {m}", ("inputs, outputs", "k = {k}"),
          "{percent:.0f} {short}[ ({auto})]", by="m", parts="w = {w}, {mode}"),
    Table("Methods in one skeleton", "Engines perop: GB/s and percent of the XOR-only kernel.",
          "kind == 'product' and where == 'gpu' and family == 'perop' and way == 'engine' and mode == 'set' "
          f"and nominal_bytes >= {GIB} and (k == 10 and m == 4 or k == 30 and m == 3)", "{shape}",
          ("engine", "`{id}`"), PRECISE, sort=("w", "id")),
    Table("Small regions", "Microseconds, and that as a multiple of the XOR-only kernel's.",
          lambda results: rows.products(results).dropna(subset="place").query(
              "region_bytes <= 1048576 and mode == 'set' and state == 'measured'"),
          "{label}", ("code, region", "{code}, {region}"), "{time_us_median:.2f}[ ({times:.2f})][ {taken}]",
          by="place", sort=("k", "m", "region_bytes", "w")),
    Table("On the CPU, with other libraries", "GB/s of data: medians, and in parentheses the span of all passes.",
          rows.libraries, "{label}", ("(k, m)", "{shape}"), "{rate}", sort=("w", "k", "m", "threads"), parts="w = {w}"),
    Table("First call", "Microseconds of gfk_product_create and the first run.", "operation == 'first_call'",
          {"engine": "`{id}`", "(k, m)": "{shape}", "us": "{time_us_median:.0f}", "of it create": "{setup_us:.0f}"})]

SECONDS = {"T/s over seconds": "{sustained_tmuladds_per_s:.1f}",
           "x plain bit-MMAs over seconds": "{of_mmas_sustained:.3f}", "W": "{sustained_watts:.0f}"}
MATRICES_PAGE = [
    Table("Products",
          """T/s: 10^12 multiply-adds of bytes per second. Plain bit-MMAs: a loop over b1 warpgroup MMAs that was
          measured in the same run, in bursts and over seconds without a pause, and counts w x w products of bits for
          each element. gfk_matmul computes down to 81 of 256 of them (docs/engines/matmul.md). `matmul` is gfk_matmul, `product`
          AUTO's engine of gfk/product.h with the same matrix, whose set-up is not in the time. A row of calls
          over seconds has no pauses; its burst columns compare it with the loop's burst.""",
          lambda results: rows.matrices(results).query("where == 'gpu' and operation in ('matmul', 'product')"),
          {"row": "`{id}`", "rows x columns": "{m} x {k}", "region": "{region}", "ms": "{ms:.3f}", **T_PER_S,
           **SECONDS, "GB/s of data": "{data_GBps:rate}", "engine": "{engine}", "kernel": "`{kernel}`",
           "set-up us": "{setup_us:.0f}", "MHz": "{sm_MHz:.0f}"}),
    Table("Kernels",
          """Each compiled kernel of gfk_matmul by its id, on the same job: `levels` is how often the kernel divides
          elements into halves.""",
          lambda results: rows.matrices(results).query("operation == 'kernel'"),
          {"kernel": "`{kernel}`", "rows x columns": "{m} x {k}", "region": "{region}", "ms": "{ms:.3f}", **T_PER_S,
           "MHz": "{sm_MHz:.0f}"}),
    Table("Inverses",
          """gfk_matrix_invert, and gfk_matrix_invert_batch of several matrices in one launch. Plain bit-MMAs: the loop
          of MMAs with n^3 multiply-adds of elements for each matrix.[ Every product is by the kernel {named}.]""",
          lambda results: rows.matrices(results).query("where == 'gpu' and operation == 'invert'"),
          {"row": "`{id}`", "n": "{k}", "matrices": "{stripes:count}", "ms": "{ms:.3f}", **T_PER_S},
          sort=("w", "k", "stripes")),
    Table("On CPUs: products with 16 KiB regions",
          """Milliseconds as medians, with the span of all passes in parentheses. Jerasure, M4RIE and galois compute on one
          thread. M4RIE's rows contain the copies to and from its format. A machine is named where it is not
          this page's.""",
          lambda results: rows.matrices(results).query("where == 'cpu' and operation == 'matmul'"),
          "{who}", ("matrix", "w = {w}, n = {k}"), "{ms_span}"),
    Table("On CPUs: inverses", "Milliseconds as medians, with the span of all passes in parentheses.",
          lambda results: rows.matrices(results).query("where == 'cpu' and operation == 'invert'"),
          "{who}", ("matrix", "w = {w}, n = {k}"), "{ms_span}"),
    Table("Plain bit-MMAs", "A loop over b1 warpgroup MMAs: 10^15 multiply-adds of bits per second.",
          "operation == 'bit_mmas' and state == 'measured'",
          {"row": "`{id}`", "burst": "{pbits_per_s:.2f}", "over seconds": "{sustained_pbits_per_s:.2f}",
           "W": "{sustained_watts:.0f}", "MHz": "{sustained_sm_MHz:.0f}"})]

NETWORK_PAGE = [
    Table("Encode and recode",
          """GB/s of payloads, and microseconds. Encode: percent of gfk_matmul by a matrix in memory, of the same
          shape and in the same run; coding vectors are made within the time. Recode, of as many packets as a
          generation has sources: percent of encode; the vectors of the new packets are made, too.[ On this card the rows
          have the kernel {named}, which `--engine` gave.]""",
          lambda results: rows.network(results).query("where == 'gpu' and operation in ('matmul', 'encode', 'recode')"),
          "{operation}", ("generation", "{what}"),
          "{data_GBps:rate}[ ({percent_of_other:.1f} %)]; {time_us_median:.1f} us", sort=("w", "k", "m", "region_bytes")),
    Table("Coding vectors", "Microseconds.",
          lambda results: rows.network(results).query("where == 'gpu' and operation == 'vectors'"),
          {"vectors": "{what}", "us": "{time_us_median:.2f}", "GB/s": "{data_GBps:rate}"}),
    Table("Decode",
          """From packets in memory to all sources, with two packets more than sources; until the records are on the
          host. The decoder is new, its memory was taken before. GB/s of sources[{gpu:if}; on the GPU percent of encode].""",
          lambda results: rows.network(results).query("operation == 'decode'"),
          {"generation": "{what}", "on": "{on}", "ms": "{ms_span}", "GB/s": "{rate}",
           "% of encode": "{percent_of_other:.1f}"}),
    Table("Single packets",
          """Microseconds until one packet is there. [{gpu:if}For few bytes the call to a GPU takes longer than the
          arithmetic of a CPU. ]ISA-L and the loop with GFNI have their tables ready. Figures of
          the CPU are medians, with the span of all passes in parentheses.""",
          rows.single_packets, "{place}", ("packet", "{what}; fastest: {fastest}"), "{us}"),
    Table("On the CPU",
          """GB/s of payloads, of vectors by `vectors`, on {threads} threads: medians, and in parentheses the span of all
          passes. ISA-L and a loop over GF2P8AFFINEQB have
          their tables ready and no vectors to make; of several generations they code all by one matrix.""",
          lambda results: rows.network(results).query("where == 'cpu' and operation not in ('decode', 'packet')"),
          "{operation}, {who}", ("generation", "{what}"), "{rate}", sort=("w", "k", "m", "region_bytes")),
    Table("Published figures",
          """Nuclei (INFOCOM 2009), on the cards of its time, and the same on this one. Its memory rates are of coded
          payloads.""",
          rows.published,
          {"experiment": "{what}", "hardware": "{hardware}", "published": "{figure:.2f}", "here": "{here:.3f}",
           "times as fast": "{times:.0f}"})]

CODES_PAGE = [
    Table("Encode and decode",
          """Encode: GB/s of data, percent of a plain kernel that only XORs k regions into m, and the engine.
          Decode of m lost regions: percent of encode by the same code in the same run.""",
          lambda results: rows.codes(results).query(f"{LONG} and (operation == 'encode' or lost > 1)"),
          "{operation}[, {lost_kind} lost]", ("code", "{code}"),
          "{data_GBps:rate}[ ({ratio:.1f} %)] {engine}", sort=("w", "k", "m")),
    Table("Every other operation",
          """GB/s of data; of an update, of the changed region. bench/PROTOCOL.md says what the ceilings
          and the others are, and what is asked. Codes of many regions are not bound by memory.""",
          lambda results: rows.codes(results).query(f"not ({LONG} and (operation == 'encode' or lost > 1))"),
          {"operation": "{operation}[, {lost} {lost_kind} lost][, {damage}]", "stripes, regions": "{stripes} x {region}",
           "code": "{code}", "engine": "{engine}",
           "GB/s (% of ceiling)": PRECISE, "% of other": "{percent_of_other:.1f}",
           "us of a launch": "{time_us_median:.2f}", "set-up us": "{setup_us:.0f}"},
          sort=("stripes", "operation", "w", "k", "m")),
    Table("Set-up on one core",
          """Microseconds of gfk_rs_create and, with m data regions lost, of gfk_rs_decoder_create, with the
          engine that makes no tables: what is left is the matrix and its inversion.""",
          "operation in ('rs_create', 'rs_decoder_create') and state == 'measured'", "gfk_{operation}, us",
          ("code", "{code}"), "{time_us_median:.2f} (slowest {time_us_max:.2f})"),
    Table("Over k and m",
          """GB/s of data with regions of 1 MiB, w = 8[{gpu:if}; in parentheses percent of the XOR-only kernel
          of the same regions. Decode rebuilds min(k, m) lost regions, data and parity in turn. The GPU has
          the matrix as an argument and its regions in memory]; the CPU has its regions in its caches, as far
          as they fit.""",
          rows.sweep, "k = {k}", ("code", "m = {m}, {series}"), CELL, by="k")]

HOST_PAGE = [
    Table("Paths",
          """GB/s of data, and the limit of the call; bench/PROTOCOL.md says what is asked of it. The
          limit has a pass before each of the call's. [{gpu:if}Kernel only: a product of the same shape in
          device memory. Copies only: as many threads as copy for the GPUs, without GPUs. ]CPU seconds are
          those of all threads, up to {threads}, in one pass.""",
          lambda results: rows.calls(results).query("streams == 0"),
          {"call": "{call}", "path": "{path:upper}", "took": "{path_taken:upper}", "GPUs": "{gpus:count}",
           "memory": "{memory}", "GB/s of data": "{data_GBps:rate}", "100 % is": "{bound}",
           "GB/s of that": "{bound_GBps:rate}", "reached": "{reached}",
           "of the better of GPU and ISA-L": "{of_better:.1f} %", "of one GPU": "{of_one:.2f} x",
           "kernel only": "{kernel_GBps:rate}", "copies only": "{copies_GBps:rate}",
           "CPU seconds": "{cpu_seconds:.2f}",
           "spread %": "{spread_percent:.1f}"},
          sort=("operation", "k", "nominal_bytes", "gpus", "path", "memory")),
    Table("Streams",
          """Encode by one GPU with so many chunks under way at a time: GB/s of data; in parentheses percent
          of transfer only, or multiples of the plain copy, which were measured in turns with it; CPU seconds.""",
          lambda results: rows.calls(results).query("streams > 0"), "streams: {streams}",
          ("GB/s of data", "{call}, {memory}"), "{data_GBps:rate}[ ({reached})][; {cpu_seconds:.2f} s]",
          by="streams", sort=("k", "memory")),
    Table("Calls of the Python package",
          """Microseconds of a call on regions of 64 bytes, and of the same call in C; docs/python explains the calls.""",
          "kind == 'python' and operation == 'overhead'",
          {"call": "{call}", "arrays of": "{framework}", "on the": "{where:upper}", "us": "{time_us_median:.2f}",
           "in C, us": "{c_us:.2f}", "more, us": "{more_us:.2f}"}),
    Table("Rates of the Python package", "", "kind == 'python' and operation == 'rate'",
          {"(10, 4) encode": "{call}", "arrays of": "{framework}", "on the": "{where:upper}", "region": "{region}",
           "GB/s of data": "{data_GBps:rate}", "of the C call": "{of_c:.1f} %"}),
    Table("Parity across ranks",
          """Milliseconds, and GB/s of the bytes that a rank sends where a phase only sends; all_to_all_single is the call of
          torch.distributed, and the exchange has the percentage of its rate. docs/distributed explains the phases.""",
          rows.ranks, "{operation}", ("ranks, bytes of each, piece", "{what}"),
          "{ms:.1f}[; {data_GBps:rate} GB/s][ ({percent_of_other:.0f} %)]")]

RECORD_PAGE = [
    Table("Tests", "From tests.txt in this folder.", rows.tests,
          {"stage": "{stage}", "verdict": "{verdict}", "cases": "{all}", "commit": "{commit:.12}",
           "date": "{date}", "on": "{on}", "seconds": "{seconds}"}),
    Table("Runs",
          """The column `run` of the tables names these. [{of_package:if}The runs of the Python package name no commit; the
          section package of tests.txt does. ]All other pages show the first run of those that were made twice.""",
          repeat.runs,
          {"run": "{file}[ ({interrupted})]", "commit": "{commit:.12}", "date": "{date_utc}",
           "date of the second run": "{second_date_utc}", "command": "`{command}`"}),
    Table("The record, twice",
          """The figures of both runs of one commit: percent by which the larger one exceeds the other. The columns second_ of
          the tables have them. The median of all is {of_all:.2f} %.[ On GPUs it is {of_gpu:.2f} %, on the CPU
          {of_cpu:.2f} %.]""", repeat.spreads,
          {"run": "{file}", "figures": "{rows}", "median, %": "{median:.2f}", "beyond 5 %": "{far}"}),
    Table("Figures that differ most", "Of {all} figures that differ by more than 5 %.", repeat.worst,
          {"row": "`{row}`", "run": "{file}", "figure": "{what}", "first": "{first:.4g}", "second": "{again:.4g}",
           "%": "{spread:.1f}", "reason": "{reason}"}),
    Table("The choice",
          """AUTO and the fastest engine of the same run, for each shape and length: percent of the fastest
          engine's rate. Where AUTO and an engine's own row ran the same kernel, the higher of the two rates
          counts for AUTO. Each engine runs the kernel of its own choice.""", repeat.choice,
          {"shapes": "{shapes}", "run": "{run}", "choice": "{which}", "shapes and lengths": "{cells}",
           "more than 3 % slower": "{slower}", "least, % of the fastest": "{least:.1f}"}),
    Table("Choices that are more than 3 % slower", "", repeat.slower,
          {"run": "{run}", "row": "`{row}`", "choice": "{which}", "took": "{engine}", "fastest": "`{id_best}`",
           "% of the fastest": "{reached:.1f}"}),
    Table("Machine", "", rows.machine, {"what": "{what}", "value": "{value}"}),
    Table("Ceilings",
          "Plain kernels that only move bytes: the best of many variants.",
          "kind == 'ceiling' and operation not in ('gather', 'bit_mmas') and id != 'xor_only_few' and state == 'measured'",
          {"kernel": "{operation}[ {shape}]", "data": "{data_bytes:size}", "mode": "{mode}",
           "data GB/s": "{data_GBps:rate}", "traffic GB/s": "{traffic_GBps:rate}",
           "best variant": "{roofline_variant}", "us": "{time_us_median:.2f}",
           "spread %": "{spread_percent:.1f}"},
          sort=("operation", "k", "m", "mode", "data_bytes")),
    Table("Host time of a call",
          """Microseconds that the calling thread spends in gfk_region_multiply or gfk_product_run, and in a
          bare launch of an empty kernel; above it at most {above_bare_us:.2f}. Kernels with a workspace
          launch two; prepared, one.""",
          "kind == 'call' and state == 'measured'",
          {"kernel or engine": "`{id}`", "(k, m)": "{shape}", "call": "{time_us_median:.2f}",
           "bare launch": "{bare_launch_us:.2f}", "above it": "{above_bare_us:.2f}",
           "prepared call": "{prepared_us:.2f}", "prepared, above it": "{prepared_above_bare_us:.2f}"}),
    Table("Rows without a figure, or with a doubtful one",
          """At a slow clock, failed, or skipped; above 101 % of the ceiling, where the ceiling is the best of many kernels.[
          {of_map} rows of the map have more than 101 %: their ceiling is the better of two kernels.]""", rows.doubtful,
          {"row": "`{row}`", "state": "{state}", "reason": "{reason}",
           "% of ceiling": "{percent_of_roofline:.1f}", "% of bound": "{percent_of_bound:.1f}"},
          sort=("state", "reason"))]

PAGES = {"methods": ("Region multiply: methods and widths", METHODS_PAGE),
         "products": ("Products: a matrix times regions", PRODUCTS_PAGE),
         "matrices": ("Matrices in device memory", MATRICES_PAGE),
         "network-coding": ("Network coding", NETWORK_PAGE),
         "codes": ("Reed-Solomon codes", CODES_PAGE), "host-memory": ("Host memory, Python and ranks", HOST_PAGE),
         "record": ("Record of tests and runs", RECORD_PAGE)}
