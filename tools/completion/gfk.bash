# SPDX-License-Identifier: BSD-3-Clause
# Completion of gfk for bash: the program itself lists what a word can become.

_gfk() {
    local words=() last=${COMP_WORDS[COMP_CWORD]} i word line
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]//\\/}
        # bash cuts --option=value into three words.
        if ((i > 2)) && [[ $word == = || ${COMP_WORDS[i - 1]} == = ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    [ "$last" != = ] || last=
    word=${words[${#words[@]} - 1]}
    local before=$((${#word} - ${#last})) # what stays in front of the word that bash replaces
    [[ $last != *\\* ]] || before=0
    COMPREPLY=()
    while IFS= read -r line; do
        if [ "$line" = $'\tfiles' ]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$last")
        else
            line=${line%%$'\t'*}
            COMPREPLY+=("${line:before}")
        fi
    done < <("${COMP_WORDS[0]}" help --complete "${words[@]}" 2>/dev/null)
}
complete -o filenames -F _gfk gfk
