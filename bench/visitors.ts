import { connect, createSecureContext } from 'node:tls';

/**
 * Simulates first-time visitors: each makes a full TLS handshake and one small request, then disconnects. `%` in the
 * pattern counts up to `hosts` and starts again.
 */
const [port = '', pattern = '', hosts = '', milliseconds = '', most = ''] = process.argv.slice(2);

const atOnce = 32;
const secureContext = createSecureContext({
  minVersion: 'TLSv1.3',
  // Newer libraries would negotiate a more expensive key exchange with some servers only.
  ecdhCurve: 'X25519',
});
const found = { visits: 0, failures: 0, resumed: 0 };
const begin = performance.now();
const end = begin + Number(milliseconds);
let sent = 0;

const visit = (): void => {
  if (performance.now() > end || sent >= Number(most)) return;
  const host = pattern.replace('%', String(sent++ % Number(hosts)));
  const socket = connect({
    host: '127.0.0.1',
    port: Number(port),
    servername: host,
    secureContext,
    // Not verified, because tests do that and verification would slow the load down.
    rejectUnauthorized: false,
  });
  let answer = '';
  socket.setEncoding('latin1');
  socket.once('secureConnect', () => {
    if (socket.isSessionReused()) found.resumed += 1;
    const request = `GET /small.txt HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`;
    socket.write(request);
  });
  socket.on('data', (text: string) => (answer += text));
  socket.on('error', () => undefined);
  socket.once('close', () => {
    found[answer.startsWith('HTTP/1.1 200 ') ? 'visits' : 'failures'] += 1;
    visit();
  });
};

for (let n = 0; n < atOnce; n++) visit();
process.once('exit', () => {
  const seconds = (performance.now() - begin) / 1000;
  process.stdout.write(JSON.stringify({ ...found, seconds }));
});
