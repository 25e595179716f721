# Draws a table as lines: the first column against each of the others, from nought.
#   awk -F, -f tests/bench/plot.awk TABLE.csv >PICTURE.svg
# The table's first line, after a #, is the title, its second names the columns; an empty field was not measured.
function at_x(value) { return 70 + 500 * value / most_x }
function at_y(value) { return 270 - 220 * value / most_y }
function put(x, y, anchor, colour, text) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, colour, text
}
# A round number of which four or more make `most`.
function step(most,    unit) {
    unit = 10 ^ int(log(most) / log(10) + 1e-9)
    return most / unit >= 4 ? unit : most / unit >= 2 ? unit / 2 : unit / 4
}
function grouped(value,    text, out) {
    for (text = value ""; length(text) > 3; text = substr(text, 1, length(text) - 3))
        out = "," substr(text, length(text) - 2) out
    return text out
}
NR == 1 { title = substr($0, 3); next }
NR == 2 { columns = NF; for (i = 1; i <= NF; i++) name[i] = $i; next }
{
    x[++rows] = $1
    if ($1 > most_x) most_x = $1
    for (i = 2; i <= columns; i++) {
        y[rows, i] = $i
        if ($i != "" && $i + 0 > most_y) most_y = $i + 0
    }
}
END {
    split("#2f7f4f #b4552d #3a6ea5 #8a5a9e", colours, " ")
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 330\" font-family=\"sans-serif\" font-size=\"12\">"
    printf "<title>%s</title>\n<rect width=\"640\" height=\"330\" fill=\"#fff\"/>\n", title
    put(70, 24, "start", "#222", title)
    for (value = 0; value <= most_y * 1.0001; value += step(most_y)) {
        printf "<path d=\"M70 %.1fH570\" stroke=\"#ddd\"/>\n", at_y(value)
        put(64, at_y(value) + 4, "end", "#555", grouped(value))
    }
    for (value = 0; value <= most_x * 1.0001; value += step(most_x)) put(at_x(value), 288, "middle", "#555", grouped(value))
    put(320, 306, "middle", "#555", name[1])
    for (i = 2; i <= columns; i++) {
        path = ""
        for (r = 1; r <= rows; r++)
            if (y[r, i] != "") path = path sprintf("%s%.1f %.1f", path == "" ? "M" : "L", at_x(x[r]), at_y(y[r, i]))
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colours[i - 1]
        put(76 + (i - 2) * 240, 322, "start", colours[i - 1], name[i])
    }
    print "</svg>"
}
