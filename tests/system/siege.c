/* Connections that mean no good, thousands at a time, on raw TCP: what no library of ours would send.
 *
 *   build/tests/system/siege PORT CONNECTIONS strangers        bytes of no protocol, half greetings, slow
 * greetings, greetings of every mechanism with noise behind build/tests/system/siege PORT CONNECTIONS peers
 * FILE...    peers by the book (ZMTP 3, no key) that speak nonsense: the FILEs as messages, giant and
 * many-part ones
 *
 * A connection that is closed by the other end is opened again. Runs until its standard input ends, then
 * prints one line of JSON: what was opened, closed on it, and sent. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 16384,
    SCRIPTS_MAX = 256,
    GREETING = 64,
    HANDSHAKE = 100, /* bytes that a ROUTER's greeting and READY have at least */
    TURN_MS = 20,
    OPENED_A_TURN = 200,   /* a storm, yet one that leaves the processor to others at times */
    SENT_A_TURN = 1 << 16, /* of one connection */
    PIECE_TURNS = 10,      /* between two bytes of a slow one */
};

/* What is sent over a connection: some bytes, then perhaps others over and over. */
struct script {
    uint8_t *bytes;
    size_t size;
    size_t again_from; /* at the end, go on from here; `size`: say no more */
    size_t wait_at;    /* here the other end's handshake is waited for; 0: nowhere */
    bool slow;         /* a byte at a time */
};

struct line {
    int socket; /* -1: to be opened */
    size_t script, at, heard;
};

static struct script scripts[SCRIPTS_MAX];
static size_t script_count;
static struct line lines[CONNECTIONS_MAX];
static struct pollfd polled[CONNECTIONS_MAX + 1];
static uint64_t opened, closed, refused, sent, chance = 0x9e3779b97f4a7c15;

static uint8_t noise(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (uint8_t)(chance >> 32);
}

/* --- scripts --- */

static struct script *script_add(bool slow)
{
    struct script *script = &scripts[script_count++];
    script->slow = slow;
    return script;
}

static void put(struct script *script, const void *bytes, size_t size)
{
    script->bytes = realloc(script->bytes, script->size + size);
    if (script->bytes == NULL)
        abort();
    memcpy(script->bytes + script->size, bytes, size);
    script->size += size;
    script->again_from = script->size;
}

static void put_noise(struct script *script, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = noise();
        put(script, &byte, 1);
    }
}

static void put_greeting(struct script *script, const char *mechanism)
{
    uint8_t greeting[GREETING] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0};
    snprintf((char *)greeting + 12, 20, "%s", mechanism);
    put(script, greeting, sizeof greeting);
}

/* A frame of ZMTP 3: flags 1 more, 4 command. */
static void put_frame(struct script *script, unsigned flags, const void *bytes, size_t size)
{
    uint8_t head[9] = {(uint8_t)(flags | 2)};
    for (int i = 0; i < 8; i++)
        head[8 - i] = (uint8_t)(size >> 8 * i);
    put(script, head, sizeof head);
    if (bytes != NULL)
        put(script, bytes, size);
}

static void put_handshake(struct script *script)
{
    static const char ready[] = "\005READY\013Socket-Type\0\0\0\006DEALER\010Identity\0\0\0";
    put_greeting(script, "NULL");
    put_frame(script, 4, ready, sizeof ready);
    script->wait_at = script->size;
}

static void make_strangers(void)
{
    static const char *const openings[] = {"GET / HTTP/1.1\r\nHost: kroo\r\n\r\n", "\026\003\001\002\001\001",
                                           "SSH-2.0-x\r\n", "\377",
                                           "\377\001\377\377\377\377\377\377\377\177\3"};
    static const char *const mechanisms[] = {"CURVE", "NULL", "PLAIN", "GSSAPI", "CURVE\377"};
    (void)script_add(false); /* says nothing at all */
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
        put(script_add(false), openings[i], strlen(openings[i]));
    put_noise(script_add(false), 100000);
    put_greeting(script_add(true), "CURVE");
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
        static const size_t sizes[] = {0, 200, 1 << 19, SIZE_MAX / 2};
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            struct script *script = script_add(false);
            put_greeting(script, mechanisms[i]);
            put_frame(script, 4, NULL, sizes[j]); /* a command that long, of noise */
            put(script, "\005HELLO", 6);
            put_noise(script, 50000);
        }
    }
}

/* Many parts: 4,000 of one message, then the whole again. */
static void make_many_parts(void)
{
    struct script *script = script_add(false);
    put_handshake(script);
    size_t from = script->size;
    for (int i = 0; i < 4000; i++)
        put_frame(script, i < 3999, "x", 1);
    script->again_from = from;
}

