import { isGrantable, OPERATIONS, type Operation, SCOPES, type ScopeRule } from '@perdure/protocol'
import {
  aBlock,
  aDelivery,
  aFact,
  aFile,
  aMemoryConflict,
  anApproval,
  aRun,
  aSession,
  aWebhook,
} from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createTestApp } from './app.fixture.ts'
import { toRequest } from './operation-request.fixture.ts'

const ID = 'echo'

/**
 * Every scope that a token can hold: unrestricted, limited to the id in the request, to another id or to the caller's
 * own rows, and with wildcards.
 */
const HELD: readonly string[] = [
  'admin:*',
  ...Object.keys(SCOPES).flatMap((name) => {
    const [resource] = name.split(':')
    const thirds = ['', ':*', ':own', `:${ID}`, ':other', ':sanitized', ':raw', ':read']
    return [...thirds.map((third) => name + third), `${resource}:*`, `${resource}:*:${ID}`, `${resource}:*:own`]
  }),
].filter((scope, index, all) => isGrantable(scope) && all.indexOf(scope) === index && isTried(scope))

/** A path that another server removes cannot change how a third part is read, so the tests below a path leave those out. */
function isTried(scope: string): boolean {
  return process.env.HTTP_MOUNT_PATH === undefined || scope.split(':').length === 2
}

/**
 * Whether an operation's rule admits a token with this one scope. Derived only from the scope grammar, to check
 * `authorize` independently.
 */
function isLetIn(rule: ScopeRule, held: string): boolean {
  if (rule === null || rule === 'principal' || held === 'admin:*') return true
  if (typeof rule === 'string') return isCovered(rule, held)
  if ('scope' in rule) return isCovered(rule.scope, held)
  // A later stage decides whether the scope covers the row.
  return rule.anyOf.some((scope) => isSameAction(scope, held))
}

function isCovered(rule: string, held: string): boolean {
  const third = rule.split(':')[2]
  const heldThird = held.split(':')[2]
  if (third !== undefined && !third.startsWith('{')) {
    return held === rule || (rule === 'traces:read:sanitized' && held === 'traces:read:raw')
  }
  if (!isSameAction(rule, held)) return false
  if (heldThird === undefined || heldThird === '*' || heldThird === 'own') return true
  return third !== undefined && heldThird === ID
}

function isSameAction(rule: string, held: string): boolean {
  const [resource, action] = rule.split(':')
  const [heldResource, heldAction] = held.split(':')
  return heldResource === resource && (heldAction === action || heldAction === '*')
}

function setUp() {
  const { app, manage, clock, storage } = createTestApp({ auth: 'token', config: { perIpRequests: 1_000_000 } })
  let callers = 0

  const mint = async (...scopes: string[]) => (await manage.mint({ name: 'm', scopes, subject: 'alice' }, 'test')).token

  /** Uses a new client address per call to avoid the lockout. */
  const call = async (operation: Operation, token: string | undefined, id = ID) => {
    callers += 1
    const env = { incoming: { socket: { remoteAddress: `10.0.${callers >> 8}.${callers & 255}` } } }
    const headers = token === undefined ? {} : bearer(token)
    const response = await app.fetch(toRequest(operation, { headers, id }), env)
    const hasBody = /^(?:application\/json|text\/plain)/.test(response.headers.get('content-type') ?? '')
    const { requestId: _, ...body } = hasBody ? await bodyOf(response) : {}
    return { status: response.status, error: body.error, body }
  }
  return { call, mint, manage, clock, storage }
}

const byId = (operation: Operation) => [operation.id, operation] as const

