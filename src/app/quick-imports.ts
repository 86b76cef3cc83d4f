import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { joinedPackages } from './joined-packages.ts';

/** By folder and extension: what Node found the first of these files to be. */
const formats = new Map<string, string>();

const joined = joinedPackages();

/**
 * An import statement reads every export of a module of Node. These three would load all of fetch, which takes 30 ms
 * and 14 MB, and which nothing here uses.
 */
const leaveOutFetch = (): void => {
  const http = process.getBuiltinModule('node:http');
  for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
    Reflect.deleteProperty(http, name);
};

/** prom-client loads its 51 files for the exemplars that nothing here asks for. Any module will do. */
const inPlaceOfTraces = { url: 'node:path', format: 'builtin', shortCircuit: true };

/**
 * The program has a thousand files. For each, Node looks which file a relative name is, whether links lead to it, and
 * which package.json tells its format, which takes longer than to read and link it. Files of one folder with one
 * extension have one format, so only the first of them is looked up. A file that is missing is still missing when it is
 * read. Reading one in a single call is quicker than Node's own way of loading it, too.
 */
registerHooks({
  resolve: (name, context, next) => {
    if (name === 'http' || name === 'node:http') leaveOutFetch();
    const { parentURL = '', conditions } = context;
    if (name === '@opentelemetry/api' && parentURL.includes('/prom-client/'))
      return inPlaceOfTraces;
    const one = joined.get(name);
    if (one !== undefined) return { url: one, format: 'module', shortCircuit: true };
    const isRelative = name.startsWith('.') && parentURL.startsWith('file:');
    if (!isRelative || !conditions.includes('import')) return next(name, context);
    const { href: url } = new URL(name, parentURL);
    const kind = url.slice(0, url.lastIndexOf('/')) + url.slice(url.lastIndexOf('.'));
    const format = formats.get(kind);
    if (format !== undefined) return { url, format, shortCircuit: true };
    const found = next(name, context);
    if (found.url === url && typeof found.format === 'string') formats.set(kind, found.format);
    return found;
  },
  load: (url, context, next) => {
    const { format } = context;
    const isModule = format === 'module' || format === 'module-typescript';
    if (!isModule || !url.startsWith('file:')) return next(url, context);
    return { format, source: readFileSync(fileURLToPath(url), 'utf8'), shortCircuit: true };
  },
});
