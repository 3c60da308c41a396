import type { Call } from '../call.ts'
import { oneLine, pairsText } from '../output/columns.ts'
import { showSubscription } from './show-subscription.ts'

export interface SessionFlags {
  readonly session: string
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
