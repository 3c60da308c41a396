import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packages, root } from '../consumer/packages.ts'
import { breakingChanges, type Side } from './compare-schemas.ts'
import { compareWires, unannounced } from './compare-wires.ts'
import { type Schema, type Wire, wireOf } from './snapshot.ts'

const released: Wire = JSON.parse(readFileSync(join(root, 'etc/wire.json'), 'utf8'))
const folder = join(root, '.changeset')
const changesets = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

describe('the wire', () => {
  it('has no breaking change since the last release that no change set announces', () => {
    const changes = compareWires(released, wireOf())

    expect(
      unannounced(
        changes,
        changesets.map(({ text }) => text),
      ),
    ).toEqual([])
  })

  it('has a baseline with every table', () => {
    const rows = Object.values(released).map((group) => Object.keys(group).length)

    expect(rows).toHaveLength(8)
    expect(Math.min(...rows)).toBeGreaterThan(5)
    expect(compareWires(released, released)).toEqual([])
  })

  it.each<readonly [name: string, change: string, plant: (wire: Wire) => void]>([
    ['runs.get', 'is gone', ({ operations }) => void delete (operations as Record<string, unknown>)['runs.get']],
    ['runs.get', 'route', ({ operations }) => set(operations['runs.get'], 'route', 'GET /run/:runId')],
    ['runs.get', 'scope', ({ operations }) => set(operations['runs.get'], 'scope', 'admin:*')],
    ['runs.list', 'query limit is gone', ({ operations }) => unset(operations['runs.list']?.parameters, 'query limit')],
    [
      'agents.run',
      'is now required',
      ({ operations }) => set(operations['agents.run']?.parameters['header Prefer'], 'required', true),
    ],
    ['agents.run', 'member input is gone', ({ schemas }) => unset(schemas.RunRequest?.properties, 'input')],
    ['agents.run', 'member status is gone', ({ schemas }) => unset(schemas.RunOutcome?.properties, 'status')],
    ['run.started', 'is no longer on session', ({ events }) => set(events['run.started'], 'subjects', ['agentRun'])],
    ['run.started', 'member runId is gone', ({ events }) => unset(events['run.started']?.payload.properties, 'runId')],
    ['run-not-found', 'status 404 became 410', ({ errors }) => set(errors['run-not-found'], 'status', 410)],
    ['auth.revoked', 'number', ({ closeCodes }) => set(closeCodes, 'auth.revoked', 4999)],
    ['server.port', 'is gone', ({ config }) => void (config as string[]).splice(config.indexOf('server.port'), 1)],
    ['svc_agent_runs_total', 'labels', ({ metrics }) => set(metrics, 'svc_agent_runs_total', ['agent'])],
  ])('reports %s when it %s', (name, change, plant) => {
    const changed = structuredClone(released)
    plant(changed)

    expect(compareWires(released, changed)).toContainEqual({ name, change: expect.stringContaining(change) })
  })

  it('accepts new rows', () => {
    const before = structuredClone(released)
    for (const group of [before.operations, before.events, before.errors]) unset(group, Object.keys(group)[0] ?? '')

    expect(compareWires(before, released)).toEqual([])
  })
})

const set = (row: unknown, key: string, value: unknown) => Object.assign(row as object, { [key]: value })
const unset = (row: unknown, key: string) => void delete (row as Record<string, unknown>)[key]

describe('a change set', () => {
  const change = { name: 'runs.get', change: 'is gone' }

  it('announces a breaking change in a paragraph that names it', () => {
    expect(
      unannounced([change], ['---\n"perdure": minor\n---\n\nFaster.\n\nBreaking: `runs.get` is `runs.read`.']),
    ).toEqual([])
    expect(unannounced([change], ['Breaking: `runs.list` is gone.\n\n`runs.get` is faster.'])).toEqual([change])
    expect(unannounced([change], [])).toEqual([change])
  })

  it.each(changesets.map(({ name, text }) => [name, text]))('names only published packages: %s', (_, text) => {
    const [, head = ''] = /^---\n(.*?)\n---\n/s.exec(text) ?? []
    const named = head.split('\n').map((line) => /^["']([^"']+)["']: (?:major|minor|patch)$/.exec(line)?.[1] ?? line)
    const published = packages.map(({ manifest }) => manifest.name)

    expect(named.filter((name) => !published.includes(name))).toEqual([])
  })
})

describe('a schema', () => {
  const text = { type: 'string' }
  const nullable = { anyOf: [text, { type: 'null' }] }
  const object = (properties: object, more: object = {}): Schema => ({ type: 'object', properties, ...more })
  const compare = (before: Schema, after: Schema, side: Side) =>
    breakingChanges(before, after, side, { before: {}, after: {} }).length > 0

  it.each<readonly [what: string, before: Schema, after: Schema, broken: readonly Side[]]>([
    ['a new member', object({}), object({ a: text }), []],
    ['a new required member', object({}), object({ a: text }, { required: ['a'] }), ['input']],
    ['a lost member', object({ a: text }), object({}), ['input', 'output']],
    ['a member that may be missing', object({ a: text }, { required: ['a'] }), object({ a: text }), ['output']],
    ['a new value', { enum: ['a'] }, { enum: ['a', 'b'] }, []],
    ['a lost value', { enum: ['a', 'b'] }, { enum: ['a'] }, ['input', 'output']],
    ['only listed values', text, { type: 'string', enum: ['a'] }, ['input']],
    ['another type', text, { type: 'number' }, ['input', 'output']],
    ['a wider number', { type: 'integer' }, { type: 'number' }, ['output']],
    ['one more type', text, { type: ['string', 'null'] }, ['output']],
    ['a new form', nullable, { anyOf: [...nullable.anyOf, { type: 'number' }] }, []],
    ['a changed form', nullable, { anyOf: [{ type: 'number' }, { type: 'null' }] }, ['input', 'output']],
    ['a lower limit', { type: 'string', maxLength: 9 }, { type: 'string', maxLength: 8 }, ['input']],
    ['a new limit', text, { type: 'string', minLength: 1 }, ['input']],
    ['a pattern', text, { type: 'string', pattern: '^a' }, ['input']],
    ['refused other members', object({}), object({}, { additionalProperties: false }), ['input']],
    [
      'a change of an item',
      { type: 'array', items: text },
      { type: 'array', items: { type: 'null' } },
      ['input', 'output'],
    ],
    ['a text', { ...text, description: 'a' }, { ...text, description: 'b' }, []],
  ])('with %s', (_, before, after, broken) => {
    expect((['input', 'output'] as const).filter((side) => compare(before, after, side))).toEqual(broken)
  })

  it('that contains itself is compared once', () => {
    const tree = (leaf: object) => ({
      Tree: object({ leaf, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }),
    })
    const root = { $ref: '#/components/schemas/Tree' }

    expect(breakingChanges(root, root, 'output', { before: tree(text), after: tree({ type: 'number' }) })).toEqual([
      '.leaf: type string became number',
    ])
  })
})
