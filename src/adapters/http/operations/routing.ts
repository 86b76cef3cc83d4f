import type { Answer } from '../answers/answer.ts';
import { RequestError } from '../answers/error-table.ts';
import type { Exchange } from './exchange.ts';
import { admit } from './metering.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A segment in braces is a parameter, as in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly answer: (exchange: Exchange, parameters: Parameters) => Promise<Answer> | Answer;
}

/** By name. */
type Parameters = Readonly<Record<string, string>>;

/** The answers at one path, by verb. */
type Verbs = Map<string, Route['answer']>;

/** A path that is known: its pattern, its answers by verb, and its parameters. */
interface Place {
  readonly path: string;
  readonly verbs: Verbs;
  readonly parameters: Parameters;
}

/** The route at a path and verb. */
export interface Found extends Pick<Place, 'path'> {
  readonly answer: Route['answer'];
  readonly parameters: Parameters;
}
export type FindRoute = (method: string, path: string) => Found | undefined;

/** Finds routes that have the verb; everything else is for `routing`. */
export const finding = (routes: readonly Route[]): FindRoute => {
  const find = placesOf(routes);
  return (method, path) => {
    const place = find(path);
    const answer = place && answerTo(method, place.verbs);
    return answer && { answer, path: place.path, parameters: place.parameters };
  };
};

/**
 * Answers each request by the route at its path and verb. Paths are exact: case and slashes count. HEAD is answered as
 * GET; known paths list their verbs (405, OPTIONS); unknown paths answer 404. (A table of exact paths costs a tenth of
 * a general router, which tries one expression after another.)
 */
export const routing = (
  routes: readonly Route[],
): ((exchange: Exchange) => Promise<Answer> | Answer) => {
  const find = placesOf(routes);
  return (exchange) => {
    const place = find(exchange.path);
    exchange.route = place?.path;
    if (place) return answerAt(place, exchange);
    admit(exchange);
    throw new RequestError(
      'route_not_found',
      `There is nothing at ${exchange.path.slice(0, 200)}. The reference at /docs lists all paths.`,
    );
  };
};

const placesOf = (routes: readonly Route[]): ((path: string) => Place | undefined) => {
  const byPath = new Map<string, Verbs>();
  for (const { method, path, answer } of routes) {
    const verbs: Verbs = byPath.get(path) ?? new Map<Route['method'], Route['answer']>();
    byPath.set(path, verbs.set(method, answer));
  }
  const [withParameters, plain] = [true, false].map((wanted) =>
    [...byPath].filter(([path]) => path.includes('{') === wanted),
  ) as [[string, Verbs][], [string, Verbs][]];
  const exact = new Map(plain.map(([path, verbs]) => [path, { path, verbs, parameters: {} }]));
  const patterns = withParameters.map(([path, verbs]) => ({ path, shape: shapeOf(path), verbs }));
  return (path) => {
    const place = exact.get(path);
    if (place) return place;
    for (const { path: pattern, shape, verbs } of patterns) {
      const match = shape.exec(path);
      if (match) return { path: pattern, verbs, parameters: decoded(match.groups ?? {}) };
    }
    return undefined;
  };
};

const answerTo = (method: string, verbs: Verbs): Route['answer'] | undefined =>
  verbs.get(method === 'HEAD' ? 'GET' : method);

const answerAt = ({ verbs, parameters }: Place, exchange: Exchange): Promise<Answer> | Answer => {
  const { method, path } = exchange;
  const answer = answerTo(method, verbs);
  if (answer) return answer(exchange, parameters);
  admit(exchange);
  const known = [...verbs.keys(), ...(verbs.has('GET') ? ['HEAD'] : [])].sort();
  const allow = [...known, 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow }, body: undefined };
  throw new RequestError(
    'method_not_allowed',
    `${path} does not accept ${method}; use one of ${allow}.`,
    { Allow: allow },
  );
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
