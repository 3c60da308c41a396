import type { Sealer, TokenRecord } from '@perdure/ports'
import { aToken, BUILT_AT, createSequenceIds } from '@perdure/testkit'
import type { Reply } from '../idempotency/reply.ts'
import { createAuthenticate } from './authenticate.ts'
import type { Principal } from './principal.ts'
import { createTokenUseCases, type TokenUseCases } from './token-use-cases.ts'
import { createTokens, PEPPER } from './tokens.fixture.ts'

const ADMIN = aToken({ id: 'tok_admin', subject: 'root', scopes: ['admin:*'] })
export const iso = (ms: number) => new Date(BUILT_AT + ms).toISOString()
export const principalOf = ({ id, subject, scopes }: TokenRecord): Principal => ({ subject, tokenId: id, scopes })
export const page = { limit: 200, order: 'asc' } as const

export const sealer: Sealer = {
  seal: (text, context) => Buffer.from(JSON.stringify([context, text])).toString('base64'),
  open(sealed, context) {
    const [sealedFor, text] = JSON.parse(Buffer.from(sealed, 'base64').toString())
    return sealedFor === context ? text : undefined
  },
}

export async function setUp(...tokens: readonly Partial<TokenRecord>[]) {
  const { storage, clock, shared } = createTokens()
  const records = [ADMIN, ...tokens.map((over) => aToken(over))]
  for (const token of records) await storage.unitOfWork.commit([{ type: 'token.insert', token }])
  const deps = {
    ...shared,
    webhooks: storage.webhooks,
    ids: createSequenceIds(),
    peppers: [PEPPER],
    basePath: '/v1',
    idempotencyTtlMs: 60_000,
    sealer,
    isRegistered: (kind: string, id: string) => kind === 'agent' && id === 'echo',
  }
  const useCases = createTokenUseCases(deps)
  const ignore = () => undefined
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const authenticate = createAuthenticate({ ...shared, logger, peppers: [PEPPER] })
  const by = (id: string) => principalOf(records.find((token) => token.id === id) ?? ADMIN)
  const mint = (principal: Principal, over: Partial<Parameters<TokenUseCases['mint']>[0]> = {}) =>
    useCases.mint({ principal, name: 'child', scopes: ['agents:read'], ...over })
  const actions = async () =>
    (await storage.audit.read({ afterSeq: 0, limit: 100 })).map(({ action, target }) => [action, target])
  return { storage, clock, deps, useCases, authenticate, by, mint, actions }
}

export const bodyOf = (reply: Reply) => reply.body as TokenRecord & { readonly token: string }
