import { clockJump } from './clock-jump.ts';
import { failoverFaults } from './failover-faults.ts';
import type { Fault } from './fault.ts';
import { fullDisk } from './full-disk.ts';
import { galeraFaults } from './galera-faults.ts';
import { killedAlone } from './killed-alone.ts';
import { killedService } from './killed-service.ts';
import { networkFaults } from './network-faults.ts';
import { redisFaults } from './redis-faults.ts';
import { rollingRestart } from './rolling-restart.ts';
import { serverLimits } from './server-limits.ts';
import { serverOutages } from './server-outages.ts';
import { soak } from './soak.ts';
import { sqliteFaults } from './sqlite-faults.ts';

/** Every fault in running order; faults that need the same ground follow each other. */
export const catalogue: readonly Fault[] = [
  ...sqliteFaults,
  ...serverLimits,
  ...networkFaults,
  ...serverOutages,
  killedAlone,
  ...galeraFaults,
  fullDisk,
  ...redisFaults,
  ...failoverFaults,
  clockJump,
  rollingRestart,
  killedService,
  soak,
];
