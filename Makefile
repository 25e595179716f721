# Every command of Kroo. `make help` lists them; README.md explains them.
#
#   make CC=clang            another compiler, its own build folder
#   make SAN=address,undefined | SAN=thread     sanitizer builds, their own build folders

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
SAN ?=
comma := ,
VARIANT := $(if $(filter-out gcc,$(CC)),-$(notdir $(CC)))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
BUILD ?= build$(VARIANT:-%=/%)

PREFIX ?= /usr/local
DESTDIR ?=

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion $(if $(WERROR),-Werror)
OPTIMIZE ?= -O2 -g
# libzmq is not instrumented: the thread sanitizer does not see its queues hand memory over.
export TSAN_OPTIONS ?= ignore_noninstrumented_modules=1
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
CFLAGS_ALL = -std=c17 $(OPTIMIZE) $(WARNINGS) $(SANFLAGS) -D_GNU_SOURCE -I. -I$(BUILD)/gen -pthread $(CFLAGS)
LDFLAGS_ALL := $(SANFLAGS) -pthread $(LDFLAGS)

PKG = $(shell pkg-config --silence-errors $(1) $(2) 2>/dev/null)
PG_CFLAGS := -I$(shell pg_config --includedir 2>/dev/null)
PROTO_LIBS := $(call PKG,--libs,libzmq libprotobuf-c libsodium jansson)
SQL_LIBS := -lpq
HTTP_LIBS := -lmicrohttpd
BLAS_LIBS := -llapacke -lopenblas

