import type { Redirect } from './settings.ts';
import { hostIn } from './target.ts';
import { refusal } from '../domains-error.ts';

/**
 * Allows one step at most: the target of a redirect must not redirect again.
 * @param shown how people read the name of a host
 * @throws DomainError `redirect_loop`, `redirect_chain`
 */
export const refuseDetour = (
  { from, to }: Redirect,
  all: readonly Redirect[],
  shown: (host: string) => string,
): void => {
  const next = new Map(all.map((one) => [one.from, hostIn(one.to)]));
  const target = hostIn(to);
  const [start, second] = [shown(from), shown(target)];
  if (target === from) throw refusal('redirect_loop', `${start} cannot redirect to itself.`, 'to');
  const passed = new Set([from]);
  let end = target;
  for (let host: string | undefined = target; host !== undefined; host = next.get(host)) {
    if (passed.has(host)) {
      const back = `${shown(end)} redirects back to ${shown(host)}`;
      throw refusal('redirect_loop', `The redirect of ${start} ends in a loop: ${back}.`, 'to');
    }
    passed.add(host);
    end = host;
  }
  if (end === target) return;
  throw refusal(
    'redirect_chain',
    `${second} is redirected itself. Redirect ${start} to ${shown(end)} instead.`,
    'to',
  );
};
