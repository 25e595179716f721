#include "proto/weights_text.h"

#include <stdlib.h>
#include <string.h>

/* --- a C header --- */

static const char c_head[] =
    "/* %s: weights of an oware evaluation, exported by Kroo.\n"
    " *   sha256 of the file  %s\n"
    " *   kind                %s\n"
    " *   rules               %s\n"
    " *   parent              %s\n"
    " * Compile with -DKROO_WEIGHTS_MAIN for a program that checks the %d test positions:\n"
    " *   cc -x c -DKROO_WEIGHTS_MAIN weights.h -o check && ./check\n"
    " */\n"
    "#ifndef KROO_WEIGHTS_H\n"
    "#define KROO_WEIGHTS_H\n"
    "#include <stdint.h>\n\n"
    "#define KROO_WEIGHTS_SHA256 \"%s\"\n"
    "enum { KROO_WEIGHTS_SHIFT = %d, KROO_WEIGHTS_PER_LOGIT = %d };\n\n"
    "/* sum / 2^shift rounded towards minus infinity: what an arithmetic shift gives. */\n"
    "static int32_t kroo_weights_shifted(int32_t sum, int shift)\n"
    "{\n"
    "    int32_t unit = INT32_C(1) << shift, part = sum / unit;\n"
    "    return part - (sum %% unit < 0);\n"
    "}\n\n";

static const char c_table[] =
    "/* By seeds on the board: 36 or more, 24-35, 12-23, below 12. Houses: the mover's A..F, then the\n"
    " * opponent's, each from its owner's left; a count above 12 counts as 12. */\n"
    "static const struct { int16_t bias, store, house[12][13]; } kroo_weights[4] = {\n";

static const char c_table_sum[] =
    "static int32_t kroo_weights_sum(const int own[7], const int other[7])\n"
    "{\n"
    "    int board = 48 - own[6] - other[6], phase = 3 - (board >= 12) - (board >= 24) - (board >= 36);\n"
    "    int32_t sum = kroo_weights[phase].bias + kroo_weights[phase].store * (own[6] - other[6]);\n"
    "    for (int i = 0; i < 6; i++) {\n"
    "        sum += kroo_weights[phase].house[i][own[i] > 12 ? 12 : own[i]];\n"
    "        sum += kroo_weights[phase].house[6 + i][other[i] > 12 ? 12 : other[i]];\n"
    "    }\n"
    "    return sum;\n"
    "}\n\n";

static const char c_net[] = "enum { KROO_WEIGHTS_HIDDEN_SHIFT = %d };\n\n"
                            "/* Rows 16 * house + seeds (more than 15 as 15) for the mover's A..F, then the "
                            "opponent's, each from its\n"
                            " * owner's left; rows 217 + difference of the stores, cut to -25..25. */\n"
                            "static const int16_t kroo_weights_input[243][32] = {\n";

static const char c_net_sum[] =
    "static int32_t kroo_weights_sum(const int own[7], const int other[7])\n"
    "{\n"
    "    int difference = own[6] - other[6], rows[13];\n"
    "    for (int i = 0; i < 6; i++) {\n"
    "        rows[i] = 16 * i + (own[i] > 15 ? 15 : own[i]);\n"
    "        rows[6 + i] = 16 * (6 + i) + (other[i] > 15 ? 15 : other[i]);\n"
    "    }\n"
    "    rows[12] = 217 + (difference > 25 ? 25 : difference < -25 ? -25 : difference);\n"
    "    int32_t sum = kroo_weights_output_bias;\n"
    "    for (int unit = 0; unit < 32; unit++) {\n"
    "        int32_t value = kroo_weights_bias[unit];\n"
    "        for (int i = 0; i < 13; i++)\n"
    "            value += kroo_weights_input[rows[i]][unit];\n"
    "        value = kroo_weights_shifted(value, KROO_WEIGHTS_HIDDEN_SHIFT);\n"
    "        sum += kroo_weights_output[unit] * (value < 0 ? 0 : value > 127 ? 127 : value);\n"
    "    }\n"
    "    return sum;\n"
    "}\n\n";

static const char c_features[] = "/* By seeds on the board: 36 or more, 24-35, 12-23, below 12; by index:\n"
                                 " *";

