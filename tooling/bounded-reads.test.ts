import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { logReadsOf, unboundedListsOf } from './bounded-reads.ts'

const root = join(import.meta.dirname, '..')
const sourcesIn = (pattern: string): readonly string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', pattern], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter(
      (path) => path !== '' && !/\.(test|fixture|test-d)\.ts$/.test(path) && !path.startsWith('packages/testkit/'),
    )

/** Files that pass on the range of their caller, and where that range gets its bound. */
const PASSED_ON: Readonly<Record<string, string>> = {
  'packages/core/src/realtime/event-feed.ts': 'READ_LIMITS of log-pages.ts',
  'packages/core/src/replay/replay.ts': 'the range of the page or the stream that shows the replay',
}

/** Lists without a page, and what bounds them. */
const WHOLE_LISTS: Readonly<Record<string, string>> = {
  'Cluster.departed': 'the servers of the cluster',
  'ConsolidationReads.messages': 'returns up to 200 messages',
  'FileStore.holders': 'the ids of the sessions in which one owner has sent the file',
  'McpClient.tools': 'mcp.maxResultBytes',
  'McpServerStore.list': 'the registered MCP servers',
  'NodeDirectory.list': 'the servers of the cluster',
  'ReadableMeter.series': 'the values of labels, which callers keep to a bounded set',
  'SkillStore.list': 'the skills of the folder, in short',
  'StepStore.list': 'tests alone call it: see the next test',
  'WebhookStore.list': 'MAX_WEBHOOKS',
}

describe('a read of the event log', () => {
  const reads = sourcesIn('packages/*/src/*.ts').flatMap((path) =>
    logReadsOf(join(root, path)).map((read) => ({ ...read, path })),
  )

  it('says how much it reads, or passes on a range with a bound', () => {
    const unbounded = reads.filter(({ isBounded }) => !isBounded)

    expect(reads.length).toBeGreaterThan(12)
    expect([...new Set(unbounded.map(({ path }) => path))].sort()).toEqual(Object.keys(PASSED_ON).sort())
  })

  it.each([
    ['events.read({ runId }, { after, limit: 500 })', false],
    ['deps.events.read({ runId }, range)', false],
    ['const range = { after, limit: 500 }; storage.events.readBefore(stream, range)', false],
    ['events.read(stream, { after, limit: 1 })', true],
    ['events.scan(types, { after, limit: 500, maxLength: 1_000 })', true],
    ['const BATCH = { limit: 9, maxLength: 9 }; events.read(stream, { after, ...BATCH })', true],
  ])('is classified: %s', (text, isBounded) => {
    expect(logReadsOf('planted.ts', text)).toEqual([{ line: 1, isBounded }])
  })
})

describe('a list of a port', () => {
  it('takes a page or a limit, unless this file names what bounds it', () => {
    const lists = sourcesIn('packages/ports/src/*.ts').flatMap((path) => unboundedListsOf(join(root, path)))

    expect([...lists].sort()).toEqual(Object.keys(WHOLE_LISTS).sort())
  })

  it('of all calls of a run is for tests: a run can have more calls than fit in one turn of the event loop', () => {
    const callers = sourcesIn('packages/*/src/*.ts').filter((path) =>
      /\bsteps\.list\(/.test(readFileSync(join(root, path), 'utf8')),
    )

    expect(callers).toEqual([])
  })

  it.each([
    ['list(): Promise<readonly Row[]>', ['Store.list']],
    ['list(filter: Filter): Promise<readonly Row[]>', ['Store.list']],
    ['list(filter: Filter, page: PageQuery): Promise<Page<Row>>', []],
    ['due(limit: number): Promise<readonly Row[]>', []],
    ['find(ids: readonly string[]): Promise<readonly Row[]>', []],
  ])('is classified: %s', (method, expected) => {
    expect(unboundedListsOf('planted.ts', `interface Store { ${method} }`)).toEqual(expected)
  })
})
