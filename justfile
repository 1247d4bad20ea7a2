# `just` lists these; each is one line that also works without just.

# Learn the quickstart tasks and run one
quickstart:
    scripts/quickstart

# Formatting, lints, all tests
test:
    scripts/test

# The library's own tests, without the browser's
unit:
    cargo test --lib

# Accept changed golden files and schemas; then read the diff
accept:
    SNAPSHOTS=overwrite cargo test

# Serve the local test web
web:
    cargo run --release -- testbed serve --port 8480 --dns 8453
