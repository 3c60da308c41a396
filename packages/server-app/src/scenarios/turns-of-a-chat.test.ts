import type { RunContext } from '@perdure/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

interface Asked {
  readonly text?: string
}

/** Calls itself, so that the newest run of the agent in the session is a child, with the metadata of its parent. */
const run = async (input: unknown, { invoke, approval }: RunContext) => {
  const { text = String(input) } = (typeof input === 'object' ? input : {}) as Asked
  if (text.startsWith('part of')) return `inner ${text}`
  await invoke('guide', `part of ${text}`)
  if (text === 'ask') await approval('publish')
  return `answer to ${text}`
}

interface Read {
  readonly items: ReadonlyArray<{ readonly id: string; readonly sessionId: string; readonly parentRunId?: string }>
  readonly data: ReadonlyArray<{ readonly content?: ReadonlyArray<{ readonly text?: string }> }>
}

let send: (path: string, body?: object) => Promise<{ readonly text: string; readonly runId: string | null }>
let read: (path: string) => Promise<Read>

beforeEach(async () => {
  const agents = [{ id: 'guide', description: '', agent: { id: 'guide', run } }]
  const server = await startedServer({ agents })
  send = async (path, body) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    const response = await server.fetch(new Request(`http://localhost/v1${path}`, { headers, ...init }))
    return { text: await response.text(), runId: response.headers.get('x-perdure-run-id') }
  }
  read = async (path) => JSON.parse((await send(path)).text)
})

const chat = (id: string, text: string) =>
  send('/agents/guide/chat', { id: 'c', messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }] })

const agUi = (runId: string, id: string, content: string) =>
  send('/agents/guide/ag-ui', { threadId: 't', runId, messages: [{ id, role: 'user', content }] })

describe('a chat whose runs have children of the same agent', () => {
  it('shows its turns, and not the children', async () => {
    await chat('m1', 'one')
    await chat('m2', 'two')
    const [newest] = (await read('/runs')).items
    expect(newest?.parentRunId).toBeDefined()

    const { text } = await send('/agents/guide/chat/c/messages')
    const { data } = await read(`/openai/conversations/${newest?.sessionId}/items?order=asc`)

    const turns = ['one', 'answer to one', 'two', 'answer to two']
    expect([...text.matchAll(/"text":"([^"]+)"/g)].map(([, shown]) => shown)).toEqual(turns)
    expect(data.flatMap(({ content = [] }) => content.map(({ text: shown }) => shown))).toEqual(turns)
  })

  it('resumes the turn, and not its child', async () => {
    const { runId } = await chat('m1', 'one')

    const resumed = await send('/agents/guide/chat/c/stream')

    expect(resumed.runId ?? runId).toBe(runId)
    expect(resumed.text).not.toContain('inner')
  })

  it('refuses a new message while its turn waits for a decision', async () => {
    await agUi('r1', 'm1', 'ask')

    expect((await agUi('r2', 'm2', 'more')).text).toContain('interrupts-open')
  })

  it('replaces the turn whose message is sent again', async () => {
    await agUi('r1', 'm1', 'one')
    await agUi('r2', 'm1', 'one again')

    const { text } = await send('/agents/guide/ag-ui/r2')

    expect(text).toContain('answer to one again')
    expect(text).not.toMatch(/answer to one["\\]/)
  })

  it('streams the turn with the id that the client gave it, and not its child', async () => {
    const { runId } = await agUi('r1', 'm1', 'one')

    const connected = await send('/agents/guide/ag-ui/r1')

    expect(connected.runId).toBe(runId)
    expect(connected.text).toContain('answer to one')
  })
})
