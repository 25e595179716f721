#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "engine/cli/lines.h"
#include "engine/cli/options.h"
#include "engine/cli/thinker.h"
#include "engine/cli/tools.h"
#include "engine/level.h"
#include "engine/mix.h"

enum {
    HASH_MIB = 16,
    TIME_MS = 2000, /* of a move at full strength, and of a hint */
    TIME_MS_MAX = 3600000,
    QUIET_WARNING = 20, /* plies before the limit */
    LAP = 12,
};

struct request {
    struct rules rules;
    struct position position;
    const char *weights, *tables;
    const struct level *level; /* NULL: full strength */
    bool human[2];             /* by side */
    int time_ms;
    uint64_t seed;
};

static error_t parse_side(struct argp_state *state, const char *text, struct request *request)
{
    static const struct {
        const char *name;
        bool human[2];
    } sides[] = {
        {"south", {true, false}}, {"north", {false, true}}, {"both", {true, true}}, {"none", {false, false}}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (strcasecmp(sides[i].name, text) == 0) {
            memcpy(request->human, sides[i].human, sizeof request->human);
            return 0;
        }
    argp_error(state, "SIDE is south, north, both or none, not '%s'", text);
    return EINVAL;
}

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0, "Rule set: a preset with optional overrides (default site)", 0},
    {"position", 'p', "POSITION", 0, "Where to start (default the usual start)", 0},
    {"tables", 'E', "FILE", 0, "Endgame tables of the same family of rules", 0},
    {"weights", 'w', "FILE", 0, "Weights file (default the built-in starting weights)", 0},
    {"level", 'l', "LEVEL", 0, "Apprentice, Journeyman, Master, a number from 1 to 9, or Full", 0},
    {"side", 's', "SIDE", 0, "Yours: south (default, moves first), north, both or none", 0},
    {"time", 't', "MS", 0, "Milliseconds a move at full strength (default 2000)", 0},
    {"seed", 'S', "N", 0, "Of a level's random moves (default another each time)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'r':
        options_read_rules(state, value, &request->rules);
        return 0;
    case 'p':
        options_read_position(state, value, &request->position);
        return 0;
    case 'E':
        request->tables = value;
        return 0;
    case 'w':
        request->weights = value;
        return 0;
    case 'l':
        request->level = level_find(value);
        if (!request->level && strcasecmp(value, "full") != 0)
            argp_error(state, "there is no level '%s'", value);
        return 0;
    case 's':
        return parse_side(state, value, request);
    case 't':
        request->time_ms = options_read_number(state, value, "MS", 1, TIME_MS_MAX);
        return 0;
    case 'S':
        request->seed = (uint64_t)options_read_number(state, value, "N", 0, 1000000000);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .doc = "Play oware in the terminal. Type the letter of a house; `help` lists the other words.",
};

/* One game at the table. */
struct match {
    const struct request *request;
    struct game *game;
    const struct weights *weights;
    struct tables *tables; /* NULL: none */
    struct thinker *thinker;
    struct lines *lines;
    struct search_info found; /* the thinker's last answer */
};

/* --- what is on the table --- */

static const char *side_name(unsigned side)
{
    return side == SIDE_SOUTH ? "South" : "North";
}

static void print_board(const struct game *game)
{
    struct position position = game_position(game);
    printf("\n          f   e   d   c   b   a\n  North");
    for (int house = 11; house >= 6; house--)
        printf("  %2d", position.houses[house]);
    printf("    captured %2d\n  South", position.stores[SIDE_NORTH]);
    for (int house = 0; house < 6; house++)
        printf("  %2d", position.houses[house]);
    printf("    captured %2d\n          A   B   C   D   E   F\n\n", position.stores[SIDE_SOUTH]);
}

static void print_legal(const struct game *game)
{
    unsigned legal = game_legal(game), side = game_position(game).side;
    for (; legal != 0; legal &= legal - 1)
        printf(" %c", position_house_letter(__builtin_ctz(legal) + 6 * (int)side));
}

/* --- what surprises --- */

