/* Presets: named, versioned sets of options for `kroo match`. One thread. */
#ifndef KROO_COORDINATOR_CLI_PRESET_H
#define KROO_COORDINATOR_CLI_PRESET_H

/* Where --preset NAME (or NAME@VERSION) is given, puts its options before all others, so that what stands on
 * the command line wins, and a note that names it. *argv is then a new array that lives as long as the
 * program. COMMAND_DONE, or said why not. */
int preset_expand(int *argc, char ***argv);

#endif
