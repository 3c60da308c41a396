import type { RunRecord, Write } from '@perdure/ports'
import type { RunTargets } from './run-target.ts'

/** The write that stores a new run, with the tags of its registration, by which runs can be listed. */
export const insertRun = (targets: RunTargets, run: RunRecord): Write => ({
  ...{ type: 'run.insert', run },
  labels: { tags: targets.ofRun(run)?.tags },
})
