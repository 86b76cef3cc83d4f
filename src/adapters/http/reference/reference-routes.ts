import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Negotiator from 'negotiator';
import type { Operation } from '../operations/operation.ts';
import { messageTypes, type MessageType } from '../../../notifications/domain/payload.ts';
import type { Route } from '../request-handler.ts';
import type { Servers } from './openapi.ts';
import { payloadDocument } from './payload-schemas.ts';
import { writtenReference } from './written-reference.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const payloadSchemaPath = (type: MessageType): string => `/docs/webhooks/${type}.json`;

/**
 * Serves the API reference to people at /docs and to programs at /v1/openapi.json, /docs.md and /llms.txt, and the
 * schemas of webhook payloads. The first request builds it.
 */
export const referenceRoutes = (
  operations: readonly Operation[],
  servers: Servers,
): readonly Route[] => {
  let writing: ReturnType<typeof writtenReference> | undefined;
  const reference = () => (writing ??= writtenReference(operations, servers));
  const asset = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');
  return [
    {
      method: 'GET',
      path: '/v1/openapi.json',
      answer: () => ({ status: 200, body: reference().json }),
    },
    file('/docs', 'text/html', () => reference().page()),
    file('/docs/reference.js', 'text/javascript', () => asset('reference.js')),
    file('/docs/reference.css', 'text/css', () => asset('reference.css')),
    file('/docs.md', 'text/markdown', () => reference().markdown()),
    file('/llms.txt', 'text/plain', () => reference().llms()),
    ...messageTypes.map((type) =>
      file(payloadSchemaPath(type), 'application/schema+json', () => writtenSchema(type, servers)),
    ),
  ];
};

const writtenSchema = (type: MessageType, { publicUrl }: Servers): string => {
  const root = publicUrl.replace(/\/v1$/, '');
  return JSON.stringify(payloadDocument(type, root + payloadSchemaPath(type)));
};

const file = (path: string, type: string, write: () => string | Promise<string>): Route => {
  let written: Promise<{ readonly text: string; readonly zipped: Buffer }> | undefined;
  const zip = (text: string) => ({ text, zipped: gzipSync(text) });
  return {
    method: 'GET',
    path,
    answer: async ({ request }) => {
      const { text, zipped } = await (written ??= Promise.resolve(write()).then(zip));
      const headers = {
        'Content-Security-Policy': policy,
        'Cache-Control': 'public, max-age=3600',
        Vary: 'Accept-Encoding',
        'Content-Type': `${type}; charset=utf-8`,
      };
      const [encoding] = new Negotiator(request).encodings(['gzip', 'identity']);
      return encoding === 'gzip'
        ? { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: zipped }
        : { status: 200, headers, body: text };
    },
  };
};
