import type { Event } from '@perdure/client'
import { isPlainObject, type RunOutcome } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { statusColour } from '../output/paint.ts'
import { waitText } from './wait-text.ts'

export type Outcome = InferOutput<typeof RunOutcome>

/**
 * Sets the exit code from the status of the run that the command waited for. A run that has not ended gets the exit
 * code that allows a retry, so that a script can wait again.
 */
export function finishWithStatus({ finish, out }: Call, { runId, status }: Pick<Outcome, 'runId' | 'status'>): void {
  if (status === 'completed') return
  if (status === 'failed' || status === 'aborted') {
    finish(EXIT_CODES.failed.code)
    return
  }
  out.note(`  not finished: perdure runs tail ${runId} --follow`)
  finish(EXIT_CODES.unreachable.code)
}

/** Prints `✓ run_… completed` to stderr, and what the run waits for. */
export function noteOutcome(call: Call, outcome: Outcome): void {
  const { runId, status, error } = outcome
  const mark = status === 'completed' ? '✓' : status === 'failed' || status === 'aborted' ? '✗' : '…'
  call.out.note(`${mark} ${runId}  ${status}${error === undefined ? '' : `: ${error.code}: ${error.message}`}`)
  noteWaits(call, outcome)
}

/** Prints what a suspended run waits for to stderr, with the commands that show and approve each pending approval. */
export function noteWaits({ out }: Call, { approvals = [], waitingFor = [] }: Outcome): void {
  for (const wait of waitingFor) if (wait.kind !== 'approval') out.note(`  waiting for ${waitText(wait)}`)
  for (const { id, name } of approvals) {
    out.note(`  waiting for "${name}": perdure approvals show ${id}`)
    out.note(`  to approve it: perdure approvals approve ${id}`)
  }
}

/** Prints the result of a run to stdout: text as is, other values as JSON. */
export function showOutcome(call: Call, outcome: Outcome): void {
  const { result } = outcome
  call.out.document(outcome, (paint) => {
    if (result !== undefined) return `${typeof result === 'string' ? result : JSON.stringify(result, undefined, 2)}\n`
    return `${outcome.runId}  ${paint(statusColour(outcome.status) ?? 'bold', outcome.status)}\n`
  })
  if (!call.out.isJson) noteOutcome(call, outcome)
}

/**
 * Whether the run is suspended until someone acts: approves, resumes or sends an event. A sleep or a child run ends by
 * itself. Also checks the current state, because the wait that an earlier event reported may be over.
 */
export async function awaitsAction(call: Call, runId: string, { type, payload }: Event): Promise<boolean> {
  if (type !== 'run.suspended') return false
  const waits = isPlainObject(payload) && Array.isArray(payload.waitingFor) ? payload.waitingFor : []
  if (waits.some(({ kind }) => kind === 'sleep' || kind === 'child')) return false
  return (await call.client().runs.state(runId)).status === 'suspended'
}
