import { startTryOut } from './try-out.ts';

// `make lab`: runs until it is stopped.
process.stdout.write(
  'starting a resolver, two certificate authorities, a mail server and the service …\n',
);
const lab = await startTryOut();
process.stdout.write(`
1. Sign in to the dashboard (once, within 15 minutes):
     ${lab.signInUrl}
   Create a project ("New project"), upload a site, add a domain such as www.shop.test.
2. Create its records, as with a DNS provider:
     ${lab.labUrl}
   There is a button for each record. You can also have CAA records forbid an authority, break DNSSEC,
   break an authority, and let time pass.
3. Verify it in the dashboard. When it is live, visit it:
     curl --cacert ${lab.root} --resolve www.shop.test:${lab.edgePort}:127.0.0.1 https://www.shop.test:${lab.edgePort}/
4. Read the mails that the service sends:
     ${lab.mailUrl}

Ctrl-C stops all of it; nothing is kept.
`);
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    lab.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  });
}
