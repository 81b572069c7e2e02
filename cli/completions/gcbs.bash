# bash completion for gcbs. Installed, or: source <(gcbs completion bash)

_gcbs() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local verbs='order info completion'
    COMPREPLY=()

    case $prev in
        --method) COMPREPLY=($(compgen -W 'rcm cm chain random natural' -- "$cur")); return ;;
        --threshold) COMPREPLY=($(compgen -W 'exact estimate paper' -- "$cur")); return ;;
        --shortcut) COMPREPLY=($(compgen -W 'auto on off' -- "$cur")); return ;;
        --isa) COMPREPLY=($(compgen -W 'amx_int8 avx512_vnni avx2 scalar' -- "$cur")); return ;;
        -k|--batch-size|-m|--neighbours|-q|--quantile|--threads|--seed|--memory-limit) return ;;
    esac

    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$verbs --help --version" -- "$cur"))
        return
    fi

    case ${COMP_WORDS[1]} in
        order)
            if [[ $cur == -* && $prev != -o && $prev != --output && $prev != --edges ]]; then
                COMPREPLY=($(compgen -W '-k --batch-size --method -m --neighbours -q --quantile --threshold
                    --shortcut --normalised --paper -o --output --edges --json --quiet --threads --seed --isa
                    --memory-limit -h --help --version' -- "$cur"))
                return
            fi
            # Folders, and the files that hold embeddings.
            local IFS=$'\n'
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -d -- "$cur") $(compgen -f -X '!*.npy' -- "$cur")
                $(compgen -f -X '!*.safetensors' -- "$cur"))
            ;;
        info) COMPREPLY=($(compgen -W '--json -h --help --version' -- "$cur")) ;;
        completion) COMPREPLY=($(compgen -W 'bash zsh -h --help --version' -- "$cur")) ;;
    esac
}
complete -F _gcbs gcbs
