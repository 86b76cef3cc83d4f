#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=50 --no-allocation-site-pretenuring
'use strict';

// Runs src/main.ts in a checkout, and program/main.js in an installed package. Every Node since 12 can read
// this file, so a version too old for the service prints a clear message.
const { existsSync, lstatSync, mkdirSync } = require('fs');
const { enableCompileCache } = require('module');
const { homedir } = require('os');
const { join } = require('path');
const { pathToFileURL } = require('url');

const root = join(module.path, '..');
const source = join(root, 'src', 'main.ts');
const isCheckout = existsSync(source);

/** The first version of each release line that runs TypeScript directly. */
const isTooOld = () => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 18) || (major === 23 && minor < 6);
};

const problem = () => {
  if (isTooOld()) {
    const advice = isCheckout
      ? `Run "make install" in ${root}: it installs one for this project only.`
      : 'Install Node 24.';
    return `needs Node 22.18 or newer, and this is ${process.versions.node}. ${advice}`;
  }
  if (isCheckout && !existsSync(join(root, 'node_modules'))) {
    return `its packages are not installed. Run "make install" in ${root}.`;
  }
  return undefined;
};

const refuse = (why) => {
  process.stderr.write(`animal-store: ${why}\n`);
  process.exitCode = 1;
};

/** Packages installed for an earlier version lack those that were added since. */
const fail = (error) => {
  const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) || [];
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !name) throw error;
  const advice = isCheckout
    ? `Run "rm -rf node_modules && make install" in ${root}.`
    : 'Install animal-store again.';
  refuse(`the package ${name} is not installed. ${advice}`);
};

/**
 * Keeps compiled code for the next start in a folder that only this user can write, because its content is
 * executed. Without such a folder, each start compiles everything.
 */
const keepCompiledCode = () => {
  try {
    const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    const folder = join(caches, 'animal-store');
    // Creates one level at a time, so that no home folder is created.
    for (const one of [caches, folder]) if (!existsSync(one)) mkdirSync(one, 0o700);
    const { uid, mode } = lstatSync(folder);
    const isOnlyOurs = (mode & 0o170022) === 0o040000 && uid === process.getuid();
    if (isOnlyOurs) enableCompileCache(folder);
  } catch {
    // There is no home folder, or it cannot be written.
  }
};

/**
 * As the first process of a container, Node ignores signals without a listener, before it serves and in
 * commands.
 */
const endOnSignal = () => {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(code));
  }
};

const found = problem();
if (found) {
  refuse(found);
} else {
  if (process.pid === 1) endOnSignal();
  keepCompiledCode();
  // Stack traces name the lines of the sources.
  process.setSourceMapsEnabled(!isCheckout);
  import(pathToFileURL(isCheckout ? source : join(root, 'program', 'main.js')).href).catch(fail);
}
