/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk help --options: commands and options as lines of fields with tabs between them: the command, an option or -, its
 * letter or -, its argument (a name, or its values with | between them) or -, and a text. The build puts the lines into
 * the completions of shells (tools/completion), which ask no program, and into the man page (tools/man). */
#include <stdio.h>

#include "options.h"

void print_options(void) {
    const tool_command *command = NULL;
    const option_row *row = NULL;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        printf("%s\t-\t-\t-\t%s\n", command->name, command->text);
        for (size_t j = 0; (row = option_at(j)) != NULL; j++) {
            const char letter[] = {'-', row->letter, '\0'}; /* "-" for none */
            if ((row->commands & command->bit) != 0)
                printf("%s\t--%s\t%s\t%s\t%s\n", command->name, row->name, letter,
                       row->argument == NULL ? "-" : row->argument, row->help);
        }
    }
}
