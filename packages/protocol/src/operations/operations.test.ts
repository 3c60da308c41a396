import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../errors.ts'
import type { Operation, ScopeRule } from '../operation.ts'
import { protocolOf } from '../protocols/index.ts'
import { isGrantable, SCOPES } from '../scopes.ts'
import { ALL_TABLES, OPERATIONS } from './index.ts'

const scopesOf = (scope: ScopeRule): readonly string[] => {
  if (scope === null || scope === 'principal') return []
  if (typeof scope === 'string') return [scope]
  if ('anyOf' in scope) return scope.anyOf
  return 'rawScope' in scope ? [scope.scope, scope.rawScope] : [scope.scope]
}

const pathParams = ({ path }: Operation) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
const slots = (scope: string) => [...scope.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
const parse = (schema: v.GenericSchema | undefined, input: unknown) => v.safeParse(schema ?? v.never(), input)

describe('OPERATIONS', () => {
  it('has unique ids and unique pairs of method and path', () => {
    const ids = OPERATIONS.map(({ id }) => id)
    const routes = OPERATIONS.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ':')}`)

    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(routes).size).toBe(routes.length)
  })

  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    'has a well-formed row for %s',
    (id, row) => {
      expect(id).toMatch(/^[a-z-]+\.[a-z-]+$/)
      expect(row.path).toMatch(/^(\/(:[a-zA-Z]+|[a-z._-]+))+$/)
      expect(row.summary).toMatch(/^[A-Z].*\.$/)
      for (const status of Object.keys(row.responses)) expect(status).toMatch(/^(101|2\d\d|503)$/)
      expect(Object.keys(row.responses).length > 0).toBe(row.refused !== true)
    },
  )

  it('requires only scopes that exist and can be granted', () => {
    for (const scope of OPERATIONS.flatMap((operation) => scopesOf(operation.scope))) {
      const [resource, action] = scope.split(':')
      expect(Object.keys(SCOPES)).toContain(`${resource}:${action}`)
      expect(isGrantable(scope.replace(/\{\w+\}/, 'some-id')), scope).toBe(true)
    }
  })

  it('uses only path parameters as placeholders in scopes, except in scopes that depend on a row', () => {
    for (const operation of OPERATIONS) {
      const names = scopesOf(operation.scope).flatMap(slots)
      const isRowRule = typeof operation.scope === 'object' && operation.scope !== null && 'anyOf' in operation.scope
      if (!isRowRule) expect(pathParams(operation), operation.id).toEqual(expect.arrayContaining(names))
    }
  })

  it('includes the id from the path in every scope that takes an id', () => {
    const withoutSlot = OPERATIONS.filter(({ path, scope }) => {
      if (typeof scope !== 'string' || !path.includes(':')) return false
      const name = scope.split(':', 2).join(':') as keyof typeof SCOPES
      return SCOPES[name]?.third === 'id' && slots(scope).length === 0
    })

    expect(withoutSlot.map(({ id }) => id)).toEqual([
      'memory.put-block',
      'memory.delete-block',
      'memory.resolve-conflict',
      'subjects.revoke',
    ])
  })

  it('makes only hooks, health, docs, signing in and unprotected metrics public', () => {
    const isPublic = ({ scope }: Operation) => scope === null
    expect(OPERATIONS.filter(isPublic).map(({ id }) => id)).toEqual([
      'hooks.receive',
      'health.get',
      'health.live',
      'health.ready',
      'docs.openapi',
      'docs.asyncapi',
      'docs.page',
      'console.sign-in',
    ])
  })

  it('uses every scope in SCOPES', () => {
    const used = new Set(
      OPERATIONS.flatMap(({ scope, mayNeed = [] }) => [...scopesOf(scope), ...mayNeed]).map((scope) =>
        scope.split(':', 2).join(':'),
      ),
    )
    expect(Object.keys(SCOPES).filter((name) => !used.has(name))).toEqual([])
  })

  it('lists only known errors and repeats none within an operation', () => {
    for (const { id, errors } of OPERATIONS) {
      expect(Object.keys(ERRORS), id).toEqual(expect.arrayContaining([...errors]))
      expect(new Set(errors).size, id).toBe(errors.length)
    }
  })

  it('never honours an Idempotency-Key on a GET', () => {
    expect(OPERATIONS.filter(({ method, idempotent }) => method === 'GET' && idempotent)).toEqual([])
  })

  it('rejects unknown members in every body and query', () => {
    for (const operation of OPERATIONS) {
      const { id, body, query } = operation
      for (const schema of protocolOf(operation) === undefined ? [body, query] : [query]) {
        if (schema === undefined) continue
        const known = id === 'triggers.create' ? { kind: 'cron' } : {}
        const result = v.safeParse(schema, { ...known, 'no-such-member': 1 })
        const paths = result.issues?.map((issue) => v.getDotPath(issue)) ?? []
        expect(paths, id).toContain('no-such-member')
      }
    }
  })

  it('accepts limit and cursor in every list operation', () => {
    for (const { id, method, query, responses } of OPERATIONS) {
      const isList = parse(responses[200]?.schema, { items: [], nextCursor: null }).success
      if (method !== 'GET' || !isList) continue
      const demanded = id === 'workflows.checkpoints' ? { threadId: 't' } : {}
      expect(parse(query, { ...demanded, limit: '7', cursor: 'c' }).output, id).toMatchObject({ limit: 7, cursor: 'c' })
    }
  })

  it('puts a literal path before a parameter that would match it', () => {
    for (const table of Object.values(ALL_TABLES)) {
      const rows: readonly Operation[] = Object.values(table)
      rows.forEach((row, index) => {
        const pattern = new RegExp(`^${row.path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/:]+')}$`)
        const shadowed = rows.slice(index + 1).filter(({ method, path }) => method === row.method && pattern.test(path))
        expect(shadowed.map(({ id }) => id)).toEqual([])
      })
    }
  })
})
