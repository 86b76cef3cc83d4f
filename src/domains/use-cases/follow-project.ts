import { removeDomain, unchanged } from '../domain/attachment/custom-domain.ts';
import { isAttached } from '../domain/attachment/serving.ts';
import type { DomainsErrorCode } from '../domain/domains-error.ts';
import type { DomainPorts } from '../ports.ts';
import { DomainError } from '../../kernel/decision.ts';
import { runConcurrently } from './secure-sites.ts';

const lanes = 8;

type Ports = Pick<DomainPorts, 'domains' | 'settings' | 'clock'>;

/** Updates routes and work after a project or its account was deleted or restored. May be repeated. */
export const followProject =
  (ports: Ports) =>
  async (projectId: string): Promise<void> => {
    const { domains, settings } = ports;
    await settings.change(projectId, (state) => ({ state, events: [] })).catch(unlessGone);
    await eachAttached(ports, projectId, (id) => domains.change(id, unchanged));
  };

export const endDomains =
  (ports: Ports) =>
  (projectId: string): Promise<void> =>
    eachAttached(ports, projectId, (id) =>
      ports.domains.change(id, (one) => removeDomain(one, 'project_deleted', ports.clock.now())),
    );

const eachAttached = async (
  { domains }: Ports,
  projectId: string,
  work: (id: string) => Promise<unknown>,
): Promise<void> => {
  const attached = (await domains.list(projectId)).filter(isAttached).values();
  await runConcurrently(lanes, async () => {
    const { value: domain } = attached.next();
    if (domain) await work(domain.id).catch(unlessGone);
    return domain !== undefined;
  });
};

const gone: readonly DomainsErrorCode[] = ['project_not_found', 'domain_not_found'];

export const unlessGone = (error: unknown): undefined => {
  if (error instanceof DomainError && gone.some((code) => code === error.code)) return undefined;
  throw error;
};
