import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** As package.json has it, above the sources and above what is installed. */
export const version = (): string => {
  const path = findPackageJSON(import.meta.url);
  if (path === undefined) throw new Error('package.json is missing');
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
};
