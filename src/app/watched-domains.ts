import { whyAstray } from '../domains/domain/attachment/health.ts';
import type { CustomDomain } from '../domains/domain/attachment/custom-domain.ts';
import { isReady } from '../domains/domain/attachment/readiness.ts';
import { isAttached } from '../domains/domain/attachment/serving.ts';
import { workOn } from '../domains/domain/certificates/standing.ts';
import type { DnsProblem } from '../domains/domain/dns/problem.ts';
import type { CustomDomains } from '../domains/custom-domain-ports.ts';
import type { Trouble } from '../notifications/domain/notification.ts';
import type { WatchedDomain } from '../notifications/domain/watched-domain.ts';
import { WatchedDomains } from '../notifications/ports.ts';

/** The bridge to custom domains, which another context keeps. */
export class BridgedDomains extends WatchedDomains {
  readonly #domains: Pick<CustomDomains, 'get'>;

  constructor(domains: Pick<CustomDomains, 'get'>) {
    super();
    this.#domains = domains;
  }

  override async find(id: string): Promise<WatchedDomain | undefined> {
    const domain = await this.#domains.get(id);
    return domain && watchedDomain(domain);
  }
}

const watchedDomain = (domain: CustomDomain): WatchedDomain => {
  const { id, accountId, projectId, host } = domain;
  const { report, lastCheckedAt } = domain.dns;
  const isAwaited = domain.state === 'added' && !report?.pointsHere && !isReady(domain);
  const certificate = isAwaited ? undefined : domain.certificate;
  const work = certificate && workOn({ certificate });
  const astray = domain.state === 'live' ? whyAstray(report) : undefined;
  return {
    ...{ id, accountId, projectId, host, isAttached: isAttached(domain), isAwaited },
    dns: { checkedAt: lastCheckedAt, astray: astray && troubleOf(astray) },
    certificate: {
      failed: work?.attempts?.failed ?? 0,
      trouble: work?.problem && troubleOf(work.problem),
      validity: certificate?.kind === 'issued' ? certificate : undefined,
    },
  };
};

const troubleOf = ({ code, actor, fix }: DnsProblem): Trouble => ({ problem: code, actor, fix });
