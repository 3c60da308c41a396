import { chatOfOther, findChatSession, type Principal } from '@perdure/core'
import {
  type Digest,
  type ListedRun,
  perdureError,
  type RunStore,
  type SessionStore,
  type Visibility,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, newChatIdProblem, pathIdProblem } from '@perdure/protocol'

export interface ChatSessionDeps {
  readonly sessions: Pick<SessionStore, 'find'>
  readonly runs: Pick<RunStore, 'list' | 'find'>
  readonly digest: Pick<Digest, 'sha256'>
}

export { EXTERNAL_CHAT_ID as EXTERNAL_ID, MESSAGE_ID, MESSAGE_REF } from '@perdure/core'

/** The metadata by which a run remembers the protocol of its client. */
export const PROTOCOL = 'interop.protocol'

/** Set on a turn that has earlier messages besides the one that `MESSAGE_REF` or `MESSAGE_ID` names. */
export const EARLIER_MESSAGES = 'interop.earlier'

export const MAX_METADATA = 512

/** The id of a message or request as metadata holds it: itself, or its hash if it is too long. */
export const messageRef = ({ sha256 }: Pick<Digest, 'sha256'>, id: string): string =>
  id.length > MAX_METADATA ? `sha256:${sha256(id)}` : id

/** The session of a chat, as `findChatSession` finds it. @throws PerdureError `validation-failed` for `.` and `..` */
export async function chatSessionId(
  deps: ChatSessionDeps,
  { subject }: Pick<Principal, 'subject'>,
  chatId: string,
  member: string,
): Promise<string> {
  refuseUnreachable(chatId, member)
  return (await findChatSession(deps, subject, chatId)).id
}

/** @throws PerdureError `validation-failed` for an id that no path can name */
export function refuseUnreachable(id: string, member: string): void {
  const problem = pathIdProblem(id)
  if (problem !== undefined) throw perdureError('validation-failed', { message: `${member}: ${problem}` })
}

export interface ChatOfAgent {
  readonly agentId: string
  readonly chatId: string
  /** The member of the request that has the id. */
  readonly member: string
}

/** The session of a chat with this agent. @throws PerdureError `validation-failed` for a chat of another agent, and for the id of a run */
export async function agentChatSessionId(
  deps: ChatSessionDeps,
  { subject }: Pick<Principal, 'subject'>,
  { agentId, chatId, member }: ChatOfAgent,
): Promise<string> {
  const problem = newChatIdProblem(chatId)
  if (problem !== undefined) {
    throw perdureError('validation-failed', {
      message: `${member}: ${problem}`,
      hint: 'choose another id for the chat; to follow a run by its id, use GET /runs/:runId/events',
    })
  }
  const { id, session } = await findChatSession(deps, subject, chatId)
  if (session?.agentId !== undefined && session.agentId !== agentId) {
    throw chatOfOther({ agentId: session.agentId, member })
  }
  return id
}

export interface ChatRuns {
  readonly agentId: string
  readonly sessionId: string
  readonly visibility: Visibility
}

/** A run without its input and its result, which can be long. */
export type BriefRun = ListedRun<never>

/** The newest turns of a chat, newest first: neither the children of runs, nor turns that others have replaced. */
export async function newestRuns(
  { runs }: ChatSessionDeps,
  { agentId, sessionId, visibility }: ChatRuns,
  limit: number,
): Promise<readonly BriefRun[]> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true } as const
  const found: BriefRun[] = []
  let cursor: string | undefined
  do {
    const pageLimit = Math.min(limit - found.length, MAX_PAGE)
    const page = await runs.list(filter, { limit: pageLimit, order: 'desc', cursor, content: [] }, visibility)
    found.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}

const MAX_PAGE = 200

/** The newest turn of a chat. */
export async function newestRun(
  { runs }: ChatSessionDeps,
  { agentId, sessionId, visibility }: ChatRuns,
): Promise<ListedRun | undefined> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true } as const
  return (await runs.list(filter, { limit: 1, order: 'desc' }, visibility)).items[0]
}

/** The oldest turn of a chat that has not ended: the others wait for it. */
export async function workingRun(
  { runs }: Pick<ChatSessionDeps, 'runs'>,
  { agentId, sessionId, visibility }: ChatRuns,
): Promise<ListedRun | undefined> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true, statuses: ACTIVE_RUN_STATUSES } as const
  return (await runs.list(filter, { limit: 1, order: 'asc' }, visibility)).items[0]
}

/** The newest turn of the chat that remembers this value. */
export async function turnWith(
  { runs }: Pick<ChatSessionDeps, 'runs'>,
  { agentId, sessionId, visibility }: ChatRuns,
  metadata: Readonly<Record<string, string>>,
): Promise<BriefRun | undefined> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true, metadata } as const
  return (await runs.list(filter, { limit: 1, order: 'desc', content: [] }, visibility)).items[0]
}
