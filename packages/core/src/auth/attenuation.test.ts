import { EVERY_ROW, type Visibility } from '@perdure/ports'
import { isGrantable, OPERATIONS, SCOPES, type ScopeRule } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkAttenuation, covers } from './attenuation.ts'
import { authorize } from './authorize.ts'

describe('covers', () => {
  it.each<[readonly string[], string, boolean]>([
    [['admin:*'], 'admin:*', true],
    [['admin:*'], 'traces:read:raw', true],
    [['admin:*'], 'sessions:read:own', true],
    [['agents:read', 'agents:invoke'], 'admin:*', false],
    [['agents:read'], 'agents:read:echo', true],
    [['agents:read'], 'agents:read:*', true],
    [['agents:read:*'], 'agents:read', true],
    [['agents:read:echo'], 'agents:read', false],
    [['agents:read:echo'], 'agents:read:*', false],
    [['agents:read:echo'], 'agents:read:echo', true],
    [['agents:read:echo'], 'agents:read:other', false],
    [['agents:*'], 'agents:read', true],
    [['agents:*:echo'], 'agents:invoke:echo', true],
    [['agents:read', 'agents:invoke'], 'agents:*', false],
    [['agents:read'], 'sessions:read', false],
    [['sessions:read'], 'sessions:read:own', true],
    [['sessions:read:own'], 'sessions:read:own', true],
    [['sessions:read:own'], 'sessions:read', false],
    [['sessions:read:own'], 'sessions:read:chat', false],
    [['traces:read:raw'], 'traces:read:sanitized', true],
    [['traces:read:sanitized'], 'traces:read:raw', false],
    [['admin:metrics:read'], 'admin:metrics:read', true],
    [['agents:read'], 'admin:metrics:read', false],
    [[], 'agents:read', false],
  ])('decides for the same subject whether %j covers %s: %j', (held, wanted, expected) => {
    expect(covers(held, wanted, true)).toBe(expected)
  })

  it('ignores a held `own` scope if the new token has another subject', () => {
    expect(covers(['sessions:read:own'], 'sessions:read:own', false)).toBe(false)
    expect(covers(['sessions:read'], 'sessions:read:own', false)).toBe(true)
  })

  const names = Object.keys(SCOPES)
  const scope = fc
    .tuple(
      fc.constantFrom(...names, 'admin:*', 'agents:*', 'sessions:*'),
      fc.constantFrom('', ':own', ':*', ':echo', ':chat', ':sanitized', ':raw', ':read'),
    )
    .map(([name, third]) => name + third)
    .filter(isGrantable)
  const rules = [...new Set(OPERATIONS.map((operation) => operation.scope))]
  const params = { agentId: 'echo', sessionId: 'chat', runId: 'chat', approvalId: 'echo', tokenId: 'echo' }

  it('never covers a scope that allows more than the held scopes', () => {
    fc.assert(
      fc.property(fc.array(scope, { minLength: 1, maxLength: 4 }), scope, (held, wanted) => {
        fc.pre(covers(held, wanted, true))
        const by = (scopes: readonly string[], rule: ScopeRule) => seen(scopes, rule, params)
        const wider = rules.filter((rule) => !isAtMost(by([wanted], rule), by(held, rule)))
        expect({ held, wanted, wider }).toEqual({ held, wanted, wider: [] })
      }),
      { numRuns: 500 },
    )
  })
})

function seen(scopes: readonly string[], rule: ScopeRule, params: Record<string, string>): Visibility | undefined {
  try {
    return authorize({ subject: 'alice', scopes }, rule, params)
  } catch {
    return undefined
  }
}

function isAtMost(narrow: Visibility | undefined, wide: Visibility | undefined): boolean {
  if (narrow === undefined || wide === EVERY_ROW) return true
  if (wide === undefined || narrow === EVERY_ROW) return false
  return (
    (['agentIds', 'workflowIds', 'ids'] as const).every((field) => {
      const [a, b] = [narrow[field], wide[field]]
      if (a === undefined || b === 'all') return true
      return b !== undefined && a !== 'all' && a.every((id) => b.includes(id))
    }) &&
    (narrow.owner === undefined || wide.owner === narrow.owner)
  )
}

describe('checkAttenuation', () => {
  const alice = (...scopes: string[]) => ({ subject: 'alice', scopes })

  it('allows a grant within the scopes of the caller', () => {
    expect(() =>
      checkAttenuation(alice('agents:invoke', 'runs:read:own'), {
        subject: 'alice',
        scopes: ['agents:invoke:echo', 'runs:read:own'],
      }),
    ).not.toThrow()
  })

  it('rejects a grant and names the scopes that the caller lacks', () => {
    expect(() =>
      checkAttenuation(alice('agents:read'), { subject: 'alice', scopes: ['agents:read', 'runs:read'] }),
    ).toThrow('runs:read')
  })

  it('allows a grant for another subject only with sessions:write and runs:read for all rows', () => {
    const bob = { subject: 'bob', scopes: ['agents:invoke'] }

    expect(() => checkAttenuation(alice('agents:invoke'), bob)).toThrow('sessions:write')
    expect(() => checkAttenuation(alice('agents:invoke', 'sessions:write:own'), bob)).toThrow('sessions:write')
    expect(() => checkAttenuation(alice('agents:invoke', 'sessions:write'), bob)).toThrow('runs:read')
    expect(() => checkAttenuation(alice('agents:invoke', 'sessions:write', 'runs:read:own'), bob)).toThrow('runs:read')
    expect(() => checkAttenuation(alice('agents:invoke', 'sessions:write', 'runs:read'), bob)).not.toThrow()
    expect(() => checkAttenuation(alice('admin:*'), bob)).not.toThrow()
  })
})