# --- rooms: folder/*.c is the library, folder/cli/*.c and folder/*_main.c are executables ---------------
ENGINE_SRC := $(wildcard engine/*.c)
PROTO_SRC := $(wildcard proto/*.c)
SQL_SRC := $(wildcard sql/*.c)
WORKER_SRC := $(filter-out %_main.c,$(wildcard worker/*.c))
EVAL_SRC := $(filter-out %_main.c,$(wildcard eval/*.c))
COORDINATOR_SRC := $(filter-out %_main.c,$(wildcard coordinator/*.c))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_ENGINE := $(BUILD)/libkroo-engine.a
LIB_PROTO := $(BUILD)/libkroo-proto.a
LIB_SQL := $(BUILD)/libkroo-sql.a
LIB_WORKER := $(BUILD)/libkroo-worker.a
LIB_EVAL := $(BUILD)/libkroo-eval.a
LIB_COORDINATOR := $(BUILD)/libkroo-coordinator.a

EXECUTABLES := $(addprefix $(BUILD)/,kroo kroo-coordinator kroo-worker kroo-train kroo-engine)

.PHONY: all help demo check bench fuzz format format-check install man clean unit
.DEFAULT_GOAL := all
all: $(EXECUTABLES)

help:
	@printf '%s\n' 'make            build everything into $(BUILD)/' \
	  'make demo       one turn of learning on this machine, with a report' \
	  'make check      install what is missing, build, run every test' \
	  'make bench      measure; table on the terminal, build/bench.json' \
	  'make crowd      thousands of synthetic workers, and a coordinator killed under them' \
  'make plots      the pictures of deploy/SCALE.md from their tables' \
  'make fuzz       long fuzz runs' \
  'make simulate   SECONDS=300 SEED=1: simulated clusters with every fault' \
  'make sprts      small sequential tests under faults: TESTS=2000 SEED=n' \
  'make fault      kill processes at random: RUNS=200 SEED=n' \
	  'make format     format the sources' \
	  'make man        man pages and completions into $(BUILD)/manual/' \
	  'make install    PREFIX=/usr/local DESTDIR=' \
	  'make npm        the JavaScript reader of weights as a package in $(BUILD)/npm-package/' \
	  'make extension  build the server extension; make install-extension puts it where PostgreSQL looks'

# --- generated code ---------------------------------------------------------------------------------------
PB_C := $(BUILD)/gen/proto/kroo.pb-c.c
PB_H := $(BUILD)/gen/proto/kroo.pb-c.h
$(PB_C) $(PB_H) &: proto/kroo.proto
	@mkdir -p $(BUILD)/gen
	protoc-c --c_out=$(BUILD)/gen proto/kroo.proto
$(BUILD)/obj/gen/kroo.pb-c.o: $(PB_C)
	@mkdir -p $(@D)
	$(CC) -std=c17 $(OPTIMIZE) $(SANFLAGS) -w -I$(BUILD)/gen -MMD -MP -c -o $@ $<
$(call obj,$(PROTO_SRC)): | $(PB_H)

# The migrations travel inside the executables: name, sha256 and text of each numbered file.
MIGRATIONS := $(sort $(wildcard sql/migrations/*.sql))
MIGRATIONS_C := $(BUILD)/gen/sql/migrations_data.c
$(MIGRATIONS_C): $(MIGRATIONS) sql/embed.sh
	@mkdir -p $(@D)
	sh sql/embed.sh $(MIGRATIONS) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/gen/migrations_data.o: $(MIGRATIONS_C)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -c -o $@ $<

# So do the shipped queries.
QUERIES := $(sort $(wildcard sql/queries/*.sql))
QUERIES_C := $(BUILD)/gen/sql/queries_data.c
$(QUERIES_C): $(QUERIES) sql/embed_queries.sh
	@mkdir -p $(@D)
	sh sql/embed_queries.sh $(QUERIES) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/gen/queries_data.o: $(QUERIES_C)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -c -o $@ $<

# The pages' engine: engine/ as WebAssembly, the same for every variant of the build.
# One thread, no files, no glue: web/static/engine.js gives it the little it asks for. WASM=no builds without it, and
# the pages that need it say so.
WEB_BUILD := $(patsubst %$(VARIANT:-%=/%),%,$(BUILD))/web
EMCC ?= emcc
WASM ?= yes
WASM_ENGINE := $(if $(filter-out no,$(WASM)),$(WEB_BUILD)/kroo-engine.wasm)
WASM_SRC := $(filter-out engine/build.c,$(ENGINE_SRC)) $(wildcard web/engine/*.c)
WASM_OBJ := $(patsubst %.c,$(WEB_BUILD)/obj/%.o,$(WASM_SRC))
# size_t has 32 bits there: what that cuts off is of no use to a page.
WASM_CFLAGS := -std=c17 -O3 -msimd128 $(WARNINGS) -Wno-shorten-64-to-32 -D_GNU_SOURCE -I.
WASM_LDFLAGS := -O3 -msimd128 --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=4MB \
  -sTOTAL_STACK=1MB -sMAXIMUM_MEMORY=256MB -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0
HAVE_EMCC = command -v $(EMCC) >/dev/null || { echo "make: $(EMCC) is missing, which compiles the engine for the web pages:" \
  "install emscripten (deploy/setup-debian.sh does), or build without: make WASM=no"; exit 1; }
$(WEB_BUILD)/obj/%.o: %.c
	@$(HAVE_EMCC)
	@mkdir -p $(@D)
	$(EMCC) $(WASM_CFLAGS) -MMD -MP -c -o $@ $<
$(WEB_BUILD)/kroo-engine.wasm: $(WASM_OBJ)
	@$(HAVE_EMCC)
	rm -f $(WEB_BUILD)/obj/engine.a && emar rcs $(WEB_BUILD)/obj/engine.a $^
	$(EMCC) $(WASM_LDFLAGS) -o $@ $(WEB_BUILD)/obj/web/engine/bridge.o $(WEB_BUILD)/obj/engine.a
WEB_MADE += $(WASM_ENGINE)

# And the web page: its files and what it asks. Plots come from npm, once for all builds of this folder.
NPM_FOLDER ?= $(if $(filter build build/%,$(BUILD)),build,$(BUILD))/npm
NPM_FILES := $(addprefix $(NPM_FOLDER)/node_modules/uplot/dist/,uPlot.esm.js uPlot.min.css)
$(NPM_FILES) &: web/package.json web/package-lock.json web/.npmrc
	@command -v npm >/dev/null || { echo 'make: the web page needs npm (Debian: apt-get install npm, or deploy/setup-debian.sh)' >&2; exit 1; }
	@mkdir -p $(NPM_FOLDER) && cp $^ $(NPM_FOLDER)
	cd $(NPM_FOLDER) && npm ci --no-audit --no-fund --loglevel=error
	@touch $(NPM_FILES)
# Files of the page that are made: rules elsewhere may add theirs.
WEB_MADE += $(NPM_FILES)
WEB_FILES = $(sort $(wildcard web/static/*)) $(WEB_MADE)
WEB_CALLS := $(sort $(wildcard web/api/*.sql))
$(BUILD)/gen/web/web_files.c: $(WEB_FILES) web/embed.sh
	@mkdir -p $(@D)
	sh web/embed.sh $(WEB_FILES) > $@.tmp && mv $@.tmp $@
$(BUILD)/gen/web/web_calls.c: $(WEB_CALLS) web/embed_api.sh
	@mkdir -p $(@D)
	sh web/embed_api.sh $(WEB_CALLS) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/gen/web_%.o: $(BUILD)/gen/web/web_%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
WEB_OBJECTS := $(BUILD)/obj/gen/web_files.o $(BUILD)/obj/gen/web_calls.o

# The engine's name: its sources' digest, so that equal sources have equal names everywhere.
ENGINE_BUILD := kroo-engine 1 $(shell cat $(sort $(wildcard engine/*.[ch])) | sha256sum | cut -c1-12)
$(BUILD)/obj/engine/build.o: $(wildcard engine/*.[ch])
$(BUILD)/obj/engine/build.o: CFLAGS_ALL += -DENGINE_BUILD='"$(ENGINE_BUILD)"'
$(BUILD)/obj/engine/%.o: OPTIMIZE := -O3 -g
# No fused multiply-add in the trainer: a compiler's choice must not change a bit of a fit.
$(BUILD)/obj/eval/%.o: OPTIMIZE := -O3 -g -ffp-contract=off
# The trainer's likewise.
TRAIN_BUILD := kroo-train 1 $(shell cat $(sort $(wildcard eval/*.[ch])) | sha256sum | cut -c1-12)
$(BUILD)/obj/eval/build.o: $(wildcard eval/*.[ch])
$(BUILD)/obj/eval/build.o: CFLAGS_ALL += -DTRAIN_BUILD='"$(TRAIN_BUILD)"'

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(if $(filter sql/% tests/unit/sql/% tests/fuzz/sql/%,$<),$(PG_CFLAGS)) -MMD -MP -c -o $@ $<

# --- libraries and executables ------------------------------------------------------------------------------
define archive
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $(filter %.o,$^)
endef
$(LIB_ENGINE): $(call obj,$(ENGINE_SRC)) ; $(archive)
$(LIB_PROTO): $(call obj,$(PROTO_SRC)) $(BUILD)/obj/gen/kroo.pb-c.o ; $(archive)
$(LIB_SQL): $(call obj,$(SQL_SRC)) $(BUILD)/obj/gen/migrations_data.o $(BUILD)/obj/gen/queries_data.o ; $(archive)
$(LIB_WORKER): $(call obj,$(WORKER_SRC)) ; $(archive)
$(LIB_EVAL): $(call obj,$(EVAL_SRC)) ; $(archive)
$(LIB_COORDINATOR): $(call obj,$(COORDINATOR_SRC)) $(WEB_OBJECTS) ; $(archive)

link = $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^)
$(BUILD)/kroo-engine: $(call obj,$(wildcard engine/cli/*.c)) $(LIB_ENGINE)
	$(link) -ljansson -lm
$(BUILD)/kroo-worker: $(call obj,worker/worker_main.c) $(LIB_WORKER) $(LIB_PROTO) $(LIB_ENGINE)
	$(link) $(PROTO_LIBS) -lm
$(BUILD)/kroo-train: $(call obj,eval/train_main.c) $(LIB_EVAL) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
	$(link) $(PROTO_LIBS) $(SQL_LIBS) $(BLAS_LIBS) -lm
$(BUILD)/kroo-coordinator: $(call obj,coordinator/coordinator_main.c) $(LIB_COORDINATOR) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
	$(link) $(PROTO_LIBS) $(SQL_LIBS) $(HTTP_LIBS) $(BLAS_LIBS) -lm
$(BUILD)/kroo: $(call obj,$(wildcard coordinator/cli/*.c)) $(LIB_COORDINATOR) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
	$(link) $(PROTO_LIBS) $(SQL_LIBS) $(BLAS_LIBS) -lm

# --- the server extension: sql/extension/, the rules engine inside PostgreSQL -----------------------------------
EXTENSION := $(BUILD)/extension/kroo_oware.so
EXTENSION_MAKE = $(MAKE) --no-print-directory -C $(BUILD)/extension -f $(abspath sql/extension/Makefile) WERROR=$(WERROR)
$(EXTENSION): $(wildcard sql/extension/*) $(wildcard engine/*.[ch])
	@[ -e "$$(pg_config --pgxs)" ] || { echo 'make extension: the server headers are missing: install postgresql-server-dev-15'; exit 1; }
	@mkdir -p $(@D)
	+$(EXTENSION_MAKE) all
extension: $(EXTENSION)
install-extension: $(EXTENSION)
	+$(EXTENSION_MAKE) install
.PHONY: extension install-extension

# --- tests: tests/unit/<room>/test_<module>.c, linked with the room and the ground floor ----------------------
ROOMS := engine proto sql worker eval coordinator web
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(UNIT_SRC))
LIBS_engine := $(LIB_ENGINE)
LIBS_proto := $(LIB_PROTO) $(LIB_ENGINE)
LIBS_sql := $(LIB_SQL) $(LIB_ENGINE)
LIBS_worker := $(LIB_WORKER) $(LIB_PROTO) $(LIB_ENGINE)
LIBS_eval := $(LIB_EVAL) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
LIBS_coordinator := $(LIB_COORDINATOR) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
LIBS_web := $(BUILD)/obj/web/engine/bridge.o $(LIB_ENGINE)
LINK_web := -lm
LINK_engine := -ljansson -lm
LINK_proto := $(PROTO_LIBS) -lm
LINK_sql := $(SQL_LIBS) -ljansson -lsodium -lm
LINK_worker := $(PROTO_LIBS) -lm
LINK_eval := $(PROTO_LIBS) $(SQL_LIBS) $(BLAS_LIBS) -lm
LINK_coordinator := $(PROTO_LIBS) $(SQL_LIBS) $(HTTP_LIBS) $(BLAS_LIBS) -lm
define unit_rule
$(BUILD)/tests/$(1)/%: $(BUILD)/obj/tests/unit/$(1)/%.o $(LIBS_$(1))
	@mkdir -p $$(@D)
	$(CC) $(LDFLAGS_ALL) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lcmocka $(LINK_$(1))
unit-$(1): $(filter $(BUILD)/tests/$(1)/%,$(UNIT))
	@sh tests/run.sh $$^
.PHONY: unit-$(1)
endef
$(foreach room,$(ROOMS),$(eval $(call unit_rule,$(room))))
# test_tools and test_process run the executable of their own build.
$(BUILD)/tests/engine/test_tools: | $(BUILD)/kroo-engine
$(BUILD)/tests/worker/test_process: | $(BUILD)/kroo-engine
$(BUILD)/tests/eval/test_kroo_train: | $(BUILD)/kroo-train
.SECONDARY:
# Synthetic workers and a sick cable, for the coordinator's bench and the system tests.
TEST_PROGRAMS := $(BUILD)/bench/load $(BUILD)/bench/crowd $(BUILD)/bench/generate $(BUILD)/bench/trainer $(BUILD)/tests/system/liar $(BUILD)/tests/system/siege $(BUILD)/tests/system/proxy
# Players with faults, and one that tries to get out.
TEST_PLAYERS := $(BUILD)/tests/players/player $(BUILD)/tests/players/prisoner
TEST_PROGRAMS += $(TEST_PLAYERS)
$(BUILD)/tests/players/%: $(BUILD)/obj/tests/players/%.o $(LIB_ENGINE)
	@mkdir -p $(@D)
	$(link) -lm
$(BUILD)/tests/worker/test_process $(BUILD)/tests/worker/test_prepare $(BUILD)/tests/proto/test_confine: | $(TEST_PLAYERS)
$(BUILD)/bench/load: $(call obj,tests/bench/load.c)
$(BUILD)/bench/crowd: $(call obj,tests/bench/crowd.c tests/bench/zmtp.c)
$(BUILD)/tests/system/liar: $(call obj,tests/system/liar.c)
$(BUILD)/tests/system/petitioner: $(call obj,tests/system/petitioner.c)
TEST_PROGRAMS += $(BUILD)/tests/system/petitioner
$(BUILD)/bench/load $(BUILD)/bench/crowd $(BUILD)/tests/system/liar $(BUILD)/tests/system/petitioner: $(call obj,tests/bench/synthetic.c) $(LIB_PROTO) $(LIB_ENGINE)
	@mkdir -p $(@D)
	$(link) $(PROTO_LIBS) -lm
$(BUILD)/bench/generate: $(call obj,tests/bench/generate.c) $(LIB_ENGINE)
	@mkdir -p $(@D)
	$(link) -lm
$(BUILD)/bench/trainer: $(call obj,tests/bench/trainer.c) $(LIB_EVAL) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
	@mkdir -p $(@D)
	$(link) $(PROTO_LIBS) $(SQL_LIBS) $(BLAS_LIBS) -lm
# A cluster as numbers; its short runs are a unit test.
SECONDS ?= 300
SEED ?= 1
simulate: $(BUILD)/fault/simulate
	$(BUILD)/fault/simulate --seed $(SEED) --runs 1000000 --seconds $(SECONDS)
.PHONY: simulate
SIMULATION := $(call obj,$(wildcard tests/fault/simulation*.c))
$(BUILD)/tests/coordinator/test_simulation: $(SIMULATION)
# Pure parts of the command line.
$(BUILD)/tests/coordinator/test_suggest: $(call obj,coordinator/cli/suggest.c)
$(BUILD)/tests/coordinator/test_layout: $(call obj,coordinator/cli/layout.c)
$(BUILD)/fault/simulate: $(call obj,tests/fault/simulate.c) $(SIMULATION) $(LIB_COORDINATOR) $(LIB_SQL) $(LIB_PROTO) $(LIB_ENGINE)
	@mkdir -p $(@D)
	$(link) $(PROTO_LIBS) $(SQL_LIBS) -lm
$(BUILD)/fault/growth: $(call obj,tests/fault/growth.c) $(LIB_COORDINATOR) $(LIB_ENGINE)
	@mkdir -p $(@D)
	$(link) -lm
TEST_PROGRAMS += $(BUILD)/tests/fault/freezer
$(BUILD)/tests/fault/freezer: $(call obj,tests/fault/freezer.c)
	@mkdir -p $(@D)
	$(link)
$(BUILD)/tests/system/proxy: $(call obj,tests/system/proxy.c)
	@mkdir -p $(@D)
	$(link)
# A clock that is wrong, for kroo doctor.
TEST_PROGRAMS += $(BUILD)/tests/system/skew.so
$(BUILD)/tests/system/skew.so: tests/system/skew.c
	@mkdir -p $(@D)
	$(CC) -std=c17 $(OPTIMIZE) $(WARNINGS) -D_GNU_SOURCE -fPIC -shared -o $@ $< -ldl
$(BUILD)/tests/system/siege: $(call obj,tests/system/siege.c)
	@mkdir -p $(@D)
	$(link)

# What the browser tests run with: locked npm packages, and Debian's Chromium.
BROWSER_MODULES := $(BUILD)/browser/node_modules/.package-lock.json
$(BROWSER_MODULES): tests/browser/package.json tests/browser/package-lock.json tests/browser/.npmrc
	@mkdir -p $(BUILD)/browser
	cp $^ $(BUILD)/browser/
	cd $(BUILD)/browser && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json
browser-modules: $(BROWSER_MODULES)
.PHONY: browser-modules

# Kills a process at a named step; stands in front of its libraries, so the programs are those that are shipped.
KILLER := $(BUILD)/tests/fault/killer.so
TEST_PROGRAMS += $(KILLER)
$(KILLER): tests/fault/killer.c
	@mkdir -p $(@D)
	$(CC) -std=c17 $(OPTIMIZE) $(WARNINGS) -D_GNU_SOURCE -fPIC -shared -o $@ $< -ldl

unit-programs: $(UNIT) $(TEST_PROGRAMS)
.PHONY: unit-programs
unit: $(UNIT)
	@sh tests/run.sh $^

# --- what a user runs ------------------------------------------------------------------------------------------
setup:
	@deploy/setup-debian.sh
setup-run:
	@deploy/setup-debian.sh --run
.PHONY: setup setup-run

# Packages first, then a fresh make: what pkg-config knows is read when make starts.
demo: setup-run
	@mkdir -p $(BUILD)
	@echo 'building ...'
	@$(MAKE) --no-print-directory -j$$(nproc) all >$(BUILD)/demo-build.log 2>&1 || { cat $(BUILD)/demo-build.log; exit 1; }
	@sh deploy/demo.sh

SYSTEM_TESTS := $(sort $(wildcard tests/system/test_*.sh))
WEB_TESTS := $(if $(WASM_ENGINE),$(sort $(wildcard tests/web/test_*.mjs)))
web-tests: all
	@KROO_BUILD=$(abspath $(BUILD)) KROO_WEB_BUILD=$(abspath $(WEB_BUILD)) sh tests/run.sh $(WEB_TESTS)
.PHONY: web-tests
check: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all unit-programs $(TEST_PROGRAMS) fuzz-replay-programs extension browser-modules
	@$(MAKE) --no-print-directory run-tests
run-tests: $(EXECUTABLES) $(UNIT) $(TEST_PROGRAMS) fuzz-replay-programs
	@KROO_BUILD=$(abspath $(BUILD)) KROO_WEB_BUILD=$(abspath $(WEB_BUILD)) sh tests/run.sh $(UNIT) $(FUZZ_REPLAY) $(WEB_TESTS) tests/sql/run.sh $(SYSTEM_TESTS)
.PHONY: run-tests

# Kills at random: RUNS of them, chosen by SEED (any, if none is given; it is printed).
RUNS ?= 200
SEED ?=
fault: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(KILLER)
	@KROO_BUILD=$(abspath $(BUILD)) tests/fault/crash.sh $(RUNS) $(SEED)
TESTS ?= 2000
sprts: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(BUILD)/bench/load $(BUILD)/tests/system/proxy
	@KROO_BUILD=$(abspath $(BUILD)) tests/fault/sprts.sh $(TESTS) $(SEED)
.PHONY: fault sprts

# A cluster under steady work for 20 minutes, or SECONDS=...: fails where memory, descriptors or threads grow.
soak: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(BUILD)/bench/crowd
	@KROO_BUILD=$(abspath $(BUILD)) tests/fault/soak.sh $(if $(filter file,$(origin SECONDS)),1200,$(SECONDS))
.PHONY: soak

crowd: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(BUILD)/bench/crowd $(BUILD)/bench/load
	@KROO_BUILD=$(abspath $(BUILD)) tests/bench/crowd.sh
.PHONY: crowd

plots: $(patsubst %.csv,%.svg,$(wildcard deploy/*.csv))
deploy/%.svg: deploy/%.csv tests/bench/plot.awk
	awk -F, -f tests/bench/plot.awk $< >$@
.PHONY: plots

bench: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(BUILD)/bench/load $(BUILD)/bench/trainer
	@KROO_BUILD=$(abspath $(BUILD)) tests/bench/bench.sh

# --- fuzzing: tests/fuzz/<room>/fuzz_<name>.c over tests/fuzz/<room>/corpus/<name>/ ---------------------------
# `make fuzz FUZZ_SECONDS=600` searches with libFuzzer (clang); fuzz-replay runs the stored corpus once.
FUZZ_SECONDS ?= 120
FUZZ_SRC := $(wildcard tests/fuzz/*/fuzz_*.c)
FUZZ_REPLAY := $(foreach source,$(FUZZ_SRC),$(BUILD)/$(patsubst tests/%.c,%,$(subst fuzz_,replay_,$(source))))
FUZZERS := $(patsubst tests/%.c,$(BUILD)/%,$(FUZZ_SRC))
define fuzz_rule
$(BUILD)/fuzz/$(1)/replay_%: $(BUILD)/obj/tests/fuzz/$(1)/fuzz_%.o $(BUILD)/obj/tests/fuzz/replay.o $(LIBS_$(1))
	@mkdir -p $$(@D)
	$$(link) $(LINK_$(1))
