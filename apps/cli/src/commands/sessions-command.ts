import type { Call } from '../call.ts'
import { oneLine, pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'
import { showSubscription } from './show-subscription.ts'

export interface SessionFlags {
  readonly session: string
}

export interface SessionsListFlags extends PageFlags {
  readonly agent?: string
  readonly user?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export async function sessionsListCommand(call: Call, flags: SessionsListFlags): Promise<void> {
  const now = Date.now()
  const { agent, user, metadata } = flags
  const query = { ...pageQuery(flags), agentId: agent, userId: user, metadata }
  const page = await readPage(call.client().sessions.list(query), flags)
  call.out.list(page, [
    { head: 'SESSION', cell: ({ id }) => id, isId: true },
    { head: 'TITLE', cell: ({ title }) => title },
    { head: 'AGENT', cell: ({ agentId }) => agentId },
    { head: 'OWNER', cell: ({ owner }) => owner },
    { head: 'UPDATED', cell: ({ updatedAt }) => relativeText(updatedAt, now) },
  ])
}

export async function sessionsShowCommand(call: Call, { session: id }: SessionFlags): Promise<void> {
  const { sessions } = call.client()
  const session = await sessions.get(id)
  const messages = await sessions.messages(id, { limit: 200, order: 'asc' }).all()
  call.out.document({ session, messages }, (paint) => {
    const lines = messages.map(({ role, content }) => {
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      return `${paint('bold', role.padEnd(9))}  ${oneLine(text)}\n`
    })
    return `${pairsText(Object.entries(session), paint)}\n${lines.join('')}`
  })
}

export const sessionsTailCommand = (call: Call, { session, since }: SessionFlags & { since?: string }): Promise<void> =>
  showSubscription(call, { subject: `session:${session}/events`, lastEventId: since, transport: 'sse' })
