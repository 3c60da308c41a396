import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { RunContext } from '@perdure/core'
import type { Logger, Storage } from '@perdure/ports'
import { createManualClock, createRandom, forgeJwt } from '@perdure/testkit'
import { expect, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const ADMIN = { subject: 'ops', scopes: ['admin:*'] }
const OWNED = [
  'runs:read',
  'sessions:read',
  'sessions:write',
  'files:read',
  'files:write',
  'memory:read',
  'memory:write',
]
const SCOPES = ['agents:invoke', 'approvals:read:own', ...OWNED.map((scope) => `${scope}:own`)]
const START = Date.parse('2026-03-02T09:00:00.000Z')
const ISSUERS = ['one', 'two'] as const
const KINDS = [...ISSUERS, 'host', 'token'] as const
type Kind = (typeof KINDS)[number]
const SUBJECT_OF: Readonly<Record<Kind, (name: string) => string>> = {
  one: (name) => `jwt:one:${name}`,
  two: (name) => `jwt:two:${name}`,
  host: (name) => `host:${name}`,
  token: (name) => name,
}
const LARGE_FILE = 70_000
const PUMP_MS = 5

/** A user, the text that only its rows have, and the ids of its rows. */
export interface Person {
  readonly subject: string
  readonly mark: string
  readonly rows: { readonly path: string; readonly id: string }[]
  readonly keys: string[]
  send(method: string, path: string, init?: Sent): Promise<Answer>
}

interface Sent {
  readonly body?: object | string
  readonly headers?: Record<string, string>
}

interface Answer {
  readonly status: number
  readonly text: string
}

export type World = Awaited<ReturnType<typeof startWorld>>

/** A server whose clock the test moves, with users of two issuers, of the host and of tokens; four of them share each name. */
export async function startWorld(storage: Storage, path: string, subjects: number) {
  const clock = createManualClock(START)
  process.env.TEST_PEPPER = 'x'.repeat(32)
  const keys = Object.fromEntries(ISSUERS.map((id) => [id, generateKeyPairSync('ed25519')]))
  for (const id of ISSUERS) process.env[`TEST_KEY_${id}`] = pemOf(keys[id]?.publicKey)
  const server = await createServer({
    config: {
      auth: { pepperRef: 'env:TEST_PEPPER', jwt: ISSUERS.map(issuer) },
      audit: { events: 'all' },
      storage: { path },
    },
    adapters: { storage, logger, clock, timers: clock },
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
    ],
  })
  // Loops and runs wait for timers.
  const pump = setInterval(() => clock.advance(PUMP_MS), PUMP_MS)
  onTestFinished(async () => {
    await server.stop({ force: true })
    clearInterval(pump)
  })
  await server.start({ listen: false })
  const admin = server.client(ADMIN)

  /** `undefined` for a user of the host, which passes the user itself. */
  const credentialOf = async (kind: Kind, name: string): Promise<string | undefined> => {
    if (kind === 'host') return undefined
    if (kind === 'token') return (await admin.tokens.create({ name, subject: name, scopes: SCOPES })).token
    return forgeJwt({ claims: claimsOf(kind, name), key: keys[kind]?.privateKey })
  }

  const personAt = async (index: number): Promise<Person> => {
    const kind = KINDS[index % KINDS.length] ?? 'host'
    const name = `u${Math.floor(index / KINDS.length)}`
    const credential = await credentialOf(kind, name)
    const own: Record<string, string> = credential === undefined ? {} : { authorization: `Bearer ${credential}` }
    const as = credential === undefined ? { as: { subject: name, scopes: SCOPES } } : {}
    const send: Person['send'] = async (method, at, init) => {
      const response = await server.fetch(requestOf(method, at, { ...init, headers: { ...own, ...init?.headers } }), as)
      return { status: response.status, text: await response.text() }
    }
    return { subject: SUBJECT_OF[kind](name), mark: `mark-${index}-of-${kind}-${name}-end`, rows: [], keys: [], send }
  }
  const people: Person[] = []
  for (let index = 0; index < subjects; index++) people.push(await personAt(index))
  return { server, clock, admin, people }
}

function requestOf(method: string, at: string, { body, headers = {} }: Sent): Request {
  const json: Record<string, string> = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  return new Request(`http://localhost/v1${at}`, {
    ...{ method, headers: { ...json, ...headers } },
    ...(text === undefined ? {} : { body: text }),
  })
}

const pemOf = (key: KeyObject | undefined) => key?.export({ type: 'spki', format: 'pem' }).toString() ?? ''
const issuer = (id: (typeof ISSUERS)[number]) => ({
  ...{ id, issuer: `https://${id}.test`, audience: 'perdure', algorithms: ['EdDSA'], scopes: SCOPES },
  keys: { secretRef: `env:TEST_KEY_${id}` },
})
const claimsOf = (id: string, sub: string) => ({
  ...{ iss: `https://${id}.test`, aud: 'perdure', sub, iat: START / 1_000, exp: START / 1_000 + 3_600 },
})

