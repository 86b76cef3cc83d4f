import { Unavailable } from '../../kernel/ports.ts';
import type { Answer, Answers } from './answers.ts';
import { pieceBytes } from './edge-limits.ts';
import {
  encodingFor,
  headersWithoutContent,
  isKnown,
  isNamed,
  portionOf,
  type ServedFile,
  type ServedForm,
  matchPath,
} from './served-file.ts';
import type { ReadyAnswer, ServedSite, SiteCache } from './site-cache.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';

export interface SiteRequest {
  readonly answers: Answers;
  readonly answer: Answer;
  readonly request: EdgeRequest;
  readonly response: EdgeResponse;
  readonly deployId: string;
  readonly isPreview: boolean;
  readonly path: string;
}

/** Undefined if everything was in memory, because a promise costs as much as the headers. */
type Sending = Promise<void> | undefined;

export const serveSite = (cache: SiteCache, visit: SiteRequest): Sending => {
  const { request, response } = visit;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(request, response, 405, ['Allow', 'GET, HEAD']);
    return undefined;
  }
  const found = cache.site(visit);
  return found instanceof Promise
    ? found.then((site) => serveFrom(site, cache, visit))
    : serveFrom(found, cache, visit);
};

const serveFrom = (site: ServedSite | undefined, cache: SiteCache, visit: SiteRequest): Sending => {
  const { request, response, deployId, path } = visit;
  if (!site) throw new Unavailable('The storage', new Error(`it does not have ${deployId}`));
  const match = matchPath(path, (file) => site.has(file));
  switch (match.kind) {
    case 'file':
      return sendFile(cache, visit, fileOf(site, match.path));
    case 'folder':
      refuse(request, response, 308, ['Location', match.location]);
      return undefined;
    case 'malformed':
      refuse(request, response, 400);
      return undefined;
    case 'missing':
      return sendMissing(cache, visit, site.get('404.html'));
  }
};

const fileOf = (site: ServedSite, path: string): ServedFile => {
  const file = site.get(path);
  if (!file) throw new Error(`the site has no ${path}`);
  return file;
};

const sendFile = (cache: SiteCache, visit: SiteRequest, file: ServedFile): Sending => {
  const { method, headers } = visit.request;
  // Only GET supports ranges (RFC 9110, section 14.2). They count uncompressed bytes.
  const range = method === 'GET' ? headers.range : undefined;
  const form = formFor(file, range === undefined ? acceptedBy(visit.request) : undefined);
  if (!isNamed(form.etag, headers['if-match'] ?? '*')) {
    refuse(visit.request, visit.response, 412);
    return undefined;
  }
  if (isKnown(form.etag, headers['if-none-match'])) {
    visit.response.writeHead(304, headersWithoutContent(form) as string[]);
    visit.response.end();
    return undefined;
  }
  const portion = portionOf(form.bytes, form.etag, range, oneOf(headers['if-range']));
  switch (portion.kind) {
    case 'whole':
      return sendForm(cache, visit, form, 200);
    case 'unsatisfiable':
      refuse(visit.request, visit.response, 416, [
        'Content-Range',
        `bytes */${String(form.bytes)}`,
      ]);
      return undefined;
    case 'part':
      return sendPart(cache, visit, form, portion);
  }
};

const sendMissing = (
  cache: SiteCache,
  visit: SiteRequest,
  page: ServedFile | undefined,
): Sending => {
  if (page) return sendForm(cache, visit, formFor(page, acceptedBy(visit.request)), 404);
  refuse(visit.request, visit.response, 404);
  return undefined;
};

const acceptedBy = ({ headers }: EdgeRequest): string | undefined =>
  oneOf(headers['accept-encoding']);

const oneOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

const formFor = ({ file, forms }: ServedFile, accepted: string | undefined): ServedForm => {
  const form = forms[encodingFor(file, accepted)] ?? forms.identity;
  if (!form) throw new Error(`${file.path} has no form`);
  return form;
};

const sendForm = (
  cache: SiteCache,
  visit: SiteRequest,
  form: ServedForm,
  status: number,
): Sending => {
  const { answers, answer, request, response, deployId } = visit;
  if (request.method === 'HEAD') {
    response.writeHead(status, form.headers as string[]);
    response.end();
    return undefined;
  }
  const isWhole = cache.keeps(form) && answers.holdEasily(answer, form.bytes);
  if (isWhole) {
    const ready = cache.content(deployId, form);
    return ready instanceof Promise
      ? ready.then((read) => sendReady(answer, read, status))
      : sendReady(answer, ready, status);
  }
  return answers.hold(answer, Math.min(form.bytes, pieceBytes))
    ? send(visit, status, form.headers, cache.pieces(deployId, form))
    : undefined;
};

const sendReady = (answer: Answer, ready: ReadyAnswer | undefined, status: number): Sending => {
  if (!ready) throw new Error('a file that is kept has no content');
  return answer.isOver ? undefined : answer.endReady(ready, status);
};

const sendPart = async (
  cache: SiteCache,
  visit: SiteRequest,
  form: ServedForm,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<void> => {
  const { answers, answer, deployId } = visit;
  const bytes = last - first + 1;
  if (!answers.hold(answer, Math.min(bytes, pieceBytes))) return;
  const headers = form.headers.with(form.headers.indexOf('Content-Length') + 1, String(bytes));
  const range = `bytes ${String(first)}-${String(last)}/${String(form.bytes)}`;
  const pieces = cache.pieces(deployId, form, { first, last });
  await send(visit, 206, [...headers, 'Content-Range', range], pieces);
};

/** Sends the status with the first piece, because reading may fail. */
const send = async (
  { answer, response }: SiteRequest,
  status: number,
  headers: readonly string[],
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  for await (const piece of pieces) {
    if (answer.isOver) return;
    if (!response.headersSent) response.writeHead(status, headers as string[]);
    if (!(await answer.write(piece))) return;
  }
  if (!response.headersSent) response.writeHead(status, headers as string[]);
  await answer.end();
};
