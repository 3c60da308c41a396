import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunContext } from '@perdure/core'
import type { Logger } from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const ADMIN = { subject: 'ops', scopes: ['admin:*'] }
const SCOPES = [
  'agents:invoke',
  ...['runs:read', 'sessions:read', 'sessions:write', 'files:read', 'files:write', 'memory:read', 'memory:write'].map(
    (scope) => `${scope}:own`,
  ),
  ...['triggers:write', 'webhooks:write'],
]
const USERS = ['host:alice', 'host:bob'] as const

async function start() {
  const dir = mkdtempSync(join(tmpdir(), 'subject-data-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'data.db')
  process.env.TEST_PEPPER = 'x'.repeat(32)
  const server = await createServer({
    config: { auth: { pepperRef: 'env:TEST_PEPPER' }, storage: { path } },
    adapters: { storage: await openSqliteStorage({ path }), logger },
    agents: [
      { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input: unknown) => input } },
      {
        id: 'asks',
        description: 'Waits for a person.',
        agent: {
          id: 'asks',
          run: (input: unknown, { approval }: RunContext) =>
            approval('decide', { title: `About ${input}`, payload: input }),
        },
      },
      {
        id: 'parent',
        description: 'Starts a child that waits.',
        agent: { id: 'parent', run: (input: unknown, { invoke }: RunContext) => invoke('asks', input) },
      },
    ],
  })
  onTestFinished(() => server.stop({ force: true }))
  await server.start({ listen: false })
  return { server, path }
}

type Server = Awaited<ReturnType<typeof start>>['server']

/** Text that only rows of this user have. */
const markOf = (user: string) => `mark-of-${user.slice(5)}`

/** Gives the user rows of every kind. */
async function fill(server: Server, user: string): Promise<void> {
  const mark = markOf(user)
  const client = server.client({ subject: user, scopes: SCOPES })
  await client.sessions.create({ id: `s-${user.slice(5)}`, title: `About ${mark}` })
  for (const agent of ['echo', 'asks', 'parent']) {
    for (const sessionId of [undefined, `s-${user.slice(5)}`])
      await client.agents.run(agent, { input: mark, sessionId })
  }
  await client.memory.createFact({ text: `The user likes ${mark}` })
  await client.memory.createFact({ text: `Forgotten soon: ${mark}`, expiresAt: '2020-01-01T00:00:00Z' }).catch(ignore)
  await client.memory.putBlock('profile', { value: mark })
  for (const size of [10, 200_000]) {
    const body = `${mark} `.repeat(Math.ceil(size / (mark.length + 1)))
    const request = new Request('http://localhost/v1/files', {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain' },
    })
    const answer = await server.fetch(request, { as: { subject: user.slice(5), scopes: SCOPES } })
    expect(answer.status).toBe(201)
  }
  await client.triggers.create({
    id: `t-${user.slice(5)}`,
    kind: 'cron',
    cron: '0 0 1 1 *',
    target: { agentId: 'echo', input: mark },
  })
  await client.webhooks.create({ id: `w-${user.slice(5)}`, url: `https://example.com/hook`, events: ['run.*'] })
  await server.issueToken({ subject: user.slice(5), scopes: ['agents:invoke:echo'], expiresIn: '1h' })
}

async function exported(server: Server, user: string): Promise<string> {
  return (await server.client(ADMIN).subjects.export(user)).text()
}

/** The tables that contain the text in any column, as text or inside of other text. */
function tablesWith(path: string, text: string): readonly string[] {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const namesIn = (query: string) =>
      db
        .prepare(query)
        .all()
        .map(({ name }) => String(name))
    return namesIn(`select name from sqlite_schema where type = 'table'`).filter((table) => {
      const columns = namesIn(`select name from pragma_table_info('${table}')`)
      const matches = columns.map((column) => `instr(cast("${column}" as text), ?) > 0`).join(' or ')
      return db.prepare(`select 1 from "${table}" where ${matches}`).get(...columns.map(() => text)) !== undefined
    })
  } finally {
    db.close()
  }
}

async function eraseAll(server: Server, user: string) {
  const totals: Record<string, number> = {}
  for (let round = 0; round < 20; round++) {
    const part = await server.client(ADMIN).subjects.delete(user)
    for (const [noun, count] of Object.entries(part.deleted)) totals[noun] = (totals[noun] ?? 0) + count
    if (part.isComplete) return totals
    await pause(20)
  }
  throw new Error('the deletion did not end')
}

describe('the data of a subject', () => {
  it('is exported with all that it owns, and deleted without a trace of its content', async () => {
    const { server, path } = await start()
    for (const user of USERS) await fill(server, user)
    const [alice, bob] = USERS
    const bobsBefore = await exported(server, bob)

    const hers = await exported(server, alice)
    const types = hers
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type as string)
    expect(new Set(types)).toEqual(
      new Set([
        'session',
        'message',
        'run',
        'approval',
        'event',
        'fact',
        'block',
        'trigger',
        'webhook',
        'file',
        'file-part',
        'checksum',
      ]),
    )
    expect(types.at(-1)).toBe('checksum')
    expect(hers).not.toContain(markOf(bob))

    const totals = await eraseAll(server, alice)

    expect(totals).toMatchObject({ triggers: 1, webhooks: 1, sessions: 1, blocks: 1, files: 2 })
    expect((await exported(server, alice)).trimEnd().split('\n')).toHaveLength(1)
    expect(await exported(server, bob)).toBe(bobsBefore)
    // Answers to repeated requests are kept for a day.
    expect(tablesWith(path, markOf(alice))).toEqual(['idempotency'])
    expect(tablesWith(path, alice)).toEqual([
      ...['idempotency', 'audit_entries', 'events', 'subject_revocations', 'deleted_usage'],
    ])
    const db = new DatabaseSync(path, { readOnly: true })
    onTestFinished(() => db.close())
    const named = db.prepare(`select distinct type from events where payload like '%${alice}%' order by type`).all()
    expect(named.map(({ type }) => type)).toEqual(['audit.appended', 'session.deleted'])
    expect(await server.client(ADMIN).audit.verify({})).toMatchObject({ ok: true })
  })

  it('is deleted by as many requests as it takes, also after one that deleted a part', async () => {
    const { server } = await start()
    await fill(server, 'host:alice')
    const admin = server.client(ADMIN)
    // A request that is cut off may have deleted any part.
    await admin.triggers.delete('t-alice')
    await admin.sessions.delete('s-alice')

    expect(await eraseAll(server, 'host:alice')).toMatchObject({ triggers: 0, sessions: 0, files: 2 })
    expect(await admin.subjects.delete('host:alice')).toMatchObject({ isComplete: true })
  })

  it('is deleted only with the scope, and not of the caller', async () => {
    const { server } = await start()
    const reader = server.client({ subject: 'carol', scopes: ['subjects:read', 'subjects:export'] })
    await expect(reader.subjects.delete('host:alice')).rejects.toMatchObject({ code: 'scope-denied' })
    await expect(server.client(ADMIN).subjects.delete('ops')).rejects.toMatchObject({ code: 'validation-failed' })
    await expect(server.client(ADMIN).subjects.delete('a b')).rejects.toMatchObject({ code: 'validation-failed' })
  })
})