static const char *slam_text(enum rules_slam slam)
{
    switch (slam) {
    case RULES_SLAM_CAPTURES_NOTHING:
        return "it captures nothing";
    case RULES_SLAM_VOID_AT_SIX:
        return "all six houses at once are not taken, fewer are";
    case RULES_SLAM_KEEP_LAST:
        return "the house of the last seed stays";
    case RULES_SLAM_KEEP_FIRST:
        return "the captured house nearest to the opponent's first stays";
    case RULES_SLAM_REST_TO_OPPONENT:
        return "the capture counts, and everything left goes to the opponent";
    case RULES_SLAM_ILLEGAL:
    case RULES_SLAM_ALLOWED:
    case RULES_SLAM_LAST_RESORT:
        break;
    }
    return "everything is captured";
}

static void explain_refusal(const struct game *game, int house)
{
    struct position position = game_position(game);
    struct board board = board_from_position(&position);
    const struct rules *rules = game_rules(game);
    char letter = position_house_letter(house);
    int own = house - 6 * position.side;
    if (own < 0 || own >= BOARD_HOUSES)
        printf("%c is not yours: %s plays", letter, side_name(position.side));
    else if (position.houses[house] == 0)
        printf("%c is empty: choose", letter);
    else if (board_row_seeds(board.other) == 0 && rules->feeding != RULES_FEEDING_NONE)
        printf("%s has no seed and must be fed: choose", side_name(1 - position.side));
    else if (rules->slam == RULES_SLAM_ILLEGAL && board_is_slam(board, own))
        printf("%c would capture every seed of %s, which these rules forbid: choose", letter,
               side_name(1 - position.side));
    else
        printf("%c would leave %s without a seed: choose", letter, side_name(1 - position.side));
    print_legal(game);
    printf("\n");
}

static void explain_repetition(const struct game *game)
{
    const struct rules *rules = game_rules(game);
    struct game_history history = game_history(game);
    unsigned occurrences = history.occurrences[history.count - 1];
    if (rules->repetitions > 0 && occurrences > 1)
        printf("This position has stood %u times; the game ends at %d.\n", occurrences, rules->repetitions);
    int left = rules->quiet_limit - (int)game_quiet_plies(game);
    if (rules->quiet_limit > 0 && left > 0 && left <= QUIET_WARNING)
        printf("The game ends after %d more plies without a capture.\n", left);
}

/* Plays a legal house and says what a beginner may not expect of it. */
static void play_house(struct match *match, int house)
{
    struct game *game = match->game;
    struct position before = game_position(game);
    struct board board = board_from_position(&before);
    const struct rules *rules = game_rules(game);
    int own = house - 6 * before.side, seeds = before.houses[house];
    int captured = (int)board_captured(board, board_make(rules, board, own));
    bool slam = board_is_slam(board, own);
    if (game_play(game, house) != GAME_OK) {
        printf("The game is too long for this program.\n");
        return;
    }
    printf("%s plays %c", side_name(before.side), position_house_letter(house));
    if (captured > 0)
        printf(" and captures %d", captured);
    printf(".\n");
    if (slam)
        printf("Every seed of %s would be captured, a grand slam: under these rules %s.\n",
               side_name(1 - before.side), slam_text(rules->slam));
    if (seeds >= LAP)
        printf("%d seeds go all the way round and pass over the house they came from.\n", seeds);
    if (!game_over(game))
        explain_repetition(game);
}

static void print_winner(unsigned side, const int stores[2])
{
    printf("%s wins, %d to %d.\n", side_name(side), stores[side], stores[1 - side]);
}

