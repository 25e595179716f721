/* `kroo COMMAND [OPTION...]`: the user's command. It reads the database for everything it shows and asks the
 * coordinator for everything it changes (DESIGN section 6). */
#include <argp.h>
#include <locale.h>
#include <stdio.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/calc.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/dispatch.h"
#include "engine/build.h"

static const struct dispatch_entry commands[] = {
    {"overview", overview_command, "the state of things, and what to do next", true},
    {"up", up_command, "start the private cluster of a folder", true},
    {"down", down_command, "stop it; the data stay", true},
    {"selfplay", selfplay_command, "let one set of weights play itself", true},
    {"match", match_command, "let two players meet, a fixed number of pairs or an SPRT", true},
    {"tune", tune_command, "tune parameters by SPSA; show how far a tune is", true},
    {"gauntlet", gauntlet_command, "one player against each of several others", true},
    {"roundrobin", roundrobin_command, "several players, each against each", true},
    {"ratings", ratings_command, "the joint ratings of a gauntlet, round robin, pool", true},
    {"tournament", tournament_command, "list gauntlets and the like; go on with one", true},
    {"pool", pool_command, "a standing pool whose rounds are chosen to shorten the errors", true},
    {"aa", aa_command, "a player against itself: is the farm fair?", true},
    {"progression", progression_command, "every release of a line against a fixed one", true},
    {"preset", preset_command, "named sets of options for matches", true},
    {"ls", ls_command, "list the experiments", true},
    {"show", show_command, "everything about one experiment: counts, Elo, LLR, verdict", true},
    {"watch", watch_command, "the cluster live on the whole screen, or one experiment to its end", true},
    {"pause", pause_command, "hand out no more pairs of an experiment, for a while", true},
    {"resume", resume_command, "let a paused or blocked one go on", true},
    {"stop", stop_command, "stop an experiment for good", true},
    {"priority", priority_command, "give an experiment another priority", true},
    {"note", note_command, "write its note", true},
    {"run", run_command, "make the experiment that a file specifies", true},
    {"spec", spec_command, "print the specification of one, for `kroo run`", true},
    {"clone", clone_command, "make another experiment like it", true},
    {"approve", approve_command, "let an experiment run that a submitter asked for", true},
    {"reject", reject_command, "refuse it", true},
    {"delete", delete_command, "delete an experiment that has ended, with its games", true},
    {"engine", engine_command, "add and list other programs that can play", true},
    {"tables", tables_command, "add and list endgame tables for players", true},
    {"book", book_command, "make, add, list, show and measure opening books", true},
    {"weights", weights_command, "list, show, export, import and promote weights", true},
    {"loop", loop_command, "run learning loops: self-play, fit, gate, promotion, again", true},
    {"games", games_command, "export the games of an experiment", true},
    {"verify", verify_command, "recompute every counter and replay every stored game", true},
    {"audit", audit_command, "what other workers played again, and what differed; play more again", true},
    {"replay", replay_command, "play a stored game again and compare", true},
    {"faults", faults_command, "what players' programs did wrong", true},
    {"replay-fault", replay_fault_command, "let a program come to its fault again", true},
    {"workers", workers_command, "the workers' sessions", true},
    {"why", why_command, "what a worker does, or why nothing, in a sentence", true},
    {"doctor", doctor_command, "check machine, database, keys, versions, clocks; how to mend what is wrong",
     true},
    {"status", status_command, "the coordinator's state at this moment", true},
    {"web", web_command, "print the address of the web page", true},
    {"events", events_command, "the event log", true},
    {"key", key_command, "make keys; allow, revoke and list those that may connect", true},
    {"query", query_command, "run a shipped query: endings, openings, lineage, workers, ...", true},
    {"names", names_command, "the names of one kind of thing, a line each", true},
    {"sql", sql_command, "open psql on the cluster's database", true},
    {"migrate", migrate_command, "bring the database's schema to this release", true},
    {"calc", calc_command, "the calculator behind every figure: JSON requests in, answers out", true},
    {0},
};

int main(int argc, char **argv)
{
    static char version[128];
    snprintf(version, sizeof version, "kroo, with %s", engine_build());
    argp_program_version = version;
    argp_err_exit_status = COMMAND_USAGE;
    /* Words from the system in the user's language would be half a translation; numbers stay C's. */
    setlocale(LC_CTYPE, "");
    static char name[] = "kroo";
    argv[0] = name;
    int status = dispatch(commands,
                          "Oware on a cluster: self-play, learning, and matches that prove what was learned.",
                          "overview", argc, argv);
    /* An answer that a full disk swallowed was no answer. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == COMMAND_DONE)
        status = args_refuse("the answer cannot be written: is the disk full?");
    return status;
}