/* A message of one frame after a handshake, over and over. */
static void make_speaker(const void *bytes, size_t size, size_t claimed)
{
    struct script *script = script_add(false);
    put_handshake(script);
    size_t from = script->size;
    put_frame(script, 0, NULL, claimed);
    put(script, bytes, size);
    script->again_from = claimed == size ? from : script->size;
}

static void make_peers(char **files)
{
    static uint8_t large[1 << 20];
    for (; *files != NULL && script_count < SCRIPTS_MAX - 8; files++) {
        FILE *file = fopen(*files, "re");
        size_t size = file != NULL ? fread(large, 1, sizeof large, file) : 0;
        if (file == NULL)
            abort();
        fclose(file);
        make_speaker(large, size, size);
    }
    memset(large, 0xee, sizeof large);
    make_speaker(large, 500 * 1024,
                 500 * 1024); /* within what the socket takes, beyond what a message may be */
    make_speaker(large, sizeof large, sizeof large);
    make_speaker(large, sizeof large, SIZE_MAX / 2);
    make_many_parts();
}

/* --- connections --- */

static void open_line(struct line *line, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    line->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (line->socket < 0)
        return;
    if (connect(line->socket, (const struct sockaddr *)&address, sizeof address) != 0 &&
        errno != EINPROGRESS) {
        close(line->socket);
        line->socket = -1;
        refused++;
        return;
    }
    opened++;
    line->at = line->heard = 0;
    line->script = (line->script + script_count - 1) % script_count; /* another part each time */
}

static void close_line(struct line *line)
{
    close(line->socket);
    line->socket = -1;
    closed++;
}

/* libzmq closes a connection on which something comes before its own half of the handshake is out. */
static bool may_talk(const struct line *line)
{
    const struct script *script = &scripts[line->script];
    return line->at < script->size &&
           (line->at != script->wait_at || line->at == 0 || line->heard > HANDSHAKE);
}

/* Says what is next, and reads what comes so that nobody waits for it. */
static void serve_line(struct line *line, short events, unsigned turn)
{
    static uint8_t heard[1 << 16];
    const struct script *script = &scripts[line->script];
    size_t room = script->slow ? turn % PIECE_TURNS == 0 : SENT_A_TURN;
    ssize_t got = events & (POLLIN | POLLHUP | POLLERR) ? recv(line->socket, heard, sizeof heard, 0) : 1;
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        close_line(line);
        return;
    }
    line->heard += got > 0 && (events & POLLIN) != 0 ? (size_t)got : 0;
    while (room > 0 && (events & POLLOUT) != 0 && may_talk(line)) {
        size_t end = line->at < script->wait_at ? script->wait_at : script->size;
        size_t left = end - line->at, most = left < room ? left : room;
        ssize_t wrote = send(line->socket, script->bytes + line->at, most, MSG_NOSIGNAL);
        if (wrote <= 0)
            break;
        sent += (uint64_t)wrote;
        room -= (size_t)wrote;
        line->at += (size_t)wrote;
        if (line->at == script->size)
            line->at = script->again_from;
    }
}

static bool turn_all(size_t count, uint16_t port, unsigned turn)
{
    size_t opens = 0;
    for (size_t i = 0; i < count; i++) {
        if (lines[i].socket < 0 && opens++ < OPENED_A_TURN)
            open_line(&lines[i], port);
        bool talks = may_talk(&lines[i]);
        polled[i] =
            (struct pollfd){.fd = lines[i].socket, .events = (short)(talks ? POLLIN | POLLOUT : POLLIN)};
    }
    polled[count] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(polled, count + 1, TURN_MS) < 0 && errno != EINTR)
        abort();
    for (size_t i = 0; i < count; i++)
        if (lines[i].socket >= 0 && polled[i].revents != 0)
            serve_line(&lines[i], polled[i].revents, turn);
    return polled[count].revents == 0;
}

int main(int argc, char **argv)
{
    struct rlimit files = {0};
    unsigned long port = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long count = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (port == 0 || port > UINT16_MAX || count == 0 || count > CONNECTIONS_MAX) {
        fprintf(stderr, "usage: siege PORT CONNECTIONS strangers|peers [FILE...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (strcmp(argv[3], "peers") == 0)
        make_peers(argv + 4);
    else
        make_strangers();
    for (size_t i = 0; i < count; i++)
        lines[i] = (struct line){.socket = -1, .script = i % script_count};
    for (unsigned turn = 0; turn_all(count, (uint16_t)port, turn); turn++)
        ;
    printf("{\"opened\":%llu,\"closed\":%llu,\"refused\":%llu,\"bytes\":%llu,\"scripts\":%zu}\n",
           (unsigned long long)opened, (unsigned long long)closed, (unsigned long long)refused,
           (unsigned long long)sent, script_count);
    return 0;
}
