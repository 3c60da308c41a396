import { AppError, EVERY_ROW, type RunRecord, type Visibility } from '@perdure/ports'
import { decideApprovals, isDecisionOn } from '../chat/decide-approvals.ts'
import { eventsOf } from '../chat/run-log.ts'
import type { LogEvent } from '../fold/log-event.ts'
import type { AnsweringRun, OpenAiCall, OpenAiDeps } from './openai-call.ts'
import { createSegments } from './segments.ts'
import type { SentAnswers } from './sent-answers.ts'

/**
 * Passes what the client answers to the run that has asked, and returns the segment of the run that follows.
 *
 * @param sessionId the conversation in which the client answers, if it names one
 * @throws AppError `approval-not-found`; `scope-denied`
 */
export async function passAnswers(
  deps: OpenAiDeps,
  { principal, visibility }: OpenAiCall,
  { decisions }: SentAnswers,
  { sessionId, ref }: { readonly sessionId: string | undefined; readonly ref: string },
): Promise<AnsweringRun> {
  const root = await rootOfApproval(deps, decisions[0]?.approvalId ?? '', visibility)
  const isElsewhere = sessionId !== undefined && root?.sessionId !== sessionId
  if (root === undefined || isElsewhere) throw new AppError('approval-not-found')
  const via = { protocol: 'openai', ref }
  const decided = await decideApprovals(deps, { principal, visibility, sessionId: root.sessionId, via }, decisions)
  if (decided === undefined) throw new AppError('approval-not-found')
  const isAnswer = isDecisionOn(decided.approvalIds)
  return { run: root, segment: await segmentOf(deps, root, isAnswer) }
}

const MAX_DEPTH = 32

/** The run that the client has started, of an approval that it or one of its children asks for. */
async function rootOfApproval(
  { approvals, runs }: OpenAiDeps,
  approvalId: string,
  visibility: Visibility,
): Promise<RunRecord | undefined> {
  let next = (await approvals.find(approvalId, EVERY_ROW))?.runId
  for (let depth = 0; next !== undefined && depth < MAX_DEPTH; depth++) {
    const run: RunRecord | undefined = await runs.find(next, visibility)
    if (run?.parentRunId === undefined) return run
    next = run.parentRunId
  }
  return undefined
}

/** The segment that holds the last event of this kind. */
export async function segmentOf(
  deps: OpenAiDeps,
  run: RunRecord,
  isMeant: (event: LogEvent) => boolean,
): Promise<number> {
  const segments = createSegments(run.id)
  let found = 1
  for await (const event of eventsOf(deps, run)) {
    segments.next(event)
    if (isMeant(event)) found = segments.current()
  }
  return found
}
