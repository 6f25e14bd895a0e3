#compdef gfk
# SPDX-License-Identifier: BSD-3-Clause
# Completion of gfk for zsh: the program itself lists what a word can become.

local line
local -a lines words_ folders shown
lines=("${(@f)$("${(Q)words[1]}" help --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
for line in $lines; do
    if [[ $line == $'\tfiles' ]]; then
        compset -P '--[a-z-]#='
        _files
    elif [[ $line == */$'\t' ]]; then
        folders+=("${line%%$'\t'*}")
    else
        words_+=("${line%%$'\t'*}")
        shown+=("${${line/$'\t'/  -- }%  -- }")
    fi
done
(( ! $#words_ )) || compadd -l -d shown -a words_
(( ! $#folders )) || compadd -q -S '' -a folders
