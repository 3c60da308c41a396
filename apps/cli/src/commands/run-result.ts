import type { Event } from '@berth/client'
import { isPlainObject, type RunOutcome } from '@berth/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { statusColour } from '../output/paint.ts'

export type Outcome = InferOutput<typeof RunOutcome>

/** A run that did not do what it was started for is a failure of the command; one that waits for somebody is not. */
export function finishWith(call: Call, { status }: Pick<Outcome, 'status'>): void {
  if (status === 'failed' || status === 'aborted') call.finish(EXIT_CODES.failed.code)
}

/** `✓ run_… completed`, on stderr, with what comes next. */
export function noteOutcome({ out }: Call, outcome: Outcome): void {
  const { runId, status, error, approvals = [] } = outcome
  const mark = status === 'completed' ? '✓' : status === 'failed' || status === 'aborted' ? '✗' : '…'
  out.note(
    `${mark} ${runId}  ${status}${error === undefined ? '' : `: ${error.code ?? error.kind ?? 'error'}: ${error.message}`}`,
  )
  for (const { id, name } of approvals) out.note(`  waits for ${name}: berth approvals approve ${id}`)
}

/** The result of a run on stdout: text as it is, everything else as JSON. */
export function showOutcome(call: Call, outcome: Outcome): void {
  const { result } = outcome
  call.out.document(outcome, (paint) => {
    if (result !== undefined) return `${typeof result === 'string' ? result : JSON.stringify(result, undefined, 2)}\n`
    return `${outcome.runId}  ${paint(statusColour(outcome.status) ?? 'bold', outcome.status)}\n`
  })
  if (!call.out.isJson) noteOutcome(call, outcome)
}

/** Whether the run goes on only when somebody does something: what it sleeps for, or has started itself, comes without. */
export function waitsForSomebody({ type, payload }: Event): boolean {
  if (type !== 'run.suspended') return false
  const waits = isPlainObject(payload) && Array.isArray(payload.waitingFor) ? payload.waitingFor : []
  return waits.length === 0 || waits.every(({ kind }) => kind !== 'sleep' && kind !== 'child')
}
