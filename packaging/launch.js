#!/usr/bin/env node
// Starts the program of the package that npm chose for this system, and becomes it where Node can: then there is nothing between
// it and whoever asked. Elsewhere signals are handed on, and its end is ours: the same exit code, the same signal.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const system = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`commis-${system}/bin/commis${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: there is no package commis-${system} beside this one
hint: it comes as an optional dependency: install again without --omit=optional; on other systems, build from source`);
  process.exit(3);
}
const args = process.argv.slice(2);

// Its warning that this is new would be the first line of every command.
if (typeof process.execve === "function" && process.platform !== "win32") {
  process.removeAllListeners("warning");
  try {
    process.execve(program, [program, ...args], process.env);
  } catch {
    // Not permitted here: as a child, then.
  }
}

const child = spawn(program, args, { stdio: "inherit" });
const handed = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].filter((it) => it in constants.signals);
for (const signal of handed) {
  process.on(signal, () => {
    // Keys of a terminal reach the whole group, the program with it: twice would mean "at once" to it.
    const keys = signal === "SIGINT" || signal === "SIGQUIT";
    if (!(keys && process.stdin.isTTY)) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`error: ${program} cannot be started: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const it of handed) process.removeAllListeners(it);
  process.kill(process.pid, signal);
  // Still here: a signal that Node keeps for itself.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
});
