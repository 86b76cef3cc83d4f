import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
  type Answer,
  type DecodedPacket,
  type Packet,
  decode,
  encode,
  streamEncode,
} from 'dns-packet';
import {
  type Found,
  type RecordType,
  typeNumbers,
  type FoundRecord,
  DnsZone,
  plainName,
  type Zone,
} from './zone.ts';
import {
  type DnsFault,
  FaultList,
  type DnsFaults,
  listenForDns,
  type Answerer,
  type Transport,
} from './sockets.ts';

/** Zones that other name servers answer for. */
class Delegations {
  readonly #ports = new Map<string, number>();

  add(zone: string, port: number): void {
    this.#ports.set(zone, port);
  }

  /** @returns the records, with the name server's answer if the names lead into its zone */
  async follow(found: Found, asked: string, type: RecordType): Promise<Found> {
    const last = found.records.at(-1);
    const name = last?.type === 'CNAME' && type !== 'CNAME' ? String(last.data) : asked;
    const port = this.#portFor(name);
    if (port === undefined || (last && last.type !== 'CNAME')) return found;
    if (last && type === 'CNAME') return found;
    const answer = await ask(port, name, type);
    return { rcode: answer.rcode, records: [...found.records, ...answer.records] };
  }

  #portFor(name: string): number | undefined {
    const found = [...this.#ports].find(([zone]) => `.${name}`.endsWith(`.${zone}`));
    return found?.[1];
  }
}

const answersOf = async (
  resolver: Resolver,
  name: string,
  type: RecordType,
): Promise<readonly unknown[]> => {
  if (type === 'TXT') return resolver.resolveTxt(name);
  return type === 'NS' ? resolver.resolveNs(name) : [];
};

const ask = async (port: number, name: string, type: RecordType): Promise<Found> => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  try {
    const answers = await answersOf(resolver, name, type);
    return { rcode: 'NOERROR', records: answers.map((data) => ({ name, type, ttl: 0, data })) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA') return { rcode: 'NOERROR', records: [] };
    return { rcode: code === 'ENOTFOUND' ? 'NXDOMAIN' : 'SERVFAIL', records: [] };
  }
};

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

/** The resolver's answer with these records, after applying the fault. */
const dnsReply = (query: DecodedPacket, found: Found, fault: DnsFault): Packet => {
  const records = fault.rcode ? [] : found.records;
  const rcode = rcodes[fault.rcode ?? found.rcode];
  const id = query.id ?? 0;
  return {
    id: fault.badId ? id ^ 1 : id,
    type: 'response',
    flags: rcode | RECURSION_DESIRED | RECURSION_AVAILABLE,
    questions: query.questions ?? [],
    answers: records.map(toAnswer),
    authorities: records.length === 0 && !fault.rcode ? [startOfAuthority] : [],
    additionals: udpSize(query) === undefined ? [] : [extension],
  };
};

/** The truncated answer, so that the client repeats the query over TCP. */
const truncated = (reply: Packet): Packet => ({
  ...reply,
  flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE,
  answers: [],
});

/** The size of a datagram (RFC 6891); undefined if the query does not say. */
const udpSize = ({ additionals = [] }: Packet): number | undefined =>
  additionals.find((record) => record.type === 'OPT')?.udpPayloadSize;

/** dns-packet accepts any type as `UNKNOWN_number` with its bytes, but its types do not declare this. */
const toAnswer = ({ name, type, ttl, data }: FoundRecord): Answer =>
  ({
    name,
    type: data instanceof Uint8Array ? `UNKNOWN_${typeNumbers[type]}` : type,
    ttl,
    data: data instanceof Uint8Array ? Buffer.from(data) : data,
  }) as Answer;

const extension: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

/** Negative answers are cached at most this many seconds (RFC 2308). */
const startOfAuthority: Answer = {
  name: '.',
  type: 'SOA',
  ttl: 5,
  data: { mname: 'ns.test', rname: 'root.test', serial: 1, minimum: 5 },
};

/** The records at one address. */
interface DnsView {
  /** In the form `ip:port`. */
  readonly server: string;
  /** Replaces everything. */
  setZone(zone: Zone): void;
  setFaults(faults: DnsFaults): void;
}

interface DnsQuery {
  /** Index into `views`. */
  readonly view: number;
  readonly transport: Transport;
  readonly name: string;
  readonly type: string;
}

export interface DnsServer extends Omit<DnsView, 'server'> {
  readonly port: number;
  /** One for each view: 127.0.0.1, 127.0.0.2, … */
  readonly servers: readonly string[];
  readonly views: readonly DnsView[];
  /** From now on all views query the name server at that port for the names of the zone. */
  delegate(zone: string, port: number): void;
  /** The queries in order. The reader empties the list. */
  readonly log: DnsQuery[];
  close(): Promise<void>;
}

/**
 * Recursive resolvers over UDP and TCP on one free port, at several addresses of 127.0.0.0/8. Zones and
 * faults can change at any time, for all views or for one, so that one resolver can lie.
 */
export const startDns = async (zone: Zone = {}, views = 3): Promise<DnsServer> => {
  const states = Array.from({ length: views }, () => ({
    zone: new DnsZone(zone),
    faults: new FaultList({}),
  }));
  const log: DnsQuery[] = [];
  const delegations = new Delegations();
  const closing = new AbortController();

  const answer: Answerer = async (view, transport, message) => {
    const query = decodeQuery(message);
    const [question] = query?.questions ?? [];
    const state = states[view];
    if (!query || !question || !state) return undefined;
    const { name, type } = question;
    log.push({ view, transport, name: plainName(name), type });
    const fault = state.faults.take(name, type);
    if (fault.drop) return undefined;
    if (fault.raw) return fault.raw(message, transport);
    const own = state.zone.find(name, type as RecordType);
    const found = await delegations.follow(own, plainName(name), type as RecordType);
    const reply = dnsReply(query, found, fault);
    if (fault.delayMs) {
      await delay(fault.delayMs, undefined, { signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return undefined;
    }
    if (transport === 'tcp') return streamEncode(reply);
    return datagram(fault.truncate ? truncated(reply) : reply, udpSize(query) ?? 512);
  };

  const hosts = states.map((_, view) => `127.0.0.${view + 1}`);
  const sockets = await listenForDns(hosts, answer);
  const servers = hosts.map((host) => `${host}:${sockets.port}`);
  return {
    port: sockets.port,
    servers,
    views: states.map((state, view) => ({
      server: servers[view] ?? '',
      setZone: (its) => void (state.zone = new DnsZone(its)),
      setFaults: (its) => void (state.faults = new FaultList(its)),
    })),
    log,
    delegate: (its, at) => {
      delegations.add(its, at);
    },
    setZone: (its) => states.forEach((state) => void (state.zone = new DnsZone(its))),
    setFaults: (its) => states.forEach((state) => void (state.faults = new FaultList(its))),
    close: async () => {
      closing.abort();
      await sockets.close();
    },
  };
};

const decodeQuery = (message: Buffer): DecodedPacket | undefined => {
  try {
    return decode(message);
  } catch {
    return undefined;
  }
};

const datagram = (reply: Packet, size: number): Buffer => {
  const whole = encode(reply);
  return whole.length <= size ? whole : encode(truncated(reply));
};
