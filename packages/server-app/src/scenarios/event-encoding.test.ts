import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { connect } from './web-socket-client.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const ASIDE = 'mail bob@example.com, token=abcdefgh1234 \u2028 "quoted" \n done'
const agents = [
  {
    id: 'talks',
    description: 'Emits commentary, reasoning and final text.',
    agent: {
      id: 'talks',
      async run(_: unknown, { emit }: RunContext) {
        await emit('text.delta', { delta: ASIDE }, { phase: 'commentary' })
        await emit('reasoning.delta', { delta: ASIDE })
        await emit('text.delta', { delta: ASIDE })
      },
    },
  },
]

let server: PerdureServer | undefined
afterEach(() => server?.stop({ force: true }))

async function start(policy: 'redact' | 'strip' | 'pass' = 'redact') {
  server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0 }, realtime: { sanitizer: { policy } } },
    ...{ agents, adapters: { storage: createInMemoryStorage(), logger } },
  })
  const { host, port, basePath } = await server.start()
  const url = `http://${host}:${port}${basePath}`
  const post = (path: string, body: object, headers = {}) =>
    fetch(url + path, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    })
  const { runId } = (await (await post('/agents/talks/run', {})).json()) as { readonly runId: string }
  return { url, post, runId, subject: `agent:talks/runs/${runId}/events` }
}

const STREAM = { accept: 'text/event-stream' }
const dataOf = (stream: string) =>
  stream.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice('data: '.length)] : []))

/** The bytes of the event envelope in a WebSocket frame. */
const envelopeOf = (frame: string) => frame.replace(/^\{"v":"1","kind":"event","subscriptionId":"sub_\d+",/, '{')

describe('an encoded event', () => {
  it('has the same bytes over WebSocket and SSE and in a replay', async () => {
    const { url, post, runId, subject } = await start()
    const client = await connect(url)
    await client.initialize()
    await client.subscribe(subject)
    await client.until(({ type }) => type === 'run.completed')
    const sse = dataOf(await (await fetch(`${url}/runs/${runId}/events`, { headers: STREAM })).text())
    const replayed = dataOf(await (await post(`/runs/${runId}/replay`, {}, STREAM)).text())
    const page = (await (await post(`/runs/${runId}/replay`, {})).json()) as { readonly items: readonly unknown[] }

    expect(sse).toHaveLength(5)
    expect(client.texts.map(envelopeOf)).toEqual(sse)
    expect(replayed).toEqual(sse)
    expect(page.items.map((item) => JSON.stringify(item))).toEqual(sse)
    client.socket.close()
  })

  it.each([
    ['redact', 'mail [redacted:email], token=[redacted:credential] \u2028 "quoted" \n done'],
    ['strip', 'mail , token= \u2028 "quoted" \n done'],
    ['pass', ASIDE],
  ] as const)(
    'has the policy %s applied to commentary and reasoning, but not to final text',
    async (policy, expected) => {
      const { url, runId } = await start(policy)
      const sse = dataOf(await (await fetch(`${url}/runs/${runId}/events`, { headers: STREAM })).text())

      const said = sse.slice(1, 4).map((data) => (JSON.parse(data) as { payload: { delta: string } }).payload.delta)

      expect(said).toEqual([expected, expected, ASIDE])
    },
  )
})
