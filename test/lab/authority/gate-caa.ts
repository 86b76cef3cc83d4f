import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, RECURSION_DESIRED, type DecodedPacket } from 'dns-packet';

interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

export interface CaaQuestion {
  /** Of a wildcard, the name below which it is. */
  readonly host: string;
  readonly isWildcard: boolean;
  /** Of the challenge (RFC 8657, section 4). */
  readonly method: string;
  /** URL of the account (RFC 8657, section 3). */
  readonly account: string | undefined;
}

export interface Refusal {
  readonly type: 'caa' | 'dns';
  readonly detail: string;
}

const noError = 0;
const noSuchName = 3;
const knownTags = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc'];

/** Asks one resolver over UDP, twice for five seconds. @throws Error when it does not answer or says that it cannot */
const ask = async (name: string, dns: string): Promise<readonly CaaRecord[]> => {
  const [host = '', port = ''] = dns.split(':');
  const socket = createSocket('udp4');
  try {
    const message = encode({
      type: 'query',
      id: 1,
      flags: RECURSION_DESIRED,
      questions: [{ type: 'CAA', name }],
    });
    const answer = async (): Promise<DecodedPacket> => {
      socket.send(message, Number(port), host);
      const signal = AbortSignal.timeout(5000);
      const [bytes] = (await once(socket, 'message', { signal })) as [Buffer];
      return decode(bytes);
    };
    const { flags = 0, answers = [] } = await answer().catch(answer);
    const code = flags & 15;
    if (code !== noError && code !== noSuchName) throw new Error(`response code ${code}`);
    return answers.flatMap((record) => (record.type === 'CAA' ? [record.data as CaaRecord] : []));
  } finally {
    socket.close();
  }
};

/** Whether one `issue` or `issuewild` value names the issuer and fits the challenge and the account. */
const allows = (value: string, issuer: string, { method, account }: CaaQuestion): boolean => {
  const [name = '', ...parameters] = value.split(';').map((part) => part.trim());
  const valueOf = (tag: string): string | undefined =>
    parameters.map((part) => part.split(/=(.*)/s)).find(([key = '']) => key.trim() === tag)?.[1];
  const methods = valueOf('validationmethods')?.split(',');
  const accountUri = valueOf('accounturi');
  return (
    name.toLowerCase() === issuer &&
    (methods?.includes(method) ?? true) &&
    (accountUri === undefined || accountUri === account)
  );
};

/** RFC 8659: the closest name with any record decides, on the way from the host to its top-level domain. */
export const caaRefusal = async (
  question: CaaQuestion,
  issuer: string,
  dns: string,
): Promise<Refusal | undefined> => {
  const { host } = question;
  const about = `While processing CAA for ${host}:`;
  const labels = host.split('.');
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join('.');
    const records = await ask(name, dns).catch((error: unknown) => String(error));
    if (typeof records === 'string') {
      return { type: 'dns', detail: `${about} DNS problem: ${records} looking up CAA for ${name}` };
    }
    if (records.length === 0) continue;
    const tags = records.map(({ tag }) => tag.toLowerCase());
    const isStrange = records.some(
      ({ flags }, index) => (flags & 129) !== 0 && !knownTags.includes(tags[index] ?? ''),
    );
    const [issue, wild] = ['issue', 'issuewild'].map((tag) =>
      records.filter((_, index) => tags[index] === tag),
    );
    const deciding = question.isWildcard && wild?.length ? wild : (issue ?? []);
    const isAllowed =
      deciding.length === 0 || deciding.some(({ value }) => allows(value, issuer, question));
    if (!isStrange && isAllowed) return undefined;
    return { type: 'caa', detail: `${about} CAA record for ${name} prevents issuance` };
  }
  return undefined;
};
