import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableServer, startDurableServer } from '../durable-server.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, {}, (end) => {
    kill = end
  })
})
afterAll(() => kill())

interface Frame {
  readonly id: string
  readonly data: string
}

async function framesOf(response: Response): Promise<readonly Frame[]> {
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text.split('\n\n').flatMap((block) => {
    const data = /^data: (.*)$/m.exec(block)?.[1]
    return data === undefined ? [] : [{ id: /^id: (.*)$/m.exec(block)?.[1] ?? '', data }]
  })
}

interface Protocol {
  readonly start: (agentId: string) => readonly [path: string, body: object]
  readonly resume: (agentId: string) => string
}

const aiSdk = (version: 6 | 7): Protocol => {
  const chatOf = (agentId: string) => `cuts-${version}-${agentId}`
  const parts = [{ type: 'text', text: 'x' }]
  return {
    start: (agentId) => [
      `/agents/${agentId}/chat?v=${version}`,
      { id: chatOf(agentId), messages: [{ id: 'm1', role: 'user', parts }] },
    ],
    resume: (agentId) => `/agents/${agentId}/chat/${chatOf(agentId)}/stream?v=${version}`,
  }
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'AI SDK 6': aiSdk(6),
  'AI SDK 7': aiSdk(7),
  'AG-UI': {
    start: (agentId) => [
      `/agents/${agentId}/ag-ui`,
      { threadId: `cuts-${agentId}`, runId: `cuts-${agentId}`, messages: [{ id: 'm1', role: 'user', content: 'x' }] },
    ],
    resume: (agentId) => `/agents/${agentId}/ag-ui/cuts-${agentId}`,
  },
}

/** Every agent of the bench whose run ends, or rests, without a kill or another request. */
const AGENTS = [
  ...['talker', 'tooler', 'asker', 'approver', 'suspender', 'sleeper', 'failer', 'parent', 'busyparent', 'stateful'],
  ...['plain', 'returner', 'picker', 'silentpicker'],
]

describe.each(Object.keys(PROTOCOLS))('a reader of %s', (name) => {
  it.each(AGENTS)('that was cut off after any frame of %s gets exactly the frames after it', async (agentId) => {
    const { start, resume } = PROTOCOLS[name] as Protocol
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    const [path, body] = start(agentId)
    const whole = await framesOf(
      await fetch(`${server.url()}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    )
    expect(whole.length).toBeGreaterThan(1)
    const rests = await Promise.all(
      whole.map(({ id }) =>
        fetch(`${server.url()}${resume(agentId)}`, { headers: { ...headers, 'last-event-id': id } }).then(framesOf),
      ),
    )
    for (const [k, rest] of rests.entries()) expect(rest, `cut after ${k + 1}`).toEqual(whole.slice(k + 1))
  })
})
