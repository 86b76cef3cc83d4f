import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { html, type Html } from '../../src/adapters/dashboard/frame/html.ts';
import { brokenZone } from './dns/resolver.ts';
import { writeZoneFile, readZoneFile } from './dns/zone.ts';
import type { ShownDomain, ShownRecord } from './shop.ts';
import {
  authorityChoices,
  caaChoiceOf,
  caaChoices,
  isCreated,
  pointsAway,
  type LabDesk,
  click,
} from './page-clicks.ts';

/** A page of the lab. */
export const labFrame = (title: string, content: Html): Html => html`<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>${title}</title>
  <style>
    :root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5; }
    body { max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
    li { margin-bottom: 0.5rem; }
    nav a { margin-right: 0.75rem; }
    nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
    iframe { display: block; width: 100%; height: 75vh; margin-top: 1rem; border: 1px solid; }
    iframe.phone { width: 360px; max-width: 100%; }
    pre { white-space: pre-wrap; }
    textarea { width: 100%; box-sizing: border-box; }
    button[aria-pressed="true"] { font-weight: 600; border-style: inset; }
  </style>
</head>
<body>${content}</body>
</html>`;

/** The result of the last action. */
interface Told {
  readonly status?: string;
  readonly problems?: readonly string[];
}

const labMarkup = (
  desk: LabDesk,
  domains: readonly ShownDomain[],
  { status, problems = [] }: Told,
): Html =>
  labFrame(
    'DNS of the lab',
    html`
    <h1>DNS of the lab</h1>
    ${status !== undefined && html`<p role="status">${status}</p>`}
    ${problems.map((one) => html`<p role="alert">${one}</p>`)}
    <p>Whatever you change here counts at once.</p>
    ${zoneFile(desk)}
    <form method="post" action="/click">
      ${domains.length === 0 && html`<h2>Domains</h2><p>Add a domain in the dashboard: its records are then here, with a button each.</p>`}
      ${domains.map((one) => domainSection(desk, one))}
      ${[...new Set(domains.map(zoneOf))].map((name) => caaSection(desk, name))}
      ${dnssecSection(desk)}
      ${authoritySection(desk)}
      ${clockSection(desk)}
    </form>`,
  );

const zoneFile = ({ zone }: LabDesk): Html => html`
  <h2>Zone file</h2>
  <p>Paste the zone file lines that the dashboard shows for a domain, and save. They replace all records.</p>
  <form method="post" action="/records">
    <p><label for="zone">Records</label></p>
    <p><textarea id="zone" name="zone" rows="8" spellcheck="false">${writeZoneFile(zone.records)}</textarea></p>
    <p><button>Save</button></p>
  </form>`;

const domainSection = (
  { zone }: LabDesk,
  { domain: { host, state }, records }: ShownDomain,
) => html`
  <h2>${host}</h2>
  <p>It is ${state}.</p>
  <ul>
    ${records.map((record) => recordItem(record, isCreated(zone, record)))}
    <li>${button(`away ${host}`, `Point ${host} elsewhere`, pointsAway(zone.records[host]))}</li>
  </ul>`;

const recordItem = (record: ShownRecord, isThere: boolean): Html => {
  const { fqdn, type, value } = record;
  const [word, label] = isThere ? ['delete', 'Delete'] : ['create', 'Create'];
  return html`<li>${button(`${word} ${fqdn} ${type}`, `${label} ${type} ${fqdn}`)} ${value}</li>`;
};

/** The registered domain in the lab. */
const zoneOf = ({ domain: { host } }: ShownDomain): string => host.split('.').slice(-2).join('.');

const caaSection = ({ zone }: LabDesk, name: string): Html => {
  const now = caaChoiceOf(zone.records[name]?.CAA);
  return html`
  <h2>Who may issue for ${name}</h2>
  <p>${Object.entries(caaChoices).map(([choice, { label }]) => button(`caa ${name} ${choice}`, `${label}: ${name}`, choice === now))}</p>`;
};

const dnssecSection = ({ resolver: { isBroken } }: LabDesk): Html => html`
  <h2>DNSSEC of ${brokenZone}</h2>
  <p>The parent has a key of this zone, but its answers are not signed, as after a move to another provider: resolvers refuse them. Names below any other domain are not affected.</p>
  <p>${button('dnssec broken', 'DNSSEC is broken', isBroken)} ${button('dnssec right', 'DNSSEC is right', !isBroken)}</p>`;

const authoritySection = ({ authorities }: LabDesk): Html => html`
  ${authorities.map(({ gate, choice: now }, index) => {
    const name = index === 0 ? 'First authority' : 'Second authority';
    const choices = Object.entries(authorityChoices);
    return html`
    <h2>${name}</h2>
    <p>${new URL(gate.directoryUrl).host}</p>
    <p>${choices.map(([choice, { label }]) => button(`authority ${index} ${choice}`, `${name}: ${label}`, choice === now))}</p>`;
  })}`;

const steps = [
  [60, '1 minute later'],
  [600, '10 minutes later'],
  [3600, '1 hour later'],
  [86_400, '1 day later'],
  [30 * 86_400, '30 days later'],
] as const;

const clockSection = ({ clock }: LabDesk): Html => html`
  <h2>Clock of the service</h2>
  <p>It is ${clock.now().toISOString()}. Certificates are renewed, and what failed is tried again, when the clock says so. After 12 hours you are signed out: have a link sent to you, and find it in the mail of the lab.</p>
  <p>${steps.map(([seconds, label]) => button(`later ${seconds}`, label))}</p>`;

/** @param isPressed undefined if it is not a choice */
const button = (value: string, label: string, isPressed?: boolean): Html => html`
  <button name="click" value="${value}" ${isPressed !== undefined && html`aria-pressed="${String(isPressed)}"`}>${label}</button>`;

interface LabPage {
  readonly url: string;
  close(): void;
}

/** Replaces all records of customers. @returns the errors in the lines */
export const saveRecords = ({ zone }: Pick<LabDesk, 'zone'>, lines: string): readonly string[] => {
  const { zone: records, problems } = readZoneFile(lines);
  zone.replace(records);
  return problems;
};

/** The lab's page, where a person changes DNS, certificate authorities and time. */
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
