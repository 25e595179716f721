# Completion for a shell out of what walk.sh prints for one program or more: awk -v shell=bash|zsh -f completion.awk
# A table of what may follow each command: the words below it, its long options, and which names (`kroo names KIND`)
# it takes, by what its usage calls them.

BEGIN {
    split("ID experiments WORKER workers W weights A weights TOURNAMENT tournaments NAME|ID tournaments ID|TOURNAMENT running", pair, " ")
    for (i = 1; i in pair; i += 2)
        called[pair[i]] = pair[i + 1]
    split("pool pools loop loops book books engine engines key keys tournament tournaments query queries", pair, " ")
    for (i = 1; i in pair; i += 2)
        named[pair[i]] = pair[i + 1]
    split("weights weights engine engines engine-a engines engine-b engines book books tables tables tables-a tables tables-b tables adjudicate tables preset presets experiment experiments", pair, " ")
    for (i = 1; i in pair; i += 2)
        values[pair[i]] = pair[i + 1]
}
/^Usage: kroo / && depth > 1 {
    rest = $0
    sub(/^.*\[OPTION\.\.\.\] ?/, "", rest)
    sub(/ .*/, "", rest)
    gsub(/[][]/, "", rest)
    if (rest in called)
        kind[path] = called[rest]
    else if (rest == "NAME" && word[2] in named && word[depth] !~ /^(new|allow|run|make|add)$/)
        kind[path] = named[word[2]]
}

/^@@ / {
    path = substr($0, 4)
    depth = split(path, word, " ")
    if (depth == 1)
        programs = programs " " path
    else {
        parent = word[1]
        for (i = 2; i < depth; i++)
            parent = parent " " word[i]
        below[parent] = below[parent] " " word[depth]
    }
    order[++paths] = path
    next
}
/^ +(-[^ ], )?--[a-z]/ {
    match($0, /--[a-z][a-z0-9-]*(=|$| )/)
    text = substr($0, RSTART, RLENGTH)
    sub(/ $/, "", text)
    if (text != "--usage")
        options[path] = options[path] " " text
}
END {
    if (shell == "zsh")
        print "#compdef" programs
    print "# Made from the programs' --help."
    print "_kroo_words() {\n    case $1 in"
    for (i = 1; i <= paths; i++) {
        text = below[order[i]] options[order[i]]
        sub(/^ /, "", text)
        printf "    \"%s\") echo \"%s\" ;;\n", order[i], text
    }
    print "    esac\n}"
    print "# Which names a command takes, and which an option."
    print "_kroo_kind() {\n    case $1 in"
    for (i = 1; i <= paths; i++)
        if (order[i] in kind)
            printf "    \"%s\") echo %s ;;\n", order[i], kind[order[i]]
    for (option in values)
        printf "    --%s) echo %s ;;\n", option, values[option] | "LC_ALL=C sort"
    close("LC_ALL=C sort")
    print "    esac\n}"
    print "_kroo_names() { [ -z \"$1\" ] || timeout 2 kroo names \"$1\" 2>/dev/null; }"
    if (shell == "bash") {
        print "_kroo() {"
        print "    local path=${COMP_WORDS[0]##*/} cur=${COMP_WORDS[COMP_CWORD]} at"
        print "    for ((at = 1; at < COMP_CWORD; at++)); do"
        print "        [ -z \"$(_kroo_words \"$path ${COMP_WORDS[at]}\")\" ] || path=\"$path ${COMP_WORDS[at]}\""
        print "    done"
        print "    COMPREPLY=()"
        print "    # Behind an option's `=` its names, if it has some; there, and where no word fits, readline completes files."
        print "    local option="
        print "    [[ $cur != = ]] || { option=${COMP_WORDS[COMP_CWORD - 1]} cur=; }"
        print "    [[ ${COMP_WORDS[COMP_CWORD - 1]} != = ]] || option=${COMP_WORDS[COMP_CWORD - 2]}"
        print "    if [[ -n $option ]]; then"
        print "        mapfile -t COMPREPLY < <(compgen -W \"$(_kroo_names \"$(_kroo_kind \"$option\")\")\" -- \"$cur\")"
        print "        return 0"
        print "    fi"
        print "    local names=; [[ $cur == -* ]] || names=$(_kroo_names \"$(_kroo_kind \"$path\")\")"
        print "    mapfile -t COMPREPLY < <(compgen -W \"$names $(_kroo_words \"$path\")\" -- \"$cur\")"
        print "    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace"
        print "}"
        print "complete -o bashdefault -o default -F _kroo" programs
    } else {
        print "local path_=${words[1]:t} word"
        print "for word in ${words[2,CURRENT-1]}; do"
        print "    [[ -z $(_kroo_words \"$path_ $word\") ]] || path_=\"$path_ $word\""
        print "done"
        print "local -a found"
        print "if [[ $PREFIX == --*=* ]] && [[ -n $(_kroo_kind ${PREFIX%%=*}) ]]; then"
        print "    found=(${=$(_kroo_names $(_kroo_kind ${PREFIX%%=*}))})"
        print "    compset -P '*='"
        print "    compadd -- $found"
        print "    return"
        print "fi"
        print "found=(${=$(_kroo_words \"$path_\")})"
        print "[[ $PREFIX == -* ]] || found+=(${=$(_kroo_names $(_kroo_kind \"$path_\"))})"
        print "compadd -S '' -- ${(M)found:#*=}"
        print "compadd -- ${found:#*=} || _files"
    }
}
