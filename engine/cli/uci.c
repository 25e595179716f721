#include "engine/clock.h"
#include "engine/cli/uci.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "engine/build.h"
#include "engine/cli/lines.h"
#include "engine/cli/tools.h"
#include "engine/cli/thinker.h"
#include "engine/level.h"
#include "engine/mix.h"

enum {
    HASH_MIB = 16,
    HASH_MIB_MAX = 16384,
    REASON_MAX = 512,
};

static const int64_t number_max = INT64_C(1000000000000);
static const char blanks[] = " \t";

/* Belongs to the reading thread, which leaves weights and searched game alone while the thinker thinks. Each
 * line of output is one call of stdio, so lines stay whole. */
struct session {
    struct rules rules;
    struct game *game; /* the position as last set; owned */
    struct weights *weights;
    char *weights_path;    /* NULL: the starting weights */
    struct tables *tables; /* NULL: none */
    struct thinker *thinker;
    struct game *searched; /* what it searches; `game` unless a new position has come since; NULL: nothing */
    int lines;             /* MultiPV */
    const struct level *level; /* NULL: full strength */
    uint64_t seed;             /* of the level's random moves; 0: drawn for each game */
    uint64_t game_seed;
    struct search_parameters parameters;
};

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
    char text[REASON_MAX + 128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("info string %s\n", text);
}

/* --- thinking --- */

static void report(void *context, const struct search_info *info)
{
    const struct session *session = context;
    char pv[SEARCH_PV_MAX + 1], line[32] = "";
    for (int i = 0; i < info->pv_length; i++)
        pv[i] = position_house_letter(info->pv[i]);
    pv[info->pv_length] = '\0';
    if (session->lines > 1)
        snprintf(line, sizeof line, "multipv %d ", info->line + 1);
    uint64_t nps = info->nodes * 1000 / (uint64_t)(info->time_ms > 0 ? info->time_ms : 1);
    printf("info depth %d %sscore cp %" PRId32 " nodes %" PRIu64 " nps %" PRIu64 " time %" PRId64
           " hashfull %d pv %s\n",
           info->depth, line, info->score, info->nodes, nps, info->time_ms, info->hashfull, pv);
}

static void answer(void *context, const struct search_info *info)
{
    (void)context;
    char house = position_house_letter(info->pv[0]);
    if (info->pv_length > 1)
        printf("bestmove %c ponder %c\n", house, position_house_letter(info->pv[1]));
    else
        printf("bestmove %c\n", house);
}

/* True while a search runs. When none does, its game is let go. */
static bool is_thinking(struct session *session)
{
    if (thinker_is_thinking(session->thinker))
        return true;
    if (session->searched != session->game)
        game_destroy(session->searched);
    session->searched = NULL;
    return false;
}

static bool refuse_while_thinking(struct session *session, const char *command)
{
    if (!is_thinking(session))
        return false;
    say("%s must wait for the search; send stop first", command);
    return true;
}

/* --- go --- */

/* Numbers of a `go`, 0 where not given. */
struct request {
    int64_t depth, nodes, movetime, wtime, btime, winc, binc, movestogo;
    bool infinite, ponder, clock;
};

static int64_t *request_number(struct request *request, const char *word)
{
    const struct {
        const char *word;
        int64_t *number;
    } words[] = {
        {"depth", &request->depth}, {"nodes", &request->nodes},         {"movetime", &request->movetime},
        {"wtime", &request->wtime}, {"btime", &request->btime},         {"winc", &request->winc},
        {"binc", &request->binc},   {"movestogo", &request->movestogo},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].number;
    return NULL;
}

static bool read_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = text ? strtoll(text, &end, 10) : 0;
    if (!text || end == text || *end != '\0' || errno != 0 || number > number_max || number < -number_max)
        return false;
    *out = number;
    return true;
}

