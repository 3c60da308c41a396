import { EVERY_ROW } from '@perdure/ports'
import { OPERATIONS, type Operation, protocolOf, SCOPES } from '@perdure/protocol'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { describe, expect, it } from 'vitest'
import { bearer, post } from './app.fixture.ts'
import { toRequest } from './operation-request.fixture.ts'
import { sampleOf } from './sample.fixture.ts'
import { testDigest } from './test-crypto.fixture.ts'
import { createOwnersApp, headersOf } from './visibility.fixture.ts'

/** Members of requests that name a row with an owner. */
const ROWS = [
  'runId',
  'parentRunId',
  'sessionId',
  'threadId',
  'approvalId',
  'factId',
  'label',
  'conflictId',
  'responseId',
  'conversationId',
  'webhookId',
  'deliveryId',
  'fileId',
]
/** Members that name something without an owner, or nothing that exists in the server. */
const OTHERS = [
  ...['agentId', 'workflowId', 'skillName', 'serverId', 'toolName', 'tokenId', 'triggerId', 'deadLetterId'],
  ...['hookId', 'hookDeliveryId'],
]
/** A chat or a message of a client: the server derives the session from the caller and the id. */
const CLIENT_IDS = ['chatId', 'messages.id', 'messageId', 'resume.interruptId', 'messages.name', 'conversation.id']
const NO_ROWS = [
  ...['name', 'filename', 'userId', 'checkpointId', 'lastEventId', 'toolCallId', 'toolResults.toolCallId', 'nodeId'],
  ...CLIENT_IDS,
]
/** `id` names the new row of a create, or an approval of the run in the path. Both have their own tests below. */
const TESTED_BELOW = ['id', 'target.sessionId', 'target.agentId', 'target.workflowId']

interface Member {
  readonly operation: Operation
  readonly at: 'path' | 'query' | 'body'
  readonly name: string
}

const MEMBERS: readonly Member[] = OPERATIONS.flatMap((operation) => [
  ...[...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({ operation, at: 'path', name }) as const),
  ...namesIn(operation.query).map((name) => ({ operation, at: 'query', name }) as const),
  ...namesIn(operation.body).map((name) => ({ operation, at: 'body', name }) as const),
]).filter(({ operation, name }) => operation.refused !== true && /(?:^|\.|[a-z])(?:Id|id|Name|name|label)$/.test(name))

const CASES = MEMBERS.filter(
  ({ name, operation, at }) => ROWS.includes(name) && !(protocolOf(operation) !== undefined && at === 'body'),
)

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly items?: Shape
}

