/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the panel's kernels. */
#pragma once

#include "host/matrix/eliminate.h"

namespace gfk {
namespace matrix {

struct PanelJob {
    const uint8_t *matrix;
    size_t pitch; /* bytes */
    uint32_t cols, first, rows;
    uint32_t polynomial; /* replicated, without its leading term */
    uint8_t *used, *transform;
    uint32_t *pivots;
    uint32_t *rank;
    gfk_inverter inverter;
};

/* panel.cu */
gfk_status run_panel(unsigned w, const PanelJob &job, gfk_stream_t stream);

} // namespace matrix
} // namespace gfk
