/* The protocol of kroo-engine: the UCI dialect that Aualé and Aalina speak (DESIGN section 9), described in
 * engine/README.md. Reads standard input in the calling thread, searches in another one. */
#ifndef KROO_ENGINE_CLI_UCI_H
#define KROO_ENGINE_CLI_UCI_H

/* Speaks until `quit` or the end of the input; the exit status. */
int uci_main(void);

#endif
