# SPDX-License-Identifier: BSD-3-Clause
# Completion of gfk for fish: the program itself lists what a word can become.

function __gfk_complete
    set -l words (commandline -opc)
    set -l word (string unescape -- (commandline -ct))
    for line in ($words[1] help --complete $words[2..-1] "$word" 2>/dev/null)
        if test "$line" = \tfiles
            set -l option "$(string match -r -- '^--[a-z-]+=' "$word")" # --output= in front of a file
            printf '%s\n' $option(__fish_complete_path (string replace -- "$option" '' "$word"))
        else
            printf '%s\n' $line
        end
    end
end
complete -c gfk -f -a '(__gfk_complete)'