static const char c_features_sum[] =
    "/* What `side` sees: its indices are 2, 4, 6, ... for the mover (0), one more for the opponent (1). */\n"
    "static void kroo_weights_look(const int own[7], const int other[7], int side, int out[24])\n"
    "{\n"
    "    int captured[6] = {0};\n"
    "    for (int i = 0; i < 6; i++) {\n"
    "        int board[12], at = i, taken = 0, left = 0, first;\n"
    "        out[2 + side] += own[i];\n"
    "        out[4 + side] += own[i] > 0;\n"
    "        out[6 + side] += own[i] + i >= 6;\n"
    "        out[8 + side] += own[i] == 1;\n"
    "        out[10 + side] += own[i] == 2;\n"
    "        out[12 + side] += own[i] >= 12;\n"
    "        out[20 + side] = own[i] > out[20 + side] ? own[i] : out[20 + side];\n"
    "        out[22 + side] += i < 3 ? own[i] : 0;\n"
    "        if (own[i] == 0)\n"
    "            continue;\n"
    "        for (int h = 0; h < 6; h++) {\n"
    "            board[h] = own[h];\n"
    "            board[6 + h] = other[h];\n"
    "        }\n"
    "        board[i] = 0;\n"
    "        for (int seeds = own[i]; seeds > 0; seeds--) {\n"
    "            at = (at + 1) % 12;\n"
    "            at = at == i ? (at + 1) % 12 : at;\n"
    "            board[at]++;\n"
    "        }\n"
    "        for (first = at + 1; first > 6 && (board[first - 1] == 2 || board[first - 1] == 3); first--)\n"
    "            taken += board[first - 1];\n"
    "        for (int h = 6; h < 12; h++)\n"
    "            left += board[h];\n"
    "        if (taken == 0 || taken == left)\n"
    "            continue; /* a grand slam captures nothing */\n"
    "        for (int h = first; h <= at; h++)\n"
    "            captured[h - 6] = 1;\n"
    "        out[14 + side]++;\n"
    "        out[16 + side] = taken > out[16 + side] ? taken : out[16 + side];\n"
    "    }\n"
    "    for (int h = 0; h < 6; h++)\n"
    "        out[19 - side] += captured[h];\n"
    "}\n\n"
    "static int32_t kroo_weights_sum(const int own[7], const int other[7])\n"
    "{\n"
    "    int board = 48 - own[6] - other[6], phase = 3 - (board >= 12) - (board >= 24) - (board >= 36);\n"
    "    int seen[24] = {1, own[6] - other[6]};\n"
    "    int32_t sum = 0;\n"
    "    kroo_weights_look(own, other, 0, seen);\n"
    "    kroo_weights_look(other, own, 1, seen);\n"
    "    for (int i = 0; i < 24; i++)\n"
    "        sum += kroo_weights[phase][i] * seen[i];\n"
    "    return sum;\n"
    "}\n\n";

static const char c_evaluate[] =
    "/* Hundredths of a seed, the mover's view: own and other hold six houses and the store. */\n"
    "static int kroo_weights_evaluate(const int own[7], const int other[7])\n"
    "{\n"
    "    int32_t score = kroo_weights_shifted(kroo_weights_sum(own, other), KROO_WEIGHTS_SHIFT);\n"
    "    return score > 32000 ? 32000 : score < -32000 ? -32000 : score;\n"
    "}\n\n"
    "/* Test positions: the mover's six houses and store, the opponent's, the expected evaluation. */\n"
    "static const struct { int own[7], other[7], score; } kroo_weights_tests[] = {\n";

static const char c_tail[] =
    "};\n\n"
    "#ifdef KROO_WEIGHTS_MAIN\n"
    "#include <stdio.h>\n"
    "int main(void)\n"
    "{\n"
    "    int count = (int)(sizeof kroo_weights_tests / sizeof *kroo_weights_tests), wrong = 0;\n"
    "    for (int i = 0; i < count; i++)\n"
    "        wrong += kroo_weights_evaluate(kroo_weights_tests[i].own, kroo_weights_tests[i].other) !=\n"
    "                 kroo_weights_tests[i].score;\n"
    "    printf(\"%d test positions, %d wrong\\n\", count, wrong);\n"
    "    return wrong != 0;\n"
    "}\n"
    "#endif\n"
    "#endif\n";

static void write_row(const char *indent, const int16_t *values, int count, FILE *out)
{
    fprintf(out, "%s{", indent);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%d", i ? ", " : "", values[i]);
    fputs("},\n", out);
}

