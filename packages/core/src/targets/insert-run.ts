import type { RunRecord, Write } from '@perdure/ports'
import type { RunTargets } from './run-target.ts'

/**
 * The write that stores a new run, with the values by which runs can be listed: the tags of its registration, and
 * `startKey` of `RunLabels`.
 */
export const insertRun = (targets: RunTargets, run: RunRecord, startKey?: string): Write => ({
  ...{ type: 'run.insert', run },
  labels: { tags: targets.ofRun(run)?.tags, startKey },
})
