import { API_URL } from '../client/api-url.ts'
import { sessionFetch } from '../client/connection.ts'
import { type Failure, failureOf } from '../client/failure.ts'

export interface OutgoingMessage {
  readonly agentId: string
  readonly chatId: string
  readonly messageId: string
  /** The parts, in the form of the AI SDK. */
  readonly parts: readonly object[]
  /** What the message does while the agent works. Default: what the agent prefers. */
  readonly onBusy?: string | undefined
  /** The turn that another answer replaces. */
  readonly replaces?: string | undefined
}

export type Sent =
  | { readonly ok: true; readonly runId: string | undefined }
  | { readonly ok: false; readonly failure: Failure }

/**
 * Sends a message as a chat page does, so that every agent understands it, whatever its input. The answer is followed
 * as the events of its run.
 */
export async function sendMessage(message: OutgoingMessage): Promise<Sent> {
  const { agentId, chatId, messageId: id, parts, onBusy, replaces } = message
  const body = {
    id: chatId,
    ...(replaces === undefined
      ? { trigger: 'submit-message' }
      : { trigger: 'regenerate-message', messageId: `msg_${replaces}` }),
    messages: [{ id, role: 'user', parts, ...(onBusy === undefined ? {} : { metadata: { onBusy } }) }],
  }
  try {
    const response = await sessionFetch(`${API_URL}/agents/${encodeURIComponent(agentId)}/chat?v=7`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) return { ok: false, failure: refusalOf(await response.text(), response.status) }
    await response.body?.cancel()
    return { ok: true, runId: response.headers.get('X-Perdure-Run-Id') ?? undefined }
  } catch (error) {
    return { ok: false, failure: failureOf(error) }
  }
}

/** The route answers errors as one line: `<message> (<code>): <hint>`. Errors before the route are JSON. */
function refusalOf(text: string, status: number): Failure {
  const [, message, code, hint] = /^(.*?) \(([a-z-]+)\)(?:: (.*))?$/s.exec(text) ?? []
  if (message !== undefined && code !== undefined) return { code, message, hint, status }
  if (status === 404) {
    return {
      ...{ code: 'route-not-found', message: 'The server has no route for chats of this agent.', status },
      hint: 'set protocols.enabled and protocols.aiSdk in the configuration, and let the agent take part in protocols',
    }
  }
  return {
    code: `http-${status}`,
    message: text.slice(0, 500) || 'The server refused the message.',
    hint: undefined,
    status,
  }
}

/** An id that no other message has. */
export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return prefix + [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