static void write_c_table(const struct weights *weights, FILE *out)
{
    fputs(c_table, out);
    for (int p = 0; p < WEIGHTS_PHASES; p++) {
        const struct weights_phase *phase = &weights->phases[p];
        fprintf(out, "    {%d, %d, {\n", phase->bias, phase->store);
        for (int house = 0; house < WEIGHTS_HOUSES; house++)
            write_row("        ", phase->house[house], WEIGHTS_COUNTS, out);
        fputs("    }},\n", out);
    }
    fputs("};\n\n", out);
    fputs(c_table_sum, out);
}

static void write_c_units(const char *name, const int16_t values[WEIGHTS_NET_HIDDEN], FILE *out)
{
    fprintf(out, "static const int16_t %s[32] = {", name);
    for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++)
        fprintf(out, "%s%d", unit ? ", " : "", values[unit]);
    fputs("};\n", out);
}

static void write_c_net(const struct weights_net *net, FILE *out)
{
    fprintf(out, c_net, net->hidden_shift);
    for (int input = 0; input < WEIGHTS_NET_INPUTS; input++)
        write_row("    ", net->input[input], WEIGHTS_NET_HIDDEN, out);
    fputs("};\n", out);
    write_c_units("kroo_weights_bias", net->bias, out);
    write_c_units("kroo_weights_output", net->output, out);
    /* INT32_MIN is refused when weights are made, so the digits are a literal. */
    fprintf(out, "static const int32_t kroo_weights_output_bias = %d;\n\n", (int)net->output_bias);
    fputs(c_net_sum, out);
}

static void write_c_features(const struct weights_features *features, FILE *out)
{
    fputs(c_features, out);
    for (int trait = 0; trait < TRAITS; trait++)
        fprintf(out, "%s %d %s", trait && trait % 4 == 0 ? "\n *" : "", trait,
                traits_name((enum trait)trait));
    fputs(" */\nstatic const int16_t kroo_weights[4][24] = {\n", out);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        write_row("    ", features->phases[phase], TRAITS, out);
    fputs("};\n\n", out);
    fputs(c_features_sum, out);
}

static void write_c_side(const struct position *position, int side, FILE *out)
{
    fputs("{", out);
    for (int i = 0; i < 6; i++)
        fprintf(out, "%d, ", position->houses[6 * side + i]);
    fprintf(out, "%d}", position->stores[side]);
}

static int write_c_vectors(const struct weights *weights, FILE *out)
{
    struct weights_vector vectors[WEIGHTS_VECTORS];
    if (weights_vectors(weights, vectors) != WEIGHTS_OK)
        return -1;
    for (int i = 0; i < WEIGHTS_VECTORS; i++) {
        int side = vectors[i].position.side;
        fputs("    {", out);
        write_c_side(&vectors[i].position, side, out);
        fputs(", ", out);
        write_c_side(&vectors[i].position, 1 - side, out);
        fprintf(out, ", %d},\n", (int)vectors[i].score);
    }
    return 0;
}

int weights_text_c(const struct weights_text *what, FILE *out)
{
    const struct weights *weights = what->weights;
    char title[64];
    snprintf(title, sizeof title, "%s", *what->title ? what->title : "unnamed");
    /* A name from outside must not end the comment. */
    for (char *c = title; *c; c++)
        if (*c == '*' || *c == '/' || (unsigned char)*c < ' ')
            *c = '_';
    fprintf(out, c_head, title, what->sha256, weights_kind_name(weights->kind), weights->rules, what->parent,
            WEIGHTS_VECTORS, what->sha256, weights->shift, (int)weights->per_logit);
    if (weights->kind == WEIGHTS_TABLE)
        write_c_table(weights, out);
    else if (weights->kind == WEIGHTS_NET)
        write_c_net(&weights->net, out);
    else
        write_c_features(&weights->features, out);
    fputs(c_evaluate, out);
    if (write_c_vectors(weights, out) != 0)
        return -1;
    fputs(c_tail, out);
    return ferror(out) ? -1 : 0;
}

/* --- tables for people --- */

static const char *const phase_names[] = {"36 and more", "24 to 35", "12 to 23", "below 12"};

/* The letters that a person would say: the mover's houses A..F, the opponent's a..f. */
static char house_letter(int house)
{
    return (char)(house < 6 ? 'A' + house : 'a' + house - 6);
}

/* A sum in the scale of the scores, rounded for reading. */
static double scaled(const struct weights *weights, int value)
{
    return (double)value / (double)(1 << weights->shift);
}

