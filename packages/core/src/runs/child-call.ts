import { AppError, NO_USAGE, type RunRecord, type StepRecord, toJsonText } from '@berth/ports'
import type { CallScope } from '../steps/call-scope.ts'
import { callWait } from '../steps/wait-call.ts'
import { lifecycleEvent } from './run-events.ts'
import type { RunTarget, RunTargets } from './run-target.ts'

export interface CallChildDeps {
  readonly targets: RunTargets
  /** Executes a run whose record is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
}

/** `ctx.agents.run`: the settled call of the parent. */
export type CallChild = (scope: CallScope, agentId: string, input: unknown) => Promise<StepRecord>

const MAX_DEPTH = 8

/** Runs an agent as a child: its record and the parent's wait are one commit, its end settles the wait. */
export function createCallChild({ targets, relaunch }: CallChildDeps): CallChild {
  return async (scope, agentId, input) => {
    const { run, ids, clock } = scope
    const agent = targets.find('agent', agentId)
    // What is refused takes no place in the order of calls.
    refuseChild(run, { agentId, agent })
    return callWait(scope, { kind: 'child', name: agentId }, (seq) => {
      const child: RunRecord = {
        id: ids.newId('run'),
        kind: 'agent',
        targetId: agentId,
        sessionId: run.sessionId,
        owner: run.owner,
        userId: run.userId,
        status: 'queued',
        input: toJsonText(input ?? null),
        usage: NO_USAGE,
        attempt: 1,
        timeoutMs: agent?.timeoutMs,
        parentRunId: run.id,
        parentSeq: seq,
        depth: run.depth + 1,
        traceparent: run.traceparent,
        metadata: run.metadata,
        createdAt: clock.now(),
      }
      return {
        detail: { childRunId: child.id },
        writes: [{ type: 'run.insert', run: child }],
        events: [lifecycleEvent(child, 'run.queued', { at: child.createdAt })],
        onRecorded: () => relaunch(child),
      }
    })
  }
}

/** @throws AppError `step-failed` over the depth, `agent-not-found` */
function refuseChild(
  run: RunRecord,
  { agentId, agent }: { readonly agentId: string; readonly agent: RunTarget | undefined },
) {
  if (run.depth >= MAX_DEPTH) throw new AppError('step-failed', { message: `runs nest at most ${MAX_DEPTH} deep` })
  if (agent === undefined) throw new AppError('agent-not-found', { message: `no agent is registered as ${agentId}` })
}
