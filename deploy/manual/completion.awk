# Completion for a shell out of what walk.sh prints for one program or more: awk -v shell=bash|zsh -f completion.awk
# A table of what may follow each command: the words below it, and its long options.

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
    if (shell == "bash") {
        print "_kroo() {"
        print "    local path=${COMP_WORDS[0]##*/} cur=${COMP_WORDS[COMP_CWORD]} at"
        print "    for ((at = 1; at < COMP_CWORD; at++)); do"
        print "        [ -z \"$(_kroo_words \"$path ${COMP_WORDS[at]}\")\" ] || path=\"$path ${COMP_WORDS[at]}\""
        print "    done"
        print "    COMPREPLY=()"
        print "    # Behind an option's `=`, and where no word fits, readline completes files."
        print "    [[ $cur != = && ${COMP_WORDS[COMP_CWORD - 1]} != = ]] || return 0"
        print "    mapfile -t COMPREPLY < <(compgen -W \"$(_kroo_words \"$path\")\" -- \"$cur\")"
        print "    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace"
        print "}"
        print "complete -o bashdefault -o default -F _kroo" programs
    } else {
        print "local path_=${words[1]:t} word"
        print "for word in ${words[2,CURRENT-1]}; do"
        print "    [[ -z $(_kroo_words \"$path_ $word\") ]] || path_=\"$path_ $word\""
        print "done"
        print "local -a found; found=(${=$(_kroo_words \"$path_\")})"
        print "compadd -S '' -- ${(M)found:#*=}"
        print "compadd -- ${found:#*=} || _files"
    }
}
