import { replaceGlobals } from './world/globals.ts';
import { replaceSqlite } from './world/disk.ts';
import { readStory } from './story.ts';
import { readFileSync } from 'node:fs';
import { realElapsed } from './world/machine.ts';
replaceSqlite();
replaceGlobals();
const { Simulation } = await import('./simulation.ts');
const story = readStory(readFileSync(process.argv[2]!, 'utf8'));
const sim = new Simulation(story.seed, { onLine: (l) => console.log(new Date(sim.time.now).toISOString().slice(0, 19), l) });
const t0 = realElapsed();
try { await sim.open(); await sim.live(story); } catch (e) { console.log(e); }
console.log('lived', Math.round(realElapsed() - t0), 'ms', sim.time.steps, 'steps', (sim.time.now - Date.UTC(2027,0,1)) / 86400000, 'days');
for (const a of Object.values(sim.world.authorities)) console.log(a.directoryUrl, a.orders.map((o) => new Date(o.at).toISOString().slice(0, 19) + ' ' + o.names.join()), a.over);
console.log(sim.world.mail.taken.length, sim.world.receivers.received.map((r) => r.type).join(' '), sim.world.receivers.faults);
sim.close();
process.exit(0);
