import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packages } from '../tooling/consumer/packages.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { canStartPostgres, startPostgres, type TestPostgres } from '../tooling/postgres-server.ts'
import { createConsumerProject, packAll, versionOf } from './consumer-project.ts'
import { guideBlocks, missingLine, unannouncedErrors } from './guide-blocks.ts'
import { INSTALLED, removeCompileCache, runGuide } from './guide-runner.ts'

const guides = readdirSync(join(import.meta.dirname, '../docs/guides'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/guides/${name}`)

/** `E2E_GUIDES=packed` runs every guide with the packed tarballs, installed by npm, without the workspace. */
const isPacked = process.env.E2E_GUIDES === 'packed'

/** Readers of these guides install the packages in a project of their own. */
const needsPackages = (path: string) => path !== 'README.md' && textOf(path).includes('npm run pack')
const textOf = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8')

let packed: string
let database: TestPostgres | undefined
beforeAll(async () => {
  database = canStartPostgres() ? await startPostgres() : undefined
  process.env.DATABASE_URL = database?.url
  const others = Object.fromEntries(INSTALLED.map(([name]) => [name, versionOf(name)]))
  const own = packages.map(({ manifest }) => manifest.name)
  const project = await createConsumerProject({ installer: 'npm', packed: packAll(), own, others })
  packed = join(project.dir, 'node_modules')
}, 300_000)
afterAll(() => {
  removeCompileCache()
  database?.remove()
})

/** External commands that the guides use; none is installed automatically. */
const missing = ['bash', 'curl', 'openssl', 'sqlite3', 'pgrep', 'pkill', 'sha256sum', 'pg_dump', 'psql'].filter(
  (tool) => spawnSync('which', [tool]).status !== 0,
)
needsTool(missing.join(', '), missing.length === 0).describe('a guide', () => {
  // README assumes a clone of the repository.
  it.concurrent.each(isPacked ? guides : [...guides, 'README.md'])('has only blocks that succeed: %s', async (path) => {
    const { executed, skipped } = await runGuide(path, isPacked || needsPackages(path) ? packed : undefined)

    const reasons = skipped.map(({ line, skip }) => `\n  not executed, line ${line}: ${skip}`)
    console.log(`${path}: ${executed.length} blocks executed, ${skipped.length} not${reasons.join('')}`)
    expect(executed.length).toBeGreaterThan(0)
  })
})

describe('the guides', () => {
  it('say how to install the packages that their code imports', () => {
    const importing = guides.filter((path) => textOf(path).includes("from '@perdure/"))

    expect(importing.length).toBeGreaterThan(0)
    expect(importing.filter((path) => !needsPackages(path))).toEqual([])
  })

  it('are all linked from the README', () => {
    expect(guides.filter((path) => !textOf('README.md').includes(`](${path})`))).toEqual([])
  })
})

describe('guideBlocks', () => {
  it('parses fenced blocks with their line and marks', () => {
    const markdown = 'One\n\n```js file=a.mjs\n1\n```\n\n```sh server\nx\n```\n\n```sh skip="no server here"\ny\n```\n'

    expect(guideBlocks(markdown)).toEqual([
      {
        line: 4,
        language: 'js',
        text: '1\n',
        file: 'a.mjs',
        more: undefined,
        isServer: false,
        isStopped: false,
        skip: undefined,
      },
      {
        line: 8,
        language: 'sh',
        text: 'x\n',
        file: undefined,
        more: undefined,
        isServer: true,
        isStopped: false,
        skip: undefined,
      },
      {
        line: 12,
        language: 'sh',
        text: 'y\n',
        file: undefined,
        more: undefined,
        isServer: false,
        isStopped: false,
        skip: 'no server here',
      },
    ])
    expect(() => guideBlocks('```sh sever\nx\n```\n')).toThrow('line 1: unknown mark in "sh sever"')
  })
})

describe('missingLine', () => {
  it('returns the first line that is missing or out of order', () => {
    expect(missingLine('a\nb … d\n', 'x\na\n b 17 c\n')).toBe('b … d')
    expect(missingLine('a\nb … c\n', 'x\na\n b 17 c\n')).toBeUndefined()
    expect(missingLine('b\na', 'a\nb')).toBe('a')
  })
})

describe('unannouncedErrors', () => {
  it('returns error identifiers that the document does not mention', () => {
    expect(unannouncedErrors('{"error":"agent-busy"}{"error":"run-not-found"}', 'answers `agent-busy`')).toEqual([
      'run-not-found',
    ])
  })
})
