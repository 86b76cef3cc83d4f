import { clockJump, fullDisk, networkFaults, sqliteFaults } from './machine-faults.ts';
import { failoverFaults, galeraFaults } from './failover-faults.ts';
import type { Fault } from './fault.ts';
import { killedAlone, killedService, rollingRestart } from './process-faults.ts';
import { redisFaults } from './redis-faults.ts';
import { serverLimits } from './server-limits.ts';
import { serverOutages } from './outage.ts';
import { soak } from './soak.ts';

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
