import { createServer } from 'node:http';

/** Accepts and discards traces: `node otlp-sink.ts PORT`. */
const [port] = process.argv.slice(2);

createServer((request, response) => {
  request.resume().on('end', () => {
    response.end();
  });
}).listen(Number(port), '127.0.0.1');