/* A clock that has run out still leaves a millisecond; counts and depths below one are refused. */
static bool read_request(char *arguments, struct request *request)
{
    char *rest = NULL;
    for (char *word = strtok_r(arguments, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
        bool infinite = strcmp(word, "infinite") == 0, ponder = strcmp(word, "ponder") == 0;
        request->infinite = request->infinite || infinite;
        request->ponder = request->ponder || ponder;
        if (infinite || ponder)
            continue;
        int64_t *number = request_number(request, word);
        if (!number) {
            say("go does not know '%.40s'", word);
            return false;
        }
        if (!read_number(strtok_r(NULL, blanks, &rest), number)) {
            say("go %s needs a number", word);
            return false;
        }
        bool clock = strcmp(word, "wtime") == 0 || strcmp(word, "btime") == 0;
        request->clock = request->clock || clock;
        if (*number < 1 && (number == &request->depth || number == &request->nodes)) {
            say("go %s needs a number above 0", word);
            return false;
        }
        if (*number < 1 && (clock || number == &request->movetime))
            *number = 1;
    }
    return true;
}

static void share_clock(const struct request *request, unsigned side, struct thinker_task *task)
{
    clock_share(side == SIDE_SOUTH ? request->wtime : request->btime,
                side == SIDE_SOUTH ? request->winc : request->binc, request->movestogo, &task->soft_ms,
                &task->hard_ms);
}

static void limit_task(const struct session *session, const struct request *request,
                       struct thinker_task *task)
{
    struct search_limits *limits = &task->limits;
    limits->depth = (int)(request->depth < SEARCH_DEPTH_MAX ? request->depth : SEARCH_DEPTH_MAX);
    limits->nodes = (uint64_t)request->nodes;
    if (request->clock)
        share_clock(request, game_position(session->game).side, task);
    if (request->movetime > 0 && (task->hard_ms == 0 || request->movetime < task->hard_ms))
        task->hard_ms = request->movetime;
    if (session->level && (limits->nodes == 0 || limits->nodes > session->level->nodes))
        limits->nodes = session->level->nodes;
    task->held = limits->depth == 0 && limits->nodes == 0 && task->hard_ms == 0 && !request->ponder;
}

/* The random move of a level, where it plays one. */
static bool answer_at_random(const struct session *session, const struct request *request)
{
    int house = -1;
    if (session->level && !request->infinite && !request->ponder)
        house = level_noise(session->level, session->game, session->game_seed);
    if (house >= 0)
        printf("bestmove %c\n", position_house_letter(house));
    return house >= 0;
}

static void command_go(struct session *session, char *arguments)
{
    struct request request = {0};
    if (refuse_while_thinking(session, "go") || !read_request(arguments, &request))
        return;
    if (game_over(session->game)) {
        printf("bestmove 0000\n");
        return;
    }
    if (answer_at_random(session, &request))
        return;
    struct thinker_task task = {.game = session->game,
                                .weights = session->weights,
                                .ponder = request.ponder,
                                .report = report,
                                .answer = answer,
                                .context = session};
    if (request.infinite)
        task.held = true;
    else
        limit_task(session, &request, &task);
    task.limits.lines = session->lines;
    task.limits.parameters = &session->parameters;
    task.limits.tables = session->level ? NULL : session->tables;
    session->searched = session->game;
    if (thinker_start(session->thinker, &task))
        return;
    session->searched = NULL;
    say("no thread could be started; close other programs and try again");
}

/* --- position --- */

/* Plays the words of letters left in `rest`; false after saying what is wrong. */
static bool play_words(struct game *game, char **rest)
{
    for (char *word = strtok_r(NULL, blanks, rest); word; word = strtok_r(NULL, blanks, rest)) {
        size_t played;
        enum game_error error = game_play_text(game, word, strlen(word), &played);
        if (error == GAME_OK)
            continue;
        say("move %zu, '%.1s', is refused: %s; the position stays as it was", game_plies(game) + 1,
            word + played,
            error == GAME_ERROR_OVER      ? "the game is over"
            : error == GAME_ERROR_ILLEGAL ? "it is not legal"
                                          : "the game is too long");
        return false;
    }
    return true;
}

/* The game after `position`'s arguments, or NULL after saying what is wrong. */
static struct game *read_game(const struct session *session, char *arguments)
{
    char *rest = NULL, reason[REASON_MAX];
    char *word = strtok_r(arguments, blanks, &rest);
    struct position start = position_start();
    if (word && strcmp(word, "fen") == 0) {
        char *text = strtok_r(NULL, blanks, &rest);
        if (!text || position_parse(text, &start, reason, sizeof reason) != 0) {
            say("position fen is refused: %s; the position stays as it was",
                text ? reason : "it needs a position");
            return NULL;
        }
    } else if (!word || strcmp(word, "startpos") != 0) {
        say("position needs startpos or fen; the position stays as it was");
        return NULL;
    }
    word = strtok_r(NULL, blanks, &rest);
    if (word && strcmp(word, "moves") != 0) {
        say("position does not know '%.40s'; the position stays as it was", word);
        return NULL;
    }
    struct game *game = game_create(&session->rules, &start);
    if (!game) {
        say("memory is short; the position stays as it was");
        return NULL;
    }
    if (word && !play_words(game, &rest)) {
        game_destroy(game);
        return NULL;
    }
    return game;
}

/* A game that is being searched is let go when its search ends. */
static void replace_game(struct session *session, struct game *game)
{
    if (session->game != session->searched)
        game_destroy(session->game);
    session->game = game;
}

static void command_position(struct session *session, char *arguments)
{
    is_thinking(session);
    struct game *game = read_game(session, arguments);
    if (game)
        replace_game(session, game);
}

/* --- options --- */

static void set_hash(struct session *session, const char *value)
{
    int64_t mib;
    if (!read_number(value, &mib) || mib < 1 || mib > HASH_MIB_MAX)
        say("Hash needs a number of mebibytes from 1 to %d; the table stays as it was", HASH_MIB_MAX);
    else if (!thinker_set_hash(session->thinker, (unsigned)mib * 1024))
        say("memory is short; the table stays as it was");
}

static void set_threads(struct session *session, const char *value)
{
    int64_t threads;
    if (!read_number(value, &threads) || threads < 1 || threads > THINKER_THREADS_MAX)
        say("Threads needs a number from 1 to %d; it stays as it was", THINKER_THREADS_MAX);
    else if (!thinker_set_threads(session->thinker, (int)threads))
        say("memory is short; Threads stays as it was");
}

static void set_lines(struct session *session, const char *value)
{
    int64_t lines;
    if (read_number(value, &lines) && lines >= 1 && lines <= SEARCH_LINES_MAX)
        session->lines = (int)lines;
    else
        say("MultiPV needs a number from 1 to %d; it stays as it was", SEARCH_LINES_MAX);
}

static void set_level(struct session *session, const char *value)
{
    const struct level *level = level_find(value);
    if (level || strcasecmp(value, "full") == 0)
        session->level = level;
    else
        say("Level needs Full, Apprentice, Journeyman, Master or a number from 1 to %d; it stays as it was",
            level_count());
}

/* Every game of a level differs, unless a seed is given. */
static void draw_seed(struct session *session)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    session->game_seed =
        session->seed != 0 ? session->seed : mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
}

