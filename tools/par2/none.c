/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of all of par2 that was left out of the build. */
#include "../gfk/options.h"
#include "../gfk/report.h"
#include "par2.h"

int command_par2(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return fail(PAR2_INTERNAL, "this gfk was built without gfk par2, which needs OpenSSL and zlib");
}
