import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readZoneFile } from '../dns/zone-file.ts';
import { click, type LabDesk } from './clicks.ts';
import { labMarkup, type Told } from './lab-markup.ts';

export interface LabPage {
  readonly url: string;
  close(): void;
}

/** Replaces all records of customers. @returns what is wrong with the lines */
export const saveRecords = ({ zone }: Pick<LabDesk, 'zone'>, lines: string): readonly string[] => {
  const { zone: records, problems } = readZoneFile(lines);
  zone.replace(records);
  return problems;
};

/** What DNS providers, certificate authorities and time are in the lab: one page, where a person changes them. */
export const startLabPage = async (desk: LabDesk): Promise<LabPage> => {
  let told: Told = {};
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      if (request.method === 'POST') {
        told = await changed(desk, request);
        response.writeHead(303, { Location: '/' }).end();
        return;
      }
      const page = labMarkup(desk, await desk.domains(), told);
      told = {};
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(`<!doctype html>${page.toString()}`);
    };
    answer().catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const changed = async (desk: LabDesk, request: IncomingMessage): Promise<Told> => {
  const form = new URLSearchParams(await text(request));
  if (request.url === '/click') {
    await click(desk, form.get('click') ?? '');
    return { status: 'Done.' };
  }
  const problems = saveRecords(desk, form.get('zone') ?? '');
  return problems.length > 0 ? { problems } : { status: 'Saved.' };
};
