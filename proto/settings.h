/* Settings in the order of DESIGN section 6: option, KROO_* variable, config file (--config, KROO_CONFIG,
 * else DIR/kroo.conf of a private cluster), default. A config file has `name = value` lines and `#` comments.
 */
#ifndef KROO_PROTO_SETTINGS_H
#define KROO_PROTO_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

struct settings;

/* Reads `path` (NULL: KROO_CONFIG, else `kroo.conf` in KROO_DIR or `var` if it is there, else nothing). NULL
 * with a reason on a bad line, an unknown name, or a named file that cannot be read. */
struct settings *settings_create(const char *path, char *reason, size_t reason_size);
/* The same from the text of a config file; `origin` names it in reasons. */
struct settings *settings_parse(const char *text, size_t size, const char *origin, char *reason,
                                size_t reason_size);
void settings_destroy(struct settings *settings);
/* An option given on the command line; wins over everything. 0, or -1 for an unknown name or too long a
 * value. */
int settings_set(struct settings *settings, const char *name, const char *value);
/* Value of `name` (for example `database`, `endpoint`), KROO_DATABASE in the environment; `fallback` when
 * nowhere set. */
const char *settings_get(const struct settings *settings, const char *name, const char *fallback);
/* The same as a whole number in [low, high]; returns 0, or -1 with a reason that names where the bad value
 * came from. */
int settings_number(const struct settings *settings, const char *name, int64_t low, int64_t high,
                    int64_t fallback, int64_t *out, char *reason, size_t reason_size);

/* The names known:
 *   database          libpq connection string
 *   endpoint          where the coordinator listens, comma separated; where workers and kroo connect
 *   key               secret key file; server_key   the coordinator's public key (file or text)
 *   dir               folder of the private cluster
 *   state             worker: spool and artifacts folder
 *   tables            worker: endgame tables on this machine, comma separated; move_ms: when a program hangs
 *   term_ms, progress_ms, drain_ms, slots, name, log_level, window
 */

#endif