$(BUILD)/fuzz/$(1)/fuzz_%: $(BUILD)/obj/tests/fuzz/$(1)/fuzz_%.o $(LIBS_$(1))
	@mkdir -p $$(@D)
	$$(link) -fsanitize=fuzzer $(LINK_$(1))
endef
$(foreach room,$(ROOMS),$(eval $(call fuzz_rule,$(room))))
# A whole session of the executable, its main left out.
$(BUILD)/fuzz/engine/fuzz_uci $(BUILD)/fuzz/engine/replay_uci: \
  $(call obj,$(filter-out engine/cli/main.c,$(wildcard engine/cli/*.c)))
fuzz-replay-programs: $(FUZZ_REPLAY)
fuzz-replay: $(FUZZ_REPLAY)
	@sh tests/run.sh $^
fuzzers: $(FUZZERS)
fuzz:
	$(MAKE) CC=clang SAN=address,undefined,fuzzer-no-link fuzz-run
fuzz-run: $(FUZZERS)
	@set -e; for program in $^; do room=$$(basename $$(dirname $$program)); name=$${program##*/fuzz_}; \
	  mkdir -p $$program.corpus; echo "$$room/$$name: $(FUZZ_SECONDS) seconds"; \
	  $$program -max_total_time=$(FUZZ_SECONDS) -max_len=300000 -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
	    -artifact_prefix=$$program.found- $$program.corpus tests/fuzz/$$room/corpus/$$name; done
.PHONY: fuzz-replay fuzz-replay-programs fuzzers fuzz-run

clean:
	rm -rf $(BUILD)

FORMATTED = $(shell git ls-files '*.c' '*.h')
format:
	@clang-format -i $(FORMATTED)
format-check:
	@clang-format --dry-run -Werror $(FORMATTED)

# --- man pages and completions, out of the programs' own --help ---------------------------------------------------
PROGRAMS := $(notdir $(EXECUTABLES))
MAN_DAY = $(shell date -u -d @$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || date +%s)} +%Y-%m-%d)
WALKS := $(PROGRAMS:%=$(BUILD)/manual/%.help)
MAN := $(PROGRAMS:%=$(BUILD)/manual/%.1)
COMPLETIONS := $(BUILD)/manual/kroo.bash $(BUILD)/manual/_kroo
man: $(MAN) $(COMPLETIONS)
$(WALKS): $(BUILD)/manual/%.help: $(BUILD)/% deploy/manual/walk.sh
	@mkdir -p $(@D)
	sh deploy/manual/walk.sh $(BUILD) $* >$@.tmp && mv $@.tmp $@