static void explain_end(const struct game *game)
{
    struct position position = game_position(game);
    int stores[2] = {position.stores[SIDE_SOUTH], position.stores[SIDE_NORTH]};
    switch (game_reason(game)) {
    case GAME_REASON_MAJORITY:
        printf("%s has more than half of the seeds.\n", side_name(stores[0] > stores[1] ? 0 : 1));
        break;
    case GAME_REASON_NO_MOVE:
        printf("%s has no legal move%s.\n", side_name(position.side),
               game_rules(game)->leftovers == RULES_LEFTOVERS_OWN_ROW ? "; each side takes its own row" : "");
        break;
    case GAME_REASON_REPETITION:
        printf("The position has stood %d times%s.\n", game_rules(game)->repetitions,
               game_rules(game)->stop_leftovers == RULES_LEFTOVERS_OWN_ROW ? "; each side takes its own row"
                                                                           : "");
        break;
    case GAME_REASON_QUIET_LIMIT:
        printf("%d plies without a capture%s.\n", game_rules(game)->quiet_limit,
               game_rules(game)->stop_leftovers == RULES_LEFTOVERS_OWN_ROW ? ": each side takes its own row"
                                                                           : "");
        break;
    case GAME_REASON_UNFED:
        printf("A side that keeps two seeds or more from an empty opponent loses.\n");
        break;
    default:
        break;
    }
    print_board(game);
    if (game_result(game) == GAME_DRAW)
        printf("A draw, %d to %d.\n", stores[0], stores[1]);
    else
        print_winner(game_result(game) == GAME_SOUTH_WINS ? SIDE_SOUTH : SIDE_NORTH, stores);
}

/* --- thinking --- */

static void take_answer(void *context, const struct search_info *info)
{
    struct match *match = context;
    match->found = *info;
}

/* Best move within the limits; the legal move nearest to A when no thread can be had. */
static int think(struct match *match, struct search_limits limits)
{
    struct thinker_task task = {.game = match->game,
                                .weights = match->weights,
                                .limits = limits,
                                .answer = take_answer,
                                .context = match};
    if (!thinker_start(match->thinker, &task))
        return __builtin_ctz(game_legal(match->game)) + 6 * (int)game_position(match->game).side;
    thinker_wait(match->thinker);
    return match->found.pv[0];
}

static int choose(struct match *match)
{
    const struct request *request = match->request;
    if (!request->level)
        return think(match, (struct search_limits){.time_ms = request->time_ms, .tables = match->tables});
    int house = level_noise(request->level, match->game, request->seed);
    return house >= 0 ? house : think(match, (struct search_limits){.nodes = request->level->nodes});
}

static void give_hint(struct match *match)
{
    think(match, (struct search_limits){.time_ms = match->request->time_ms, .tables = match->tables});
    char pv[SEARCH_PV_MAX + 1];
    for (int i = 0; i < match->found.pv_length; i++)
        pv[i] = position_house_letter(match->found.pv[i]);
    pv[match->found.pv_length] = '\0';
    int score = match->found.score;
    if (score > SEARCH_WIN_BOUND || score < -SEARCH_WIN_BOUND)
        printf("%c %s (%s)\n", pv[0], score > 0 ? "wins" : "holds out longest", pv);
    else
        printf("%c, worth %+.2f seeds (%s)\n", pv[0], score / 100.0, pv);
}

/* --- the person's turn --- */

/* Back to the last turn of a person before this one. */
static void take_back(struct match *match)
{
    const char *moves = game_moves(match->game);
    size_t plies = game_plies(match->game), played;
    unsigned side = game_position(match->game).side;
    do {
        if (plies == 0) {
            printf("There is no move of yours to take back.\n");
            return;
        }
        plies--;
        side ^= 1;
    } while (!match->request->human[side]);
    char *kept = strndup(moves, plies);
    if (!kept) {
        printf("Memory is short; the move stays.\n");
        return;
    }
    game_reset(match->game, &match->request->position);
    game_play_text(match->game, kept, plies, &played);
    free(kept);
    print_board(match->game);
}

static void print_help(void)
{
    printf("A letter plays that house: A to F for South, a to f for North, small or capital.\n"
           "hint   what the engine would play     undo   take your last move back\n"
           "board  show it again                  moves  the game so far\n"
           "rules  the rule set                   quit   leave\n");
}

static void print_rules(const struct rules *rules)
{
    printf("Rules: %s. A grand slam: %s. %s", rules->name,
           rules->slam == RULES_SLAM_ILLEGAL ? "not allowed" : slam_text(rules->slam),
           rules->feeding == RULES_FEEDING_NONE
               ? "Nobody need be fed."
               : "An opponent without seeds must be fed if any move does it.");
    if (rules->repetitions > 0)
        printf(" A position that stands %d times ends the game.", rules->repetitions);
    if (rules->quiet_limit > 0)
        printf(" So do %d plies without a capture.", rules->quiet_limit);
    printf("\n");
}