static void write_md_table(const struct weights *weights, FILE *out)
{
    for (int number = 0; number < WEIGHTS_PHASES; number++) {
        const struct weights_phase *phase = &weights->phases[number];
        fprintf(out, "\n## Phase %d: %s seeds on the board\n\n", number, phase_names[number]);
        fprintf(out,
                "Hundredths of a seed: bias %.1f, a seed of store difference %.1f, and for the seeds in\n"
                "each house (the mover's A to F, the opponent's a to f)\n\n| house |",
                scaled(weights, phase->bias), scaled(weights, phase->store));
        for (int count = 0; count < WEIGHTS_COUNTS; count++)
            fprintf(out, " %d%s |", count, count == WEIGHTS_COUNTS - 1 ? "+" : "");
        fputs("\n|---|", out);
        for (int count = 0; count < WEIGHTS_COUNTS; count++)
            fputs("--:|", out);
        for (int house = 0; house < WEIGHTS_HOUSES; house++) {
            fprintf(out, "\n| %c |", house_letter(house));
            for (int count = 0; count < WEIGHTS_COUNTS; count++)
                fprintf(out, " %.1f |", scaled(weights, phase->house[house][count]));
        }
        fputs("\n", out);
    }
}

static void write_md_features(const struct weights *weights, FILE *out)
{
    fputs("\n## Features\n\nHundredths of a seed for one of each, by seeds on the board.\n\n| feature |",
          out);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        fprintf(out, " %s |", phase_names[phase]);
    fputs("\n|---|--:|--:|--:|--:|\n", out);
    for (int trait = 0; trait < TRAITS; trait++) {
        fprintf(out, "| `%s` |", traits_name((enum trait)trait));
        for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
            fprintf(out, " %.1f |", scaled(weights, weights->features.phases[phase][trait]));
        fputs("\n", out);
    }
}

static void write_md_range(const char *name, const int16_t *values, size_t count, FILE *out)
{
    int low = INT16_MAX, high = INT16_MIN;
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
        zeros += values[i] == 0;
    }
    fprintf(out, "| %s | %zu | %d | %d | %zu |\n", name, count, low, high, zeros);
}

/* A net's 7,841 numbers say nothing to a reader one by one: their ranges, and each unit's part in the score.
 */
static void write_md_net(const struct weights *weights, FILE *out)
{
    const struct weights_net *net = &weights->net;
    size_t stores = WEIGHTS_NET_INPUTS - WEIGHTS_NET_STORES;
    fprintf(out,
            "\n## Net: 243 inputs, 32 units, 1 output\n\nA unit is (bias + 13 rows) >> %d, cut to 0..127; "
            "the score is (%d + units * output) >> %d.\n\n| numbers | count | least | largest | zeros |\n"
            "|---|--:|--:|--:|--:|\n",
            net->hidden_shift, (int)net->output_bias, weights->shift);
    write_md_range("rows of houses", net->input[0], stores * WEIGHTS_NET_HIDDEN, out);
    write_md_range("rows of store differences", net->input[stores],
                   (size_t)WEIGHTS_NET_STORES * WEIGHTS_NET_HIDDEN, out);
    write_md_range("biases", net->bias, WEIGHTS_NET_HIDDEN, out);
    write_md_range("outputs", net->output, WEIGHTS_NET_HIDDEN, out);
    fputs("\n| unit | bias | output | most it can add to the score |\n|--:|--:|--:|--:|\n", out);
    for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++)
        fprintf(out, "| %d | %d | %d | %.1f |\n", unit, net->bias[unit], net->output[unit],
                scaled(weights, WEIGHTS_NET_ACTIVE * net->output[unit]));
}

static int write_md_vectors(const struct weights *weights, FILE *out)
{
    struct weights_vector vectors[WEIGHTS_VECTORS];
    char text[POSITION_TEXT_MAX];
    if (weights_vectors(weights, vectors) != WEIGHTS_OK)
        return -1;
    fprintf(
        out,
        "\n## Test positions\n\n`kroo-engine eval --weights FILE` must answer each position with the score "
        "beside it\n(hundredths of a seed, the mover's view).\n\n| position | score |\n|---|---|\n");
    for (int i = 0; i < WEIGHTS_VECTORS; i++) {
        position_format(&vectors[i].position, text);
        fprintf(out, "| `%s` | %d |\n", text, (int)vectors[i].score);
    }
    return 0;
}

int weights_text_md(const struct weights *weights, FILE *out)
{
    if (weights->kind == WEIGHTS_TABLE)
        write_md_table(weights, out);
    else if (weights->kind == WEIGHTS_NET)
        write_md_net(weights, out);
    else
        write_md_features(weights, out);
    return write_md_vectors(weights, out) != 0 || ferror(out) ? -1 : 0;
}