static void set_seed(struct session *session, const char *value)
{
    int64_t seed;
    if (!read_number(value, &seed) || seed < 0) {
        say("Seed needs a number from 0; it stays as it was");
        return;
    }
    session->seed = (uint64_t)seed;
    draw_seed(session);
}

/* Takes `path` (NULL: the starting weights). */
static bool use_weights(struct session *session, const struct rules *rules, char *path)
{
    struct weights *weights = NULL;
    enum weights_error error = WEIGHTS_ERROR_MEMORY;
    if (path)
        error = weights_load(path, rules->name, &weights);
    else
        weights = weights_create_starting(rules->name);
    if (!weights) {
        say("weights '%.200s': %s", path ? path : "starting", weights_error_text(error));
        free(path);
        return false;
    }
    weights_destroy(session->weights);
    free(session->weights_path);
    session->weights = weights;
    session->weights_path = path;
    thinker_new_game(session->thinker);
    return true;
}

static void set_weights_file(struct session *session, const char *value)
{
    bool starting = value[0] == '\0' || strcmp(value, "<empty>") == 0 || strcmp(value, "starting") == 0;
    char *path = starting ? NULL : strdup(value);
    if (!starting && !path) {
        say("memory is short");
        return;
    }
    if (!use_weights(session, &session->rules, path))
        say("the weights stay as they were");
}

