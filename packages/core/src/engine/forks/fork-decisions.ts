import {
  type ApprovalStore,
  createPauses,
  EVERY_ROW,
  fromJsonText,
  perdureError,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type StepStore,
  type YieldTurn,
} from '@perdure/ports'
import { isDecision } from '@perdure/protocol'
import { decidableBy, mayDecide } from '../../approvals/may-decide.ts'
import { mayRepair } from '../../auth/authorize.ts'
import type { Principal } from '../../auth/principal.ts'
import { eachItem } from '../../collections/each-item.ts'
import type { ApprovalDecision } from '../../durable/approvals/approval-options.ts'
import { eachRun } from '../../runs/each-run.ts'
import { callPages } from '../../runs/waiting-for.ts'
import { type ForkedCalls, type ForkPoint, type ForkResults, selectCalls } from './fork-calls.ts'

export interface ForkDecisionsDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly yieldTurn: YieldTurn
}

export interface Repair {
  readonly from: ForkPoint
  readonly input?: unknown
  readonly results?: ForkResults | undefined
  readonly principal: Principal
}

/** A call of the source that holds decisions of people: an approval, or a child with approvals. */
interface DecidedCall {
  readonly call: StepRecord
  /** `undefined` for an approval that cannot be found. */
  readonly approvalIds: readonly (string | undefined)[]
}

/**
 * Selects the calls that a fork copies for this caller. A decision belongs to the run that asked for it, because that run has
 * acted on it: the fork asks again, unless the caller may decide.
 *
 * @throws PerdureError `validation-failed` as `selectCalls`; `scope-denied` when the caller may not repair the run, or when
 *   a decision can be neither kept nor asked again
 */
export async function selectCallsFor(
  deps: ForkDecisionsDeps,
  source: RunRecord,
  request: Repair,
): Promise<ForkedCalls> {
  const { from, principal } = request
  const recorded = from === 'start' ? [] : await callsOf(deps, source.id)
  const calls = selectCalls(source, recorded, from)
  if (replacesRecords(request)) requireRepair(source, request, 'replaces the input or the results of the run')
  const again = new Set<number>()
  for await (const decided of decidedCalls(deps, calls, { readsChildren: !mayDoAll(source, principal) })) {
    const { call } = decided
    requireRepair(source, request, `begins behind the decision of call ${call.seq} (${call.kind} ${call.name})`)
    // The code does not make calls from before a suspension again.
    const isPast = call.seq <= (calls.suspension?.throughSeq ?? 0)
    const isOwn = call.kind === 'approval' && !isPast
    if (isOwn && call.askedHash === undefined) again.add(call.seq)
    else if (!(await mayDecideAll(deps, principal, decided))) {
      if (isOwn) again.add(call.seq)
      else throw cannotAskAgain(decided)
    }
  }
  return again.size === 0 ? calls : selectCalls(source, recorded, from, again)
}

/** The calls without their results, which can be long; the errors decide which calls the fork copies. */
export async function callsOf(
  reads: Pick<ForkDecisionsDeps, 'steps' | 'yieldTurn'>,
  runId: string,
): Promise<readonly StepRecord[]> {
  const calls: StepRecord[] = []
  const pause = createPauses(reads.yieldTurn)
  for await (const page of callPages(reads, runId)) {
    for (const call of page) {
      await pause()
      calls.push(call.status === 'failed' ? ((await reads.steps.find(runId, call.seq)) ?? call) : call)
    }
  }
  return calls
}

/** A fork from the start copies no call, so that its input is like that of any other new run. */
const replacesRecords = ({ from, input, results = {} }: Repair): boolean =>
  Object.keys(results).length > 0 || (input !== undefined && from !== 'start')

function requireRepair(source: RunRecord, { principal }: Repair, what: string): void {
  if (mayRepair(principal, source)) return
  throw perdureError('scope-denied', {
    message: `the fork ${what}`,
    hint: `use a token with the scope runs:repair:${source.id}, or repeat the run from its start`,
  })
}

const cannotAskAgain = ({ call, approvalIds }: DecidedCall) =>
  perdureError('scope-denied', {
    message: `the fork would act on the decision of call ${call.seq} (${call.kind} ${call.name}) again, and cannot ask for another`,
    hint: `use a token with the scope approvals:resolve${approvalIds[0] === undefined ? '' : `:${approvalIds[0]}`}, or fork from { "seq": ${call.seq} }`,
  })

const mayDoAll = (source: RunRecord, principal: Principal): boolean =>
  decidableBy(principal) === EVERY_ROW && mayRepair(principal, source)

async function* decidedCalls(
  deps: ForkDecisionsDeps,
  { settled }: ForkedCalls,
  { readsChildren }: { readonly readsChildren: boolean },
): AsyncGenerator<DecidedCall> {
  for (const call of settled) {
    if (call.kind === 'approval' && (await isDecided(deps, call))) yield { call, approvalIds: [call.approvalId] }
    if (call.kind !== 'child' || !readsChildren) continue
    const approvalIds = await decisionsIn(deps, call.childRunId)
    if (approvalIds.length > 0) yield { call, approvalIds }
  }
}

/** Whether a person has decided: an approval that expired names nobody. */
async function isDecided({ steps }: ForkDecisionsDeps, { runId, seq }: StepRecord): Promise<boolean> {
  const result = (await steps.find(runId, seq))?.result
  return result !== undefined && (fromJsonText(result) as ApprovalDecision).by !== undefined
}

/**
 * The approvals that people have decided in a child and its descendants. Those of `ctx.suspend` do not count: whoever may
 * fork a run may decide them.
 */
async function decisionsIn(
  deps: ForkDecisionsDeps,
  runId: string | undefined,
): Promise<readonly (string | undefined)[]> {
  if (runId === undefined || (await deps.runs.find(runId, EVERY_ROW)) === undefined) return [undefined]
  const ids: string[] = []
  const ofRun = eachItem((cursor) => deps.approvals.list({ runId }, { limit: 200, order: 'asc', cursor }, EVERY_ROW))
  for await (const { id, seq, status } of ofRun) {
    if (seq !== undefined && isDecision(status)) ids.push(id)
  }
  const below: (string | undefined)[] = []
  for await (const child of eachRun(deps.runs, { parentRunId: runId }, { content: [] })) {
    below.push(...(await decisionsIn(deps, child.id)))
  }
  return [...ids, ...below]
}

async function mayDecideAll(
  { approvals }: ForkDecisionsDeps,
  principal: Principal,
  { approvalIds }: DecidedCall,
): Promise<boolean> {
  for (const id of approvalIds) if (!(await mayDecide(approvals, principal, id))) return false
  return true
}
