/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of this machine, which tell whether a calibration was measured on it. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "pipeline.h"

enum { NAME = sizeof((gfk_calibration *)0)->host };

/* Sets a name of one line that is not empty and has no blanks at its ends. */
static void set_name(char *name, const char *text) {
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = 0;
    for (; text[length] != 0 && text[length] != '\n' && length < NAME - 1; length++)
        name[length] =
            (unsigned char)text[length] < ' ' || text[length] == 127 ? '?' : text[length];
    while (length > 0 && name[length - 1] == ' ')
        length--;
    memset(name + length, 0, NAME - length);
    if (length == 0)
        memcpy(name, "unknown", sizeof "unknown");
}

/* Linux has the processor's name in this file on some architectures. */
static void set_processor(char *name, const char *otherwise) {
    set_name(name, otherwise);
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", strlen("model name")) == 0) {
            set_name(name, colon + 1);
            break;
        }
    }
    (void)fclose(file);
}

void gfk_machine_describe(gfk_calibration *calibration, const gfk_pipeline_info *info) {
    struct utsname system;
    const bool known = uname(&system) >= 0;
    set_name(calibration->host, known ? system.nodename : "");
    set_processor(calibration->processor, known ? system.machine : "");
    calibration->threads = info->threads;
    calibration->device_count = info->device_count;
    for (size_t i = 0; i < info->device_count; i++) {
        char name[256] = "";
        (void)gfk_device_name(info->devices[i], name, sizeof name);
        set_name(calibration->devices[i], name);
    }
}

bool gfk_machine_fits(const gfk_calibration *calibration, const gfk_pipeline_info *info) {
    gfk_calibration here = {.threads = 0};
    gfk_machine_describe(&here, info);
    if (strcmp(here.host, calibration->host) != 0 ||
        strcmp(here.processor, calibration->processor) != 0 ||
        here.threads != calibration->threads || here.device_count != calibration->device_count)
        return false;
    for (size_t i = 0; i < here.device_count; i++)
        if (strcmp(here.devices[i], calibration->devices[i]) != 0)
            return false;
    return true;
}
