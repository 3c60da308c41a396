import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ADMIN_SCOPE, isGrantable, OWNED_RESOURCES, parseScope, SCOPES, type ScopeSpec } from './scopes.ts'

const part = fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/)
const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)

describe('parseScope', () => {
  it('parses every scope that the grammar allows', () => {
    fc.assert(
      fc.property(
        part,
        fc.oneof(part, fc.constant('*')),
        fc.option(fc.oneof(id, fc.constant('*'))),
        (resource, action, third) => {
          const text = third === null ? `${resource}:${action}` : `${resource}:${action}:${third}`
          expect(parseScope(text)).toEqual(third === null ? { resource, action } : { resource, action, id: third })
        },
      ),
    )
  })

  it.each([
    '',
    'agents',
    'agents:',
    ':read',
    'agents:read:',
    'agents:read:a:b',
    '*:read',
    'Agents:read',
    'agents:Read',
    'agents:re*d',
    'agents:read:a*',
    'agents:read: a',
    'agents:read:a/b',
    ' agents:read',
    'agents:read\n',
    `${'a'.repeat(33)}:read`,
    `agents:read:${'a'.repeat(129)}`,
  ])('rejects %j', (text) => {
    expect(parseScope(text)).toBeUndefined()
  })

  it('returns undefined or parts that join to the original text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const scope = parseScope(text)
        if (scope === undefined) return
        expect(Object.values(scope).join(':')).toBe(text)
      }),
    )
  })
})

describe('isGrantable', () => {
  it('accepts every scope in SCOPES in the forms that its third part allows', () => {
    for (const [name, { third, owned }] of Object.entries<ScopeSpec>(SCOPES)) {
      const takesId = third === 'id'
      expect(isGrantable(name), name).toBe(takesId || third === 'none')
      expect(isGrantable(`${name}:some-id`), name).toBe(takesId)
      expect(isGrantable(`${name}:own`), name).toBe(owned === true)
      expect(isGrantable(`${name}:*`), name).toBe(takesId)
    }
  })

  it('matches a literal third part exactly', () => {
    expect(isGrantable('traces:read:sanitized')).toBe(true)
    expect(isGrantable('traces:read:raw')).toBe(true)
    expect(isGrantable('admin:metrics:read')).toBe(true)
    expect(isGrantable('traces:read')).toBe(false)
    expect(isGrantable('traces:read:other')).toBe(false)
    expect(isGrantable('traces:*')).toBe(false)
    expect(isGrantable('traces:*:raw')).toBe(false)
    expect(isGrantable('admin:metrics')).toBe(false)
  })

  it('accepts a wildcard action with and without an id', () => {
    expect(isGrantable('agents:*')).toBe(true)
    expect(isGrantable('sessions:*:own')).toBe(true)
    expect(isGrantable('audit:*')).toBe(true)
    expect(isGrantable('audit:*:x')).toBe(false)
  })

  it('accepts admin:* and no similar wildcard', () => {
    expect(isGrantable(ADMIN_SCOPE)).toBe(true)
    for (const text of ['admin:*:x', 'admin:*:*', 'admin:*:read', 'admin:read', 'admin', '*', '*:*']) {
      expect(isGrantable(text), text).toBe(false)
    }
  })

  it('accepts own only for resources whose rows have an owner', () => {
    expect([...OWNED_RESOURCES].toSorted()).toEqual(['approvals', 'files', 'memory', 'runs', 'sessions', 'webhooks'])
    expect(isGrantable('memory:write:own')).toBe(true)
    for (const text of ['agents:read:own', 'agents:*:own', 'workflows:execute:own', 'tokens:read:own', 'audit:*:own']) {
      expect(isGrantable(text), text).toBe(false)
    }
  })

  it('rejects unknown resources and actions', () => {
    for (const text of ['agent:read', 'agents:write', 'folders:*', 'constructor:read', 'agents:tostring']) {
      expect(isGrantable(text), text).toBe(false)
    }
  })
})
