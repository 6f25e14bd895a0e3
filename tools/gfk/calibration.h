/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the tool keeps what gfk_calibrate measured. */
#ifndef GFK_TOOL_CALIBRATION_H
#define GFK_TOOL_CALIBRATION_H

#include <stdbool.h>

enum { CALIBRATION_FILE_BYTES = 4096 };

/* $XDG_CACHE_HOME/gfk/calibration, or that in $HOME/.cache. False: there is no such place. */
bool calibration_file(char path[CALIBRATION_FILE_BYTES]);

#endif
