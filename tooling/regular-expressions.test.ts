import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { checkSync, type Parameters } from 'recheck'
import { describe, expect, it } from 'vitest'
import { builtDuring, regexUseOf } from './regular-expressions.ts'

const root = join(import.meta.dirname, '..')
const sources = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '--', 'packages/*/src/*.ts', 'apps/cli/src/*.ts', 'apps/cli/bin/*.js'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => path !== '' && !/\.(test|fixture|test-d)\.ts$/.test(path))

/** Modules that build regular expressions at run time, each with a function that makes the module build them. */
const BUILDERS: Readonly<Record<string, () => Promise<unknown>>> = {
  'packages/client/src/event-stream-path.ts': () => import('../packages/client/src/event-stream-path.ts'),
  'packages/core/src/providers/http-date.ts': () => import('../packages/core/src/providers/http-date.ts'),
  'packages/core/src/realtime/sanitize.ts': async () => {
    const { sanitizeText } = await import('../packages/core/src/realtime/sanitize.ts')
    sanitizeText('postgres://user:secret@host')
  },
  'packages/platform-node/src/cron/cron-fields.ts': () => import('../packages/platform-node/src/cron/cron-fields.ts'),
  'packages/ports/src/values/words.ts': () => import('../packages/ports/src/values/words.ts'),
  'packages/protocol/src/subjects.ts': () => import('../packages/protocol/src/subjects.ts'),
  'apps/cli/src/config/location-of-field.ts': async () => {
    const { locationOfField } = await import('../apps/cli/src/config/location-of-field.ts')
    const origin = { configPath: import.meta.filename, overrides: [], flagged: [], cwd: root }
    locationOfField(origin as unknown as never, 'server.port')
  },
}

interface Regex {
  readonly source: string
  readonly flags: string
}

/**
 * The search counts the steps of a pattern and has generous time limits, so that a slow machine does not make a pattern
 * look slow. The seed is fixed. `RECHECK=whole` searches longer.
 */
const QUICK: Parameters =
  process.env.RECHECK === 'whole'
    ? {}
    : {
        ...{ maxNFASize: 4_000, maxIteration: 2, maxInitialGenerationSize: 50, maxGenerationSize: 20 },
        ...{ crossoverSize: 5, mutationSize: 5 },
      }
const SEARCH: Parameters = {
  ...{ timeout: 120_000, attackTimeout: 60_000, incubationTimeout: 60_000, seedingTimeout: 60_000 },
  ...{ randomSeed: 1, ...QUICK },
}

const verdictOf = ({ source, flags }: Regex) => ({ source, status: checkSync(source, flags, SEARCH).status })

describe('a regular expression of the sources', () => {
  it('takes time proportional to its input', () => {
    const all = sources.flatMap((path) => regexUseOf(join(root, path)).literals)

    const bad = all.map((one) => ({ at: `${one.path}:${one.line}`, ...verdictOf(one) }))

    expect(all.length).toBeGreaterThan(80)
    expect(bad.filter(({ status }) => status !== 'safe')).toEqual([])
  })

  it('takes time proportional to its input when built at run time, in a module listed in this file', async () => {
    const building = sources.filter((path) => regexUseOf(join(root, path)).built > 0)
    const built = await builtDuring(async () => {
      for (const build of Object.values(BUILDERS)) await build()
    })

    expect(building.sort()).toEqual(Object.keys(BUILDERS).sort())
    expect(built.length).toBeGreaterThanOrEqual(building.length)
    expect(built.map(verdictOf).filter(({ status }) => status !== 'safe')).toEqual([])
  })

  it.each([
    ['const a = /^(a+)+$/', 1],
    ['const b = /^(?!x)(?:a|a)+$/', 1],
    ['export const b = (text: string) => text.replace(/\\s+$/, "")', 1],
    ['const c = new RegExp("^" + name)', 0],
  ])('is detected and classified: %s', (text, count) => {
    const { literals, built } = regexUseOf('planted.ts', text)

    expect(literals.map(verdictOf).filter(({ status }) => status === 'vulnerable')).toHaveLength(count)
    expect(literals.length + built).toBe(1)
  })
})
