import { decode, encode } from 'dns-packet';
import { exchange } from '../../adapters/dns/wire-exchange.ts';
import type { ServerAddress } from '../../adapters/dns/server-address.ts';
import { nameServerOf } from '../../adapters/nameserver/zone.ts';

/** Whether the server there answers for the zone as ours do. @throws the signal's reason, or the socket's error */
export const isOurZone = async (
  server: ServerAddress,
  zone: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const question = encode({ type: 'query', id: 1, questions: [{ type: 'NS', name: zone }] });
  const { answers = [], flag_aa: isAuthority } = decode(await exchange(server, question, signal));
  const names = answers.map((answer) => (answer.type === 'NS' ? answer.data : ''));
  return isAuthority && names.join() === nameServerOf(zone);
};
