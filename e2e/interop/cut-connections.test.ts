import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { HttpAgent } from '@ag-ui/client'
import { WorkflowChatTransport } from '@ai-sdk/workflow/client'
import {
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  WebSocketChatTransport,
} from 'ai'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PerdureHttpAgent } from '../../packages/client/src/ag-ui.ts'
import { createChatFetch } from '../../packages/client/src/index.ts'
import { openCuttingProxy } from '../cutting-proxy.ts'
import { startDurableServer } from '../durable-server.ts'
import { unusedPort } from '../unused-port.ts'
import { endAtBreak } from './end-at-break.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')

/** At how many moments the server is killed. */
const KILLS = Number(process.env.PROTOCOL_KILLS ?? 2)
/** The runs of each client whose connections are cut. */
const CUT_RUNS = Number(process.env.PROTOCOL_CUT_RUNS ?? 3)
/** As long as the runs take. Milliseconds. */
const RUN_MS = 600

const STORY = `${Array.from({ length: 6 }, (_, n) => `part ${n + 1}. `).join('')}End.`

/** What a client has once its run has ended. */
interface Told {
  readonly text: string
  /** The ids of the tool calls; missing where the protocol shows none. */
  readonly tools?: readonly string[]
}

interface Place {
  readonly token: string
  url(): string
}

type Client = (server: Place, id: string) => Promise<Told>

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Repeats what a client does until it has the whole answer. */
async function untilTold(attempt: () => Promise<Told | undefined>): Promise<Told> {
  for (;;) {
    const told = await attempt().catch(() => undefined)
    if (told !== undefined) return told
    await pause(25)
  }
}

const QUESTION: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tell.' }] }

const transportTo = (server: Place, more: object = {}) =>
  new DefaultChatTransport<UIMessage>({
    api: `${server.url()}/agents/storyteller/chat?v=7`,
    headers: { authorization: `Bearer ${server.token}` },
    ...more,
  })

const sent = (id: string) => ({
  ...{ chatId: id, messages: [QUESTION], trigger: 'submit-message' as const, messageId: undefined },
  abortSignal: undefined,
})

/** The answer in a stream; `undefined` if the stream ends before the answer does. */
async function answerIn(stream: ReadableStream<UIMessageChunk>): Promise<Told | undefined> {
  let hasFinished = false
  let message: UIMessage | undefined
  const watched = stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        hasFinished ||= chunk.type === 'finish'
        controller.enqueue(chunk)
      },
    }),
  )
  for await (const one of readUIMessageStream({ stream: watched, onError: () => undefined })) message = one
  if (!hasFinished) return undefined
  const parts = message?.parts ?? []
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    tools: parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part.toolCallId] : [])),
  }
}

const questionOf = (id: string): UIMessage => ({ ...QUESTION, id: `question-${id}` })

/** A WebSocket of Node, which can send a header. */
const socketWith = (token: string) =>
  class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, { protocols: protocols ?? [], headers: { authorization: `Bearer ${token}` } } as never)
    }
  }

const agentOptions = (server: Place, id: string) => ({
  url: `${server.url()}/agents/storyteller/ag-ui`,
  threadId: id,
  headers: { Authorization: `Bearer ${server.token}` },
  initialMessages: [{ id: 'q1', role: 'user' as const, content: 'Tell.' }],
})

const messagesOf = ({ messages }: HttpAgent): Told => ({
  text: messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join(''),
  tools: messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
})

/** The clients that continue without any code around them. */
const RESUMING: Readonly<Record<string, Client>> = {
  async createChatFetch(server, id) {
    const stream = await transportTo(server, { fetch: createChatFetch() }).sendMessages(sent(`resuming-${id}`))
    return (await answerIn(stream)) ?? { text: 'not finished' }
  },
  async PerdureHttpAgent(server, id) {
    const agent = new PerdureHttpAgent(agentOptions(server, `resuming-${id}`))
    await agent.runAgent({ runId: 'run' })
    return messagesOf(agent)
  },
}

