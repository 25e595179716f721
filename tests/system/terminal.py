"""A terminal for tests: runs a shell on a pty of a given size, types, and waits for what appears.

Reads a script from standard input, a step a line:
    type TEXT            what a person types; \\n, \\x1a, ... as in Python
    size ROWS COLUMNS    the window changes its size
    await TEXT           waits until TEXT came since the last await (30 seconds), and goes on behind it
    absent TEXT          TEXT has not come between the last two awaits
    run COMMAND          beside the terminal; it must succeed
    width COLUMNS        no line since the last await is longer, colours left out
Prints "ok" or what failed; exits 1 at the first failure.
"""
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

PATIENCE = 30
seen, before = b"", b""
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm-256color", PS1="READY> ", LC_ALL="C.UTF-8")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def resize(rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read(timeout):
    global seen
    ready, _, _ = select.select([terminal], [], [], timeout)
    if ready:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            return False
    return True


def wait_for(text):
    global seen, before
    until = time.monotonic() + PATIENCE
    while text not in seen:
        if time.monotonic() > until or not read(0.2):
            return False
    at = seen.index(text) + len(text)
    before, seen = seen[:at], seen[at:]
    return True


def lines(data):
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", data).decode(errors="replace")
    return [line.rstrip() for line in text.replace("\r", "").split("\n")]


def step(word, rest):
    text = rest.encode().decode("unicode_escape").encode("latin-1")
    if word == "type":
        os.write(terminal, text)
    elif word == "size":
        resize(*map(int, rest.split()))
    elif word == "await":
        return wait_for(text)
    elif word == "absent":
        return text not in before
    elif word == "run":
        return subprocess.run(rest, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    elif word == "width":
        return all(len(line) <= int(rest) for line in lines(before))
    else:
        return False
    return True


resize(40, 100)
failed = None
for line in sys.stdin:
    word, _, rest = line.rstrip("\n").partition(" ")
    if not word or word.startswith("#"):
        continue
    if not step(word, rest):
        failed = line.rstrip("\n")
        break
print("ok" if failed is None else "failed: " + failed)
if failed is not None:
    print("# screen:", *lines(before + seen)[-30:], sep="\n# ")
os.kill(pid, signal.SIGKILL)
os.close(terminal)
sys.exit(failed is not None)