/** Every person acts at random, beside the others. Each answer may contain only the mark of the one who asks. */
export async function actAtRandom({ people }: World, { actions, seed }: { actions: number; seed: number }) {
  const random = createRandom(seed)
  const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const refusals = new Map<number, number>()
  let answers = 0

  const act = async (person: Person): Promise<void> => {
    const action = oneOf(ACTIONS) ?? ACTIONS[0]
    const other = oneOf(people.filter((one) => one !== person)) ?? person
    const asked: typeof person.send = async (method, path, init) => {
      const answer = await person.send(method, path, init)
      answers++
      const foreign = answer.text.match(/mark-\d+-of-\w+-\w+-end/g)?.filter((mark) => mark !== person.mark) ?? []
      expect([method, path, answer.status, foreign]).toEqual([method, path, answer.status, []])
      expect([path, answer.status < 500]).toEqual([path, true])
      return answer
    }
    const refused = await action({ person, other, asked, random, row: oneOf(other.rows), own: oneOf(person.rows) })
    for (const status of refused ?? []) refusals.set(status, (refusals.get(status) ?? 0) + 1)
  }
  for (let turn = 0; turn < actions; turn++) await Promise.all(people.map(act))
  return { answers, refusals }
}

interface Acting {
  readonly person: Person
  readonly other: Person
  readonly asked: Person['send']
  readonly random: () => number
  /** A row of the other. */
  readonly row: Person['rows'][number] | undefined
  readonly own: Person['rows'][number] | undefined
}

/** Returns the statuses of the answers to what nobody may do. */
type Action = (acting: Acting) => Promise<readonly number[] | undefined>

const idIn = (text: string, member: string) => String(JSON.parse(text)[member])

const create =
  (path: string, list: string, bodyOf: (acting: Acting) => object | string, member = 'id'): Action =>
  async (acting) => {
    const { person, asked, random } = acting
    const key = `key-${person.rows.length}-${Math.floor(random() * 1e9)}`
    const body = bodyOf(acting)
    const answer = await asked('POST', path, {
      body,
      headers: { 'idempotency-key': key, ...(typeof body === 'string' ? { 'content-type': 'text/plain' } : {}) },
    })
    expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text])
    person.rows.push({ path: list, id: idIn(answer.text, member) })
    person.keys.push(key)
    return undefined
  }

const LISTS = ['/runs', '/sessions', '/approvals', '/files', '/memory/facts', '/memory/blocks']
const ownSession = ({ person }: Acting) => person.rows.find(({ path }) => path === '/sessions')?.id

const ACTIONS: readonly [Action, ...Action[]] = [
  create('/sessions', '/sessions', ({ person }) => ({ title: person.mark })),
  create(
    '/agents/echo/run',
    '/runs',
    (acting) => ({ input: acting.person.mark, sessionId: ownSession(acting) }),
    'runId',
  ),
  create('/agents/asks/run', '/runs', ({ person }) => ({ input: person.mark }), 'runId'),
  create('/memory/facts', '/memory/facts', ({ person }) => ({ text: `I like ${person.mark}` })),
  create('/files', '/files', ({ person, random }) =>
    `${person.mark} `.repeat(random() < 0.1 ? Math.ceil(LARGE_FILE / person.mark.length) : 2),
  ),
  async ({ person, asked }) => {
    await asked('PUT', '/memory/blocks/profile', { body: { value: person.mark } })
    return undefined
  },
  async ({ asked }) => {
    for (const path of LISTS) await asked('GET', path)
    return undefined
  },
  async ({ asked, own }) => {
    if (own !== undefined) expect((await asked('GET', `${own.path}/${own.id}`)).status).toBe(200)
    return undefined
  },
  async ({ asked, other }) => {
    await asked('POST', '/memory/search', { body: { query: other.mark, limit: 10 } })
    const usage = await asked('GET', `/subjects/${encodeURIComponent(other.subject)}/usage`)
    const exported = await asked('POST', `/subjects/${encodeURIComponent(other.subject)}/export`, { body: {} })
    return refusedIn([usage, exported])
  },
  async ({ asked, row }) => {
    if (row === undefined) return undefined
    const path = `${row.path}/${row.id}`
    const answers = [await asked('GET', path), await asked('DELETE', path)]
    if (row.path === '/runs') {
      for (const part of ['/events', '/steps', '/state']) answers.push(await asked('GET', `${path}${part}`))
      for (const verb of ['abort', 'resume', 'retry', 'rerun'])
        answers.push(await asked('POST', `${path}/${verb}`, { body: {} }))
    }
    if (row.path === '/sessions') {
      for (const part of ['/messages', '/runs', '/events']) answers.push(await asked('GET', `${path}${part}`))
      answers.push(await asked('PATCH', path, { body: { title: 'stolen' } }))
      answers.push(await asked('POST', '/agents/echo/run', { body: { input: 'x', sessionId: row.id } }))
    }
    return refusedIn(answers)
  },
  async ({ asked, other, person }) => {
    const key = other.keys.at(-1)
    if (key === undefined) return undefined
    const body = { input: person.mark }
    const answer = await asked('POST', '/agents/echo/run', { body, headers: { 'idempotency-key': key } })
    expect(answer.status).toBeLessThan(300)
    return undefined
  },
]

function refusedIn(answers: readonly Answer[]): readonly number[] {
  expect(answers.filter(({ status }) => ![403, 404, 405].includes(status))).toEqual([])
  return answers.map(({ status }) => status)
}
