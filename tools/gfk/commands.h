/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of the tool. argv[0] is the command's name. Each function returns an exit code. */
#ifndef GFK_TOOL_COMMANDS_H
#define GFK_TOOL_COMMANDS_H

int command_encode(int argc, char **argv);
int command_decode(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_repair(int argc, char **argv);
int command_info(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_advise(int argc, char **argv);
int command_mul(int argc, char **argv);
int command_div(int argc, char **argv);
int command_methods(int argc, char **argv);
int command_unit(int argc, char **argv);
int command_time(int argc, char **argv);

#endif
