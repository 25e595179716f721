/* `kroo engine`: programs that can play besides the engine inside every worker. */
#include "coordinator/cli/commands.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/engine_add.h"
#include "coordinator/cli/sealing.h"
#include "coordinator/cli/upload.h"

static int engine_ls(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = upload_parse,
        .doc = "List the engines that were added. The engine inside every worker is called built-in.",
        .children = args_common_children};
    static const char sql[] =
        "select e.name, left(encode(e.sha256, 'hex'), $1::integer) as sha256, e.program, e.architectures, "
        "e.signature, p.reproducible, p.agreed_pairs, a.size,"
        " (select string_agg(left(encode(s.public_key, 'hex'), 8), ' ' order by s.signed_at) from "
        "kroo.artifact_seal s where s.sha256 = e.sha256) as signed_by,"
        " (select count(distinct x.id) from kroo.player p join kroo.experiment x on p.id in (x.player_a, "
        "x.player_b)"
        "  where p.engine_sha256 = e.sha256) as experiments, e.added_by,"
        " to_char(e.added_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as added, e.note"
        " from kroo.engine e join kroo.artifact a on a.sha256 = e.sha256 join kroo.engine_proof p on "
        "p.sha256 = "
        "e.sha256 order by e.added_at, e.name";
    struct upload request = {0};
    parse_line(&argp, argc, argv, &request);
    return upload_list(&request.common, sql,
                       "no engines but the built-in one: `kroo engine add FILE --name N`");
}

int engine_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"add", engine_add_command, "add a program that can play", true},
        {"sign", engine_sign_command, "sign one that is there already", true},
        {"ls", engine_ls, "list them", true},
        {0},
    };
    return dispatch(commands, "Engines: other programs that workers run as players.", "ls", argc, argv);
}