static void set_tables_file(struct session *session, const char *value)
{
    struct tables *tables = NULL;
    bool none = value[0] == '\0' || strcmp(value, "<empty>") == 0;
    enum tables_error error = none ? TABLES_OK : tables_open(value, &session->rules, &tables);
    if (error != TABLES_OK) {
        say("tables '%.200s': %s; the tables stay as they were", value, tables_error_text(error));
        return;
    }
    tables_close(session->tables);
    session->tables = tables;
}

/* A new game under the new rules; weights for other rules give way to the starting ones. */
static void set_rules(struct session *session, const char *value)
{
    char reason[REASON_MAX];
    struct rules rules;
    if (rules_parse(value, &rules, reason, sizeof reason) != 0) {
        say("Rules '%.100s': %s; the rules stay as they were", value, reason);
        return;
    }
    struct game *game = game_create(&rules, NULL);
    char *path = session->weights_path ? strdup(session->weights_path) : NULL;
    if (!game || (!use_weights(session, &rules, path) && !use_weights(session, &rules, NULL))) {
        game_destroy(game);
        say("the rules stay as they were");
        return;
    }
    session->rules = rules;
    replace_game(session, game);
}

/* An option of the search itself; false when there is none of this name. */
static bool set_parameter(struct session *session, const char *name, const char *value)
{
    const struct search_parameter *which = search_parameter_find(name);
    int64_t number;
    bool negative = value[0] == '-';
    if (!which)
        return false;
    if (!refuse_while_thinking(session, "setoption") &&
        (negative || !read_number(value, &number) || number > which->high ||
         !search_parameters_set(&session->parameters, which, (int32_t)number)))
        say("%s needs a number from %d to %d; it stays as it was", which->name, which->low, which->high);
    return true;
}

/* `name X value Y`; the value is the rest of the line. */
static void command_setoption(struct session *session, char *arguments)
{
    static const struct {
        const char *name;
        void (*set)(struct session *session, const char *value);
    } options[] = {
        {"Hash", set_hash},
        {"Threads", set_threads},
        {"MultiPV", set_lines},
        {"Rules", set_rules},
        {"Level", set_level},
        {"Seed", set_seed},
        {"WeightsFile", set_weights_file},
        {"TablesFile", set_tables_file},
    };
    char *rest = NULL;
    char *word = strtok_r(arguments, blanks, &rest);
    char *name = word && strcmp(word, "name") == 0 ? strtok_r(NULL, blanks, &rest) : NULL;
    if (!name) {
        say("setoption needs name and value");
        return;
    }
    word = strtok_r(NULL, blanks, &rest);
    const char *value = word && strcmp(word, "value") == 0 && rest ? rest + strspn(rest, blanks) : "";
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcasecmp(options[i].name, name) != 0)
            continue;
        if (!refuse_while_thinking(session, "setoption"))
            options[i].set(session, value);
        return;
    }
    if (!set_parameter(session, name, value))
        say("there is no option '%.40s'; uci lists them all", name);
}

/* --- the other commands --- */

static void command_uci(struct session *session, char *arguments)
{
    (void)arguments;
    printf("id name Kroo (%s)\n", engine_build());
    printf("id author The Kroo authors\n");
    printf("option name Hash type spin default %d min 1 max %d\n", HASH_MIB, HASH_MIB_MAX);
    printf("option name Threads type spin default 1 min 1 max %d\n", THINKER_THREADS_MAX);
    printf("option name MultiPV type spin default 1 min 1 max %d\n", SEARCH_LINES_MAX);
    printf("option name Ponder type check default false\n");
    printf("option name Level type combo default Full var Full");
    for (size_t i = 0; level_at(i); i++)
        if (level_at(i)->name)
            printf(" var %s", level_at(i)->name);
    printf("\noption name Seed type spin default 0 min 0 max %" PRId64 "\n", number_max);
    printf("option name Rules type string default site\n");
    printf("option name WeightsFile type string default <empty>\n");
    printf("option name TablesFile type string default <empty>\n");
    const struct search_parameter *parameter;
    for (size_t i = 0; (parameter = search_parameter_at(i)) != NULL; i++)
        printf("option name %s type spin default %d min %d max %d\n", parameter->name, parameter->usual,
               parameter->low, parameter->high);
    printf("uciok\n");
    (void)session;
}

