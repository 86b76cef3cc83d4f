import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Unavailable } from '../../kernel/unavailable.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';
import { encodingFor, isKnown, portionOf } from './negotiation.ts';
import { placeOf } from './site-path.ts';
import { headersWithoutContent, type ServedFile, type ServedForm } from './served-file.ts';
import type { ServedSite, SiteShelf } from './site-shelf.ts';

/** One request for a host whose deploy is known. */
export interface SiteRequest {
  readonly request: EdgeRequest;
  readonly response: EdgeResponse;
  readonly deployId: string;
  /** Path and query. */
  readonly path: string;
}

/** Answers with what the deploy holds at the path. @throws Unavailable before anything was sent */
export const serveSite = async (shelf: SiteShelf, visit: SiteRequest): Promise<void> => {
  const { request, response, deployId, path } = visit;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(request, response, 405, ['Allow', 'GET, HEAD']);
    return;
  }
  const found = shelf.site(deployId);
  const site = found instanceof Promise ? await found : found;
  if (!site) throw new Unavailable('The storage', new Error(`it does not have ${deployId}`));
  const place = placeOf(path, (file) => site.has(file));
  switch (place.kind) {
    case 'file':
      return sendFile(shelf, visit, fileOf(site, place.path));
    case 'folder':
      refuse(request, response, 308, ['Location', place.location]);
      return;
    case 'malformed':
      refuse(request, response, 400);
      return;
    case 'missing':
      return sendMissing(shelf, visit, site.get('404.html'));
  }
};

const fileOf = (site: ServedSite, path: string): ServedFile => {
  const file = site.get(path);
  if (!file) throw new Error(`the site has no ${path}`);
  return file;
};

const sendFile = (shelf: SiteShelf, visit: SiteRequest, file: ServedFile): Promise<void> => {
  const { method, headers } = visit.request;
  // Only GET has ranges (RFC 9110, section 14.2). They count bytes of the file itself: the plain form goes with them.
  const range = method === 'GET' ? headers.range : undefined;
  const form = formFor(file, range === undefined ? acceptedBy(visit.request) : undefined);
  if (isKnown(form.etag, headers['if-none-match'])) {
    visit.response.writeHead(304, headersWithoutContent(form) as string[]);
    visit.response.end();
    return Promise.resolve();
  }
  const portion = portionOf(form.bytes, form.etag, range, oneOf(headers['if-range']));
  switch (portion.kind) {
    case 'whole':
      return sendForm(shelf, visit, form, 200);
    case 'unsatisfiable':
      refuse(visit.request, visit.response, 416, [
        'Content-Range',
        `bytes */${String(form.bytes)}`,
      ]);
      return Promise.resolve();
    case 'part':
      return sendPart(shelf, visit, form, portion);
  }
};

const sendMissing = async (
  shelf: SiteShelf,
  visit: SiteRequest,
  page: ServedFile | undefined,
): Promise<void> => {
  if (page) await sendForm(shelf, visit, formFor(page, acceptedBy(visit.request)), 404);
  else refuse(visit.request, visit.response, 404);
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

const sendForm = async (
  shelf: SiteShelf,
  { request, response, deployId }: SiteRequest,
  form: ServedForm,
  status: number,
): Promise<void> => {
  const isHead = request.method === 'HEAD';
  const kept = isHead ? undefined : shelf.content(deployId, form);
  const content = kept instanceof Promise ? await kept : kept;
  if (isHead || content) {
    response.writeHead(status, form.headers as string[]);
    response.end(content);
  } else {
    await send(response, status, form.headers, shelf.read(deployId, form));
  }
};

const sendPart = (
  shelf: SiteShelf,
  { response, deployId }: SiteRequest,
  form: ServedForm,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<void> => {
  const length = String(last - first + 1);
  const headers = form.headers.with(form.headers.indexOf('Content-Length') + 1, length);
  const range = `bytes ${String(first)}-${String(last)}/${String(form.bytes)}`;
  const content = shelf.read(deployId, form, { first, last });
  return send(response, 206, [...headers, 'Content-Range', range], content);
};

/** A visitor who leaves is no failure. What breaks off ends with an error, so that it does not look complete. */
const send = async (
  response: EdgeResponse,
  status: number,
  headers: readonly string[],
  content: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const body = Readable.from(content, { objectMode: false });
  // The status depends on whether there is anything to read.
  await once(body, 'readable');
  response.writeHead(status, headers as string[]);
  await pipeline(body, response).catch(() => undefined);
};
