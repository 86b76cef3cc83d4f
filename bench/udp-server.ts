import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { NameServer } from '../src/adapters/nameserver/name-server.ts';

// Usage: udp-server.ts PORT echo|zone. Serves UDP with an echo, or with our name server without a rate limit. HTTP
// shows that the server runs.
const [port = '', kind = ''] = process.argv.slice(2);
const host = '127.0.0.1';

if (kind === 'echo') {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    socket.send(message, from.port, from.address);
  });
  socket.bind(Number(port), host);
} else {
  const values = new Map([['t-1', ['gfj9Xq-Rg85nM_DNnxx-aUAfTrsQuKMLI9hxWQZfIXU']]]);
  const server = new NameServer({
    zone: 'acme.shop.example',
    processes: 1,
    limits: { answersPerSecond: Infinity },
    find: () => Promise.resolve(values),
    onError: (error) => {
      throw error;
    },
  });
  // The name server also uses this port for TCP, so health uses the next one.
  await server.listen(host, Number(port));
}
createServer((_, response) => response.end()).listen(Number(port) + 1, host);
