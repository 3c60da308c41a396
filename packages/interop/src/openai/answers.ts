import type { LogEvent } from '@perdure/core'
import { EVERY_ROW, perdureError, type RunRecord, type Visibility } from '@perdure/ports'
import { isAnswerTo, passAnswers } from '../chat/pass-answers.ts'
import { mayStart } from '../chat/rights.ts'
import { beginLog, readLog } from '../chat/run-log.ts'
import type { ProtocolCall } from '../handlers.ts'
import type { AnsweringRun, OpenaiDeps } from './openai-call.ts'
import { createSegments } from './segments.ts'
import type { SentAnswers } from './sent-answers.ts'

/**
 * Passes what the client answers to the run that has asked, and returns the segment of the run that follows.
 *
 * @param sessionId the conversation in which the client answers, if it names one
 * @throws PerdureError `approval-not-found`, `tool-call-not-found`; `scope-denied`
 */
export async function continueRun(
  deps: OpenaiDeps,
  { principal, visibility }: ProtocolCall,
  { decisions, results }: SentAnswers,
  { sessionId, ref }: { readonly sessionId: string | undefined; readonly ref: string },
): Promise<AnsweringRun> {
  const [decision] = decisions
  const [result] = results
  const missing = () => perdureError(decision === undefined ? 'tool-call-not-found' : 'approval-not-found')
  const mayContinue = (run: RunRecord) =>
    mayStart(principal, { kind: run.kind, id: run.targetId }) && (sessionId ?? run.sessionId) === run.sessionId
  const asking = decision === undefined ? result?.runId : await runOfApproval(deps, decision.approvalId)
  const root = await rootOf(deps, asking, visibility)
  if (root === undefined || !mayContinue(root)) throw missing()
  const answered = await passAnswers(
    deps,
    { principal, visibility, sessionId: root.sessionId, via: { protocol: 'openai', ref } },
    { decisions, results: results.filter(({ runId }) => runId === root.id), runId: root.id },
  )
  if (answered === undefined) throw missing()
  const segment = await segmentOf(deps, root, isAnswerTo(answered.ids))
  return { run: root, segment, isRepeated: !answered.isNew }
}

const runOfApproval = async ({ approvals }: Pick<OpenaiDeps, 'approvals'>, id: string): Promise<string | undefined> =>
  (await approvals.find(id, EVERY_ROW))?.runId

const MAX_DEPTH = 32

/** The run that the client has started, of a run that can be a child of it. */
async function rootOf(
  { runs }: Pick<OpenaiDeps, 'runs'>,
  runId: string | undefined,
  visibility: Visibility,
): Promise<RunRecord | undefined> {
  let next = runId
  for (let depth = 0; next !== undefined && depth < MAX_DEPTH; depth++) {
    const run: RunRecord | undefined = await runs.find(next, visibility)
    if (run?.parentRunId === undefined) return run
    next = run.parentRunId
  }
  return undefined
}

/** The segment that holds the last event of this kind. */
export async function segmentOf(
  deps: OpenaiDeps,
  run: RunRecord,
  isMeant: (event: LogEvent) => boolean,
): Promise<number> {
  const segments = createSegments(run.id)
  let found = 1
  await readLog(deps, run, await beginLog(deps, run), (event) => {
    segments.next(event)
    if (isMeant(event)) found = segments.current()
  })
  return found
}
