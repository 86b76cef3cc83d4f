import { decode, encode, streamEncode, type DecodedPacket, type Packet } from 'dns-packet';
import { setTimeout as delay } from 'node:timers/promises';
import { Delegations } from './delegations.ts';
import { FaultList, type DnsFaults } from './faults.ts';
import { dnsReply, truncated, udpSize } from './reply.ts';
import { listenForDns, type Answerer, type Transport } from './sockets.ts';
import { DnsZone, plainName, type RecordType, type Zone } from './zone.ts';

/** What one address answers. */
interface DnsView {
  /** As `ip:port`. */
  readonly server: string;
  /** Replaces all that was there. */
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
  /** From now on all views ask the name server at that port for the names of the zone. */
  delegate(zone: string, port: number): void;
  /** The queries, in order; their reader empties the list. */
  readonly log: DnsQuery[];
  close(): Promise<void>;
}

/**
 * Recursive resolvers over UDP and TCP on one free port, several addresses of 127.0.0.0/8. Zones and faults change
 * while they run, for all views or for one, so that one resolver can lie.
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
