# bash completion for gcbs. Installed, or: source <(gcbs completion bash)

_gcbs() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local verbs='order gap compare mine info completion'
    COMPREPLY=()

    case $prev in
        --objective) COMPREPLY=($(compgen -W 'loss similarity edges' -- "$cur")); return ;;
        --effort) COMPREPLY=($(compgen -W 'fast default best' -- "$cur")); return ;;
        --method) COMPREPLY=($(compgen -W 'rcm cm chain pack random natural' -- "$cur")); return ;;
        --threshold) COMPREPLY=($(compgen -W 'exact estimate paper' -- "$cur")); return ;;
        --shortcut) COMPREPLY=($(compgen -W 'auto on off' -- "$cur")); return ;;
        --direction) COMPREPLY=($(compgen -W 'x y both' -- "$cur")); return ;;
        --form) COMPREPLY=($(compgen -W 'clip simclr' -- "$cur")); return ;;
        --isa) COMPREPLY=($(compgen -W 'amx_int8 avx512_vnni avx2 scalar' -- "$cur")); return ;;
        -k|--batch-size|-m|--neighbours|-q|--quantile|--threads|--seed|--memory-limit) return ;;
        --block|--random-share|--epoch|--extra) return ;;
        --methods|--temperature|--random-trials|--top|--skip-top) return ;;
        --relative-margin|--absolute-margin|--max-score|--min-score) return ;;
        --reorder|--reordered)
            local IFS=$'\n'
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$cur"))
            return
            ;;
    esac

    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$verbs --help --version" -- "$cur"))
        return
    fi

    local run='--json --quiet --threads --isa --memory-limit -h --help --version'
    local graph='-k --batch-size -m --neighbours -q --quantile --threshold --shortcut --normalised --seed'
    local filter='--groups --relative-margin --absolute-margin --max-score'
    local pairs="$filter --symmetric --guide-x --guide-y --skip-top"
    local batches='--block --random-share --epoch --extra --objective --effort --from'
    local loss='--order --random-trials --temperature --direction --form --negatives'
    local flags
    case ${COMP_WORDS[1]} in
        order) flags="$graph $batches $pairs --method --temperature --paper -o --output --edges --extra-output --reorder --reordered --no-verdict $run" ;;
        gap) flags="$graph $batches $loss $pairs --method --per-batch $run" ;;
        compare) flags="$graph $batches $loss $pairs --methods $run" ;;
        mine) flags="--top --skip-top --corpus --positives $filter --min-score --normalised -o --output --scores $run" ;;
    esac

    case ${COMP_WORDS[1]} in
        order|gap|compare|mine)
            if [[ $cur == -* && $prev != -o && $prev != --output && $prev != --edges && $prev != --extra-output ]]; then
                COMPREPLY=($(compgen -W "$flags" -- "$cur"))
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
