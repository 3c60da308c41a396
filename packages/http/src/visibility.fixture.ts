import type { JwtIssuer } from '@perdure/core'
import type { Visibility } from '@perdure/ports'
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
  forgeJwt,
} from '@perdure/testkit'
import { expect } from 'vitest'
import { bearer, bodyOf, createTestApp } from './app.fixture.ts'

const KEY = new Uint8Array(32)

/** The subjects of `alice` and `bob`. At two issuers, both have the same name. */
const SUBJECTS = {
  token: { alice: 'alice', bob: 'bob' },
  jwt: { alice: 'jwt:one:alice', bob: 'jwt:two:alice' },
}

/** An issuer whose signatures are all believed. */
const issuer = (id: string): JwtIssuer => ({
  ...{ id, issuer: `https://${id}.test`, algorithms: ['EdDSA'], clockToleranceSeconds: 0, subject: 'sub', claims: [] },
  ...{ scopes: { claim: 'scope' }, maxScopes: ['admin:*'] },
  verify: async (jwt) => ({ kind: 'verified', claims: JSON.parse(atob(jwt.split('.')[1] ?? '')) }),
})

/**
 * An app with rows of `alice`, whose tokens or JWTs it mints, and the same rows of `bob`: `of-alice`, `paused-alice`, …
 *
 * @param credential with JWTs, `bob` is the user of that name at another issuer
 */
export async function createOwnersApp(credential: keyof typeof SUBJECTS = 'token') {
  const jwtIssuers = ['one', 'two'].map(issuer)
  const made = createTestApp({ auth: 'token', config: { perIpRequests: 1_000_000 }, jwtIssuers })
  const { app, manage, storage, clock } = made
  const subjects = SUBJECTS[credential]
  for (const name of ['alice', 'bob'] as const) {
    const owner = subjects[name]
    const [id, waiting, done, thread] = [`of-${name}`, `paused-${name}`, `done-${name}`, `flow-${name}`]
    const flow = { kind: 'workflow', targetId: 'steps', status: 'suspended' } as const
    const outcome = await storage.unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id, owner }) },
      { type: 'run.insert', run: aRun({ id, owner, status: 'running', targetId: 'echo' }) },
      { type: 'run.insert', run: aRun({ id: waiting, owner, status: 'suspended', targetId: 'echo' }) },
      { type: 'run.insert', run: aRun({ id: done, owner, status: 'completed', targetId: 'echo' }) },
      { type: 'run.insert', run: aRun({ id: thread, owner, threadId: id, ...flow }) },
      { type: 'approval.insert', approval: anApproval({ id, owner, runId: waiting }) },
      { type: 'fact.insert', fact: aFact({ id, owner }) },
      { type: 'block.put', block: aBlock({ id, owner, label: id }) },
      { type: 'conflict.open', conflict: aMemoryConflict({ id, owner, factIds: [id, `other-${id}`] }) },
      { type: 'webhook.insert', webhook: aWebhook({ id, createdBy: owner, owner }) },
      { type: 'delivery.insert', delivery: aDelivery({ id, webhookId: id }) },
      { type: 'file.insert', file: aFile({ id, owner }), content: 'aGVsbG8=' },
    ])
    expect(outcome).toMatchObject({ committed: true })
  }

  const mint = async (...scopes: string[]) => {
    if (credential === 'token') return (await manage.mint({ name: 'm', scopes, subject: 'alice' }, 'test')).token
    const iat = Math.floor(clock.now() / 1_000)
    return forgeJwt({ claims: { iss: 'https://one.test', sub: 'alice', iat, exp: iat + 300, scope: scopes }, key: KEY })
  }

  const send = async (token: string, request: Request) => {
    const response = await app.fetch(new Request(request, { headers: { ...headersOf(request), ...bearer(token) } }))
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const { requestId: _, ...body } = isJson ? await bodyOf(response) : {}
    return { status: response.status, body }
  }

  /** All stored rows of an owner. */
  const rowsOf = async (name: 'alice' | 'bob') => {
    const owner = subjects[name]
    const seen: Visibility = { owner }
    const page = { limit: 200, order: 'asc' } as const
    return JSON.stringify([
      await storage.runs.list({}, page, seen),
      await storage.sessions.list({}, page, seen),
      await storage.approvals.list({}, page, seen),
      await storage.facts.list({ visibility: seen, now: clock.now() }, page),
      await storage.blocks.list(undefined, page, seen),
      await storage.memoryConflicts.list(undefined, page, seen),
      await storage.webhooks.find(`of-${name}`),
      await storage.deliveries.list({ webhookId: `of-${name}` }, page),
      await storage.files.list({}, page, seen),
    ])
  }
  return { ...made, mint, send, rowsOf }
}

export const headersOf = (request: Request): Record<string, string> => Object.fromEntries(request.headers)
