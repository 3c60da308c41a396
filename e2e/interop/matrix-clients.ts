import { HttpAgent } from '@ag-ui/client'
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import type OpenAI from 'openai'
import { APIError } from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import type { DurableServer } from '../durable-server.ts'
import { endAtBreak } from './end-at-break.ts'
import { type Answered, connect } from './mcp-clients.ts'
import { chatAnswer, decision, isApproval, openAiOf } from './openai-client.ts'

/** What a client has once its run has ended or waits for a decision that nobody takes. */
export interface Told {
  /** Missing where the protocol tells only why the run has not completed. */
  readonly text?: string
  /** The tool calls, each with how it ended; missing where the protocol shows none. */
  readonly tools?: readonly string[]
  /** The names of the approvals, each with its decision. */
  readonly approvals: readonly string[]
  readonly end: 'completed' | 'failed' | 'aborted' | 'suspended'
}

/** A run of the agent that ends in this way. `id` distinguishes the runs of one agent. */
export interface Telling {
  readonly end: Told['end']
  readonly id: string
}

/** What every client decides. It leaves any other approval open. */
const DECISIONS: ReadonlyMap<string, boolean> = new Map([
  ['refund', false],
  ['mail', true],
])

const shown = (name: string): string => {
  const granted = DECISIONS.get(name)
  return `${name} ${granted === undefined ? 'pending' : granted ? 'granted' : 'denied'}`
}

const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const PATIENCE_MS = 60_000

/** Repeats what a client does until it has everything that the run tells. */
async function untilTold(attempt: () => Promise<Told | undefined>): Promise<Told> {
  let cause: unknown
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(25)) {
    const told = await attempt().catch((error: unknown) => {
      cause = error
    })
    if (told !== undefined) return told
  }
  throw new Error('the client did not get the end of the run', { cause })
}

const agentOf = ({ end }: Telling) => `teller-${end}`

/** A client that follows a run to its end, whatever happens to its connections. */
export type TellingClient = (server: DurableServer, telling: Telling) => Promise<Told>

const tellByAiSdk: TellingClient = (server, telling) => {
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
          const is = state === 'approval-requested' ? 'pending' : state === 'output-denied' ? 'denied' : 'granted'
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

const tellByAgUi: TellingClient = (server, telling) => {
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
      payload: { granted: DECISIONS.get(String(metadata?.name)) },
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

const tellByResponses: TellingClient = (server, telling) => {
  const headers = { 'Idempotency-Key': `responses-${telling.id}` }
  const model = agentOf(telling)
  const outputs: Response['output'] = []
  const once = { background: true, model } as const
  let id: string | undefined
  let number: number | undefined
  /** What the next request answers. */
  let next: { readonly input: ReturnType<typeof decision>[]; readonly previous_response_id: string } | undefined
  return untilTold(async () => {
    const { responses } = openAiOf({ url: server.url, token: server.token }, { maxRetries: 0 })
    if (id === undefined) {
      const asked = next === undefined ? { input: 'Tell.' } : next
      id = (await responses.create({ ...once, ...asked }, next === undefined ? { headers } : {})).id
    }
    const after = number === undefined ? {} : { starting_after: number }
    let last: Response | undefined
    for await (const event of await responses.retrieve(id, { stream: true, ...after })) {
      if (event.sequence_number !== (number ?? -1) + 1) throw new Error('an event is missing or was sent twice')
      number = event.sequence_number
      if (event.type === 'response.completed') last = event.response
      if (event.type === 'response.failed' || event.type === 'response.incomplete') last = event.response
    }
    if (last === undefined) return undefined
    outputs.push(...last.output)
    const asked = last.output.filter(isApproval) as unknown as readonly { id: string; name: string }[]
    if (asked.length > 0 && asked.every(({ name }) => DECISIONS.has(name))) {
      const input = asked.map((one) => decision(one.id, DECISIONS.get(one.name) === true))
      next = { input, previous_response_id: id }
      id = number = undefined
      return undefined
    }
    const { status = '' } = last
    const ended = { failed: 'failed', cancelled: 'aborted' }[status as string] ?? 'completed'
    return {
      text: outputs
        .flatMap((item) => (item.type === 'message' ? item.content : []))
        .map((part) => ('text' in part ? part.text : ''))
        .join(''),
      tools: sorted(
        outputs.flatMap((item) =>
          item.type === 'mcp_call' ? [`${item.id.slice(4)} ${item.status === 'completed' ? 'done' : 'failed'}`] : [],
        ),
      ),
      approvals: sorted(outputs.flatMap((item) => (item.type === 'mcp_approval_request' ? [shown(item.name)] : []))),
      end: asked.length > 0 ? 'suspended' : ended,
    } as Told
  })
}

/** Tools of the server are not shown. A stream that ends with `stream_restarted` is repeated, as its users do. */
const tellByCompletions: TellingClient = (server, telling) => {
  const headers = { 'Idempotency-Key': `completion-${telling.id}` }
  const model = agentOf(telling)
  const approvals = new Set<string>()
  let messages = [{ role: 'user', content: 'Tell.' }] as OpenAI.Chat.ChatCompletionMessageParam[]
  let text = ''
  let isFirst = true
  return untilTold(async () => {
    const { chat } = openAiOf({ url: server.url, token: server.token }, { maxRetries: 0 })
    const stream = await chat.completions.create({ model, messages, stream: true }, isFirst ? { headers } : {})
    let said = ''
    const calls: { readonly id: string; readonly function: { readonly arguments: string } }[] = []
    let finish: string | null | undefined
    try {
      for await (const { choices } of stream) {
        said += choices[0]?.delta.content ?? ''
        calls.push(...((choices[0]?.delta.tool_calls ?? []) as typeof calls))
        finish ??= choices[0]?.finish_reason
      }
    } catch (error) {
      const end = { aborted: 'aborted', 'run-failed': 'failed' }[error instanceof APIError ? (error.code ?? '') : '']
      if (end === undefined) throw error
      return { text: text + said, approvals: sorted(approvals), end } as Told
    }
    if (finish === undefined || finish === null) return undefined
    text += said
    if (finish === 'stop') return { text, approvals: sorted(approvals), end: 'completed' }
    const names = calls.map((call) => String(JSON.parse(call.function.arguments).name))
    for (const name of names) approvals.add(shown(name))
    if (!names.every((name) => DECISIONS.has(name))) return { text, approvals: sorted(approvals), end: 'suspended' }
    messages = chatAnswer(
      calls,
      names.map((name) => JSON.stringify({ granted: DECISIONS.get(name) })),
    )
    isFirst = false
    return undefined
  })
}

/** Text travels in the result only, tools not at all. */
const tellByMcp: TellingClient = (server, telling) => {
  const approvals = new Set<string>()
  const elicit = ({ message }: { readonly message: string }): Answered => {
    const name = ['refund', 'mail', 'last'].find((one) => message.includes(`Decide ${one}.`)) ?? message
    approvals.add(shown(name))
    const granted = DECISIONS.get(name)
    if (granted === undefined) return { action: 'cancel' }
    return granted ? { action: 'accept', content: { granted } } : { action: 'decline' }
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

export const TELLING_CLIENTS: Readonly<Record<string, TellingClient>> = {
  'AI SDK': tellByAiSdk,
  'AG-UI': tellByAgUi,
  Responses: tellByResponses,
  'Chat Completions': tellByCompletions,
  MCP: tellByMcp,
}
