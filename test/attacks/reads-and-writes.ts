import { expect } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { edgeClient } from '../support/http/edge-client.ts';
import { siteHost, type Ground } from './ground.ts';

export interface Written {
  /** What the writer is told. */
  readonly told: {
    readonly status: number;
    readonly code: string | undefined;
    readonly comeBack: string | null;
  };
  readonly tookMs: number;
}

/** The answer to a write that the database could not take. */
export const unavailable = { status: 503, code: 'service_unavailable', comeBack: '1' };

/** Adds animals called `LABEL-NUMBER` all at once, every other one under an idempotency key. */
export const addAnimals = (
  { service, attacker }: Ground,
  label: string,
  count: number,
): Promise<readonly Written[]> => {
  const add = async (at: number): Promise<Written> => {
    const name = `${label}-${at}`;
    const headers = {
      Authorization: `Bearer ${attacker.key}`,
      'Content-Type': 'application/json',
      ...(at % 2 === 0 && { 'Idempotency-Key': name }),
    };
    const body = JSON.stringify({ name, categoryId: 1 });
    const started = performance.now();
    const answer = await fetch(`${service.origin}/v1/pets`, { method: 'POST', headers, body });
    const { code } = (await answer.json()) as { readonly code?: string };
    const comeBack = answer.headers.get('Retry-After');
    return {
      told: { status: answer.status, code, comeBack },
      tookMs: performance.now() - started,
    };
  };
  return Promise.all(Array.from({ length: count }, (_, at) => add(at)));
};

/** Everything that only reads is answered: the API, pages, sites. */
export const expectReads = async (ground: Ground, slug: string): Promise<void> => {
  const { service, attacker, ports } = ground;
  const headers = { Authorization: `Bearer ${attacker.key}` };
  for (const path of ['/healthz', '/readyz', '/v1/pets']) {
    const { status } = await fetch(service.origin + path, { headers });
    expect({ path, status }).toEqual({ path, status: 200 });
  }
  for (const page of ['/dashboard', '/dashboard/animals']) {
    const { status } = await attacker.visitor.get(page);
    expect({ page, status }).toEqual({ page, status: 200 });
  }
  const root = await readFile(join(ground.dataDir, 'local-ca.pem'), 'utf8');
  const edge = edgeClient({ http: ports.edge, https: ports['secure edge'] }, root);
  expect((await edge.get(siteHost(slug), '/')).status).toBe(200);
};
