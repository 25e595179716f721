#include "coordinator/cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The alternate screen without a cursor and without wrapping, and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static int keys = -1; /* where keys come from */
static struct termios usual, taken;
static volatile sig_atomic_t is_open, resized, killed, quits;

bool screen_is_possible(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && kind && *kind && strcmp(kind, "dumb") != 0;
}

static void put(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, text, size);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (written > 0) {
            text += written;
            size -= (size_t)written;
        }
    }
}

/* Both may be called in a signal's handler. */
static void take(void)
{
    if (keys >= 0)
        tcsetattr(keys, TCSADRAIN, &taken);
    put(ENTER, sizeof ENTER - 1);
    is_open = 1;
}

static void give_back(void)
{
    if (!is_open)
        return;
    is_open = 0;
    put(LEAVE, sizeof LEAVE - 1);
    if (keys >= 0)
        tcsetattr(keys, TCSADRAIN, &usual);
}

static void on_change(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGINT)
        quits = 1;
    else
        killed = number;
}

/* Ctrl-Z: the shell gets its terminal, and after `fg` the screen is drawn again. */
static void on_stop(int number)
{
    int error = errno;
    struct sigaction action = {.sa_handler = SIG_DFL}, own;
    sigset_t only, before;
    give_back();
    sigaction(number, &action, &own);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, &before); /* it stops here */
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(number, &own, NULL);
    take();
    resized = 1;
    errno = error;
}

/* A fault of the program: the terminal first, then the end that it would have had. */
static void on_fault(int number)
{
    give_back();
    raise(number);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void handle_all(void)
{
    static const int ends[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        handle(ends[i], on_change, 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        handle(faults[i], on_fault, (int)SA_RESETHAND | SA_NODEFER);
    handle(SIGTSTP, on_stop, SA_RESTART);
}

int screen_open(void)
{
    if (!screen_is_possible())
        return -1;
    unsetenv("COLUMNS"); /* it tells of the moment when the shell was asked */
    keys = isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (keys >= 0 && tcgetattr(keys, &usual) != 0)
        keys = -1;
    taken = usual;
    taken.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    taken.c_cc[VMIN] = 0;
    taken.c_cc[VTIME] = 0;
    fflush(stdout);
    atexit(give_back);
    handle_all();
    take();
    return 0;
}

/* Bytes of `line` that take at most `columns` letters; what steers colours takes none. */
static size_t crop(const char *line, size_t size, size_t columns)
{
    size_t at = 0, letters = 0;
    while (at < size) {
        if (line[at] == '\033') {
            size_t end = at;
            while (end < size && line[end] != 'm')
                end++;
            at = end < size ? end + 1 : size;
            continue;
        }
        if (((unsigned char)line[at] & 0xc0) != 0x80 && letters++ == columns)
            break;
        at++;
    }
    return at;
}

void screen_draw(const char *text)
{
    struct winsize window;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0;
    size_t columns = known ? window.ws_col : 80, rows = known ? window.ws_row : 24, size = 0;
    char *all = NULL;
    FILE *out = open_memstream(&all, &size);
    if (!out)
        return;
    fputs("\033[H", out);
    for (size_t row = 0; row < rows; row++) {
        size_t length = strcspn(text, "\n");
        fputs("\033[K", out); /* before, not behind: a full line's last letter would go with it */
        fwrite(text, 1, crop(text, length, columns), out);
        fputs(row + 1 < rows ? "\033[0m\r\n" : "\033[0m", out);
        text += length + (text[length] == '\n');
    }
    if (fclose(out) == 0)
        put(all, size);
    free(all);
}

static bool is_quitting_key(void)
{
    char pressed[64];
    ssize_t count = read(keys, pressed, sizeof pressed);
    if (count <= 0)
        return count == 0 || (errno != EINTR && errno != EAGAIN);
    /* Escape alone; with more behind it, it is an arrow or the like. */
    return pressed[0] == 'q' || pressed[0] == 'Q' || pressed[0] == 4 || (pressed[0] == 27 && count == 1);
}

/* Signals are let in only while it waits, so that none comes between the question and the wait. */
static int wait_for_key(int ms)
{
    static const int numbers[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct pollfd key = {.fd = keys, .events = POLLIN};
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&blocked, numbers[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    int ready = resized || killed || quits ? 0 : ppoll(&key, keys >= 0, &time, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

enum screen_event screen_wait(int ms)
{
    int ready = wait_for_key(ms);
    if (killed)
        return SCREEN_KILLED;
    if (quits || (ready > 0 && is_quitting_key()))
        return SCREEN_QUIT;
    if (!resized)
        return SCREEN_TICK;
    resized = 0;
    return SCREEN_RESIZED;
}

void screen_close(void)
{
    give_back();
    if (!killed)
        return;
    handle(killed, SIG_DFL, 0);
    raise(killed);
}
