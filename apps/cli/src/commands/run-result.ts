import type { Event } from '@perdure/client'
import { isPlainObject, type RunOutcome } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { statusColour } from '../output/paint.ts'

export type Outcome = InferOutput<typeof RunOutcome>

/**
 * What became of a run that the command has waited for: a script goes on after `completed` only. One that has not ended, and
 * one that waits for somebody, can be waited for again.
 */
export function finishWith({ finish, out }: Call, { runId, status }: Pick<Outcome, 'runId' | 'status'>): void {
  if (status === 'completed') return
  if (status === 'failed' || status === 'aborted') {
    finish(EXIT_CODES.failed.code)
    return
  }
  out.note(`  not ended: perdure runs tail ${runId} --follow`)
  finish(EXIT_CODES.unreachable.code)
}

/** `✓ run_… completed`, on stderr, with what comes next. */
export function noteOutcome({ out }: Call, outcome: Outcome): void {
  const { runId, status, error, approvals = [] } = outcome
  const mark = status === 'completed' ? '✓' : status === 'failed' || status === 'aborted' ? '✗' : '…'
  out.note(
    `${mark} ${runId}  ${status}${error === undefined ? '' : `: ${error.code ?? error.kind ?? 'error'}: ${error.message}`}`,
  )
  for (const { id, name } of approvals) out.note(`  waits for ${name}: perdure approvals approve ${id}`)
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

/**
 * Whether the run now goes on only when somebody does something: what it sleeps for, or has started itself, comes without.
 * Who follows a run from its first event also reads of waits that are over.
 */
export async function waitsForSomebody(call: Call, runId: string, { type, payload }: Event): Promise<boolean> {
  if (type !== 'run.suspended') return false
  const waits = isPlainObject(payload) && Array.isArray(payload.waitingFor) ? payload.waitingFor : []
  if (waits.some(({ kind }) => kind === 'sleep' || kind === 'child')) return false
  return (await call.client().runs.state(runId)).status === 'suspended'
}
