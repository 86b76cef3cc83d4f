import { extname } from 'node:path';

/** The file that a thread runs: TypeScript in a checkout, JavaScript in an installed package. */
export const threadEntry = (name: 'read-settings' | 'unpack-sites'): URL =>
  new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);
