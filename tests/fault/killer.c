/* Death at a named step, for the programs as they are shipped: preloaded into a process it stands in front of
 * a few functions of libc, libzmq and libpq, and kills the process (SIGKILL) at the step that a file orders.
 *
 *   LD_PRELOAD=build/tests/fault/killer.so KROO_KILL_FILE=order kroo-coordinator ...
 *   echo 'commit 3' >order.new && mv order.new order        dies before the third COMMIT from now on
 *
 * The order is read again at every step until it is there, and removed at the death, which is a line on
 * standard error as well. The programs know nothing of this; without the file nothing happens. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* What is stood in front of, in our words: handles are only passed on. */
int zmq_send(void *socket, const void *bytes, size_t size, int flags);
int zmq_msg_recv(void *message, void *socket, int flags);
void *zmq_msg_data(void *message);
size_t zmq_msg_size(const void *message);
int zmq_msg_more(const void *message);
int PQsendQuery(void *connection, const char *sql);
int PQputCopyData(void *connection, const char *bytes, int size);
char *PQcmdStatus(void *result);

/* Numbers of messages in the Envelope of proto/kroo.proto. */
enum { LEASE_REQUEST = 20, LEASE_GRANT = 21, RESULTS = 23, RESULTS_ACK = 24, PROGRESS = 25, RELEASE = 27 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char ordered[32];
static unsigned long left; /* 0: no order yet */

/* The next function of this name; its type is for the caller to know. */
#define NEXT(name) ((__typeof__(&name))next_function(#name))

static void *next_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) /* this process does not have the library, so nobody can have called */
        abort();
    return found;
}

static void read_order(const char *path)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    if (sscanf(text, "%31s %lu", ordered, &left) != 2)
        left = 0;
}

static void die(const char *path, const char *name)
{
    char line[80];
    NEXT(unlink)(path);
    int size = snprintf(line, sizeof line, "killer: dies at %s\n", name);
    if (write(STDERR_FILENO, line, (size_t)size) == size)
        (void)fsync(STDERR_FILENO);
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* True when the order is for this very step: the caller does its half and then calls it again as "now". */
static bool is_due(const char *name)
{
    const char *path = getenv("KROO_KILL_FILE");
    if (!path)
        return false;
    pthread_mutex_lock(&mutex);
    if (left == 0)
        read_order(path);
    bool due = left > 0 && strcmp(ordered, name) == 0 && --left == 0;
    pthread_mutex_unlock(&mutex);
    return due;
}

static void step(const char *name)
{
    if (is_due(name))
        die(getenv("KROO_KILL_FILE"), name);
}

/* --- messages --- */

/* The kind of an Envelope: behind `request` (field 1, a varint), the number of the next field. */
static unsigned kind_of(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    if (size > 0 && bytes[0] == 1 << 3) {
        for (at = 1; at < size && bytes[at] >= 0x80; at++)
            ;
        at++;
    }
    unsigned tag = 0;
    for (unsigned shift = 0; at < size && shift < 21; shift += 7) {
        tag |= (bytes[at] & 0x7fu) << shift;
        if (bytes[at++] < 0x80)
            return tag >> 3;
    }
    return 0;
}

static const char *name_of(unsigned kind)
{
    switch (kind) {
    case LEASE_REQUEST:
        return "lease-request";
    case LEASE_GRANT:
        return "grant";
    case RESULTS:
        return "results";
    case RESULTS_ACK:
        return "ack";
    case PROGRESS:
        return "progress";
    case RELEASE:
        return "release";
    default:
        return "message";
    }
}

static void message_step(const char *when, const void *bytes, size_t size)
{
    char name[48];
    (void)snprintf(name, sizeof name, "%s-%s", when, name_of(kind_of(bytes, size)));
    step(name);
}

int zmq_send(void *socket, const void *bytes, size_t size, int flags)
{
    enum { SEND_MORE = 2 };
    bool whole = (flags & SEND_MORE) == 0;
    if (whole)
        message_step("before", bytes, size);
    int sent = NEXT(zmq_send)(socket, bytes, size, flags);
    if (whole && sent >= 0)
        message_step("sent", bytes, size);
    return sent;
}

int zmq_msg_recv(void *message, void *socket, int flags)
{
    int size = NEXT(zmq_msg_recv)(message, socket, flags);
    if (size > 0 && !NEXT(zmq_msg_more)(message))
        message_step("heard", NEXT(zmq_msg_data)(message), NEXT(zmq_msg_size)(message));
    return size;
}

/* --- the database --- */

int PQsendQuery(void *connection, const char *sql)
{
    if (strcmp(sql, "begin") == 0)
        step("begin");
    if (strcmp(sql, "commit") == 0)
        step("commit");
    int sent = NEXT(PQsendQuery)(connection, sql);
    if (strcmp(sql, "commit") == 0)
        step("commit-sent");
    return sent;
}

int PQputCopyData(void *connection, const char *bytes, int size)
{
    step("copy");
    return NEXT(PQputCopyData)(connection, bytes, size);
}

/* Asked of the answer to COMMIT: it stands, and nobody has been told. */
char *PQcmdStatus(void *result)
{
    char *status = NEXT(PQcmdStatus)(result);
    if (status && strcmp(status, "COMMIT") == 0)
        step("committed");
    return status;
}

/* --- files --- */

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    if (is_due("half-write")) {
        (void)!NEXT(pwrite)(fd, bytes, size / 2, offset);
        die(getenv("KROO_KILL_FILE"), "half-write");
    }
    step("write");
    return NEXT(pwrite)(fd, bytes, size, offset);
}

int fdatasync(int fd)
{
    step("sync");
    int outcome = NEXT(fdatasync)(fd);
    step("synced");
    return outcome;
}

int rename(const char *from, const char *to)
{
    step("rename");
    int outcome = NEXT(rename)(from, to);
    step("renamed");
    return outcome;
}

int unlink(const char *path)
{
    step("unlink");
    return NEXT(unlink)(path);
}
