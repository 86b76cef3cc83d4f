import { AnswerRate } from './answer-rate.ts';
import { nameServerLimits, shareOf, type NameServerLimits } from './limits.ts';
import { Responder } from './responder.ts';
import { TcpListener } from './tcp-listener.ts';
import { UdpListener } from './udp-listener.ts';
import { ValueLookup, type LookupPorts } from './value-lookup.ts';
import { zoneOf } from './zone.ts';

export interface NameServerPorts extends LookupPorts {
  /** The delegated zone. */
  readonly zone: string;
  /** How many share the port. */
  readonly processes: number;
  readonly limits?: Partial<NameServerLimits>;
  /** Called for an error of a socket. */
  readonly onError: (error: unknown) => void;
}

/** Answers for one zone, which holds the values of DNS challenges (RFC 8555, section 8.4), over UDP and TCP. */
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

  /** @param port of both; 0 for any free one. @returns the port. @throws the error of a socket */
  async listen(host: string, port: number): Promise<number> {
    const taken = await this.#tcp.listen(host, port);
    try {
      return await this.#udp.listen(host, taken);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Counters for the metrics. */
  state() {
    const { truncated, limited, ignored } = this.#responder;
    return {
      udp: this.#responder.answersOver('udp'),
      tcp: this.#responder.answersOver('tcp'),
      ...{ truncated, limited, ignored },
      unanswered: this.#lookup.failed,
      connections: this.#tcp.count,
      refusedConnections: this.#tcp.refused,
    };
  }

  /** Datagrams need none; see `TcpListener`. */
  announceEnd(): void {
    this.#tcp.announceEnd();
  }

  /** Takes no more questions, and answers those that it has. */
  async stop(): Promise<void> {
    await Promise.all([this.#udp.stop(), this.#tcp.stop()]);
  }
}
