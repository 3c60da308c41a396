import { aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { authorizeSessionCreation, authorizeSessionUse } from './authorize-session-use.ts'

const session = aSession({ id: 'chat', owner: 'alice' })

describe('authorizeSessionUse', () => {
  it('allows the owner of a session without any scope', () => {
    expect(authorizeSessionUse({ subject: 'alice', scopes: [] }, session)).toBe(true)
  })

  it.each([
    [['sessions:write'], true],
    [['sessions:write:chat'], true],
    [['sessions:*'], true],
    [['admin:*'], true],
    [['sessions:write:own'], false],
    [['sessions:write:other'], false],
    [['sessions:read'], false],
    [[], false],
  ])('decides whether another subject may use a session with the scopes %j: %j', (scopes, expected) => {
    expect(authorizeSessionUse({ subject: 'bob', scopes }, session)).toBe(expected)
  })
})

describe('authorizeSessionCreation', () => {
  it.each([
    [['sessions:write'], true],
    [['sessions:write:own'], true],
    [['sessions:write:chat'], true],
    [['sessions:*'], true],
    [['admin:*'], true],
    [['sessions:write:other'], false],
    [['sessions:read', 'agents:invoke'], false],
    [[], false],
  ])('decides whether a run may create the session that it names with the scopes %j: %j', (scopes, expected) => {
    expect(authorizeSessionCreation({ subject: 'bob', scopes }, 'chat')).toBe(expected)
  })
})
