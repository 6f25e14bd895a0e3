/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk help --complete: what a word of the command line can become. A line is a candidate for the
 * whole word, a tab and a description, or a tab and "files" where the shell completes files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"
#include "folder.h"
#include "options.h"
#include "report.h"
#include "shard_set.h"

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool has_control(const char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

static void offer(const char *candidate, const char *word, const char *text) {
    if (begins(candidate, word))
        printf("%s\t%s\n", candidate, text);
}

/* ---- names ---------------------------------------------------------------------------------- */

typedef struct names {
    const char *word; /* the word that is to be completed */
    size_t name;      /* characters of the word in front of the last name of its path */
    const char *last; /* the base offered last: sorted shards of a base follow each other */
    size_t last_length;
    bool bases, shards; /* what is offered beside folders */
} names;

static void offer_entry(names *n, folder *in, const char *entry) {
    size_t base_length = 0;
    uint32_t index = 0;
    struct stat status;
    const char *begin = n->word + n->name;
    if (!begins(entry, begin) || (entry[0] == '.' && begin[0] != '.') || has_control(entry) ||
        (!n->bases && strchr(entry, ',') != NULL))
        return; /* a line of the answer cannot have a name with a tab or the end of a line */
    if (fstatat(folder_fd(in), entry, &status, 0) == 0 && S_ISDIR(status.st_mode)) {
        printf("%.*s%s/\t\n", (int)n->name, n->word, entry);
    } else if (n->bases && shard_name_parse(entry, strlen(entry), &base_length, &index)) {
        if (n->shards)
            printf("%.*s%s\tshard\n", (int)n->name, n->word, entry);
        else if (strlen(begin) <= base_length &&
                 (base_length != n->last_length || memcmp(n->last, entry, base_length) != 0)) {
            printf("%.*s%.*s\tbase\n", (int)n->name, n->word, (int)base_length, entry);
            n->last = entry;
            n->last_length = base_length;
        }
    }
}

/* Offers folders and, with `bases`, the bases of shards; shards only behind BASE.gfk. The path
 * begins behind the first `before` characters of the word. */
static int offer_names(const char *word, size_t before, bool bases) {
    names n = {.word = word, .bases = bases};
    const char *path = word + before, *home = getenv("HOME");
    n.name = (size_t)(path_name(path) - word);
    n.shards = strstr(word + n.name, ".gfk.") != NULL;
    char *before_name = path_folder(path);
    if (before_name != NULL && home != NULL && begins(before_name, "~") &&
        (before_name[1] | '/') == '/') {
        char *there = before_name[1] == '\0' ? strdup(home) : path_join(home, before_name + 2);
        free(before_name);
        before_name = there;
    }
    folder *in = NULL;
    folder_entries list = {0};
    int error = before_name == NULL ? ENOMEM : folder_open(&in, before_name);
    if (error == 0)
        error = folder_read(in, &list);
    for (size_t i = 0; i < list.count && error != ENOMEM; i++)
        offer_entry(&n, in, list.entries[i].name);
    folder_entries_free(&list);
    free(before_name);
    return error == ENOMEM ? no_memory() : 0;
}

/* ---- options -------------------------------------------------------------------------------- */

/* The option with an argument that a word names, if the word is an option of the command. */
static const option_row *option_of(unsigned command, const char *word, size_t length) {
    const option_row *row = NULL;
    for (size_t i = 0; (row = option_at(i)) != NULL; i++)
        if ((row->commands & command) != 0 && row->argument != NULL &&
            ((length == 2 && word[0] == '-' && row->letter != 0 && word[1] == row->letter) ||
             (length == strlen(row->name) + 2 && begins(word, "--") &&
              memcmp(word + 2, row->name, length - 2) == 0)))
            return row;
    return NULL;
}

/* Offers values of an option. The value begins behind the first `before` characters of the word. */
static int offer_values(const option_row *row, const char *word, size_t before) {
    if (strchr(row->argument, '|') != NULL) {
        for (const char *value = row->argument; value != NULL;) {
            const size_t length = strcspn(value, "|");
            if (strlen(word + before) <= length && begins(value, word + before))
                printf("%.*s%.*s\t\n", (int)before, word, (int)length, value);
            value = value[length] == '\0' ? NULL : value + length + 1;
        }
    } else if (begins(row->argument, "DIR")) {
        const char *comma = strrchr(word + before, ',');
        return offer_names(word, comma == NULL ? before : (size_t)(comma + 1 - word), false);
    } else if (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "BASE") == 0) {
        puts("\tfiles");
    }
    return 0;
}

static void offer_options(unsigned command, const char *word) {
    const option_row *row = NULL;
    char option[64];
    for (size_t i = 0; (row = option_at(i)) != NULL; i++) {
        if ((row->commands & command) == 0)
            continue;
        snprintf(option, sizeof option, "--%s", row->name);
        offer(option, word, row->help);
        snprintf(option, sizeof option, "-%c", row->letter);
        if (row->letter != 0 && !begins(word, "--"))
            offer(option, word, row->help);
    }
}

static void offer_commands(const char *word) {
    const tool_command *command = NULL;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        offer(command->name, word, command->text);
}

static int offer_arguments(unsigned command, const char *word, bool first) {
    enum { SETS = COMMAND_DECODE | COMMAND_VERIFY | COMMAND_REPAIR | COMMAND_INFO };
    if (command == COMMAND_ENCODE)
        puts("\tfiles");
    else if ((command & SETS) != 0)
        return offer_names(word, 0, true);
    else if (command == COMMAND_SCRUB)
        return offer_names(word, 0, false);
    else if (command == COMMAND_HELP && first)
        offer_commands(word);
    else if (command == COMMAND_METHODS && first)
        for (size_t i = 0; i < 3; i++)
            offer((const char *const[]){"8", "16", "32"}[i], word, "bits of a symbol");
    return 0;
}

int complete(size_t count, char *const *words) {
    const char *word = words[count - 1], *previous = count > 2 ? words[count - 2] : "";
    const tool_command *command = count > 1 ? command_find(words[0]) : NULL;
    bool ended = false; /* "--": only arguments follow */
    for (size_t i = 1; i + 1 < count; i++)
        ended = ended || strcmp(words[i], "--") == 0;
    if (count == 1) {
        offer_commands(word);
        offer("--help", word, "the commands");
        offer("--version", word, "the version");
    } else if (command != NULL) {
        const size_t name = strcspn(word, "=");
        const bool joined = word[name] == '='; /* --option=value */
        const option_row *row = ended    ? NULL
                                : joined ? option_of(command->bit, word, name)
                                         : option_of(command->bit, previous, strlen(previous));
        if (row != NULL)
            return offer_values(row, word, joined ? name + 1 : 0);
        else if (word[0] == '-' && !ended)
            offer_options(command->bit, word);
        else
            return offer_arguments(command->bit, word, count == 2);
    }
    return 0;
}
