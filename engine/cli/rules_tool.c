#include <jansson.h>
#include <stdio.h>

#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/rules.h"

struct request {
    bool json;
    bool listed; /* rule sets were named: only these are shown */
};

static const struct argp_option option_list[] = {
    {"json", 'j', NULL, 0, "One JSON object a line", 0},
    {0},
};

static void print_json(const struct rules *rules, const char *summary)
{
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:b}", "name", rules->name, "slam",
                             rules_slam_text(rules->slam), "feeding", rules_feeding_text(rules->feeding),
                             "leftovers", rules_leftovers_text(rules->leftovers), "stop_leftovers",
                             rules_leftovers_text(rules->stop_leftovers), "repetitions", rules->repetitions,
                             "quiet_limit", rules->quiet_limit, "unfed_loses", (int)rules->unfed_loses);
    if (summary != NULL)
        json_object_set_new(line, "summary", json_string(summary));
    json_dumpf(line, stdout, JSON_COMPACT);
    json_decref(line);
    putchar('\n');
}

static void print_text(const struct rules *rules, const char *summary)
{
    printf("%s\n", rules->name);
    if (summary != NULL)
        printf("    %s\n", summary);
    printf("    slam=%s feeding=%s leftovers=%s stop_leftovers=%s repetitions=%d quiet_limit=%d "
           "unfed_loses=%s\n",
           rules_slam_text(rules->slam), rules_feeding_text(rules->feeding),
           rules_leftovers_text(rules->leftovers), rules_leftovers_text(rules->stop_leftovers),
           rules->repetitions, rules->quiet_limit, rules->unfed_loses ? "yes" : "no");
}

static void print_rules(const struct request *request, const struct rules *rules, const char *summary)
{
    if (request->json)
        print_json(rules, summary);
    else
        print_text(rules, summary);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    struct rules rules;
    switch (key) {
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        options_read_rules(state, value, &rules);
        print_rules(request, &rules, NULL);
        request->listed = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[RULES...]",
    .doc = "Lists the presets with their fields, or shows the canonical name and the fields of each RULES "
           "given.\v"
           "RULES is a preset with optional overrides of its fields, comma separated: site,repetitions=2. "
           "0 repetitions or quiet plies means never.",
};

int rules_main(int argc, char **argv)
{
    struct request request = {0};
    options_parse(&argp, argc, argv, &request);
    for (size_t i = 0; !request.listed && rules_preset(i) != NULL; i++)
        print_rules(&request, rules_preset(i), rules_preset_summary(i));
    return options_finish_output(argv[0]);
}
