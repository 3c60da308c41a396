import { type RecordedRun, type RunRecording, recordingOf } from '@perdure/core'

/** A finished run of a test, as `runAgent` returns it. */
export interface RunWithEvents {
  readonly runId: string
  readonly status: string
  readonly result?: unknown
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number }
  readonly events: readonly { readonly type: string; readonly payload: unknown }[]
}

/** A recorded run: a fixture of `perdure runs export --fixture`, or a run of a test. */
export type RecordingSource = RunRecording | RunWithEvents

/** @throws Error for a value that is no recording */
export function readRecording(source: RecordingSource): RunRecording {
  if ('calls' in source && Array.isArray(source.calls)) return source
  if ('events' in source && Array.isArray(source.events)) return recordingOf(headOf(source), source.events)
  throw new Error(
    'this is not a recording: pass the JSON that `perdure runs export --fixture` writes, or a run of runAgent',
  )
}

const headOf = ({ runId, status, result, usage }: RunWithEvents): RecordedRun => ({
  id: runId,
  target: { kind: 'agent', id: 'test' },
  input: null,
  status,
  ...(result === undefined ? {} : { result }),
  usage,
  createdAt: '',
})
