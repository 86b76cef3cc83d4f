import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket, type AddressInfo } from 'node:net';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import {
  largestUpload,
  receiveBody,
  receiveForm,
  uploadPace,
  type UploadPace,
} from '../../src/adapters/uploads/receive-file.ts';
import { uploadSlots } from '../../src/adapters/uploads/slots.ts';
import { AccessKey, ConfigKey, SitesKey } from '../../src/app/keys.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { closed } from '../support/http/edge-client.ts';
import { neverMs, until } from '../support/until.ts';

let forms = 0;
const newForm = (): string => `form_${String((forms += 1)).padStart(6, '0')}`;
const oncePart = (): string =>
  `--x\r\nContent-Disposition: form-data; name="once"\r\n\r\n${newForm()}\r\n`;
const partHead = '--x\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n\r\n';
const partEnd = '\r\n--x--\r\n';

/** A form with one file, whose bytes the test controls. */
const uploadHead = (path: string, visitor: DashboardVisitor, length: number): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Sec-Fetch-Site: same-origin',
    `Cookie: ${visitor.cookie!}`,
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${String(length)}`,
    '\r\n',
  ].join('\r\n');

/** A connection that a test writes to. Its errors do not fail the test. */
const connectTo = async (origin: string): Promise<Socket> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
};

describe('the body of one upload', () => {
  let folder: string;
  let file: FileHandle;
  let server: Server;
  let socket: Socket;
  let pace: UploadPace;
  let outcome: Promise<unknown>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-slow-'));
    file = await open(join(folder, 'upload'), 'wx');
    let settle: (how: unknown) => void;
    outcome = new Promise((resolve) => (settle = resolve));
    server = createServer((request, response) => {
      const take = (content: Readable) => file.writeFile(content);
      const archive = { field: 'archive', largest: largestUpload, missing: 'Choose one.', take };
      const received: Promise<unknown> = request.headers['content-type']
        ? receiveForm(request, archive, pace)
        : receiveBody(request, file, pace);
      received
        .then(
          (found) => (typeof found === 'string' ? found : 'received'),
          (error: unknown) => error,
        )
        .then((how) => {
          response.end();
          settle(how);
        }, settle);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on(
      'error',
      () => undefined,
    );
  });
  afterEach(async () => {
    socket.destroy();
    server.close();
    await file.close();
    await rm(folder, { recursive: true });
  });

  const usual = { ...uploadPace, windowMs: 200 };
  /** For uploads that never end, because the machine may pause between two bytes. */
  const patient = { ...uploadPace, windowMs: neverMs };

  /** Sends one byte now and then until the connection closes. */
  const trickle = (): void => {
    const slow = socket;
    void until('nobody listens', () => {
      if (!slow.destroyed) slow.write('x');
      return slow.destroyed;
    });
  };

  const begin = (length: number): void => {
    const head = `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${String(length)}`;
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${partHead}`);
  };

  test('must arrive with at least 16 KiB in each 30 seconds, and completely within half an hour', () => {
    expect(uploadPace).toEqual({ longestMs: 30 * 60_000, windowMs: 30_000, slowest: 16 * 1024 });
  });

  test('that comes byte by byte is cut off after the first interval', async () => {
    pace = usual;
    begin(100_000);
    trickle();
    expect(await outcome).toMatchObject({ code: 'upload_too_slow' });
    expect(await outcome).toHaveProperty('message', expect.stringMatching(/16 KiB per second/));
  });

  test('that stalls is cut off after the first interval', async () => {
    pace = usual;
    begin(100_000);
    expect(await outcome).toHaveProperty('message', expect.stringMatching(/too slow/));
  });

  test('that comes at a sufficient rate is cut off at the deadline', async () => {
    pace = { longestMs: 1_000, windowMs: 200, slowest: 0 };
    begin(100_000);
    trickle();
    expect(await outcome).toHaveProperty('message', expect.stringMatching(/took longer than/));
  });

  test('that comes at a sufficient rate is received, byte for byte', async () => {
    pace = patient;
    const content = 'x'.repeat(1_000_000);
    begin(partHead.length + content.length + partEnd.length);
    socket.write(`${content}${partEnd}`);
    expect(await outcome).toBe('received');
    expect(await readFile(join(folder, 'upload'), 'utf8')).toBe(content);
  });

  test('can be the archive itself, and is received byte for byte, with its hash', async () => {
    pace = patient;
    const content = 'x'.repeat(1_000_000);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(content.length)}\r\n\r\n`);
    socket.write(content);
    expect(await outcome).toBe(hash('sha256', content, 'hex'));
    expect(await readFile(join(folder, 'upload'), 'utf8')).toBe(content);
  });

  test('is cut off like a form when it is an archive and too slow', async () => {
    pace = usual;
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    trickle();
    expect(await outcome).toMatchObject({ code: 'upload_too_slow' });
  });

  test('is refused after its first part if all its parts are empty, before the rest arrives', async () => {
    pace = patient;
    begin(200_000_000);
    socket.write('\r\n--x\r\n\r\n'.repeat(10_000));
    expect(await outcome).toMatchObject({ code: 'upload_ambiguous' });
    expect(await outcome).toHaveProperty('message', expect.stringMatching(/more than one/));
  });
});

describe('simultaneous uploads', () => {
  let dashboard: RunningDashboard;
  const slow: Socket[] = [];
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterEach(async () => {
    for (const socket of slow.splice(0)) socket.destroy();
    await until('nothing is under way', async () => (await underWay()) === 0);
  });
  afterAll(() => dashboard.close());

  const projectOf = async ({ accountId }: Owner): Promise<string> => {
    const { slug } = await dashboard.container.get(SitesKey).startProject(accountId, 'Birds');
    return `/dashboard/projects/${slug}/deploys`;
  };

  const underWay = async (): Promise<number> => {
    const folder = join(dashboard.container.get(ConfigKey).dataDir, 'uploads');
    return (await readdir(folder).catch(() => [])).length;
  };

  /** Sends the beginning of a file and no more. @returns once the server has begun to receive it */
  const uploadSlowly = async (path: string, { visitor }: Owner): Promise<void> => {
    const socket = await connectTo(dashboard.origin);
    slow.push(socket);
    socket.write(`${uploadHead(path, visitor, 9999)}${partHead}PK`);
    await until('it is under way', async () => (await underWay()) === slow.length);
  };

  /** Sends a whole file that is larger than any buffer, and half-closes with the last byte. */
  const uploadAndHangUp = async (path: string, { visitor }: Owner): Promise<void> => {
    const socket = await connectTo(dashboard.origin);
    const body = `${oncePart()}${partHead}${'x'.repeat(4_000_000)}${partEnd}`;
    socket.end(`${uploadHead(path, visitor, body.length)}${body}`);
    await closed(socket);
  };

  const upload = (path: string, { visitor }: Owner, form = newForm(), content = 'no archive') => {
    const body = new FormData();
    body.set('once', form);
    body.set('archive', new Blob([content]), 'a.zip');
    return visitor.send(path, {
      method: 'POST',
      body,
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    });
  };

  test('are limited to two for an account, and do not delay others', async () => {
    const [one, other] = [await dashboard.newOwner(), await dashboard.newOwner()];
    const [path, otherPath] = [await projectOf(one), await projectOf(other)];
    await uploadSlowly(path, one);
    await uploadSlowly(path, one);
    const third = await upload(path, one);
    expect([third.status, third.headers.get('Retry-After')]).toEqual([503, '30']);
    expect(third.text).toContain('Other uploads are in progress.');
    expect((await upload(otherPath, other)).status).toBe(303);
  });

  test('are limited in a process, and every upload that ends frees its place', async () => {
    for (let taken = 0; taken < uploadSlots.receiving.all; taken += 2) {
      const owner = await dashboard.newOwner();
      const path = await projectOf(owner);
      await uploadSlowly(path, owner);
      await uploadSlowly(path, owner);
    }
    const late = await dashboard.newOwner();
    const path = await projectOf(late);
    expect((await upload(path, late)).status).toBe(503);
    slow.pop()!.destroy();
    await until('there is room again', async () => (await upload(path, late)).status === 303);
  });

  test('make one deploy if they are the same form, sent twice by a double click, and another one of another archive', async () => {
    const owner = await dashboard.newOwner();
    const path = await projectOf(owner);
    const form = newForm();
    const answers = await Promise.all([upload(path, owner, form), upload(path, owner, form)]);
    const page = path.replace('/deploys', '');
    expect(answers).toMatchObject([{ location: page }, { location: page }]);
    const deploys = async () => {
      const [site] = await dashboard.container.get(SitesKey).listSites(owner.accountId);
      return site?.deploys.map(({ number }) => number);
    };
    expect(await deploys()).toEqual([1]);
    expect((await upload(path, owner, form, 'another archive')).location).toBe(page);
    expect(await deploys()).toEqual([2, 1]);
  });

  /** A body whose rest is sent when the test says so. */
  const bodyOf = (begin: string) => {
    let send: (rest: string) => void = () => undefined;
    const body = new ReadableStream({
      start: (writer) => {
        writer.enqueue(Buffer.from(begin));
        send = (rest) => {
          writer.enqueue(Buffer.from(rest));
          writer.close();
        };
      },
    });
    return { body, send };
  };

  const access = () => dashboard.container.get(AccessKey);
  test.each([
    ['is removed', ({ accountId, id }) => access().dismiss(accountId, id)],
    ['becomes a viewer', ({ accountId, id }) => access().giveRole(accountId, id, 'viewer')],
    ['has a deleted account', ({ accountId }) => access().deleteAccount(accountId)],
  ] satisfies [string, (person: { accountId: string; id: string }) => Promise<unknown>][])(
    'change nothing if their sender %s before they are complete',
    async (_, leave) => {
      const { accountId } = await dashboard.newOwner();
      const path = await projectOf({ accountId } as Owner);
      const email = `${accountId}@zoo.example`;
      const { person } = await access().inviteAnybody(accountId, email, 'editor');
      const visitor = await dashboard.signIn(email);
      const form = 'application/x-www-form-urlencoded';
      const multipart = 'multipart/form-data; boundary=x';
      const csvHead = partHead.replace('archive', 'file');
      const sent = [
        { to: path, type: multipart, begin: `${partHead}P`, rest: `K${partEnd}` },
        { to: '/dashboard/animals/import', type: multipart, begin: csvHead, rest: partEnd },
        { to: '/dashboard/projects', type: form, begin: 'once=once_once_once&name=Ca', rest: 'ts' },
      ].map(({ to, type, begin, rest }) => {
        const { body, send } = bodyOf(begin);
        const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': type };
        const request = { method: 'POST', body, headers, duplex: 'half' } as const;
        return { answer: visitor.send(to, request), end: () => send(rest) };
      });
      await until('the archive arrives', async () => (await underWay()) === 1);
      await until('the table arrives', async () => {
        const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': multipart };
        const empty = { method: 'POST', body: '--x--', headers };
        return (await visitor.send('/dashboard/animals/import', empty)).status === 503;
      });
      await leave({ accountId, id: person.id });
      for (const { end } of sent) end();
      const answers = await Promise.all(sent.map(({ answer }) => answer));
      expect(answers.slice(0, 2).map(({ status }) => status)).toEqual([403, 403]);
      const sites = dashboard.container.get(SitesKey);
      expect(await sites.listAllProjects(accountId)).toHaveLength(1);
      expect((await sites.listSites(accountId)).flatMap(({ deploys }) => deploys)).toEqual([]);
    },
  );

  test('no longer count once the sender closes its side right after the last byte', async () => {
    const owner = await dashboard.newOwner();
    const path = await projectOf(owner);
    for (let turn = 0; turn < 2 * uploadSlots.inAll.all; turn++) await uploadAndHangUp(path, owner);
    await until('nothing is under way', async () => (await underWay()) === 0);
    expect((await upload(path, owner)).status).toBe(303);
  });
});
