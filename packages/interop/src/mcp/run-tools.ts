import type { AbortRun, Principal } from '@perdure/core'
import { type ApprovalRecord, type ApprovalStore, fromJsonText, isRefusal, type RunStore } from '@perdure/ports'
import { targetOf } from '../chat/limited-streams.ts'
import { approvalsFor, findRun } from '../chat/rights.ts'
import type { RunLogDeps } from '../chat/run-log.ts'
import { structuredResult } from './call-result.ts'
import type { QuestionDigest } from './elicitation.ts'
import type { Client } from './era.ts'
import { invalidParams, type RpcRequest } from './json-rpc.ts'
import type { Answer, Followed, McpCall } from './mcp-call.ts'
import { MAX_WAIT_MS } from './server-tools.ts'

export interface RunToolsDeps extends Pick<RunLogDeps, 'basePath' | 'maxAnswerBytes' | 'yieldTurn'> {
  readonly runs: Pick<RunStore, 'find'>
  readonly approvals: ApprovalStore
  readonly abortRun: AbortRun
  readonly digest: QuestionDigest
}

type RunTool = (
  call: McpCall,
  args: Readonly<Record<string, unknown>>,
  context: { readonly request: RpcRequest; readonly client: Client },
) => Promise<Answer>

const MAX_LISTED = 100
/** A page of long payloads is read in one piece. */
const PAGE = 10

/** The tools by which a client follows runs that it has started. */
export function createRunTools(
  { runs, approvals, abortRun, digest, basePath, maxAnswerBytes, yieldTurn }: RunToolsDeps,
  follow: (call: McpCall, followed: Followed) => Promise<Answer>,
): Readonly<Record<string, RunTool>> {
  const find = async (call: McpCall, runId: unknown) =>
    typeof runId === 'string' ? findRun({ runs }, call, runId) : undefined

  /** Each payload is printed three times: in the text for the model, in its escaped form, and as structured content. */
  const listPending = async (principal: Principal): Promise<readonly object[]> => {
    const { rows, includes } = approvalsFor(principal)
    const listed: object[] = []
    let room = maxAnswerBytes / 8
    let cursor: string | undefined
    do {
      const query = { limit: PAGE, order: 'asc', cursor } as const
      const { items, nextCursor } = await approvals.list({ status: 'pending' }, query, rows)
      for (const approval of items.filter(includes).slice(0, MAX_LISTED - listed.length)) {
        const { id, payload = '' } = approval
        const fits = payload.length <= room
        if (fits) room -= payload.length
        listed.push(
          fits ? outlineOf(approval) : { ...outlineOf({ ...approval, payload: undefined }), ...restOf(id, payload) },
        )
      }
      cursor = nextCursor ?? undefined
      await yieldTurn()
    } while (cursor !== undefined && listed.length < MAX_LISTED)
    return listed
  }

  const restOf = (id: string, payload: string): object => ({
    payloadLeftOut: `${payload.length} characters with the SHA-256 ${digest.sha256(payload)}: read them at ${basePath}/approvals/${id}`,
  })

  return {
    async perdure_run_wait(call, { runId, waitMs = MAX_WAIT_MS }, { request, client }) {
      if (typeof waitMs !== 'number' || !(waitMs >= 0 && waitMs <= MAX_WAIT_MS)) {
        return invalidParams(`params.arguments.waitMs: must be a number from 0 to ${MAX_WAIT_MS}`)
      }
      const run = await find(call, runId)
      if (run === undefined) return unknownRun
      return follow(call, { runId: run.id, target: targetOf(run), requestId: request.id, client, start: 'now', waitMs })
    },

    async perdure_run_cancel(call, { runId }) {
      const run = await find(call, runId)
      if (run === undefined) return unknownRun
      const { principal, visibility } = call
      const status = await abortRun({
        ...{ runId: run.id, reason: 'cancelled by the client', principal, visibility, via: { protocol: 'mcp' } },
      }).then(() => 'aborted', passEnded(run.status))
      return { result: structuredResult({ runId: run.id, status }) }
    },

    async perdure_approvals({ principal }) {
      return { result: structuredResult({ approvals: await listPending(principal) }) }
    },
  }
}

const outlineOf = ({ id, runId, name, title, payload, assignee, createdAt }: ApprovalRecord): object => ({
  ...{ approvalId: id, runId, name, title, assignee, createdAt: new Date(createdAt).toISOString() },
  payload: payload === undefined ? undefined : fromJsonText(payload),
})

const unknownRun = invalidParams('params.arguments.runId: no such run, or the token may not see it')

/** A run that has ended already keeps its status. */
const passEnded = (status: string) => (error: unknown) => {
  if (isRefusal(error) && error.code === 'run-not-active') return status
  throw error
}