describe('an operation', () => {
  it('has a scope rule', () => {
    for (const { id, scope } of OPERATIONS) {
      expect([null, 'principal', 'string', 'object'], id).toContain(
        scope === null || scope === 'principal' ? scope : typeof scope,
      )
    }
  })

  it.each(OPERATIONS.map(byId))(
    'rejects missing, invalid, expired and revoked tokens unless it is public: %s',
    async (_, operation) => {
      const { call, manage, clock } = setUp()
      const admin = { name: 'm', scopes: ['admin:*'] }
      const expired = await manage.mint({ ...admin, expiresAt: clock.now() + 1 }, 'test')
      const revoked = await manage.mint(admin, 'test')
      await manage.revoke(revoked.record.id, 'test')
      clock.advance(1)

      const answers = [
        await call(operation, undefined),
        await call(operation, 'junk'),
        await call(operation, expired.token),
        await call(operation, revoked.token),
      ]

      // Refuses the code in its body, whatever the header says.
      const ofHeader = answers.filter(({ body }) => !String(body.message).includes('the code is unknown'))
      if (operation.scope === null) {
        expect(ofHeader.filter(({ status }) => status === 401 || status === 403)).toEqual([])
      } else {
        expect(answers.map(({ status, error }) => `${status} ${error}`)).toEqual([
          '401 auth-required',
          '401 auth-invalid',
          '401 auth-expired',
          '401 auth-revoked',
        ])
      }
    },
  )

  it.each(OPERATIONS.map(byId))('admits exactly the scopes of its rule: %s', async (_, operation) => {
    const { call, mint } = setUp()

    const letIn: string[] = []
    for (const held of HELD) {
      const { status, error } = await call(operation, await mint(held))
      if (error !== 'scope-denied') letIn.push(held)
      expect(status, held).not.toBe(500)
      expect(status === 403 ? error : 'no refusal of the gate', held).not.toMatch(/^(?:auth|csrf|cors)-/)
    }

    // The request names another subject than that of the caller.
    const ofOther: ScopeRule = operation.id === 'subjects.usage' ? 'subjects:read' : operation.scope
    const rule = operation.targetFrom === undefined ? ofOther : (`agents:invoke:{agentId}` as const)
    expect(letIn).toEqual(HELD.filter((held) => isLetIn(rule, held)))
  })
})

const OWNED = OPERATIONS.filter(({ scope, path }) => {
  const rules = typeof scope === 'string' ? [scope] : scope !== null && 'anyOf' in scope ? scope.anyOf : []
  return path.includes('/:') && rules.some((rule) => isGrantable(`${rule.split(':', 2).join(':')}:own`))
})

describe("a request for another owner's row", () => {
  async function withRows() {
    const made = setUp()
    for (const owner of ['alice', 'bob']) {
      const id = `of-${owner}`
      const outcome = await made.storage.unitOfWork.commit([
        { type: 'session.insert', session: aSession({ id, owner }) },
        { type: 'run.insert', run: aRun({ id, owner, status: 'completed', targetId: 'echo' }) },
        { type: 'approval.insert', approval: anApproval({ id, owner, runId: id }) },
        { type: 'fact.insert', fact: aFact({ id, owner }) },
        { type: 'block.put', block: aBlock({ id, owner, label: id }) },
        { type: 'conflict.open', conflict: aMemoryConflict({ id, owner, factIds: [id, `other-${id}`] }) },
        { type: 'webhook.insert', webhook: aWebhook({ id, createdBy: owner, owner }) },
        { type: 'delivery.insert', delivery: aDelivery({ id, webhookId: id }) },
        { type: 'file.insert', file: aFile({ id, owner }), content: 'aGVsbG8=' },
      ])
      expect(outcome).toMatchObject({ committed: true })
    }
    return made
  }

  // Putting a block always writes the caller's own row, so another owner's row cannot be addressed.
  it.each(OWNED.filter(({ id }) => id !== 'memory.put-block').map(byId))(
    'gets exactly the same answer as for a missing row: %s',
    async (_, operation) => {
      const { call, mint } = await withRows()
      const resources = ['runs', 'approvals', 'sessions', 'memory', 'webhooks', 'files']
      const token = await mint(...resources.map((resource) => `${resource}:*:own`))

      const [missing, foreign, own] = [
        await call(operation, token, 'not-there'),
        await call(operation, token, 'of-bob'),
        await call(operation, token, 'of-alice'),
      ]

      expect(foreign).toEqual(missing)
      expect(missing.status).toBe(404)
      expect(own.status).not.toBe(404)
    },
  )

  it.each(OWNED.filter(({ id }) => id.startsWith('runs.')).map(byId))(
    'gets the same answer as for a missing row if the token covers only another agent: %s',
    async (_, operation) => {
      const { call, mint } = await withRows()
      const token = await mint('agents:*:other', 'workflows:*:other')

      expect(await call(operation, token, 'of-bob')).toEqual(await call(operation, token, 'not-there'))
    },
  )
})
