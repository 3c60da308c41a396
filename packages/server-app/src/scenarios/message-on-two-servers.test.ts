import { randomUUID } from 'node:crypto'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger, Storage } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import { expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const agents = [
  {
    id: 'guide',
    description: '',
    agent: { id: 'guide', run: async (input: unknown) => (input as { text: string }).text },
  },
] as const

type Send = (text: string, key?: string) => Promise<{ readonly status: number; readonly runId: string | undefined }>

/** A server of its own, as another process would have it. */
async function serverWith(storage: Storage): Promise<{ readonly send: Send; readonly runs: () => Promise<number> }> {
  const config = { auth: { kind: 'none' }, server: { port: 1 } } as const
  const server = await createServer({ config, adapters: { storage, logger }, agents })
  onTestFinished(() => server.stop({ force: true }))
  await server.start({ listen: false })
  const request = (path: string, init?: RequestInit) =>
    server.fetch(new Request(`http://localhost/v1${path}`, { ...init }))
  return {
    async send(text, key) {
      const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }]
      const answer = await request('/agents/guide/chat', {
        method: 'POST',
        body: JSON.stringify({ id: 'c', messages }),
        headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
      })
      const shown = await answer.text()
      return { status: answer.status, runId: /run_[0-9A-Z]+/.exec(shown)?.[0] }
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
