/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk par2 in a build without an MD5 library. */
#include <stdio.h>
#include <string.h>

#include "../gfk/options.h"
#include "../gfk/report.h"
#include "par2.h"

#define LEFT_OUT "this gfk was built without gfk par2, which needs OpenSSL and zlib"

int command_par2(int argc, char **argv) {
    if (argc != 2 || (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0))
        return fail(PAR2_INTERNAL, "%s", LEFT_OUT);
    printf("usage: gfk par2\n\nNot here: %s.\n", LEFT_OUT);
    return TOOL_OK;
}
