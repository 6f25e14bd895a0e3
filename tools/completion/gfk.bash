# SPDX-License-Identifier: BSD-3-Clause
# Completion of gfk for bash.

_gfk() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="encode decode verify repair scrub info calibrate advise mul div methods unit time"
    local computing="--backend --device --memory --json --quiet --help -q"
    local words=

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$current")
        return
    fi
    case $previous in
    --matrix) words="cauchy vandermonde reed_sol_van cauchy_good gen_rs gen_cauchy1" ;;
    --backend) words="auto cuda host" ;;
    --width | -w) words="8 16 32" ;;
    --output | -o)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    --to | --in)
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    --data | -k | --parity | -m | --polynomial | --block-size | --device | --memory | --search) return ;;
    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        return
    fi
    case ${COMP_WORDS[1]} in
    encode)
        words="--data --parity --width --polynomial --matrix --block-size --output --to --force"
        words="$words -k -m -w -o -f $computing"
        ;;
    decode) words="--output --in --force --search -o -f $computing" ;;
    verify) words="--in --search $computing" ;;
    repair) words="--in --to --force --search -f $computing" ;;
    scrub) words="--repair --force --search -f $computing" ;;
    info) words="--in --json --quiet --help -q" ;;
    calibrate) words="--data --parity --width -k -m -w --device --json --quiet --help -q" ;;
    advise) words="--data --parity --width -k -m -w --json --help" ;;
    methods) words="8 16 32 --json --help" ;;
    mul | div | unit | time) words="--help" ;;
    esac
    if [[ $current == -* || ${COMP_WORDS[1]} == methods ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        return
    fi
    case ${COMP_WORDS[1]} in
    encode) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    scrub) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    decode | verify | repair | info)
        # The bases of the shards that are there, and the shards.
        local shards
        mapfile -t shards < <(compgen -G "$current*.gfk.[0-9][0-9][0-9]*")
        mapfile -t COMPREPLY < <(printf '%s\n' "${shards[@]%.gfk.*}" "${shards[@]}" | sort -u |
            sed '/^$/d')
        ;;
    esac
}
complete -o filenames -F _gfk gfk