const CLIENTS: Readonly<Record<string, Client>> = {
  ...RESUMING,
  'AI SDK': (server, id) => {
    let hasStarted = false
    return untilTold(async () => {
      const transport = transportTo(server)
      const stream = hasStarted
        ? await transport.reconnectToStream({ chatId: id })
        : await transport.sendMessages(sent(id))
      if (stream === null) return undefined
      hasStarted = true
      return answerIn(stream)
    })
  },
  WorkflowChatTransport: (server, id) => {
    let runId: string | undefined
    return untilTold(async () => {
      const transport = new WorkflowChatTransport({
        api: `${server.url()}/agents/storyteller/chat`,
        fetch: (input, init = {}) => fetch(input, { ...init, headers: { authorization: `Bearer ${server.token}` } }),
        onChatSendMessage({ headers }) {
          runId = headers.get('x-workflow-run-id') ?? undefined
        },
      })
      const stream =
        runId === undefined
          ? await transport.sendMessages({ ...sent(id), messages: [questionOf(id)] } as never)
          : await transport.reconnectToStream({ chatId: runId })
      return stream === null ? undefined : answerIn(stream as ReadableStream<UIMessageChunk>)
    })
  },
  WebSocketChatTransport: (server, id) => {
    let hasStarted = false
    return untilTold(async () => {
      const url = `${server.url()}/agents/storyteller/chat`
      const transport = new WebSocketChatTransport<UIMessage>({ url, webSocket: socketWith(server.token) as never })
      try {
        const stream = hasStarted
          ? await transport.reconnectToStream({ chatId: `socket-${id}` })
          : await transport.sendMessages(sent(`socket-${id}`))
        if (stream === null) hasStarted = false
        if (stream === null) return undefined
        hasStarted = true
        return await answerIn(stream)
      } finally {
        transport.close()
      }
    })
  },
  'AG-UI': (server, id) => {
    const options = agentOptions(server, id)
    let initialMessages: HttpAgent['messages'] = options.initialMessages
    return untilTold(async () => {
      const agent = new HttpAgent({ ...options, url: agentOptions(server, id).url, initialMessages, fetch: endAtBreak })
      let hasFinished = false
      agent.subscribe({
        onRunFinishedEvent() {
          hasFinished = true
        },
      })
      await agent.runAgent({ runId: 'run' }).finally(() => {
        initialMessages = agent.messages
      })
      return hasFinished ? messagesOf(agent) : undefined
    })
  },
}

/** The text without what a protocol puts between two blocks. */
const textOf = ({ text }: Told) => text.replaceAll('\n\n', '')

/** Shorter than a run, so that every client loses its first connection. Milliseconds. */
const FIRST_CONNECTION_MS = [50, RUN_MS / 2] as const
/** Sometimes longer than a run, so that the clients can finish that begin again. Milliseconds. */
const LATER_CONNECTION_MS = [50, 1_500] as const

function expectStory(told: Told, client: string): void {
  expect(textOf(told), client).toBe(STORY)
  expect(told.tools ?? ['call_n'], client).toEqual(['call_n'])
}

describe('a run that a front end shows', () => {
  beforeEach(() => {
    // The client of AG-UI prints every failed request.
    const printed = vi.spyOn(console, 'error').mockReturnValue(undefined)
    onTestFinished(() => printed.mockRestore())
  })

  it('has the same text and tools for the clients that resume by themselves, wherever the server is killed', async () => {
    const server = await startDurableServer(CONFIG, { E2E_PORT: String(await unusedPort()) })
    for (let kill = 0; kill < KILLS; kill++) {
      const telling = Object.entries(RESUMING).map(async ([name, client]) => {
        const beforeMs = randomInt(RUN_MS)
        await pause(beforeMs)
        const title = `${name}, killed after ${RUN_MS - beforeMs} ms`
        return { title, told: await client(server, `k${kill}`) }
      })
      await pause(RUN_MS)
      await server.restart('SIGKILL')
      for (const { title, told } of await Promise.all(telling)) expectStory(told, title)
    }
  })

  it('has the same text and tools for each client, wherever its connections are cut', async () => {
    const server = await startDurableServer(CONFIG)
    const runs = CUT_RUNS * Object.keys(CLIENTS).length
    let connections = 0
    const proxy = await openCuttingProxy(() =>
      randomInt(...(connections++ < runs ? FIRST_CONNECTION_MS : LATER_CONNECTION_MS)),
    )
    const { port, pathname } = new URL(server.url())
    proxy.target = Number(port)
    const place = { token: server.token, url: () => `http://127.0.0.1:${proxy.port}${pathname}` }
    const told = Object.entries(CLIENTS).flatMap(([name, client]) =>
      Array.from({ length: CUT_RUNS }, async (_, n) => ({ name, told: await client(place, `c${n}`) })),
    )
    for (const one of await Promise.all(told)) expectStory(one.told, one.name)
    expect(proxy.cuts()).toBeGreaterThanOrEqual(runs)
    await proxy.close()
  })
})
