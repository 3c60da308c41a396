import * as ai7 from 'ai'
import * as ai6 from 'ai6'

export const CLIENTS = { 6: ai6 as unknown as typeof ai7, 7: ai7 } as const
export type Version = keyof typeof CLIENTS

export type Message = ai7.UIMessage

export interface ChatOptions {
  readonly url: string
  readonly token: string
  readonly agentId: string
  readonly version: Version
  readonly id?: string
  readonly messages?: readonly Message[]
  readonly isAutomatic?: boolean
  readonly fetch?: typeof fetch
  readonly onToolCall?: ai7.ChatOnToolCallCallback<Message>
  readonly body?: object
}

/** The chat of the AI SDK without a user interface. Collects what a page would show. */
export function openChat({
  url,
  token,
  agentId,
  version,
  id,
  messages = [],
  isAutomatic = true,
  onToolCall,
  ...more
}: ChatOptions) {
  const ai = CLIENTS[version]
  const errors: string[] = []
  const dataParts: unknown[] = []
  const shown = {
    messages: [...messages] as Message[],
    status: 'ready' as ai7.ChatStatus,
    error: undefined as Error | undefined,
    pushMessage(message: Message) {
      shown.messages = [...shown.messages, message]
    },
    popMessage() {
      shown.messages = shown.messages.slice(0, -1)
    },
    replaceMessage(index: number, message: Message) {
      shown.messages = shown.messages.with(index, structuredClone(message))
    },
    snapshot: <T>(thing: T): T => structuredClone(thing),
  }
  class Headless extends ai.AbstractChat<Message> {}
  const transport = new ai.DefaultChatTransport<Message>({
    api: `${url}/agents/${agentId}/chat${version === 7 ? '?v=7' : ''}`,
    headers: { authorization: `Bearer ${token}` },
    ...more,
  })
  const chat: ai7.AbstractChat<Message> = new Headless({
    ...(id === undefined ? {} : { id }),
    transport,
    state: shown,
    onError: (error) => void errors.push(error.message),
    onData: (part) => void dataParts.push(part),
    ...(onToolCall === undefined ? {} : { onToolCall }),
    ...(isAutomatic
      ? {
          sendAutomaticallyWhen: (now) =>
            ai.lastAssistantMessageIsCompleteWithApprovalResponses(now) ||
            ai.lastAssistantMessageIsCompleteWithToolCalls(now),
        }
      : {}),
  })
  return {
    chat,
    errors,
    dataParts,
    transport,
    messages: () => shown.messages,
    answer: () => shown.messages.findLast(({ role }) => role === 'assistant') as Message,
    text: () => textOf(shown.messages.findLast(({ role }) => role === 'assistant')),
  }
}

export type OpenChat = ReturnType<typeof openChat>

export const textOf = (message: Message | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')

export interface ToolPart {
  readonly type: string
  readonly toolName: string
  readonly toolCallId: string
  readonly state: string
  readonly input?: unknown
  readonly output?: unknown
  readonly errorText?: string
  readonly approval?: { readonly id: string; readonly approved?: boolean }
}

export const toolsOf = (message: Message | undefined): readonly ToolPart[] =>
  (message?.parts ?? []).filter(({ type }) => type === 'dynamic-tool') as unknown as readonly ToolPart[]
