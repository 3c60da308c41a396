import { EVERY_ROW, type EventLog, fromJsonText, type JsonText, type RunRecord, type RunStore } from '@perdure/ports'
import { eachEvent } from '../realtime/each-event.ts'
import { answerText, observedRuns, textInResult } from '../recording/observed-runs.ts'
import { type RecordedRun, type RunRecording, startRecording } from '../recording/recording-of.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import type { ScoredRun, ScorerSource } from '../targets/scoring-options.ts'

/**
 * Reads what a run did; `undefined` if it no longer exists. The log of the run is read only for scorers that need it: without `reads`,
 * for every scorer.
 *
 * @throws NonRetryableError for a log that is too long to judge
 */
export type ReadScoredRun = (runId: string, reads?: readonly ScorerSource[]) => Promise<ScoredRun | undefined>

export interface ReadScoredRunDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly events: Pick<EventLog, 'read'>
}

export const createReadScoredRun =
  ({ runs, events }: ReadScoredRunDeps): ReadScoredRun =>
  async (runId, reads) => {
    const run = await runs.find(runId, EVERY_ROW)
    if (run === undefined) return undefined
    const head = headOf(run)
    const recording = needsLog(head, reads) ? await readLog(events, head) : startRecording().finish(head)
    return scoredRunOf(run, recording)
  }

/** Some results have no text: the text is then that of the last answer in the log. */
const needsLog = ({ result }: RecordedRun, reads: readonly ScorerSource[] | undefined): boolean =>
  reads === undefined || reads.includes('log') || (reads.includes('text') && textInResult(result) === undefined)

/** The payloads of one log, in characters. The server judges several runs at the same time. */
const MAX_LOG_LENGTH = 16 * 1_024 * 1_024

async function readLog(events: ReadScoredRunDeps['events'], head: RecordedRun): Promise<RunRecording> {
  const { read, finish } = startRecording()
  const span = { stream: { runId: head.id }, through: Number.MAX_SAFE_INTEGER }
  let length = 0
  for await (const { type, payload, at } of eachEvent(events, span, (event) => event)) {
    length += payload.length
    if (length > MAX_LOG_LENGTH)
      throw new NonRetryableError(`the log of the run ${head.id} is too long to judge: the limit is 16 MiB of events`)
    read({ type, payload: fromJsonText(payload), at: isoTime(at) })
  }
  return finish(head)
}

const isoTime = (at: number): string => new Date(at).toISOString()

const parsed = (text: JsonText | undefined): unknown => (text === undefined ? undefined : fromJsonText(text))

function headOf(run: RunRecord): RecordedRun {
  const { id, kind, targetId, status, error, usage } = run
  const result = parsed(run.result)
  const { inputTokens, outputTokens, costUsd } = usage
  return {
    ...{ id, target: { kind, id: targetId }, input: parsed(run.input) ?? null, status },
    ...(run.sessionId === undefined ? {} : { sessionId: run.sessionId }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    ...{ usage: { inputTokens, outputTokens, costUsd }, createdAt: isoTime(run.createdAt) },
    ...(run.completedAt === undefined ? {} : { completedAt: isoTime(run.completedAt) }),
  }
}

function scoredRunOf({ id, status, error }: RunRecord, recording: RunRecording): ScoredRun {
  const { input, result } = recording.run
  return {
    ...observedRuns([recording]),
    case: { id, input, recordings: [recording] },
    ...{ text: answerText(result, recording), result, status, waitingFor: [] },
    ...(error === undefined ? {} : { error: error.message }),
  }
}
