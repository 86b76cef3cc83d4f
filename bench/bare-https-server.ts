import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

/** The floor to compare with: node:https and one page in memory, nothing else. */
const [folder = '', port = ''] = process.argv.slice(2);

const read = (name: string) => readFileSync(join(folder, name));
const page = read('www/index.html');
const note = read('www/small.txt');

createServer({ cert: read('chain.pem'), key: read('key.pem') }, (request, response) => {
  const isNote = request.url === '/small.txt';
  const body = isNote ? note : page;
  response.writeHead(200, [
    'Content-Type',
    isNote ? 'text/plain' : 'text/html',
    'Content-Length',
    String(body.length),
  ]);
  response.end(body);
}).listen(Number(port), '127.0.0.1');
