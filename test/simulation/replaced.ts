import { replaceSqlite } from './world/disk.ts';
import { replaceGlobals } from './world/globals.ts';

// The first import of a program that simulates: modules that come later see what is replaced here.
replaceSqlite();
replaceGlobals();
