import type { Context, Middleware } from 'koa';
import { RequestError } from '../answers/error-table.ts';
import { admit } from './metering.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A segment in braces is a parameter, as in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly answer: (ctx: Context, parameters: Parameters) => Promise<void> | void;
}

/** By name. */
type Parameters = Readonly<Record<string, string>>;

/** The answers at one path, by verb. */
type Verbs = Map<string, Route['answer']>;

/**
 * Answers each request by the route at its path and verb. Paths are exact: case and slashes count. HEAD is answered as
 * GET; known paths list their verbs (405, OPTIONS); unknown paths answer 404. (A table of exact paths costs a tenth of
 * a general router, which tries one expression after another.)
 */
export const routing = (routes: readonly Route[]): Middleware => {
  const byPath = new Map<string, Verbs>();
  for (const { method, path, answer } of routes) {
    const verbs: Verbs = byPath.get(path) ?? new Map<Route['method'], Route['answer']>();
    byPath.set(path, verbs.set(method, answer));
  }
  const [withParameters, plain] = [true, false].map((wanted) =>
    [...byPath].filter(([path]) => path.includes('{') === wanted),
  ) as [[string, Verbs][], [string, Verbs][]];
  const exact = new Map(plain);
  const patterns = withParameters.map(([path, verbs]) => ({ shape: shapeOf(path), verbs }));
  return (ctx) => {
    const verbs = exact.get(ctx.path);
    if (verbs) return answerAt(verbs, ctx, {});
    for (const pattern of patterns) {
      const match = pattern.shape.exec(ctx.path);
      if (match) return answerAt(pattern.verbs, ctx, decoded(match.groups ?? {}));
    }
    admit(ctx);
    throw new RequestError(
      'route_not_found',
      `There is nothing at ${ctx.path.slice(0, 200)}. The reference at /docs lists all paths.`,
    );
  };
};

const answerAt = (verbs: Verbs, ctx: Context, parameters: Parameters): Promise<void> | void => {
  const answer = verbs.get(ctx.method === 'HEAD' ? 'GET' : ctx.method);
  if (answer) return answer(ctx, parameters);
  admit(ctx);
  const known = [...verbs.keys(), ...(verbs.has('GET') ? ['HEAD'] : [])].sort();
  const allow = [...known, 'OPTIONS'].join(', ');
  ctx.set('Allow', allow);
  if (ctx.method !== 'OPTIONS') {
    throw new RequestError(
      'method_not_allowed',
      `${ctx.path} does not accept ${ctx.method}; use one of ${allow}.`,
    );
  }
  ctx.status = 204;
};

/** An undecodable path stays as it is: no route matches it anyway. */
const decoded = (groups: Parameters): Parameters =>
  Object.fromEntries(
    Object.entries(groups).map(([name, text]) => {
      try {
        return [name, decodeURIComponent(text)];
      } catch {
        return [name, text];
      }
    }),
  );

const shapeOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
