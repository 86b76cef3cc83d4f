import { replaceGlobals } from './world/globals.ts';
import { replaceSqlite } from './world/disk.ts';
import { readStory } from './story.ts';
const realNow = performance.now.bind(performance);
replaceSqlite();
replaceGlobals();
const { Simulation } = await import('./simulation.ts');
const t0 = realNow();
const story = readStory(`seed 1, 60 days
0 01:00:00 north adds www.north.test
0 01:01:00 north publishes www.north.test
0 01:05:00 north adds north.test
0 01:06:00 north publishes north.test
0 01:10:00 north adds *.app.north.test
0 01:11:00 north publishes *.app.north.test
0 01:05:00 south adds south.test
0 01:06:00 south publishes south.test
0 02:06:00 south sells
0 02:06:00 south bursts 320
`);
const sim = new Simulation(process.argv[2] ?? '1', {
  onLine: (l) => console.log(new Date(sim.time.now).toISOString().slice(0, 19), l),
});
await sim.open();
console.log('open', Math.round(realNow() - t0), 'ms', sim.time.steps);
const t1 = realNow();
const s1 = sim.time.steps;
try {
  await sim.live(story);
} catch (e) {
  console.log(e);
}
console.log(
  'lived',
  Math.round(realNow() - t1),
  'ms',
  sim.time.steps - s1,
  'steps',
  (sim.time.now - Date.UTC(2027, 0, 1)) / 86400000,
  'days',
);
console.log(
  sim.world.authorities.one.orders.map((o) => [new Date(o.at).toISOString(), o.names.join()]),
  sim.world.authorities.one.over,
);
console.log(
  sim.owners.acknowledged,
  sim.owners.bursts
    .map((b) => Object.groupBy(b.answers, (a) => a.status))
    .map((g) => Object.entries(g).map(([k, v]) => [k, v!.length])),
);
console.log(sim.world.mail.taken.length, sim.world.receivers.received.map((r) => r.type).join(' '));
sim.close();
console.log([...((globalThis as any).__jobs ?? [])].map((x: any) => x.join(' ')).join('\n'));
process.exit(0);
