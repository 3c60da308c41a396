import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { HttpAgent } from '@ag-ui/client'
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type DurableServer, startDurableServer } from '../durable-server.ts'
import { unusedPort } from '../unused-port.ts'
import { endAtBreak } from './end-at-break.ts'
import { connect } from './mcp-clients.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/interop.config.mjs')

/** At how many moments of a run the server is killed. */
const KILLS = Number(process.env.INTEROP_KILLS ?? 4)
/** The runs that one kill strikes, each at another moment. */
const RUNS_PER_KILL = 4
/** As long as the runs take. Milliseconds. */
const RUN_MS = 600

const STORY = `${Array.from({ length: 6 }, (_, n) => `part ${n + 1}. `).join('')}End.`

/** What a client has once its run has ended. */
interface Told {
  readonly text: string
  /** The ids of the tool calls; missing where the protocol shows none. */
  readonly tools?: readonly string[]
}

type Client = (server: DurableServer, id: string) => Promise<Told>

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Repeats what a client does until it has the whole answer. */
async function untilTold(attempt: () => Promise<Told | undefined>): Promise<Told> {
  for (;;) {
    const told = await attempt().catch(() => undefined)
    if (told !== undefined) return told
    await pause(25)
  }
}

const CLIENTS: Readonly<Record<string, Client>> = {
  'AI SDK': (server, id) => {
    const question: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tell.' }] }
    let hasStarted = false
    return untilTold(async () => {
      const transport = new DefaultChatTransport<UIMessage>({
        api: `${server.url()}/agents/narrator/chat?v=7`,
        headers: { authorization: `Bearer ${server.token}` },
      })
      const stream = hasStarted
        ? await transport.reconnectToStream({ chatId: id })
        : await transport.sendMessages({
            ...{ chatId: id, messages: [question], trigger: 'submit-message', messageId: undefined },
            abortSignal: undefined,
          })
      if (stream === null) return undefined
      hasStarted = true
      let hasFinished = false
      let message: UIMessage | undefined
      const watched = stream.pipeThrough(
        new TransformStream({
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
    })
  },
  'AG-UI': (server, id) => {
    let messages: HttpAgent['messages'] = [{ id: 'q1', role: 'user', content: 'Tell.' }]
    return untilTold(async () => {
      const agent = new HttpAgent({
        ...{ url: `${server.url()}/agents/narrator/ag-ui`, threadId: id, initialMessages: messages, fetch: endAtBreak },
        headers: { Authorization: `Bearer ${server.token}` },
      })
      let hasFinished = false
      agent.subscribe({
        onRunFinishedEvent() {
          hasFinished = true
        },
      })
      await agent.runAgent({ runId: 'run' }).finally(() => {
        messages = agent.messages
      })
      if (!hasFinished) return undefined
      return {
        text: messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join(''),
        tools: messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
      }
    })
  },
  Responses: (server, id) => {
    const headers = { 'Idempotency-Key': `responses-${id}` }
    let responseId: string | undefined
    let number: number | undefined
    let text = ''
    const tools: string[] = []
    return untilTold(async () => {
      const { responses } = openAi(server)
      responseId ??= (await responses.create({ model: 'narrator', input: 'Tell.', background: true }, { headers })).id
      const after = number === undefined ? {} : { starting_after: number }
      for await (const event of await responses.retrieve(responseId, { stream: true, ...after })) {
        expect(event.sequence_number).toBe((number ?? -1) + 1)
        number = event.sequence_number
        if (event.type !== 'response.completed') continue
        for (const item of event.response.output) {
          if (item.type === 'mcp_call') tools.push(item.id.slice('mcp_'.length))
          if (item.type === 'message') text += item.content.map((part) => ('text' in part ? part.text : '')).join('')
        }
        return { text, tools }
      }
      return undefined
    })
  },
  'Chat Completions': (server, id) => {
    const headers = { 'Idempotency-Key': `completion-${id}` }
    return untilTold(async () => {
      const body = { model: 'narrator', messages: [{ role: 'user' as const, content: 'Tell.' }] }
      const stream = openAi(server).chat.completions.stream(body, { headers })
      return { text: (await stream.finalContent()) ?? '' }
    })
  },
  MCP: (server) =>
    untilTold(async () => {
      const client = await connect('2.4.0', { url: `${server.url()}/mcp`, token: server.token })
      const { content } = await client.call('narrator', { text: 'Tell.' }, { onprogress: () => undefined })
      return { text: content.map((part) => part.text ?? '').join('') }
    }),
}

const openAi = (server: DurableServer) =>
  new OpenAI({ baseURL: `${server.url()}/openai`, apiKey: server.token, maxRetries: 0 })

/** The text without what a protocol puts between two blocks. */
const textOf = ({ text }: Told) => text.replaceAll('\n\n', '')

/** Lets every client start a run at a moment before the kill, and returns what each of them has in the end. */
async function tellAll(server: DurableServer, id: string) {
  const beforeMs = randomInt(RUN_MS)
  await pause(beforeMs)
  return Promise.all(
    Object.entries(CLIENTS).map(async ([name, client]) => ({ name, beforeMs, told: await client(server, id) })),
  )
}

describe('a run that is told by every protocol', () => {
  it(
    'has the same text and tools for each client, wherever the server is killed',
    async () => {
      // The client of AG-UI prints every failed request.
      const printed = vi.spyOn(console, 'error').mockReturnValue(undefined)
      onTestFinished(() => printed.mockRestore())
      const server = await startDurableServer(CONFIG, { E2E_PORT: String(await unusedPort()) })
      for (let kill = 0; kill < KILLS; kill += RUNS_PER_KILL) {
        const telling = Array.from({ length: RUNS_PER_KILL }, (_, n) => tellAll(server, `k${kill + n}`))
        await pause(RUN_MS)
        await server.restart('SIGKILL')
        for (const { name, beforeMs, told } of (await Promise.all(telling)).flat()) {
          expect(textOf(told), `${name}, killed after ${RUN_MS - beforeMs} ms`).toBe(STORY)
          expect(told.tools ?? ['call_n'], `${name}, killed after ${RUN_MS - beforeMs} ms`).toEqual(['call_n'])
        }
      }
    },
    30_000 + KILLS * 10_000,
  )
})
