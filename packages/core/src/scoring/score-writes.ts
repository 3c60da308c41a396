import { type Digest, type EpochMs, type IdGenerator, type RunRecord, toJsonText, type Write } from '@perdure/ports'
import type { RunTargets } from '../targets/run-target.ts'
import type { ScoringInput } from './scoring-agent.ts'
import { scoringTriggerId } from './scoring-triggers.ts'

export interface ScoreWritesDeps {
  readonly targets: Pick<RunTargets, 'find'>
  readonly ids: IdGenerator
  readonly digest: Pick<Digest, 'sha256'>
}

/** The writes that let the scorers of a run judge it, for the commit that ends the run. */
export type ScoreWrites = (ended: RunRecord, at: EpochMs) => readonly Write[]

export const createScoreWrites =
  ({ targets, ids, digest }: ScoreWritesDeps): ScoreWrites =>
  (ended, at) => {
    const { id: runId, kind, targetId, status, withdrawnBy } = ended
    const scoring = targets.find(kind, targetId)?.scoring
    if (scoring === undefined || status === 'aborted' || withdrawnBy !== undefined) return []
    if (shareOf(digest.sha256(runId)) >= scoring.sample) return []
    const input: ScoringInput = { runId }
    return [
      {
        type: 'fire.insert',
        fire: {
          ...{ id: ids.newId('fire'), triggerId: scoringTriggerId(targetId), scheduledAt: at },
          ...{ cause: 'event', status: 'pending', input: toJsonText(input), createdAt: at },
        },
        // The end of a run must not fail because somebody has deleted the trigger.
        isOptional: true,
      },
    ]
  }

/** Maps a hash to a number from 0 to below 1. The same run is always in the sample, or never. */
const shareOf = (hash: string): number => Number.parseInt(hash.slice(0, 8), 16) / 2 ** 32
