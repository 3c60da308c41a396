import type * as ai from 'ai'

type Message = ai.UIMessage

export interface ChatPageOptions {
  readonly sdk: typeof ai
  readonly id: string
  readonly api: string
  readonly fetch: typeof fetch
  readonly messages: readonly Message[]
}

/** A chat of the AI SDK without a page around it. */
export type ChatPage = ReturnType<typeof openChatPage>

/** What a page would hold: the messages that the SDK builds from the streams of the server. */
export function openChatPage({ sdk, id, api, fetch, messages }: ChatPageOptions) {
  let lastChange = 0
  const touch = () => {
    lastChange = performance.now()
  }
  const shown = {
    messages: [...messages],
    status: 'ready' as ai.ChatStatus,
    error: undefined as Error | undefined,
    pushMessage(message: Message) {
      shown.messages = [...shown.messages, message]
      touch()
    },
    popMessage() {
      shown.messages = shown.messages.slice(0, -1)
      touch()
    },
    replaceMessage(index: number, message: Message) {
      shown.messages = shown.messages.with(index, structuredClone(message))
      touch()
    },
    snapshot: <T>(thing: T): T => structuredClone(thing),
  }
  class Chat extends sdk.AbstractChat<Message> {}
  const chat: ai.AbstractChat<Message> = new Chat({
    id,
    transport: new sdk.DefaultChatTransport({ api, fetch }),
    state: shown,
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    // An error is in `error`.
    onError: () => undefined,
  })

  return {
    chat,
    messages: (): readonly Message[] => shown.messages,
    error: (): Error | undefined => shown.error,
    isBusy: () => shown.status === 'submitted' || shown.status === 'streaming',
    /** Milliseconds since the messages changed. */
    quietMs: () => performance.now() - lastChange,
    /** Follows the newest answer from its beginning. */
    async resume(): Promise<void> {
      const before = shown.messages
      const partial = before.at(-1)
      if (partial?.role === 'assistant') shown.messages = before.slice(0, -1)
      await chat.resumeStream()
      const isMissing = partial?.role === 'assistant' && shown.messages.at(-1)?.role !== 'assistant'
      if (isMissing) shown.messages = [...shown.messages, partial]
    },
  }
}
