import { HttpAgent } from '@ag-ui/client'
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import { endAtBreak } from './end-at-break.ts'
import { agentOf, DECISIONS, shown, sorted, type TellingClient, type Told, untilTold } from './told.ts'

export const tellByAiSdk: TellingClient = (server, telling) => {
  const question: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tell.' }] }
  let hasStarted = false
  /** The message with the decisions of the user, until the server has taken them. */
  let decided: UIMessage | undefined
  const open = (transport: DefaultChatTransport<UIMessage>) => {
    if (hasStarted && decided === undefined) return transport.reconnectToStream({ chatId: telling.id })
    return transport.sendMessages({
      ...{ chatId: telling.id, trigger: 'submit-message', messageId: undefined, abortSignal: undefined },
      messages: decided === undefined ? [question] : [question, decided],
    })
  }
  return untilTold(async () => {
    const base = decided
    const stream = await open(
      new DefaultChatTransport<UIMessage>({
        api: `${server.url()}/agents/${agentOf(telling)}/chat?v=7`,
        headers: { authorization: `Bearer ${server.token}` },
      }),
    )
    hasStarted = true
    decided = undefined
    let last: string | undefined
    const watched = stream?.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          if (chunk.type === 'finish') last = chunk.finishReason
          if (chunk.type === 'abort') last = 'aborted'
          controller.enqueue(chunk)
        },
      }),
    )
    let message = base
    if (watched === undefined) return undefined
    const reading = { stream: watched, onError: () => undefined, ...(base === undefined ? {} : { message: base }) }
    for await (const one of readUIMessageStream(reading)) message = one
    if (last === undefined || message === undefined) return undefined
    const parts = message.parts.map((part) => (part.type === 'dynamic-tool' ? part : undefined))
    const asked = parts.filter((part) => part?.state === 'approval-requested')
    if (last === 'tool-calls' && asked.every((part) => DECISIONS.has(nameOf(part?.toolName)))) {
      decided = { ...message, parts: message.parts.map(withDecision) }
      return undefined
    }
    const calls = parts.flatMap((part) => (part === undefined ? [] : [part]))
    return {
      text: message.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      tools: sorted(
        calls
          .filter(({ toolName }) => !toolName.startsWith('approval.'))
          .map(({ toolCallId, state }) => `${toolCallId} ${state === 'output-available' ? 'done' : 'failed'}`),
      ),
      approvals: sorted(
        calls.flatMap(({ toolName, state }) => {
          const is = state === 'approval-requested' ? 'pending' : state === 'output-denied' ? 'denied' : 'approved'
          return `${nameOf(toolName)} ${is}`
        }),
      ),
      end: { stop: 'completed', error: 'failed', aborted: 'aborted' }[last] ?? 'suspended',
    } as Told
  })
}

const nameOf = (toolName = '') => toolName.replace('approval.', '')

/** The part after the user has decided. */
function withDecision(part: UIMessage['parts'][number]): UIMessage['parts'][number] {
  if (part.type !== 'dynamic-tool' || part.state !== 'approval-requested') return part
  const approved = DECISIONS.get(nameOf(part.toolName)) === true
  return { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved } }
}

export const tellByAgUi: TellingClient = (server, telling) => {
  let messages: HttpAgent['messages'] = [{ id: 'q1', role: 'user', content: 'Tell.' }]
  let interrupts: HttpAgent['pendingInterrupts'] = []
  let segment = 1
  const approvals = new Set<string>()
  return untilTold(async () => {
    const agent = new HttpAgent({
      ...{ url: `${server.url()}/agents/${agentOf(telling)}/ag-ui`, threadId: telling.id, fetch: endAtBreak },
      ...{ initialMessages: messages, headers: { Authorization: `Bearer ${server.token}` } },
    })
    agent.pendingInterrupts = interrupts
    let outcome: string | undefined
    agent.subscribe({
      onRunFinishedEvent({ event }) {
        outcome = event.outcome?.type ?? 'success'
      },
      onRunErrorEvent({ event }) {
        outcome = event.code === 'run-failed' ? 'failed' : undefined
      },
    })
    const resume = interrupts.map(({ id, metadata }) => ({
      ...{ interruptId: id, status: 'resolved' as const },
      payload: { approved: DECISIONS.get(String(metadata?.name)) },
    }))
    const request = { runId: `${telling.id}-${segment}`, ...(resume.length === 0 ? {} : { resume }) }
    await agent
      .runAgent(request)
      .catch(() => undefined)
      .finally(() => {
        messages = agent.messages
      })
    if (outcome === undefined) return undefined
    if (outcome === 'interrupt') {
      const names = agent.pendingInterrupts.map(({ metadata }) => String(metadata?.name))
      for (const name of names) approvals.add(shown(name))
      if (names.every((name) => DECISIONS.has(name))) {
        interrupts = agent.pendingInterrupts
        segment += 1
        return undefined
      }
    }
    const results = messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
    return {
      text: messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join(''),
      tools: sorted(
        results
          .filter(({ toolCallId }) => !toolCallId.startsWith('apr_'))
          .map(
            ({ toolCallId, content }) => `${toolCallId} ${String(content).startsWith('{"error"') ? 'failed' : 'done'}`,
          ),
      ),
      approvals: sorted(approvals),
      end: { success: 'completed', cancelled: 'aborted', failed: 'failed' }[outcome] ?? 'suspended',
    } as Told
  })
}
