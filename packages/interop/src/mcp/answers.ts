import { awaitsResume, isFields, type Principal } from '@perdure/core'
import { type ApprovalStore, EVERY_ROW, type RunStore, type Visibility } from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import { type AnswerRunDeps, answerRun, isLate } from '../chat/answer-run.ts'
import { type Decision, isTooLong, parsePauseId, readAnswer } from './elicitation.ts'
import { invalidParams, type RpcRefusal } from './json-rpc.ts'
import { type ReadTranscriptDeps, readTranscript } from './read-transcript.ts'

export interface AnswersDeps extends ReadTranscriptDeps, AnswerRunDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly approvals: ApprovalStore
}

/** The caller whose user has answered. */
export interface Answering {
  readonly principal: Principal
  readonly visibility: Visibility
}

/** What became of an answer. */
export type Taken = 'taken' | 'nothing' | 'unknown' | 'malformed'

/** Passes several answers, by the ids of their questions. `isCancelled`: the user wants to answer one of them later. */
export async function takeAnswers(
  deps: AnswersDeps,
  caller: Answering,
  answers: unknown,
): Promise<RpcRefusal | { readonly isCancelled: boolean }> {
  if (!isFields(answers)) return invalidParams('params.inputResponses: must be an object')
  let isCancelled = false
  for (const [id, answer] of Object.entries(answers)) {
    const taken = await takeAnswer(deps, caller, id, answer)
    if (taken === 'malformed') return invalidParams(`params.inputResponses.${id}: not an answer to the question`)
    isCancelled ||= taken === 'nothing' && readAnswer(answer)?.kind === 'none'
  }
  return { isCancelled }
}

const VIA = { protocol: 'mcp' }

/**
 * Passes the answer of a user to the run that waits for it. `unknown`: the id names nothing that the caller may see. A
 * decision that somebody else took meanwhile stands.
 *
 * @throws PerdureError `scope-denied` if the caller may not decide
 */
export async function takeAnswer(deps: AnswersDeps, caller: Answering, id: string, result: unknown): Promise<Taken> {
  const decision = readAnswer(result)
  const pause = parsePauseId(id)
  if (pause !== undefined) return takeInput(deps, caller, pause, decision)
  const approval = await deps.approvals.find(id, EVERY_ROW)
  const run = approval === undefined ? undefined : await deps.runs.find(approval.runId, caller.visibility)
  if (approval === undefined || run === undefined) return 'unknown'
  if (decision === undefined) return 'malformed'
  if (decision.kind === 'none' || !isOpenApproval(approval.status)) return 'nothing'
  const verdict = verdictOf(decision)
  if (verdict === undefined) return 'malformed'
  // Its user has not seen the whole request.
  if (verdict.approved && isTooLong(approval.payload ?? '')) return 'nothing'
  const isTaken = await answerRun(deps, { ...caller, via: VIA }, approval.runId, {
    decisions: [{ approval, ...verdict }],
  })
  return isTaken ? 'taken' : 'nothing'
}

/** Only `approved: true` approves. */
function verdictOf(decision: Exclude<Decision, { kind: 'none' }>) {
  if (decision.kind === 'denied') return { approved: false }
  const { approved, reason } = decision.content
  if (typeof approved !== 'boolean') return undefined
  return { approved, ...(typeof reason === 'string' && reason !== '' ? { reason } : {}) }
}

async function takeInput(
  deps: AnswersDeps,
  { principal, visibility }: Answering,
  { runId, continuation }: { readonly runId: string; readonly continuation: number },
  decision: Decision | undefined,
): Promise<Taken> {
  const run = await deps.runs.find(runId, visibility)
  if (run === undefined) return 'unknown'
  if (decision === undefined) return 'malformed'
  if (decision.kind !== 'accepted') return 'nothing'
  const { text } = decision.content
  if (typeof text !== 'string') return 'malformed'
  if (!awaitsResume(run) || (await readTranscript(deps, run)).continuation !== continuation) return 'nothing'
  const payload = { text, messages: [{ role: 'user', content: [{ type: 'text', text }] }] }
  const resumed = deps.resumeRun({ runId, payload, principal, visibility, via: VIA, answer: 'accepted' })
  return resumed.then(() => 'taken' as const, passLateAnswer)
}

function passLateAnswer(error: unknown): Taken {
  if (isLate(error)) return 'nothing'
  throw error
}
