#!/usr/bin/env bash
# The short form of `make soak`: that it samples, restarts, deletes and judges; half a minute shows no slow leak.
exec "$(dirname "$0")/../fault/soak.sh" 25
