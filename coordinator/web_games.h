/* Finishes web/api/games.sql: a filter that is nonsense is the asker's fault, which the statement tells in
 * its second column. Pure; any thread. */
#ifndef KROO_COORDINATOR_WEB_GAMES_H
#define KROO_COORDINATOR_WEB_GAMES_H

#include "coordinator/web_call.h"

web_finish web_finish_games;

#endif
