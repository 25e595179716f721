/* What every command's options share: `--config`, `--dir`, `--json`, `--color`, numbers that say what is
 * wrong with them, and how a command says that it cannot. One thread, but for what is captured. */
#ifndef KROO_COORDINATOR_CLI_ARGS_H
#define KROO_COORDINATOR_CLI_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct args_common {
    const char *config; /* --config; NULL when not given */
    const char *dir;    /* --dir; NULL when not given */
    bool json;
};

/* A child parser for these; its input is a struct args_common that the parent sets in ARGP_KEY_INIT. */
extern const struct argp args_common_argp;
/* { &args_common_argp, end }: the usual `children` of a command. */
extern const struct argp_child args_common_children[];

/* The options and the one argument of a command about one experiment: the parser of `kroo show`, `kroo
 * watch`. */
struct args_experiment {
    struct args_common common;
    uint64_t id;
};
error_t args_experiment_parse(int key, char *text, struct argp_state *state);

/* A whole number in [low, high], `k` and `M` as suffixes taken. Out of shape: usage error, ends the program.
 */
uint64_t args_number(struct argp_state *state, const char *option, const char *text, uint64_t low,
                     uint64_t high);
/* An experiment's number: digits only; out of shape ends the program. */
uint64_t args_id(struct argp_state *state, const char *text);
/* A finite decimal number; out of shape ends the program. */
double args_decimal(struct argp_state *state, const char *option, const char *text);
/* A share in percent, `5%` or `5`, as millionths; out of shape ends the program. */
uint32_t args_share(struct argp_state *state, const char *option, const char *text);
/* `A-B` or `A`: first and last, first <= last; out of shape ends the program. */
void args_range(struct argp_state *state, const char *option, const char *text, uint64_t *first,
                uint64_t *last);
/* From here on what goes wrong is told as lines of JSON on standard error, `{"error": TEXT}` and `{"warning":
 * TEXT}`; not in a command that another one drives. */
void args_speak_json(void);
/* Does it where `--json` stands among the words; tells whether it does. */
bool args_wants_json(int argc, char **argv);
/* This thread's refusals go into `text`, the first one is kept, and its warnings nowhere; NULL: as ever. */
void args_capture(char *text, size_t size);
/* Prints `kroo: ...` on standard error and returns COMMAND_REFUSED. */
int args_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Set in the environment of a command that another one of ours drives: its warnings are in its JSON answer,
 * and the driver tells each once. */
#define ARGS_DRIVEN "KROO_DRIVEN"
/* `warning: ...` on standard error. */
void args_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A remark on standard error: the text as it is, or `{"note": TEXT}`. */
void args_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Nobody would see a progress bar, and a program would stumble over it. */
bool args_hides_progress(void);
/* The number in `text` as far as the text is one: 0, or -1. */
int args_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

/* A priority, with a sign or without: 0, or -1. */
int args_parse_priority(const char *text, int32_t *out);

#endif
