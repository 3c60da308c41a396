import { defineAgent } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const WORDS = 400

type Send = (path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Response>

/** A server that listens, and the same requests over a connection and by its function `fetch`. */
async function setUp() {
  const gate = Promise.withResolvers<void>()
  const talk = defineAgent({
    id: 'talk',
    async run(_, ctx) {
      for (let index = 0; index < WORDS; index++) {
        if (index === 3) await gate.promise
        await ctx.emit('text.delta', { id: 't', delta: `wörd 🚢 ${index} ` })
      }
      await ctx.emit('text.delta', { id: 't', delta: 'long '.repeat(40_000) })
      return 'done'
    },
  })
  const server = await createServer({
    config: {
      ...{ auth: { kind: 'none' }, server: { port: 0 } },
      runs: { maxEventBytes: 1_000_000 },
    },
    adapters: { storage: createInMemoryStorage(), logger },
    agents: [{ id: 'talk', description: 'Says words.', agent: talk }],
  })
  onTestFinished(() => server.stop({ force: true }))
  const { host, port, basePath } = await server.start()
  const init = (body?: object, headers = {}) => ({
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const overSocket: Send = (path, body, headers) =>
    fetch(`http://${host}:${port}${basePath}${path}`, init(body, headers))
  const byFetch: Send = (path, body, headers) =>
    server.fetch(new Request(`http://localhost${basePath}${path}`, init(body, headers)))
  return { server, gate, overSocket, byFetch }
}

const USER = { id: 'm1', role: 'user', content: 'go', parts: [{ type: 'text', text: 'go' }] }

/** Starts a run, and returns the path at which others follow it. */
const STARTS: Readonly<Record<string, (send: Send) => Promise<string>>> = {
  async 'Perdure itself'(send) {
    const { headers } = await started(send('/agents/talk/stream', { input: 'go' }))
    return `/runs/${headers.get('location')?.split('/').at(-1) ?? headers.get('x-perdure-run-id')}/events`
  },
  'AI SDK 6': (send) => startChat(send, 6),
  'AI SDK 7': (send) => startChat(send, 7),
  async 'AG-UI'(send) {
    await started(send('/agents/talk/ag-ui', { threadId: 't', runId: 'r1', messages: [USER] }))
    return '/agents/talk/ag-ui/r1'
  },
  async OpenAI(send) {
    const body = { model: 'talk', input: 'go', background: true }
    const { id } = (await (await send('/openai/responses', body)).json()) as { readonly id: string }
    return `/openai/responses/${id}?stream=true`
  },
}

async function startChat(send: Send, version: number): Promise<string> {
  await started(send(`/agents/talk/chat?v=${version}`, { id: 'c1', messages: [USER] }))
  return `/agents/talk/chat/c1/stream?v=${version}`
}

async function started(answer: Promise<Response>): Promise<Response> {
  const response = await answer
  expect(response.status, await (response.ok ? '' : response.text())).toBe(200)
  await response.body?.cancel()
  return response
}

const OF_CONNECTION = [
  'connection',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
]
const headersOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => !OF_CONNECTION.includes(name)))

describe('an event stream', () => {
  it.each(Object.keys(STARTS))(
    'in the form of %s has the same bytes over a connection, by fetch and for every other reader',
    async (form) => {
      const { gate, overSocket, byFetch } = await setUp()
      const path = await STARTS[form]?.(byFetch)
      if (path === undefined) throw new Error('the run has no path')
      const responses = [
        await overSocket(path),
        await byFetch(path),
        ...(await Promise.all([overSocket, overSocket, byFetch].map((send) => send(path)))),
      ]
      const [first, ...others] = responses
      const texts = responses.map((response) => response.text())

      gate.resolve()

      const [expected = '', ...same] = await Promise.all(texts)
      expect(expected).toContain(`wörd 🚢 ${WORDS - 1} `)
      expect(same.map((text) => text === expected)).toEqual([true, true, true, true])
      for (const other of others) expect(headersOf(other)).toEqual(headersOf(first as Response))
    },
  )

  it.each(Object.keys(STARTS))('in the form of %s continues after the cursor of its reader', async (form) => {
    const { gate, overSocket, byFetch } = await setUp()
    const path = (await STARTS[form]?.(byFetch)) ?? ''
    const whole = await overSocket(path)
    gate.resolve()
    const text = await whole.text()
    const last = [...text.matchAll(/^id: (.*)$/gm)][WORDS / 2]
    if (last === undefined) return expect(form).toBe('OpenAI')

    const rest = await Promise.all(
      [overSocket, byFetch].map((send) => send(path, undefined, { 'last-event-id': last[1] ?? '' })),
    )

    const [first = '', second = ''] = await Promise.all(rest.map((response) => response.text()))
    expect(second).toBe(first)
    expect(first.length).toBeGreaterThan(1_000)
  })

  it('ends when the server stops, over a connection and by fetch', async () => {
    const { server, overSocket, byFetch, gate } = await setUp()
    const path = (await STARTS['Perdure itself']?.(byFetch)) ?? ''
    const texts = [await overSocket(path), await byFetch(path)].map((response) => response.text())

    await server.stop({ force: true })
    gate.resolve()

    const [first = '', second = ''] = await Promise.all(texts)
    expect(first).toMatch(/^retry: 1000\nid: .*\ndata:\n\n/)
    expect(second).toBe(first)
  })
})
