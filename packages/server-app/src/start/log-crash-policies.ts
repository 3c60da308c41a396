import type { RunTarget } from '@perdure/core'
import type { Logger } from '@perdure/ports'

/** Logs what a crash does to the runs of each registered agent and workflow, one line each. */
export function logCrashPolicies(targets: readonly RunTarget[], logger: Logger): void {
  for (const { kind, id, onCrash, recoveries } of targets) {
    const message =
      onCrash === 'retry'
        ? `${kind} ${id}: after a crash, its code executes again; recorded steps and tools are not repeated, but one that was executing is (its onCrash can change that)`
        : `${kind} ${id}: after a crash, its running runs fail as interrupted`
    logger.info(message, { onCrash, ...(onCrash === 'retry' ? { recoveries } : {}) })
  }
}
