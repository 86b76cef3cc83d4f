import type { AnswerRate } from './answer-rate.ts';
import { readMessage, type Query } from './query.ts';
import { refusal, replyWith, truncated, type Reply, type Transport } from './reply.ts';
import type { ValueLookup } from './value-lookup.ts';
import type { Zone } from './zone.ts';
import { answerTo, labelIn, rcodes, type Rcode } from './zone-answer.ts';

export interface ResponderPorts {
  readonly zone: Zone;
  readonly lookup: ValueLookup;
  readonly rate: AnswerRate;
}

/** From a message to its answer, and what was answered. */
export class Responder {
  readonly #ports: ResponderPorts;
  readonly #answers = { udp: noneYet(), tcp: noneYet() };
  /** Answers without their records, so that the asker comes again over TCP: too long, `limited`, or in a flood. */
  truncated = 0;
  /** Answers to networks that had asked too much. */
  limited = 0;
  /** Messages without an answer. */
  ignored = 0;

  constructor(ports: ResponderPorts) {
    this.#ports = ports;
  }

  answersOver(transport: Transport): Readonly<Record<Rcode, number>> {
    return this.#answers[transport];
  }

  /**
   * The answer to a datagram. Never throws, and waits only for the values of a label.
   * @param network of its sender, who may be forged
   */
  overUdp(message: Buffer, network: string): Buffer | undefined | Promise<Buffer> {
    const read = readMessage(message);
    if (!read) {
      this.ignored += 1;
      return undefined;
    }
    if (this.#ports.rate.take(network)) return this.#answer(read, 'udp');
    // A real resolver sends no such message, so nobody needs to come again.
    if (read.kind !== 'query') {
      this.ignored += 1;
      return undefined;
    }
    this.limited += 1;
    return this.#count(truncated(read), 'udp');
  }

  /** The answer to a message on a connection; nobody can forge where that comes from. */
  overTcp(message: Buffer): Buffer | undefined | Promise<Buffer> {
    const read = readMessage(message);
    if (!read) this.ignored += 1;
    return read && this.#answer(read, 'tcp');
  }

  #answer(
    read: NonNullable<ReturnType<typeof readMessage>>,
    transport: Transport,
  ): Buffer | Promise<Buffer> {
    switch (read.kind) {
      case 'malformed':
        return this.#count(refusal(read, 'FORMERR'), transport);
      case 'other_opcode':
        return this.#count(refusal(read, 'NOTIMP'), transport);
      case 'query':
        return this.#answerQuery(read, transport);
    }
  }

  #answerQuery(query: Query, transport: Transport): Buffer | Promise<Buffer> {
    const { zone, lookup } = this.#ports;
    const label = labelIn(query, zone);
    if (label === undefined) {
      return this.#count(replyWith(query, answerTo(query, zone), transport), transport);
    }
    // The flood that holds all places of datagrams takes none of those over TCP.
    if (transport === 'udp' && lookup.isCrowded) return this.#count(truncated(query), transport);
    return lookup.valuesOf(label, transport).then((values) => {
      return this.#count(replyWith(query, answerTo(query, zone, values), transport), transport);
    });
  }

  #count({ bytes, rcode, isTruncated }: Reply, transport: Transport): Buffer {
    this.#answers[transport][rcode] += 1;
    if (isTruncated) this.truncated += 1;
    return bytes;
  }
}

const noneYet = () =>
  Object.fromEntries(Object.keys(rcodes).map((rcode) => [rcode, 0])) as Record<Rcode, number>;