$(MAN): %.1: %.help deploy/manual/man.awk
	awk -v day=$(MAN_DAY) -f deploy/manual/man.awk $< >$@
$(BUILD)/manual/kroo.bash: $(WALKS) deploy/manual/completion.awk
	cat $(WALKS) | awk -v shell=bash -f deploy/manual/completion.awk >$@
$(BUILD)/manual/_kroo: $(WALKS) deploy/manual/completion.awk
	cat $(WALKS) | awk -v shell=zsh -f deploy/manual/completion.awk >$@

# Programs, man pages, completions, systemd units (for PREFIX), and what deploy/README.md speaks of, as examples.
install: all man
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 share/bash-completion/completions \
	  share/zsh/vendor-completions lib/systemd/system share/doc/kroo share/kroo)
	install -m 755 $(EXECUTABLES) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(BUILD)/manual/kroo.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/kroo
	for program in $(filter-out kroo,$(PROGRAMS)); do \
	  ln -sf kroo $(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$program; done
	install -m 644 $(BUILD)/manual/_kroo $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions
	for unit in deploy/systemd/*.service; do \
	  sed 's|/usr/bin/|$(PREFIX)/bin/|' $$unit >$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}; done
	chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/kroo-*.service
	for page in README.md SECURITY.md docs/README.md docs/cluster.svg deploy/README.md deploy/SCALE.md deploy/growth-games.svg \
	  deploy/growth-workers.svg \
	  coordinator/README.md proto/README.md sql/README.md weights/FORMAT.md; do \
	  install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/doc/kroo/$$page; done
	for folder in $(INSTALLED_EXAMPLES); do \
	  install -d $(DESTDIR)$(PREFIX)/share/kroo/$$folder && \
	  install -m 644 deploy/$$folder/* $(DESTDIR)$(PREFIX)/share/kroo/$$folder; done
INSTALLED_EXAMPLES := prometheus examples slurm kubernetes container

# The JavaScript reader of weights as an npm package; nothing is fetched.
NPM_PACKED := $(BUILD)/npm-package
NPM_SOURCES := $(addprefix clients/js/,package.json README.md kroo-weights.js kroo-weights.d.ts) weights/FORMAT.md
NPM_PACKAGE := $(NPM_PACKED)/kroo-weights-$(shell sed -n 's/.*"version": "\(.*\)".*/\1/p' clients/js/package.json).tgz
npm: $(NPM_PACKAGE)
$(NPM_PACKAGE): $(NPM_SOURCES) clients/js/eval.js
	@command -v npm >/dev/null || { echo 'make npm: npm is missing: install npm, or a Node that brings it'; exit 1; }
	@rm -rf $(NPM_PACKED) && mkdir -p $(NPM_PACKED)/package
	@install -m 644 $(NPM_SOURCES) $(NPM_PACKED)/package && install -m 755 clients/js/eval.js $(NPM_PACKED)/package
	cd $(NPM_PACKED)/package && npm pack --silent --offline --pack-destination ..
.PHONY: npm

# Debian packages in $(BUILD)/deb; deb-test installs them on a bare Debian and plays there (root, debootstrap).
deb: all man
	@sh deploy/deb/build.sh $(abspath $(BUILD))
deb-test: deb
	@KROO_BUILD=$(abspath $(BUILD)) sh tests/run.sh deploy/deb/test.sh
.PHONY: deb deb-test

# README.md followed word for word on a bare Debian (root, debootstrap); the transcript is $(BUILD)/newcomer.txt.
newcomer:
	@mkdir -p $(BUILD)
	@sh tests/run.sh tests/system/newcomer.sh
.PHONY: newcomer

-include $(shell find $(BUILD)/obj $(WEB_BUILD)/obj -name '*.d' 2>/dev/null)
