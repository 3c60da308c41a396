import {
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  fromJsonText,
  type ListedRun,
  perdureError,
  type RunRecord,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import { isDecision, isTerminal } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { authorize } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { eachItem } from '../collections/each-item.ts'
import { isFields } from '../fold/log-event.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { caseDecisions, caseInput, type KeptCase, redactContent } from '../recording/kept-case.ts'
import { textInResult } from '../recording/observed-runs.ts'
import { isBefore, isTurn } from '../runs/turn.ts'
import { partsOfInput } from './answer-parts.ts'

export interface KeepCaseDeps extends CommitOnceDeps {
  readonly runs: Pick<RunStore, 'find' | 'list'>
  readonly approvals: Pick<ApprovalStore, 'list'>
}

export interface KeepCaseRequest {
  readonly runId: string
  /** Keeps credentials and e-mail addresses; requires `traces:read:raw`. */
  readonly raw: boolean
  readonly principal: Principal
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

export interface KeptRun {
  readonly case: KeptCase
  /** In which points the case differs from the run, in full sentences. */
  readonly notes: readonly string[]
}

/**
 * Makes a case of `perdure eval` from a run. The runs of others need `traces:read:sanitized`, and `raw` needs `traces:read:raw`. Every
 * call writes an audit entry, which is committed before anything is returned.
 *
 * @throws PerdureError `run-not-found`, `scope-denied`, `audit-unavailable`
 */
export type KeepCase = (request: KeepCaseRequest) => Promise<KeptRun & { readonly replayed?: true }>

export function createKeepCase(deps: KeepCaseDeps): KeepCase {
  const { runs, clock } = deps

  return async ({ runId, raw, principal, visibility, key }) => {
    const run = await runs.find(runId, visibility)
    if (run === undefined) throw perdureError('run-not-found')
    const turns = await turnsBefore(runs, run, visibility)
    const isOwn = [run, ...turns.runs].every(({ owner }) => owner === principal.subject)
    if (raw) authorize(principal, 'traces:read:raw', {})
    else if (!isOwn) authorize(principal, 'traces:read:sanitized', {})
    const kept = await keptRun(deps, run, turns)
    const shown = raw ? kept : redactedRun(kept)
    const entry = { at: clock.now(), action: 'runs.case', target: runId, detail: { raw } }
    const decision = { writes: [auditWrite(principal, entry)], reply: AUDITED, remember: true, contentOf: null }
    const { kind } = await requireAudit(() => commitOnce(deps, key, async () => decision))
    return { ...shown, ...(kind === 'replayed' && { replayed: true }) }
  }
}

/** Stored under a key: the audit entry was written. The case itself is not stored. */
const AUDITED: Reply = { status: 200 }

type EarlierTurn = ListedRun<'input'>

interface EarlierTurns {
  /** Oldest first. */
  readonly runs: readonly EarlierTurn[]
  readonly isCut: boolean
}

const MAX_TURNS = 50
/** The text of all inputs that are read for one case, in characters. */
const MAX_LENGTH = 512 * 1_024

/** The turns of the session before this one that the caller can see and no run has withdrawn. */
async function turnsBefore(runs: KeepCaseDeps['runs'], run: RunRecord, visibility: Visibility): Promise<EarlierTurns> {
  const { sessionId, createdAt, targetId } = run
  if (sessionId === undefined || !isTurn(run)) return { runs: [], isCut: false }
  const until = (createdAt + 1) as typeof createdAt
  const filter = { kind: 'agent', targetId, sessionId, isTurn: true, until } as const
  const page = { limit: MAX_TURNS, order: 'desc', content: ['input'] } as const
  const found: EarlierTurn[] = []
  let length = run.input.length
  for await (const turn of eachItem((cursor) => runs.list(filter, { ...page, cursor }, visibility))) {
    if (turn.id === run.id || !isBefore(turn, run)) continue
    length += turn.input.length
    if (found.length + 1 === MAX_TURNS || length > MAX_LENGTH) return { runs: found.reverse(), isCut: true }
    found.push(turn)
  }
  return { runs: found.reverse(), isCut: false }
}

async function keptRun({ approvals }: KeepCaseDeps, run: RunRecord, earlier: EarlierTurns): Promise<KeptRun> {
  const asked = []
  for (const { id } of [...earlier.runs, run]) asked.push(...(await approvalsOf(approvals, id)))
  const decided = asked.flatMap(({ name, status }) =>
    isDecision(status) ? [{ name, isApproved: status === 'approved' }] : [],
  )
  const expected = run.result === undefined ? undefined : textInResult(fromJsonText(run.result))
  const { notes, ...question } = questionOf(run, earlier)
  return {
    case: {
      id: run.id,
      ...question,
      ...(decided.length === 0 ? {} : { decisions: caseDecisions(decided) }),
      ...(expected === undefined ? {} : { expected }),
    },
    notes: [...notes, ...notesOn(run, { asked, expected })],
  }
}

type AskedApproval = Pick<ApprovalRecord, 'name' | 'status'>

const approvalsOf = async (approvals: KeepCaseDeps['approvals'], runId: string): Promise<readonly AskedApproval[]> => {
  const found: AskedApproval[] = []
  const read = (cursor?: string) => approvals.list({ runId }, { limit: 200, order: 'asc', cursor }, EVERY_ROW)
  for await (const { name, status } of eachItem(read)) found.push({ name, status })
  return found
}

/** The turns of a chat in a session, or else the input of the run. */
function questionOf(
  run: RunRecord,
  { runs, isCut }: EarlierTurns,
): Pick<KeptCase, 'turns' | 'input'> & Pick<KeptRun, 'notes'> {
  const inputs = [...runs, run].map(({ input }): unknown => fromJsonText(input))
  const said = inputs.map(partsOfInput)
  const texts = said.map((parts) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''))
  if (!isTurn(run) || !inputs.every(isChat) || texts.includes('')) {
    const notes = runs.length === 0 ? [] : ['The case has only this run: not every turn of its session has a text.']
    return { input: caseInput(inputs.at(-1)), notes }
  }
  const others = new Set(inputs.flatMap((input) => (isFields(input) ? Object.keys(input) : [])))
  const left = [...others].filter((name) => name !== 'text' && name !== 'messages')
  const notes = [
    ...(isCut ? [`Only the newest ${runs.length + 1} turns of the session are in the case.`] : []),
    ...(said.flat().some(({ type }) => type !== 'text') ? ['Files and data of the messages are left out.'] : []),
    ...(left.length > 0 ? [`The turns have no ${left.join(', ')}, which the inputs of the runs have.`] : []),
  ]
  return { turns: texts, notes }
}

const isChat = (input: unknown): boolean =>
  typeof input === 'string' || (isFields(input) && (typeof input.text === 'string' || Array.isArray(input.messages)))

interface Found {
  readonly asked: readonly AskedApproval[]
  readonly expected: string | undefined
}

const notesOn = ({ status }: RunRecord, { asked, expected }: Found): readonly string[] => [
  ...(asked.some((one) => one.status === 'expired') ? ['An approval expired; the case leaves it open.'] : []),
  ...(expected === undefined ? [`${reasonOf(status)}, so the case has no expected text: add the right answer.`] : []),
]

function reasonOf(status: RunRecord['status']): string {
  if (status === 'completed') return 'The result has no text'
  if (!isTerminal(status)) return 'The run has not ended'
  return status === 'failed' ? 'The run failed' : 'The run was aborted'
}

function redactedRun({ case: kept, notes }: KeptRun): KeptRun {
  // Only texts change, so the form stays.
  const redacted = { ...(redactContent(kept) as KeptCase), id: kept.id }
  const isChanged = JSON.stringify(redacted) !== JSON.stringify(kept)
  return {
    case: redacted,
    notes: isChanged ? ['Credentials and e-mail addresses are redacted.', ...notes] : notes,
  }
}