/** Names of the members, with their path in nested objects. */
function namesIn(schema: GenericSchema | undefined): readonly string[] {
  if (schema === undefined) return []
  const names = (shape: Shape | undefined): readonly string[] => [
    ...Object.entries(shape?.properties ?? {}).flatMap(([name, inner]) => [
      name,
      ...names(inner).map((nested) => `${name}.${nested}`),
    ]),
    ...[...(shape?.anyOf ?? []), ...(shape?.oneOf ?? [])].flatMap(names),
    ...(shape?.items === undefined ? [] : names(shape.items)),
  ]
  return [...new Set(names(toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' }) as Shape))]
}

/** Everything that `own` can cover, and every action on targets but reading, which would show the rows of all owners. */
const OWN = Object.entries(SCOPES).flatMap(([name, spec]) => ('owned' in spec ? [`${name}:own`] : []))
const ACTING = ['agents:invoke', 'workflows:execute', 'workflows:resume', 'workflows:delete', 'triggers:write']
const READING = [...OWN, ...ACTING].filter((scope) => scope !== 'sessions:write:own')

function requestOf({ operation, at, name }: Member, id: string): Request {
  const sample = sampleOf(operation.body) as Record<string, unknown>
  const body = at === 'body' ? JSON.stringify({ ...sample, [name]: id }) : undefined
  const query = at === 'query' ? `&${name}=${id}` : undefined
  const inPath = name === 'responseId' ? `resp_${id}` : id
  const request = toRequest(operation, { id: at === 'path' ? inPath : 'of-alice', body, query })
  return new Request(request.url.replace(/(\/workflows\/)[^/?]+/, '$1steps'), request)
}

async function setUp(credential?: 'token' | 'jwt') {
  const { app, mint, rowsOf, manage, storage } = await createOwnersApp(credential)

  /** The whole answer as text, with the id and what differs between any two requests replaced. */
  const answerTo = async (token: string, request: Request, id: string): Promise<string> => {
    const headers = { ...headersOf(request), ...bearer(token), 'X-Request-Id': 'same' }
    const response = await app.fetch(new Request(request, { headers }))
    const shown = [...response.headers].filter(([name]) => !name.startsWith('ratelimit'))
    return `${response.status} ${JSON.stringify(shown)} ${await response.text()}`.replaceAll(id, '<id>')
  }
  const both = async (token: string, requestFor: (id: string) => Request, existing = 'of-bob') => {
    const absent = `${existing.slice(0, -1)}X` // equally long, because answers contain the id
    return {
      foreign: await answerTo(token, requestFor(existing), existing),
      missing: await answerTo(token, requestFor(absent), absent),
    }
  }
  return { answerTo, both, mint, rowsOf, manage, storage }
}

/** With the scopes to create it, these members name a row that the operation creates if the id is free. */
const CREATES = [
  ...['agents.run', 'agents.stream', 'workflows.execute'].map((id) => `${id} sessionId`),
  'workflows.execute threadId',
]
const titleOf = ({ operation, name }: Member) => `${operation.id} ${name}`

describe('a request that names a row', () => {
  it('names it in a member that these tests know', () => {
    const known = [...ROWS, ...OTHERS, ...NO_ROWS, ...TESTED_BELOW]
    const unknown = MEMBERS.filter(({ name }) => !known.includes(name) && !name.startsWith('approvals.'))

    expect(unknown.map(titleOf)).toEqual([])
    expect(CASES.length).toBeGreaterThanOrEqual(35)
    expect(OWN.length).toBeGreaterThanOrEqual(8)
  })

  it.each(
    (['token', 'jwt'] as const).flatMap((credential) =>
      CASES.map((member) => [credential, titleOf(member), member.at, member] as const),
    ),
  )(
    'gets with a %s the same bytes for the row of another owner and for a missing row: %s in its %s',
    async (credential, title, _, member) => {
      const { both, mint, rowsOf } = await setUp(credential)
      const before = await rowsOf('bob')
      // A caller that may execute the workflow creates the thread that it names.
      const creating = title === 'workflows.execute threadId' ? OWN : READING
      const scopes = CREATES.includes(title) ? creating : [...OWN, ...ACTING]

      const { foreign, missing } = await both(await mint(...scopes), (id) => requestOf(member, id))

      expect(foreign).not.toMatch(/^401/)
      expect(foreign).toBe(missing)
      expect(foreign).not.toMatch(/^5/)
      expect(await rowsOf('bob')).toBe(before)
    },
  )

  it.each(
    CASES.filter((member) => CREATES.includes(titleOf(member))).map((member) => [titleOf(member), member] as const),
  )('gets 404 for the row of another owner if it may create such a row: %s', async (_, member) => {
    const { both, mint, rowsOf } = await setUp()
    const before = await rowsOf('bob')

    const { foreign, missing } = await both(await mint(...OWN, ...ACTING), (id) => requestOf(member, id))

    expect(foreign).toMatch(/^404 .*(?:session|thread)-not-found/)
    expect(missing).toMatch(/^20[02] /)
    expect(await rowsOf('bob')).toBe(before)
  })

  it('gets the same bytes for a taken session id, whoever owns the session', async () => {
    const { answerTo, mint } = await setUp()
    const token = await mint(...OWN)
    const create = (id: string) => answerTo(token, post('/sessions', { id }), id)

    expect(await create('of-bob')).toBe(await create('of-alice'))
    expect(await create('of-bob')).toMatch(/^409 .*session-exists/)
  })

  it('gets the same bytes for the target session of a trigger that it may neither use nor create', async () => {
    const { both, mint } = await setUp()
    const trigger = (sessionId: string) => {
      const target = { agentId: 'echo', sessionId }
      return post('/triggers', { id: 'daily', kind: 'interval', intervalMs: 60_000, target })
    }

    const { foreign, missing } = await both(await mint(...READING), trigger)
    expect(foreign).toBe(missing)
    expect(foreign).toMatch(/^404 .*session-not-found/)
  })

  it('gets the same bytes for the approval of another run and for a missing approval', async () => {
    const { both, mint } = await setUp()
    const resume = (id: string) => post('/runs/paused-alice/resume', { approvals: [{ id, approved: true }] })

    const { foreign, missing } = await both(await mint(...OWN, ...ACTING), resume)
    expect(foreign).toBe(missing)
    expect(foreign).toMatch(/^4/)
  })
})

describe('a request that names something without an owner', () => {
  const NAMED = MEMBERS.filter(({ at, name }) => at === 'path' && OTHERS.includes(name))
  const existing: Readonly<Record<string, string>> = { agents: 'hold', workflows: 'steps', skills: 'pdf' }

  it.each(NAMED.map((member) => [titleOf(member), member] as const))(
    'gets the same bytes whether it exists or not, with a grant for another id: %s',
    async (_, member) => {
      const { both, mint, manage } = await setUp()
      const { record } = await manage.mint({ name: 'theirs', scopes: ['audit:read'], subject: 'bob' }, 'test')
      const [resource = ''] = member.operation.id.split('.')
      const id = resource === 'tokens' ? record.id : (existing[resource] ?? 'theirs')
      const grants = ['agents', 'workflows', 'triggers', 'tokens', 'skills', 'mcp'].flatMap((name) =>
        Object.entries(SCOPES).flatMap(([scope, { third }]) =>
          scope.startsWith(`${name}:`) && third === 'id' ? [`${scope}:mine`] : [],
        ),
      )
      const pathFor = (value: string) =>
        new Request(requestOf(member, 'of-alice').url.replace(/\/(echo|steps|of-alice)\b/, `/${value}`), {
          ...requestOf(member, 'of-alice'),
          method: member.operation.method,
        })

      const { foreign, missing } = await both(await mint(...grants), pathFor, id)

      expect(foreign).toBe(missing)
      expect(foreign).toMatch(/^40[34] /)
    },
  )
})

describe('the id that the server derives for a chat of another owner', () => {
  const chatOfBob = `x${(BigInt(`0x${testDigest.sha256('bob\0chat')}`) >> 126n).toString(32).padStart(26, '0')}`
  /** Every member that can name a session, in the bodies of protocols too. */
  const naming = MEMBERS.filter(
    ({ name, operation, at }) =>
      operation.method !== 'GET' &&
      (/^(?:session|thread|chat|conversation)Id$/.test(name) || (at !== 'query' && name === 'id')),
  )

  it.each(naming.map((member) => [titleOf(member), member.at, member] as const))(
    'names no session that anybody else creates with %s in its %s',
    async (_, __, member) => {
      const { answerTo, mint, storage } = await setUp()

      await answerTo(await mint('admin:*'), requestOf(member, chatOfBob), chatOfBob)

      expect(await storage.sessions.find(chatOfBob, EVERY_ROW)).toBeUndefined()
    },
  )
})
