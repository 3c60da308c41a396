import { EVERY_ROW, type EventLog, fromJsonText, type JsonText, type RunRecord, type RunStore } from '@perdure/ports'
import { eachEvent } from '../realtime/each-event.ts'
import { answerText, observedRuns } from '../recording/observed-runs.ts'
import { type RecordedEvent, type RecordedRun, recordingOf } from '../recording/recording-of.ts'
import type { ScoredRun } from '../targets/scoring.ts'

/** Reads what a run did; `undefined` if it no longer exists. */
export type ReadScoredRun = (runId: string) => Promise<ScoredRun | undefined>

export interface ReadScoredRunDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly events: EventLog
}

export const createReadScoredRun =
  ({ runs, events }: ReadScoredRunDeps): ReadScoredRun =>
  async (runId) => {
    const run = await runs.find(runId, EVERY_ROW)
    return run === undefined ? undefined : scoredRunOf(run, await readEvents(events, runId))
  }

async function readEvents(events: EventLog, runId: string): Promise<readonly RecordedEvent[]> {
  const span = { stream: { runId }, through: Number.MAX_SAFE_INTEGER }
  const read: RecordedEvent[] = []
  for await (const { type, payload, at } of eachEvent(events, span, (event) => event)) {
    read.push({ type, payload: fromJsonText(payload), at: isoTime(at) })
  }
  return read
}

const isoTime = (at: number): string => new Date(at).toISOString()

const parsed = (text: JsonText | undefined): unknown => (text === undefined ? undefined : fromJsonText(text))

function scoredRunOf(run: RunRecord, events: readonly RecordedEvent[]): ScoredRun {
  const { id, kind, targetId, status, error, usage } = run
  const input = parsed(run.input) ?? null
  const result = parsed(run.result)
  const { inputTokens, outputTokens, costUsd } = usage
  const head: RecordedRun = {
    ...{ id, target: { kind, id: targetId }, input, status },
    ...(run.sessionId === undefined ? {} : { sessionId: run.sessionId }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    ...{ usage: { inputTokens, outputTokens, costUsd }, createdAt: isoTime(run.createdAt) },
    ...(run.completedAt === undefined ? {} : { completedAt: isoTime(run.completedAt) }),
  }
  const recording = recordingOf(head, events)
  return {
    ...observedRuns([recording]),
    case: { id, input, recordings: [recording] },
    ...{ text: answerText(result, recording), result, status, waitingFor: [] },
    ...(error === undefined ? {} : { error: error.message }),
  }
}
