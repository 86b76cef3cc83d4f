import { hash } from 'node:crypto';
import { bytesInWords } from '../../../kernel/text.ts';
import { field, onceField, onceInput } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { count, counted, head, table } from '../frame/parts.ts';
import type { Page, Refusal, Screen, Upload } from '../frame/screen.ts';
import { actOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { csvLimits, draftsIn, type WrongLine } from './csv-drafts.ts';
import { animalsPath } from './query.ts';

export const importPath = `${animalsPath}/import`;
export const importScreen = (ports: DashboardPorts): Screen => {
  const { catalogue, ids, deadline, uploads } = ports;
  const screen = { path: importPath };
  const act: Upload['act'] = async (visit, request, admit) => {
    const { fields, file } = await uploads.readForm(visit.accountId, request, wanted);
    const read = await deadline.apart(() => draftsIn(file));
    await admit();
    if (read.kind === 'refused') return importPage(ids.next('form'), read.wrong);
    const values = { [onceField]: fields.get(onceField) ?? '', file: hash('sha256', file, 'hex') };
    const form = { path: importPath, once: true } as const;
    return actOnce({ screen, form, visit, values, ports }, async () => {
      await catalogue.createPets(visit.accountId, read.drafts);
      return { to: animalsPath, done: 'imported' };
    });
  };
  return {
    ...screen,
    section: 'animals',
    live: false,
    show: ({ may }, refusal) =>
      Promise.resolve(may('animal.add') ? importPage(ids.next('form'), [], refusal) : onlyEditors),
    uploads: [{ path: importPath, operation: 'animal.add', field: wanted.field, act }],
  };
};

const wanted = {
  field: 'file',
  largest: csvLimits.bytes,
  missing: 'Choose a CSV file, then send it.',
};

const mostShown = 100;

const onlyEditors: Page = {
  title: 'Import animals',
  content: html`${head('Import animals', 'Only editors and owners can add animals.', { trail: [['Animals', animalsPath]] })}`,
};

const importPage = (once: string, wrong: readonly WrongLine[] = [], refusal?: Refusal): Page => ({
  title: 'Import animals',
  status: wrong.length > 0 ? 422 : 200,
  content: html`
    ${head('Import animals', undefined, { trail: [['Animals', animalsPath]] })}
    ${wrong.length > 0 && wrongLines(wrong)}
    <form method="post" action="${importPath}" enctype="multipart/form-data" class="card">
      ${onceInput(once)}
      ${field(
        {
          label: 'CSV file',
          name: wanted.field,
          type: 'file',
          accept: '.csv,text/csv',
          hint: html`The first line names the columns: <code>name</code>, <code>categoryId</code>, and <code>status</code> if you want. Each other line adds an animal: at most ${count(csvLimits.lines)}, ${bytesInWords(csvLimits.bytes)} in all, in UTF-8. If one line is wrong, none is added.`,
        },
        refusal,
      )}
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
