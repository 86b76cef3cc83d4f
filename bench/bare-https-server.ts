import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { tlsOptions } from '../src/adapters/edge/secure-contexts.ts';

/**
 * Baseline for the edge: plain node:https with one certificate and two files in memory. It sends the edge's headers,
 * and like the edge no session tickets, which would cost it a tenth of a handshake. Node chooses the ciphers. It looks
 * up, limits and counts nothing.
 */
const [folder = '', port = ''] = process.argv.slice(2);

const read = (name: string) => readFileSync(join(folder, name));

const answerWith = (name: string, type: string, etag: string) => {
  const body = read(name);
  const headers = [
    ...['Content-Type', type, 'Content-Length', String(body.length), 'ETag', etag],
    ...['Cache-Control', 'public, max-age=0, must-revalidate', 'Accept-Ranges', 'bytes'],
    ...['Vary', 'Accept-Encoding', 'X-Content-Type-Options', 'nosniff'],
    ...['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ...['Strict-Transport-Security', 'max-age=86400'],
  ];
  return { body, headers };
};
const page = answerWith('www/index.html', 'text/html; charset=utf-8', '"gLbQz2PkqQf4wUoOX1vJ0A"');
const note = answerWith('www/small.txt', 'text/plain; charset=utf-8', '"Xr4ilOzQ4PCOq3aQ0qbuaQ"');

const { secureOptions } = tlsOptions;
const options = { cert: read('chain.pem'), key: read('key.pem'), secureOptions };
createServer(options, (request, response) => {
  const { body, headers } = request.url === '/small.txt' ? note : page;
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(port), '127.0.0.1');
