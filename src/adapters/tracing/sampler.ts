import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  SamplingDecision,
  type Sampler,
} from '@opentelemetry/sdk-trace';

/** The values of `OTEL_TRACES_SAMPLER`. */
export type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/**
 * Decides once for each beginning; its steps follow. A caller's `sampled` flag and trace id decide nothing, or callers could
 * make us record everything, or hide. So `parentbased_…` is the same as without: the only parents that count are ours.
 */
export const samplerFor = (name: SamplerName, ratio: number): Sampler => {
  const root = rootFor(name, ratio);
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
};

const rootFor = (name: SamplerName, ratio: number): Sampler => {
  switch (name) {
    case 'always_on':
    case 'parentbased_always_on':
      return new AlwaysOnSampler();
    case 'always_off':
    case 'parentbased_always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
    case 'parentbased_traceidratio':
      return byChance(ratio);
  }
};

const byChance = (ratio: number): Sampler => ({
  shouldSample: () => ({ decision: Math.random() < ratio ? recorded : notRecorded }),
  toString: () => `ByChance{${String(ratio)}}`,
});

const { RECORD_AND_SAMPLED: recorded, NOT_RECORD: notRecorded } = SamplingDecision;
