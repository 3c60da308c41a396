import { tellByAgUi, tellByAiSdk } from './matrix-chat-clients.ts'
import { tellByCompletions, tellByResponses } from './matrix-openai-clients.ts'
import { type Answered, connect } from './mcp-clients.ts'
import { agentOf, DECISIONS, shown, sorted, type TellingClient, untilTold } from './told.ts'

/** Text travels in the result only, tools not at all. */
const tellByMcp: TellingClient = (server, telling) => {
  const approvals = new Set<string>()
  const elicit = ({ message }: { readonly message: string }): Answered => {
    const name = ['refund', 'mail', 'last'].find((one) => message.includes(`Decide ${one}.`)) ?? message
    approvals.add(shown(name))
    const approved = DECISIONS.get(name)
    if (approved === undefined) return { action: 'cancel' }
    return approved ? { action: 'accept', content: { approved } } : { action: 'decline' }
  }
  return untilTold(async () => {
    // With a handshake, a call whose user cancels stays open until its timeout.
    const client = await connect(telling.end === 'suspended' ? '2.4.0 auto' : '2.4.0', {
      url: `${server.url()}/mcp`,
      token: server.token,
      elicit,
    })
    // The kill can lose the answer of the user, after which the client waits in vain: it calls the tool again.
    const options = { onprogress: () => undefined, timeout: 12_000, resetTimeoutOnProgress: true }
    const result = await client.call(agentOf(telling), { text: 'Tell.' }, options)
    const text = result.content.map((part) => part.text ?? '').join('')
    const told = { approvals: sorted(approvals) }
    if (result.isError === true) return { ...told, end: text.includes('aborted') ? 'aborted' : 'failed' }
    if (result.structuredContent?.status === 'suspended') return { ...told, end: 'suspended' }
    return { ...told, text, end: 'completed' }
  })
}

/** One id names one session in every protocol, so each client has ids of its own. */
const withOwnId =
  (tell: TellingClient, name: string): TellingClient =>
  (server, { end, id }) =>
    tell(server, { end, id: `${id}-${name}` })

export const TELLING_CLIENTS: Readonly<Record<string, TellingClient>> = {
  'AI SDK': withOwnId(tellByAiSdk, 'ai-sdk'),
  'AG-UI': withOwnId(tellByAgUi, 'ag-ui'),
  Responses: tellByResponses,
  'Chat Completions': tellByCompletions,
  MCP: tellByMcp,
}
