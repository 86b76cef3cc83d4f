import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { encode, type Packet } from 'dns-packet';
import { answering, freePort, serverCore, startPinned } from './programs.ts';
import { atLeast, target, type Report } from './report.ts';
import { inTurns, rateLines, rateOf, ratio, type Side } from './rounds.ts';

const extension = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

const question = (name: string, type: 'SOA' | 'TXT'): Buffer =>
  encode({ type: 'query', id: 7, questions: [{ type, name }], additionals: [extension] } as Packet);

/** How many questions are open at once, like those of as many resolvers. */
const window = 64;

/** Compares our name server over UDP on one core with an empty Node echo server. */
export const nameServerBench = async (): Promise<Report> => {
  const [echo, zone] = [await start('echo'), await start('zone')];
  const value = question('t-1.acme.shop.example', 'TXT');
  const bare: Side = { name: 'empty echo', load: (ms) => load(echo, value, ms) };
  const sides: readonly Side[] = [
    { name: 'value of a challenge', load: (ms) => load(zone, value, ms) },
    { name: 'apex', load: (ms) => load(zone, question('acme.shop.example', 'SOA'), ms) },
    { name: 'refused', load: (ms) => load(zone, question('www.shop.example', 'TXT'), ms) },
  ];
  const measured = await inTurns([bare, ...sides]);
  return {
    heading: 'DNS answers over UDP on one core, 64 questions at once, values from memory',
    lines: rateLines(measured),
    targets: sides.map((side) =>
      target(`${side.name}, of an empty echo`, ratio(measured, side, bare), atLeast(0.4)),
    ),
  };
};

interface UdpServer {
  readonly pid: number;
  readonly port: number;
}

const start = async (kind: 'echo' | 'zone'): Promise<UdpServer> => {
  const port = await freePort();
  const command = [process.execPath, 'bench/udp-server.ts', String(port), kind];
  const program = startPinned(serverCore, command);
  await answering(program, `http://127.0.0.1:${String(port + 1)}`);
  return { pid: program.pid, port };
};

/** Sends the next question after each answer, and repeats the question if a datagram was lost. */
const load = ({ pid, port }: UdpServer, message: Buffer, milliseconds: number) =>
  rateOf(pid, async () => {
    const socket = createSocket('udp4');
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    let [count, last] = [0, 0];
    const ask = () => {
      socket.send(message);
    };
    socket.on('message', () => {
      count += 1;
      ask();
    });
    const refill = setInterval(() => {
      if (count === last) for (let n = 0; n < window; n++) ask();
      last = count;
    }, 20);
    for (let n = 0; n < window; n++) ask();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    clearInterval(refill);
    socket.close();
    return { count, seconds: milliseconds / 1000 };
  });
