/* A private PostgreSQL for a test program: main calls database_main first, which runs the program again under
 * tests/cluster.sh; the cluster is gone when the program is. Run from the root of the checkout. */
#ifndef KROO_TESTS_DATABASE_H
#define KROO_TESTS_DATABASE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void database_main(char **argv)
{
    if (getenv("KROO_TEST_DATABASE") != NULL && getenv("KROO_TEST_CLUSTER") != NULL)
        return;
    execlp("sh", "sh", "tests/cluster.sh", "run", argv[0], (char *)NULL);
    perror("sh tests/cluster.sh");
    exit(1);
}

static inline const char *database_conninfo(void)
{
    return getenv("KROO_TEST_DATABASE");
}

static inline int database_command(const char *verb)
{
    char command[512];
    snprintf(command, sizeof command, "sh tests/cluster.sh %s '%s'", verb, getenv("KROO_TEST_CLUSTER"));
    return system(command);
}

/* Pulls the server's plug, as a crash would. */
static inline int database_kill(void)
{
    return database_command("kill");
}

static inline int database_start(void)
{
    return database_command("start");
}

#endif
