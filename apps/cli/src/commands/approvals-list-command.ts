import type { ApprovalStatus } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { id, status } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'
import { showSubscription } from './show-subscription.ts'

export interface ApprovalsListFlags extends PageFlags {
  readonly status: ApprovalStatus
  readonly run?: string
  readonly watch?: boolean
}

export async function approvalsListCommand(call: Call, flags: ApprovalsListFlags): Promise<void> {
  const query = { ...pageQuery(flags), status: flags.status, runId: flags.run }
  const page = await readPage(call.client().approvals.list(query), flags)
  call.out.list(page, {
    APPROVAL: id('id'),
    OF: ({ agentId, workflowId }) => agentId ?? workflowId,
    NAME: 'name',
    TITLE: 'title',
    ASSIGNEE: 'assignee',
    STATUS: status('status'),
    ASKED: ({ createdAt }) => relativeText(createdAt),
    EXPIRES: ({ expiresAt }) => relativeText(expiresAt),
  })
  if (flags.watch) await showSubscription(call, { subject: 'approvals/events' })
}
