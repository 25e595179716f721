/* The commands of `kroo`: each is called with argv[0] naming it ("kroo ls") and returns the exit status. One
 * thread. */
#ifndef KROO_COORDINATOR_CLI_COMMANDS_H
#define KROO_COORDINATOR_CLI_COMMANDS_H

enum command_status {
    COMMAND_DONE = 0,
    COMMAND_REFUSED = 1, /* refused, or differences found; nothing was changed */
    COMMAND_USAGE = 2,
    COMMAND_NO_CONNECTION = 3, /* neither database nor coordinator, whichever was needed, answers */
};

typedef int command_main(int argc, char **argv);

command_main selfplay_command, match_command; /* selfplay.c */
command_main run_command, spec_command;       /* run.c */
command_main tune_command;                    /* tune.c */
command_main tune_show_command;               /* tune_show.c */
command_main clone_command;                   /* clone.c */
command_main show_command;                    /* show.c */
command_main watch_command;                   /* watch.c */
command_main pause_command, resume_command;   /* control.c */
command_main stop_command, status_command;    /* control.c */
command_main ls_command;                      /* lists.c */
command_main workers_command, why_command;    /* workers.c */
command_main priority_command, note_command;  /* control.c */
command_main tournament_pause, tournament_resume, tournament_stop, tournament_priority,
    tournament_note;                          /* control.c */
command_main approve_command, reject_command; /* control.c */
command_main delete_command;                  /* control.c */
command_main events_command;                  /* lists.c */
command_main weights_command;                 /* weights.c */
command_main engine_command;                  /* engine.c */
command_main tables_command;                  /* tables.c */
command_main book_command;                    /* book.c */
command_main weights_import_command;          /* weights_import.c */
command_main loop_command;                    /* loop.c */
command_main loop_decide_command;             /* loop_decide.c */
command_main gauntlet_command;                /* tournament_command.c */
command_main roundrobin_command;              /* tournament_command.c */
command_main tournament_command;              /* tournament_command.c */
command_main ratings_command;                 /* ratings.c */
command_main preset_command;                  /* preset.c */
command_main aa_command;                      /* aa.c */
command_main progression_command;             /* progression.c */
command_main pool_command;                    /* pool.c */
command_main games_command;                   /* games.c */
command_main verify_command;                  /* verify.c */
command_main replay_command;                  /* replay.c */
command_main audit_command;                   /* audit.c */
command_main query_command;                   /* query.c */
command_main faults_command;                  /* faults.c */
command_main replay_fault_command;            /* faults.c */
command_main key_command;                     /* key.c */
command_main up_command, down_command;        /* cluster.c */
command_main sql_command, migrate_command;    /* cluster.c */
command_main overview_command;                /* overview.c */
command_main names_command;                   /* names.c */
command_main doctor_command;                  /* doctor.c */
command_main web_command;                     /* web.c */

#endif
