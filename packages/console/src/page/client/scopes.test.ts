import { describe, expect, it } from 'vitest'
import { isAssignedTo } from './scopes.ts'

describe('the rights of a session to decide an assigned approval', () => {
  it.each([
    ['without an assignee', undefined, ['approvals:resolve:own'], true],
    ['assigned to the user, whom only the server knows', 'user', ['approvals:resolve'], true],
    ['assigned to staff, with unlimited rights', 'staff', ['approvals:resolve'], true],
    ['assigned to staff, with all rights', 'staff', ['admin:*'], true],
    ['assigned to staff, with own rows only', 'staff', ['approvals:resolve:own', 'agents:invoke'], false],
    ['assigned to a scope that the session holds', 'workflows:resume:pay', ['workflows:resume:pay'], true],
    ['assigned to a scope that a wider one covers', 'workflows:resume:pay', ['workflows:*'], true],
    ['assigned to a scope of another id', 'workflows:resume:pay', ['workflows:resume:ship'], false],
    ['assigned to a scope without an id', 'workflows:resume', ['workflows:resume:ship'], false],
  ])('are checked for one %s', (_, assignee, scopes, expected) => {
    expect(isAssignedTo(scopes, assignee)).toBe(expected)
  })
})
