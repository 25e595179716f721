# One man page out of what walk.sh prints: awk -v day=YYYY-MM-DD -f man.awk
# Options that all commands of a group share stand once, under COMMON OPTIONS.

function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}
# Words are put into lines of at most 78 bytes; one that begins like a request is guarded.
function put(text,    word, count, i, line) {
    count = split(escape(text), word, " ")
    line = ""
    for (i = 1; i <= count; i++) {
        if (line != "" && length(line) + length(word[i]) > 76) {
            print line
            line = ""
        }
        if (line == "" && word[i] ~ /^[.']/)
            word[i] = "\\&" word[i]
        line = line == "" ? word[i] : line " " word[i]
    }
    if (line != "")
        print line
}
function literal(text) {
    text = escape(text)
    sub(/ +$/, "", text)
    return text ~ /^[.']/ ? "\\&" text : text
}
function close_literal() {
    if (in_literal)
        print ".fi\n.RE"
    in_literal = 0
}
function flush_option() {
    if (option == "")
        return
    print ".TP"
    print "\\fB" escape(option) "\\fR"
    put(option_help)
    option = ""
}
function is_common(text) {
    return text ~ /--(config|dir|json|color)(=|$)/ && program == "kroo" || text ~ /--(help|usage|version)$/
}
# A paragraph macro right behind a heading would be one too many.
function paragraph() {
    if (fresh_heading)
        fresh_heading = 0
    else
        print ".PP"
}
function begin_page() {
    print ".\\\" Made from the programs' --help."
    printf ".TH %s 1 %s Kroo \"Kroo manual\"\n", toupper(escape(program)), day
    print ".SH NAME"
}
function finish() {
    flush_option()
    close_literal()
}

/^@@ / {
    finish()
    title = substr($0, 4)
    depth = split(title, path, " ")
    if (depth == 1)
        program = path[1]
    usages = 0
    state = "usage"
    blank = 0
    next
}
state == "usage" && /^(Usage:|  or:|       [a-z])/ {
    text = $0
    sub(/^(Usage:|  or:)? */, "", text)
    usage[++usages] = text
    next
}
state == "usage" {
    # The first line behind the usage is what the command is for.
    state = "body"
    if (depth == 1) {
        begin_page()
        print escape(program) " \\- " names[program]
        print ".SH SYNOPSIS"
    } else {
        if (depth == 2 && !in_commands) {
            print ".SH COMMANDS"
            in_commands = 1
        }
        print ".SS " (title ~ / / ? "\"" escape(title) "\"" : escape(title))
    }
    for (i = 1; i <= usages; i++) {
        if (i > 1)
            print ".br"
        put(usage[i])
    }
    if (depth == 1) {
        print ".SH DESCRIPTION"
        fresh_heading = 1
    }
    if ($0 == "")
        next
    paragraph()
    put($0)
    next
}
# Once, at the end of the page.
/^Exit status: [0-9][^.]*\.$/ && (depth == 1 || $0 == exit_line) {
    exit_line = $0
    exits = substr($0, length("Exit status: ") + 1)
    sub(/\.$/, "", exits)
    next
}
/^ *$/ {
    flush_option()
    close_literal()
    blank = 1
    next
}
/^Mandatory or optional arguments to long options/ { next }
/^ +(-[^ ], )?--[^ ]/ || /^ +-[^ ] / {
    flush_option()
    close_literal()
    match($0, /^ +((-[^ ], )?--[^ ]+|-[^ ])/)
    found = substr($0, 1, RLENGTH)
    sub(/^ +/, "", found)
    option_help = substr($0, RSTART + RLENGTH)
    sub(/^ +/, "", option_help)
    fresh_heading = 0
    blank = 0
    if (depth > 1 && is_common(found)) {
        skipping = 1
        if (!(found in common))
            common_order[++commons] = found
        common[found] = option_help
        next
    }
    skipping = 0
    option = found
    next
}
/^ {20}/ && (option != "" || skipping) {
    more = $0
    sub(/^ +/, "", more)
    if (!skipping)
        option_help = option_help " " more
    next
}
# The list of a group's commands: a definition each.
/^  [a-z][a-z-]*( [A-Z]+)?  +[^ ]/ && !in_literal {
    flush_option()
    match($0, /^  [a-z][a-z-]*( [A-Z]+)?  +/)
    word = substr($0, 3, RLENGTH - 2)
    sub(/ +$/, "", word)
    print ".TP\n\\fB" escape(word) "\\fR"
    fresh_heading = 0
    put(substr($0, RLENGTH + 1))
    blank = 0
    next
}
/^[ {]/ || in_literal {
    flush_option()
    if (!in_literal)
        print ".RS\n.nf"
    fresh_heading = 0
    in_literal = 1
    text = $0
    sub(/^  /, "", text)
    print literal(text)
    blank = 0
    next
}
{
    flush_option()
    if (blank)
        paragraph()
    fresh_heading = 0
    blank = 0
    put($0)
}
END {
    finish()
    if (commons) {
        print ".SH COMMON OPTIONS"
        for (i = 1; i <= commons; i++) {
            option = common_order[i]
            option_help = common[option]
            flush_option()
        }
    }
    if (exits != "") {
        print ".SH EXIT STATUS"
        count = split(exits, status, ", ")
        for (i = 1; i <= count; i++) {
            match(status[i], /^[0-9]+ /)
            print ".TP\n\\fB" substr(status[i], 1, RLENGTH - 1) "\\fR"
            put(substr(status[i], RLENGTH + 1))
        }
    }
    print ".SH SEE ALSO"
    count = split("kroo kroo-coordinator kroo-engine kroo-train kroo-worker", all, " ")
    line = ""
    for (i = 1; i <= count; i++)
        if (all[i] != program)
            line = line (line == "" ? "" : ",\n") ".BR " escape(all[i]) " (1)"
    gsub(/\(1\),/, "(1),", line)
    print line
}
BEGIN {
    names["kroo"] = "oware on a cluster: self\\-play, learning, and matches that prove it"
    names["kroo-coordinator"] = "hand out work, replay every game, commit it, acknowledge it"
    names["kroo-worker"] = "play leased pairs of a Kroo coordinator and return them"
    names["kroo-train"] = "make weights out of games"
    names["kroo-engine"] = "an oware player, and the engine's tools"
}
