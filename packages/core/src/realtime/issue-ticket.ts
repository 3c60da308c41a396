import { perdureError } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { Tickets } from './tickets.ts'

export interface IssueTicketRequest {
  readonly principal: Principal
  /** Origin of the requesting page, if any; the ticket is then valid only for sockets from that origin. */
  readonly origin: string | undefined
  readonly key?: KeyedRequest | undefined
}

/** Issues a WebSocket ticket. @throws PerdureError `ticket-limit-exceeded`, `server-draining` */
export type IssueTicket = (request: IssueTicketRequest) => Promise<Reply>

export interface IssueTicketDeps extends CommitOnceDeps {
  readonly tickets: Tickets
  readonly phase: PhaseHolder
}

export function createIssueTicket(deps: IssueTicketDeps): IssueTicket {
  return async ({ principal, origin, key }) => {
    if (deps.phase.current() !== 'ready') throw perdureError('server-draining', { retryAfter: 5_000 })
    const once = await commitOnce(deps, key, async () => {
      const { ticket, expiresAt, ttlMs } = await deps.tickets.issue(principal, origin)
      const body = { ticket, expiresAt: new Date(expiresAt).toISOString(), ttlMs }
      return { writes: [], reply: { status: 201, body }, remember: true }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}
