# SPDX-License-Identifier: BSD-3-Clause
"""The plot of calls on host memory, as SVG."""

import report_drawing as drawing
import report_host as host


def draw_streams(rows, folder):
    """A panel for each code; what bounds a line is drawn in its colour, dotted."""
    cases = {}
    for found in host.sweep_series(host.Calls(rows)):
        cases.setdefault(next(iter(found.values())).stem, []).append(found)
    if not cases:
        return None
    figure, axes = drawing.figure_of(1, len(cases), 4.2 * len(cases), 3.4, sharey=True)
    for axis, series in zip(axes[0], cases.values()):
        for found in series:
            one = next(iter(found.values()))
            style = ("pinned", "pageable").index(one.where)
            drawing.line(axis, [(streams, call.gbps) for streams, call in found.items()], style,
                         one.where)
            axis.plot(list(found), [call.bound for call in found.values()], linestyle=":",
                      color=drawing.LINES[style][0], label=host.BOUNDS["gpu", one.where])
        counts = sorted({streams for found in series for streams in found})
        axis.set_xscale("log", base=2)
        axis.set_xticks(counts, counts)
        axis.grid(color="0.85", linewidth=0.5)
        axis.set_title(host.case_text(one), fontsize=9)
        axis.set_xlabel("streams (logarithmic)")
    axes[0, 0].set_ylabel("GB/s of data")
    axes[0, 0].set_ylim(bottom=0)  # of all panels, and now that all lines are there
    legend = {label: handle for axis in axes[0]
              for handle, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(legend.values(), legend, loc="outside lower center", ncol=4, frameon=False)
    figure.suptitle("Encode from host memory by one GPU, w = 8")
    return drawing.save(figure, folder, "host_streams.svg")


def draw(rows, folder):
    """The plot by the heading under which it stands."""
    name = draw_streams(rows, folder)
    return {"Host memory: streams": name} if name else {}
