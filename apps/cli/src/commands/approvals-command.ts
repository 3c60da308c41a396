import type { ApprovalStatus } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import { readInput } from './read-input.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'
import { showSubscription } from './show-subscription.ts'

export interface ApprovalsListFlags extends PageFlags {
  readonly status: InferOutput<typeof ApprovalStatus>
  readonly run?: string
  readonly watch?: boolean
}

export interface DecisionFlags {
  readonly approval: string
  readonly reason?: string
  readonly payload?: string
}

export async function approvalsListCommand(call: Call, flags: ApprovalsListFlags): Promise<void> {
  const now = Date.now()
  const query = { ...pageQuery(flags), status: flags.status, runId: flags.run }
  const page = await readPage(call.client().approvals.list(query), flags)
  call.out.list(page, [
    { head: 'APPROVAL', cell: ({ id }) => id, isId: true },
    { head: 'OF', cell: ({ agentId, workflowId }) => agentId ?? workflowId },
    { head: 'NAME', cell: ({ name }) => name },
    { head: 'TITLE', cell: ({ title }) => title },
    { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
    { head: 'ASKED', cell: ({ createdAt }) => relativeText(createdAt, now) },
    { head: 'EXPIRES', cell: ({ expiresAt }) => relativeText(expiresAt, now) },
  ])
  if (flags.watch) await showSubscription(call, { subject: 'approvals/events' })
}

export async function approvalsShowCommand(call: Call, { approval: id }: DecisionFlags): Promise<void> {
  const approval = await call.client().approvals.get(id)
  call.out.document(approval, (paint) => pairsText(Object.entries(approval), paint))
}

export const approvalsApproveCommand = (call: Call, flags: DecisionFlags): Promise<void> => decide(call, flags, true)

export const approvalsDenyCommand = (call: Call, flags: DecisionFlags): Promise<void> => decide(call, flags, false)

async function decide(call: Call, { approval: id, reason, payload }: DecisionFlags, approved: boolean): Promise<void> {
  const read = await readInput(call.terminal, 'payload', payload)
  const approval = await call.client().approvals.resolve(id, {
    approved,
    ...(reason === undefined ? {} : { reason }),
    ...(read === undefined ? {} : { payload: read }),
  })
  const { status, id: decided, title, name } = approval
  call.out.document(approval, () => `${status} ${decided}  ${title ?? name}\n`)
}
