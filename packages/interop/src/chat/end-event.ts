import type { LogEvent } from '@perdure/core'
import { fromJsonText, type RunRecord } from '@perdure/ports'
import { limitOf, type ShownLogDeps } from './run-log.ts'

/** The event that ended the run as clients see it, made from its record because its log has been deleted. */
export const shownEnd = (deps: ShownLogDeps, run: RunRecord): readonly LogEvent[] =>
  limitOf(deps, run).take(endEvent(run))

function endEvent(run: RunRecord): LogEvent {
  const { status, error, abortReason, finishReason, result, completedAt, createdAt, id } = run
  return {
    ...{ eventId: `${id}.end`, type: `run.${status}`, at: new Date(completedAt ?? createdAt).toISOString() },
    payload: {
      ...{ status, finishReason, reason: abortReason },
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      ...(result === undefined ? {} : { result: fromJsonText(result) }),
    },
  }
}
