import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import {
  AnswerRate,
  nameServerLimits,
  networkOf,
  shareOf,
  type NameServerLimits,
} from './limits.ts';
import { Responder } from './responder.ts';
import { TcpListener } from './tcp-listener.ts';
import { ValueLookup, type LookupPorts } from './value-lookup.ts';
import { zoneOf } from './zone.ts';

interface NameServerPorts extends LookupPorts {
  readonly zone: string;
  readonly processes: number;
  readonly limits?: Partial<NameServerLimits>;
  readonly onError: (error: unknown) => void;
}

/** Answers DNS-01 challenges for one zone over UDP and TCP (RFC 8555, section 8.4). */
export class NameServer {
  readonly #lookup: ValueLookup;
  readonly #responder: Responder;
  readonly #udp: UdpListener;
  readonly #tcp: TcpListener;

  constructor(ports: NameServerPorts) {
    const { zone, processes, onError } = ports;
    const limits = { ...nameServerLimits, ...ports.limits };
    this.#lookup = new ValueLookup(ports);
    this.#responder = new Responder({
      zone: zoneOf(zone),
      lookup: this.#lookup,
      rate: new AnswerRate({ perSecond: shareOf(limits, processes) }),
    });
    this.#udp = new UdpListener(this.#responder, onError);
    this.#tcp = new TcpListener(this.#responder, { limits, onError });
  }

  async listen(host: string, port: number): Promise<number> {
    const taken = await this.#tcp.listen(host, port);
    try {
      return await this.#udp.listen(host, taken);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  state() {
    const { truncated, limited, ignored } = this.#responder;
    return {
      udp: this.#responder.answersOver('udp'),
      tcp: this.#responder.answersOver('tcp'),
      truncated,
      limited,
      ignored,
      unanswered: this.#lookup.failed,
      connections: this.#tcp.count,
      refusedConnections: this.#tcp.refused,
    };
  }

  announceEnd(): void {
    this.#tcp.announceEnd();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#udp.stop(), this.#tcp.stop()]);
  }
}

const mostOpen = 4_000;

class UdpListener {
  readonly #responder: Responder;
  readonly #onError: (error: unknown) => void;
  #socket: Socket | undefined;
  #open = 0;
  #onIdle: () => void = () => undefined;

  constructor(responder: Responder, onError: (error: unknown) => void) {
    this.#responder = responder;
    this.#onError = onError;
  }

  async listen(host: string, port: number): Promise<number> {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    socket.bind({ address: host, port, exclusive: false });
    await once(socket, 'listening');
    socket.on('error', this.#onError);
    socket.on('message', (message, from) => {
      this.#receive(message, from);
    });
    this.#socket = socket;
    return socket.address().port;
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = undefined;
    socket.removeAllListeners('message');
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    if (this.#open > 0) await idle;
    await new Promise<void>((resolve) => {
      socket.close(resolve);
    });
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    // Node throws when sending to port 0.
    if (from.port === 0 || this.#open >= mostOpen) {
      this.#responder.ignored += 1;
      return;
    }
    const socket = this.#socket;
    if (!socket) return;
    const answer = this.#responder.overUdp(message, networkOf(from.address));
    if (answer) void this.#send(socket, from, answer);
  }

  async #send(
    socket: Socket,
    { port, address }: RemoteInfo,
    answer: Buffer | Promise<Buffer>,
  ): Promise<void> {
    this.#open += 1;
    const bytes = answer instanceof Promise ? await answer : answer;
    await new Promise((resolve) => {
      socket.send(bytes, port, address, resolve);
    });
    this.#open -= 1;
    if (this.#open === 0) this.#onIdle();
  }
}
