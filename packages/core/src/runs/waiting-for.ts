import {
  type ApprovalStore,
  EVERY_ROW,
  type RunRecord,
  type StepRecord,
  type StepStatus,
  type StepStore,
  type YieldTurn,
} from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import { codeWait, parkReasonOf } from './parked.ts'
import type { WaitingFor } from './run-outcome.ts'
import { awaitsResume, readSuspension } from './stored-suspension.ts'
import { clientToolCallId } from './tool-call-wait.ts'

export interface CallReads {
  readonly steps: Pick<StepStore, 'listBriefly'>
  readonly yieldTurn: YieldTurn
}

export interface WaitReads extends CallReads {
  readonly approvals: Pick<ApprovalStore, 'find'>
}

/** The members of a run that tell what it waits for. */
export type WaitingRun = Pick<RunRecord, 'id' | 'status' | 'parked' | 'suspension' | 'resumption'>

/** What a suspended run waits for. */
export async function waitsOf(reads: WaitReads, run: WaitingRun): Promise<readonly WaitingFor[]> {
  const waits: WaitingFor[] = []
  for await (const page of waitPages(reads, run)) waits.push(...page)
  return waits
}

/** The waits of a suspended run, page by page. */
export async function* waitPages(reads: WaitReads, run: WaitingRun): AsyncGenerator<readonly WaitingFor[]> {
  const reason = parkReasonOf(run)
  if (reason !== undefined) return yield [codeWait(reason)]
  if (!awaitsResume(run)) return yield* callWaitPages(reads, run.id)
  const { approvalIds = [] } = readSuspension(run) ?? {}
  if (approvalIds.length === 0) return yield [{ kind: 'resume', name: 'resume' }]
  for (const id of approvalIds) {
    const asked = await reads.approvals.find(id, EVERY_ROW)
    if (asked === undefined || !isOpenApproval(asked.status)) continue
    yield [{ kind: 'approval', name: asked.name, approvalId: asked.id, dueAt: isoOf(asked.expiresAt) }]
  }
}

/** The waiting calls of a run, page by page. */
export async function* callWaitPages(reads: CallReads, runId: string): AsyncGenerator<readonly WaitingFor[]> {
  for await (const page of callPages(reads, runId, 'waiting')) yield page.map(toWaitingFor)
}

const PAGE = 500

/** The calls of a run, page by page, without their results. Other requests get their turn between the pages. */
export async function* callPages(
  { steps, yieldTurn }: CallReads,
  runId: string,
  status?: StepStatus,
): AsyncGenerator<readonly StepRecord[]> {
  let after: number | undefined = 0
  while (after !== undefined) {
    const page: readonly StepRecord[] = await steps.listBriefly(runId, { after, limit: PAGE, status })
    if (page.length > 0) yield page
    // A page is long enough only when the run has more calls than most.
    if (page.length === PAGE) await yieldTurn()
    after = page.at(-1)?.seq
  }
}

export const toWaitingFor = (step: StepRecord): WaitingFor => ({
  kind: step.kind,
  name: step.name,
  approvalId: step.approvalId,
  toolCallId: clientToolCallId(step),
  runId: step.childRunId,
  dueAt: isoOf(step.dueAt),
})

export const isoOf = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
