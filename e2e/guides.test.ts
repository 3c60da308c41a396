import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packages } from '../tooling/consumer/packages.ts'
import { findTool } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { startPostgres, type TestPostgres } from '../tooling/postgres-server.ts'
import { createConsumerProject, packAll, versionOf } from './consumer-project.ts'
import { guideBlocks, missingLine, unannouncedErrors } from './guide-blocks.ts'
import { INSTALLED } from './guide-packages.ts'
import { removeCompileCache, runGuide } from './guide-runner.ts'
import { commandsIn, toolsOf } from './guide-tools.ts'

const guides = readdirSync(join(import.meta.dirname, '../docs/guides'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/guides/${name}`)

/** Guides without code. */
const TEXTS = ['docs/guides/compare.md', 'docs/guides/promises.md', 'docs/guides/why.md']

/** The skill for coding agents in new projects is code to copy, too. */
const SKILL = 'packages/create-perdure/templates/shared/dot-agents/skills/perdure/SKILL.md'

/** `E2E_GUIDES=packed` runs every guide with the packed tarballs, installed by npm, without the workspace. */
const isPacked = process.env.E2E_GUIDES === 'packed'

/** Readers of these guides install the packages in a project of their own. */
const needsPackages = (path: string) => path !== 'README.md' && textOf(path).includes('npm run pack')
const textOf = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8')

let packed: string
let database: TestPostgres | undefined
const prepare = async () => {
  database = findTool('postgres') === undefined ? undefined : await startPostgres()
  process.env.DATABASE_URL = database?.url
  const others = Object.fromEntries(INSTALLED.map(([name]) => [name, versionOf(name)]))
  const own = packages.map(({ manifest }) => manifest.name)
  const project = await createConsumerProject({ installer: 'npm', packed: packAll(), own, others })
  packed = join(project.dir, 'node_modules')
}

async function succeeds(path: string): Promise<void> {
  const { executed, skipped } = await runGuide(path, isPacked || needsPackages(path) ? packed : undefined)

  const reasons = skipped.map(({ line, skip }) => `\n  not executed, line ${line}: ${skip}`)
  console.log(`${path}: ${executed.length} blocks executed, ${skipped.length} not${reasons.join('')}`)
  expect(executed.length).toBeGreaterThan(0)
}

describe.concurrent('a guide', () => {
  beforeAll(prepare, 300_000)
  afterAll(() => {
    removeCompileCache()
    database?.remove()
  })

  const withCode = guides.filter((path) => !TEXTS.includes(path))
  // README assumes a clone of the repository.
  for (const path of isPacked ? withCode : [...withCode, 'README.md', SKILL]) {
    const tools = toolsOf(guideBlocks(textOf(path)))
    needsTool(...tools).it(`has only blocks that succeed: ${path}`, () => succeeds(path))
  }
})

describe('the guides', () => {
  it('say how to install the packages that their code imports', () => {
    const importing = guides.filter((path) => /from '(?:@perdure\/|perdure\b)/.test(textOf(path)))

    expect(importing.length).toBeGreaterThan(0)
    expect(importing.filter((path) => !needsPackages(path))).toEqual([])
  })

  it('have code blocks, except the pages that only inform', () => {
    expect(guides.filter((path) => guideBlocks(textOf(path)).length === 0)).toEqual(TEXTS)
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

describe('commandsIn', () => {
  it('finds the commands of a script, not the words of its texts', () => {
    const script = `PORT=80 curl -s "http://x/?a=1&limit=2" | tr a b
if grep -q 'a; b' file; then RUN=$(psql "$URL" -c "$(cat x)") && kill -9 1; fi
cat > note <<'END'
sqlite3 is no command here
END
call() { nc x; }
SIGNED="sha256=$(printf %s "$BODY" | openssl dgst), it's signed"
echo one \\
  two; "$dir/own" three
`
    expect(commandsIn(script)).toEqual(
      expect.arrayContaining(['curl', 'tr', 'grep', 'psql', 'cat', 'kill', 'nc', 'openssl', 'echo']),
    )
    expect(commandsIn(script)).not.toEqual(expect.arrayContaining([expect.stringMatching(/limit|sqlite3|two|three/)]))
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
