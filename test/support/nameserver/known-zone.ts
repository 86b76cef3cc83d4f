import { decode, encode, type DecodedPacket, type Packet } from 'dns-packet';
import { AnswerRate } from '../../../src/adapters/nameserver/limits.ts';
import { Responder } from '../../../src/adapters/nameserver/responder.ts';
import { ValueLookup, type LookupPorts } from '../../../src/adapters/nameserver/value-lookup.ts';
import { zoneOf } from '../../../src/adapters/nameserver/zone.ts';

export const zoneName = 'acme.store.example';

/** Derived like an authority does it (RFC 8555, section 8.4). */
export const firstValue = 'gfj9Xq-Rg85nM_DNnxx-aUAfTrsQuKMLI9hxWQZfIXU';
export const secondValue = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA';

export const tokenOf = (n: number): string => `t-${n.toString(16).padStart(32, '0')}`;

const stored: Readonly<Record<string, readonly string[]>> = {
  [tokenOf(1)]: [firstValue],
  [tokenOf(2)]: [firstValue, secondValue],
  // More values than there ever are, and too many for a datagram.
  [tokenOf(9)]: Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n).repeat(160)),
};

const findStored: LookupPorts['find'] = (labels) =>
  Promise.resolve(new Map(Object.entries(stored).filter(([label]) => labels.includes(label))));

export interface RespondingOptions {
  readonly find?: LookupPorts['find'];
  readonly zone?: string;
  readonly perSecond?: number;
  readonly elapsed?: () => number;
}

/** Does not limit answers unless a limit is given. */
export const newResponder = ({
  find = findStored,
  zone = zoneName,
  perSecond = 255,
  elapsed,
}: RespondingOptions = {}): Responder => {
  let moment = 0;
  // Each question has a different second.
  const everLater = () => (moment += 1000);
  return new Responder({
    zone: zoneOf(zone),
    lookup: new ValueLookup({ find }),
    rate: new AnswerRate({ perSecond, elapsed: elapsed ?? everLater }),
  });
};

type Asked = Omit<Packet, 'questions' | 'type' | 'additionals'> & {
  readonly additionals?: readonly object[];
  readonly name: string;
  readonly type: string;
  readonly class?: string;
};

export const question = ({ name, type, class: asked = 'IN', ...rest }: Asked): Buffer =>
  encode({
    type: 'query',
    id: 7,
    questions: [{ name, type: type as 'TXT', class: asked as 'IN' }],
    ...(rest as Packet),
  });

/** The options that resolvers add to queries (RFC 6891). */
export const edns = (udpPayloadSize = 1232, ednsVersion = 0) =>
  ({
    type: 'OPT',
    name: '.',
    udpPayloadSize,
    extendedRcode: 0,
    ednsVersion,
    flags: 0,
    flag_do: false,
    options: [],
  }) as const;

export type Read = DecodedPacket & { readonly code: number; readonly isAuthority: boolean };

export const read = (answer: Buffer): Read => {
  const packet = decode(answer);
  const extension = packet.additionals?.find((one) => one.type === 'OPT');
  const code = (extension?.extendedRcode ?? 0) * 16 + (answer.readUInt8(3) & 15);
  return { ...packet, code, isAuthority: packet.flag_aa };
};