/* Any other word than a house; false when it is `quit`. */
static bool obey(struct match *match, const char *word)
{
    if (strcasecmp(word, "quit") == 0 || strcasecmp(word, "exit") == 0)
        return false;
    if (strcasecmp(word, "hint") == 0)
        give_hint(match);
    else if (strcasecmp(word, "undo") == 0)
        take_back(match);
    else if (strcasecmp(word, "board") == 0)
        print_board(match->game);
    else if (strcasecmp(word, "moves") == 0)
        printf("%s\n", game_moves(match->game));
    else if (strcasecmp(word, "rules") == 0)
        print_rules(game_rules(match->game));
    else if (word[0] != '\0' && strcasecmp(word, "help") != 0)
        printf("'%.20s' is no house and no word of this program; help lists them.\n", word);
    else
        print_help();
    return true;
}

/* The house a word names, of the side to move where small and capital letters are not told apart; -1. */
static int read_house(const struct match *match, const char *word)
{
    int house = word[0] != '\0' && word[1] == '\0' ? position_letter_house(word[0]) : -1;
    bool both = match->request->human[0] && match->request->human[1];
    if (house >= 0 && !both)
        house = house % 6 + 6 * game_position(match->game).side;
    return house;
}

/* One line of the person; false when the session ends. */
static bool take_turn(struct match *match)
{
    struct game *game = match->game;
    printf("%s to move:", side_name(game_position(game).side));
    print_legal(game);
    printf(" > ");
    fflush(stdout);
    enum lines_status read = lines_read(match->lines);
    if (read == LINES_END || read == LINES_ERROR)
        return false;
    char *word = read == LINES_LINE ? match->lines->text + strspn(match->lines->text, " \t") : "?";
    if (read == LINES_LINE)
        word[strcspn(word, " \t")] = '\0';
    int house = read_house(match, word);
    if (house < 0)
        return obey(match, word);
    int own = house - 6 * game_position(game).side;
    if (own < 0 || own >= BOARD_HOUSES || (game_legal(game) >> own & 1) == 0)
        explain_refusal(game, house);
    else {
        play_house(match, house);
        if (!game_over(game))
            print_board(game);
    }
    return true;
}

static void run_match(struct match *match)
{
    struct game *game = match->game;
    print_rules(game_rules(game));
    print_board(game);
    bool goes_on = true;
    while (goes_on && !game_over(game) && game_plies(game) < GAME_PLIES_MAX) {
        if (match->request->human[game_position(game).side]) {
            goes_on = take_turn(match);
            continue;
        }
        play_house(match, choose(match));
        if (!game_over(game))
            print_board(game);
    }
    if (game_over(game))
        explain_end(game);
    else
        printf("\n");
    printf("Moves: %s\n", game_moves(game));
}

int play_main(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct request request = {.rules = options_default_rules(),
                              .position = position_start(),
                              .human = {true, false},
                              .time_ms = TIME_MS,
                              .seed = mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec)};
    options_parse(&argp, argc, argv, &request);
    struct match match = {.request = &request};
    struct weights *weights = options_load_weights(request.weights, request.rules.name, argv[0]);
    match.weights = weights;
    match.game = game_create(&request.rules, &request.position);
    match.thinker = thinker_create(HASH_MIB * 1024);
    match.lines = malloc(sizeof *match.lines);
    int status = TOOL_REFUSED;
    bool ready = weights && options_load_tables(request.tables, &request.rules, argv[0], &match.tables);
    if (ready && match.game && match.thinker && match.lines) {
        lines_init(match.lines, stdin);
        run_match(&match);
        status = TOOL_DONE;
    } else if (ready) {
        fprintf(stderr, "%s: memory is short; close other programs and try again\n", argv[0]);
    }
    thinker_destroy(match.thinker);
    game_destroy(match.game);
    weights_destroy(weights);
    tables_close(match.tables);
    free(match.lines);
    int written = options_finish_output(argv[0]);
    return status == TOOL_DONE ? written : status;
}
