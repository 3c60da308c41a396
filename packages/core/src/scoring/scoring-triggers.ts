import type { RunTarget } from '../targets/run-target.ts'
import { scoringAgentId } from '../targets/scoring-options.ts'
import type { TriggerRegistration } from '../triggers/trigger-definition.ts'

export const scoringTriggerId = (targetId: string): string => `score-${targetId}`

/** The triggers that start the runs that judge other runs. */
export const scoringTriggers = (
  targets: readonly Pick<RunTarget, 'id' | 'scoring'>[],
): readonly TriggerRegistration[] =>
  targets.flatMap(({ id, scoring }): readonly TriggerRegistration[] =>
    scoring === undefined
      ? []
      : [
          {
            ...{ id: scoringTriggerId(id), kind: 'event', event: `score.${id}`, overlap: 'allow' },
            target: { agentId: scoringAgentId(id) },
          },
        ],
  )
