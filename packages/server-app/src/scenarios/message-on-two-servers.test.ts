import { randomUUID } from 'node:crypto'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger, Storage } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import { expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const inputs: string[] = []
const asker = {
  id: 'asker',
  async run(_: unknown, ctx: RunContext) {
    if (ctx.resume !== undefined) inputs.push((ctx.resume.payload as { text: string }).text)
    return ctx.suspend({ approvals: [], state: {} })
  },
}
const agents = [
  { id: 'asker', description: '', agent: asker },
  {
    id: 'guide',
    description: '',
    agent: { id: 'guide', run: async (input: unknown) => (input as { text: string }).text },
  },
] as const

type Message = readonly [id: string, text: string]

interface Chat {
  readonly agent?: string
  readonly key?: string | undefined
}

type Send = (text: string, key?: string) => Promise<Answer>

interface Answer {
  readonly status: number
  readonly runId: string | undefined
}

interface ChatServer {
  readonly send: Send
  readonly chat: (messages: readonly Message[], options?: Chat) => Promise<Answer>
  readonly runs: () => Promise<number>
  readonly questions: () => Promise<readonly string[]>
}

/** A server of its own, as another process would have it. */
async function serverWith(storage: Storage): Promise<ChatServer> {
  const config = { auth: { kind: 'none' }, server: { port: 1 } } as const
  const server = await createServer({ config, adapters: { storage, logger }, agents })
  onTestFinished(() => server.stop({ force: true }))
  await server.start({ listen: false })
  const request = (path: string, init?: RequestInit) =>
    server.fetch(new Request(`http://localhost/v1${path}`, { ...init }))
  const chat: ChatServer['chat'] = async (sent, { agent = 'guide', key } = {}) => {
    const messages = sent.map(([id, text]) => ({ id, role: 'user', parts: [{ type: 'text', text }] }))
    const answer = await request(`/agents/${agent}/chat`, {
      method: 'POST',
      body: JSON.stringify({ id: 'c', messages }),
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    })
    const shown = await answer.text()
    return { status: answer.status, runId: /run_[0-9A-Z]+/.exec(shown)?.[0] }
  }
  return {
    chat,
    send: (text, key) => chat([['m1', text]], { key }),
    async questions() {
      const shown = (await (await request('/agents/guide/chat/c/messages')).json()) as ReadonlyArray<{
        readonly role: string
        readonly parts: ReadonlyArray<{ readonly text?: string }>
      }>
      return shown.flatMap(({ role, parts }) => (role === 'user' ? parts.map(({ text }) => text ?? '') : []))
    },
    async runs() {
      const { items } = JSON.parse(await (await request('/runs')).text()) as { readonly items: readonly unknown[] }
      return items.length
    },
  }
}

/** Two storages of one database, and what closes them. */
type Databases = () => Promise<readonly [Storage, Storage]>

function startsOneTurn(databases: Databases): void {
  it.each([
    ['different keys', ['one', 'other']],
    ['a key and none', ['one', undefined]],
    ['none and a key', [undefined, 'other']],
    ['no keys', [undefined, undefined]],
  ] as const)('starts one turn for a message that arrives at both at the same time with %s', async (_, keys) => {
    const [one, other] = await Promise.all((await databases()).map(serverWith))
    if (one === undefined || other === undefined) throw new Error('two servers are needed')

    const answers = await Promise.all([one.send('hi', keys[0]), other.send('hi', keys[1])])

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(new Set(answers.map(({ runId }) => runId))).toHaveProperty('size', 1)
    expect(answers[0]?.runId).toBeDefined()
    expect(await one.runs()).toBe(1)
  })

  it('refuses one of two messages with the same id that arrive at both at the same time', async () => {
    const [one, other] = await Promise.all((await databases()).map(serverWith))

    const answers = await Promise.all([one?.send('yes', 'one'), other?.send('no', 'other')])

    expect(answers.map((answer) => answer?.status).sort()).toEqual([200, 409])
    expect(await one?.runs()).toBe(1)
  })

  it('answers a message once that arrives at one alone and at the other with the next one', async () => {
    const [one, other] = await Promise.all((await databases()).map(serverWith))
    if (one === undefined || other === undefined) throw new Error('two servers are needed')

    const answers = await Promise.all([
      one.chat([['m1', 'first']]),
      other.chat([
        ['m1', 'first'],
        ['m2', 'second'],
      ]),
    ])

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect([...(await one.questions())].sort()).toEqual(['first', 'second'])
  })

  it.each([
    ['different keys', ['one', 'other']],
    ['no keys', [undefined, undefined]],
  ] as const)(
    'passes a message once to a waiting run if it arrives at both at the same time with %s',
    async (_, keys) => {
      inputs.length = 0
      const [one, other] = await Promise.all((await databases()).map(serverWith))
      if (one === undefined || other === undefined) throw new Error('two servers are needed')
      await one.chat([['m1', 'start']], { agent: 'asker' })

      const answers = await Promise.all([
        one.chat([['m2', 'input']], { agent: 'asker', key: keys[0] }),
        other.chat([['m2', 'input']], { agent: 'asker', key: keys[1] }),
      ])

      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(inputs).toEqual(['input'])
    },
  )
}

startsOneTurn(async () => {
  const storage = createInMemoryStorage()
  return [storage, storage]
})

needsTool('PostgreSQL').describe('on PostgreSQL', () => {
  startsOneTurn(async () => {
    const url = await sharedPostgres()
    const schema = `message_${randomUUID().replaceAll('-', '').slice(0, 16)}`
    const open = async () => {
      const storage = await openPostgresStorage({ url, schema, cluster: true })
      onTestFinished(() => storage.close())
      return storage
    }
    const one = await open()
    return [one, await open()]
  })
})