static void command_isready(struct session *session, char *arguments)
{
    (void)session;
    (void)arguments;
    printf("readyok\n");
}

static void command_ucinewgame(struct session *session, char *arguments)
{
    (void)arguments;
    if (refuse_while_thinking(session, "ucinewgame"))
        return;
    thinker_new_game(session->thinker);
    draw_seed(session);
}

static void command_stop(struct session *session, char *arguments)
{
    (void)arguments;
    thinker_stop(session->thinker);
}

static void command_ponderhit(struct session *session, char *arguments)
{
    (void)arguments;
    thinker_hit(session->thinker);
}

static void command_nothing(struct session *session, char *arguments)
{
    (void)session;
    (void)arguments;
}

static const struct {
    const char *name;
    void (*run)(struct session *session, char *arguments);
} commands[] = {
    {"uci", command_uci},
    {"isready", command_isready},
    {"ucinewgame", command_ucinewgame},
    {"setoption", command_setoption},
    {"position", command_position},
    {"go", command_go},
    {"stop", command_stop},
    {"ponderhit", command_ponderhit},
    {"debug", command_nothing},
    {"register", command_nothing},
};

/* False on `quit`. */
static bool run_line(struct session *session, char *line)
{
    char *word = line + strspn(line, blanks);
    char *end = word + strcspn(word, blanks);
    char *arguments = *end != '\0' ? end + 1 : end;
    *end = '\0';
    if (*word == '\0')
        return true;
    if (strcmp(word, "quit") == 0)
        return false;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, word) == 0) {
            commands[i].run(session, arguments);
            return true;
        }
    say("there is no command '%.40s'", word);
    return true;
}

static bool session_init(struct session *session)
{
    char reason[REASON_MAX];
    memset(session, 0, sizeof *session);
    if (rules_parse("site", &session->rules, reason, sizeof reason) != 0)
        return false;
    session->game = game_create(&session->rules, NULL);
    session->weights = weights_create_starting(session->rules.name);
    session->thinker = thinker_create(HASH_MIB * 1024);
    session->lines = 1;
    session->parameters = search_parameters_default();
    draw_seed(session);
    return session->game && session->weights && session->thinker;
}

static void session_done(struct session *session)
{
    thinker_destroy(session->thinker);
    if (session->searched != session->game)
        game_destroy(session->searched);
    game_destroy(session->game);
    weights_destroy(session->weights);
    tables_close(session->tables);
    free(session->weights_path);
}

static int run_lines(struct session *session, struct lines *lines)
{
    enum lines_status read;
    bool goes_on = true;
    while (goes_on && (read = lines_read(lines)) != LINES_END) {
        if (read == LINES_ERROR)
            return TOOL_REFUSED;
        if (read == LINES_LONG)
            say("a line longer than %d bytes is refused", LINES_MAX);
        else if (strlen(lines->text) != lines->length)
            say("a line with NUL bytes is refused");
        else
            goes_on = run_line(session, lines->text);
    }
    thinker_finish(session->thinker);
    return TOOL_DONE;
}

int uci_main(void)
{
    struct session session;
    struct lines *lines = malloc(sizeof *lines);
    int status = TOOL_REFUSED;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (session_init(&session) && lines) {
        lines_init(lines, stdin);
        status = run_lines(&session, lines);
    } else {
        fprintf(stderr, "kroo-engine: memory is short; close other programs and start it again\n");
    }
    session_done(&session);
    free(lines);
    return fflush(stdout) == 0 && !ferror(stdout) ? status : TOOL_REFUSED;
}
