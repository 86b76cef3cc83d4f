import type { CustomDomain, CustomDomainState } from '../domain/attachment/custom-domain.ts';
import type { CustomDomains } from '../custom-domain-ports.ts';

const page = 100;

/** All domains in that state, page by page, until it is stopping. */
export async function* allIn(
  domains: Pick<CustomDomains, 'inState'>,
  state: CustomDomainState,
  isStopping: () => boolean = () => false,
): AsyncGenerator<CustomDomain, undefined> {
  for (let after = ''; !isStopping();) {
    const found = await domains.inState(state, after, page);
    yield* found;
    const last = found.at(-1);
    if (!last || found.length < page) return;
    after = last.id;
  }
}
