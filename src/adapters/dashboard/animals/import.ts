import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { bytesInWords } from '../../../kernel/text.ts';
import { field, onceField, onceInput } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { count, counted, head, table } from '../frame/parts.ts';
import type { Page, Screen, Visit } from '../frame/screen.ts';
import { actOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { csvLimits, draftsIn, type WrongLine } from './csv-drafts.ts';
import { animalsPath } from './query.ts';

export const importPath = `${animalsPath}/import`;
const fileField = 'file';
/** Files that a process receives at a time: 4 MiB each. */
const mostReceived = 16;

export const importScreen = (ports: DashboardPorts): Screen => {
  const { catalogue, ids, deadline } = ports;
  const screen: Pick<Screen, 'path'> = { path: importPath };
  const act = async (
    visit: Visit,
    sent: SentFile,
  ): Promise<Page | { to: string; done: string }> => {
    const read = await deadline.apart(() => draftsIn(sent.file));
    if (read.kind === 'refused') return importPage(ids.next('form'), read.wrong);
    const values = { [onceField]: sent.once, file: hash('sha256', sent.file, 'hex') };
    const form = { path: importPath, once: true } as const;
    const outcome = await actOnce({ screen, form, visit, values, ports }, async () => {
      await catalogue.createPets(visit.accountId, read.drafts);
      return { to: animalsPath, done: 'imported' };
    });
    return outcome as { to: string; done: string };
  };
  const receiving = new Set<string>();
  /** A file is in memory while it arrives, so a process receives few, and one of an account. */
  const receiveOne = async (accountId: string, request: IncomingMessage): Promise<SentFile> => {
    const isBusy = receiving.has(accountId) || receiving.size >= mostReceived;
    if (isBusy) {
      request.resume();
      throw new PageProblem(429, 'Another file is being received. Try again when it is done.');
    }
    receiving.add(accountId);
    try {
      return await deadline.apart(() => receive(request));
    } finally {
      receiving.delete(accountId);
    }
  };
  return {
    ...screen,
    path: importPath,
    section: 'animals',
    live: false,
    show: () => Promise.resolve(importPage(ids.next('form'))),
    others: [
      {
        method: 'POST',
        operation: 'animal.add',
        path: importPath,
        answer: async (visit, ctx) => act(visit, await receiveOne(visit.accountId, ctx.req)),
      },
    ],
  };
};

const mostShown = 100;

const importPage = (once: string, wrong: readonly WrongLine[] = []): Page => ({
  title: 'Import animals',
  status: wrong.length > 0 ? 422 : 200,
  content: html`
    ${head('Import animals', undefined, { trail: [['Animals', animalsPath]] })}
    ${wrong.length > 0 && wrongLines(wrong)}
    <form method="post" action="${importPath}" enctype="multipart/form-data" class="card">
      ${onceInput(once)}
      ${field({
        label: 'CSV file',
        name: fileField,
        type: 'file',
        accept: '.csv,text/csv',
        hint: html`The first line names the columns: <code>name</code>, <code>categoryId</code>, and <code>status</code> if you want. Each other line adds an animal: at most ${count(csvLimits.lines)}, ${bytesInWords(csvLimits.bytes)} in all, in UTF-8. If one line is wrong, none is added.`,
      })}
      <div><button class="main">Import</button></div>
    </form>
    <section class="card" aria-label="Example"><h2>Example</h2><pre>name,categoryId,status
Rex,7,available
"Bella, the second",12,</pre></section>`,
});

const wrongLines = (wrong: readonly WrongLine[]): Html =>
  html`<section class="card" aria-label="Wrong lines">
    <p class="error" role="alert" tabindex="-1" autofocus data-refusal>Nothing was added: ${counted(wrong.length, 'line is', 'lines are')} wrong. Correct the file, then send it again.</p>
    ${table(wrong.slice(0, mostShown), [
      ['Line', 'mono', ({ line }) => count(line)],
      ['What is wrong', 'name', ({ problem }) => problem],
    ])}
    ${wrong.length > mostShown && html`<p class="hint">And ${count(wrong.length - mostShown)} more.</p>`}
  </section>`;

interface SentFile {
  readonly once: string;
  readonly file: Buffer;
}

const receive = async (request: IncomingMessage): Promise<SentFile> => {
  try {
    return await readParts(request);
  } catch (error) {
    // Discards the rest, so that the sender gets the answer and the connection is free again.
    request.unpipe();
    request.resume();
    if (error instanceof PageProblem) throw error;
    throw new PageProblem(400, 'The file was cut off. Send it again.');
  }
};

const tooMuch = () =>
  new PageProblem(413, `The file is too large. It can have ${bytesInWords(csvLimits.bytes)}.`);

const readParts = (request: IncomingMessage): Promise<SentFile> =>
  new Promise((resolve, reject) => {
    const parser = parserFor(request);
    const chunks: Buffer[] = [];
    let once = '';
    let isChosen = false;
    parser.on('field', (name, value) => {
      if (name === onceField) once = value;
    });
    parser.on('file', (name, content, fileName) => {
      // It fails together with the parser, which reports the error.
      content.on('error', () => undefined);
      isChosen ||= name === fileField && fileName !== '';
      content.on('data', (chunk: Buffer) => chunks.push(chunk));
      content.once('limit', () => {
        reject(tooMuch());
      });
    });
    parser.once('partsLimit', () => {
      reject(
        new PageProblem(422, 'The form has more than one file. Choose one, then send it again.'),
      );
    });
    parser.once('error', reject);
    request.once('close', () => {
      if (!request.complete) reject(new PageProblem(400, 'The file was cut off. Send it again.'));
    });
    parser.once('finish', () => {
      if (isChosen) resolve({ once, file: Buffer.concat(chunks) });
      else reject(new PageProblem(422, 'Choose a CSV file, then send it.'));
    });
    request.pipe(parser);
  });

const parserFor = ({ headers }: IncomingMessage): BusboyInstance => {
  const { 'content-type': type = '' } = headers;
  if (!type.startsWith('multipart/form-data')) {
    throw new PageProblem(415, 'This form has to be sent by a browser.');
  }
  const limits = {
    ...{ files: 1, fileSize: csvLimits.bytes, fields: 4, fieldSize: 1024, parts: 8 },
    ...{ headerPairs: 32, headerSize: 8 * 1024 },
  };
  try {
    return new Busboy({ headers: { ...headers, 'content-type': type }, limits });
  } catch {
    throw new PageProblem(415, 'This form has to be sent by a browser.');
  }
};
