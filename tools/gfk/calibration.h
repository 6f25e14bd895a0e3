/* SPDX-License-Identifier: BSD-3-Clause */
/* The file in which the tool keeps the measurements of gfk_calibrate. */
#ifndef GFK_TOOL_CALIBRATION_H
#define GFK_TOOL_CALIBRATION_H

#include <stdbool.h>

enum { CALIBRATION_FILE_BYTES = 4096 };

/* Writes the path $XDG_CACHE_HOME/gfk/calibration or $HOME/.cache/gfk/calibration. False if
 * neither variable gives a usable path. */
bool calibration_file(char path[CALIBRATION_FILE_BYTES]);

#endif
