import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const { packages, coreTiers } = createRequire(import.meta.url)('./layers.cjs') as {
  readonly packages: Readonly<Record<string, readonly string[]>>
  readonly coreTiers: readonly (readonly string[])[]
}

interface Violation {
  readonly from: string
  readonly rule: { readonly name: string }
}

let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'perdure-layers-'))
  const filter = (source: string) => !/[\\/](dist|\.turbo)$/.test(source)
  for (const entry of [
    'packages',
    'apps',
    'tooling',
    '.dependency-cruiser.cjs',
    'tsconfig.base.json',
    'tsconfig.tests.json',
  ]) {
    cpSync(join(root, entry), join(copy, entry), { recursive: true, verbatimSymlinks: true, filter })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

const cruise = (): readonly Violation[] => {
  const cli = join(root, 'node_modules/.bin/depcruise')
  const { stdout } = spawnSync(cli, ['--config', '.dependency-cruiser.cjs', '-T', 'json', 'packages', 'apps'], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const { summary } = JSON.parse(stdout)
  expect(summary.totalCruised).toBeGreaterThan(100)
  return summary.violations
}

const FOLDER_OF_CYCLE = 'packages/realtime/src/planted-'
const isPlanted = (path: string) => /\/planted-[^/]+$/.test(path)

const PLANTED = [
  ['layer-http', 'packages/http/src/planted-layer.ts', "import '../../sqlite/src/index.ts'"],
  ['layer-in-memory', 'packages/in-memory/src/planted-layer.ts', "import '../../core/src/index.ts'"],
  ['layer-core', 'packages/core/src/planted-layer.ts', "import '../../in-memory/src/index.ts'"],
  ['no-unresolvable', 'packages/ports/src/planted-undeclared.ts', "import '@perdure/sqlite'"],
  ['no-circular', 'packages/realtime/src/planted-a.ts', "import './planted-b.ts'\nexport const a = 1"],
  [
    'no-circular',
    'packages/realtime/src/planted-b.ts',
    "import type { a } from './planted-a.ts'\nexport type B = typeof a",
  ],
  [
    'core-is-pure',
    'packages/core/src/planted-node.ts',
    "import { readFileSync } from 'node:fs'\nexport { readFileSync }",
  ],
  ['core-is-pure', 'packages/protocol/src/planted-npm.ts', "import { test } from 'vitest'\nexport { test }"],
  ['no-deep-import', 'packages/http/src/planted-deep.ts', "import '../../core/src/engine.ts'"],
  ['core-tier-root', 'packages/core/src/auth/planted-root.ts', "import '../engine.ts'"],
  ...coreTiers.flatMap((tier, index) => plantedTierViolations(tier, index)),
] as const

/**
 * Two imports that the folders of this tier must not contain: one of a neighbour in the tier, and one of a folder in
 * the tier above.
 */
function plantedTierViolations(tier: readonly string[], index: number): readonly (readonly [string, string, string])[] {
  const [from = '', neighbour] = tier
  return [neighbour, coreTiers[index - 1]?.[0]].flatMap((to) =>
    to === undefined
      ? []
      : [
          [
            `core-tier-${index + 1}`,
            `packages/core/src/${from}/planted-${to}.ts`,
            `import type { X } from '../${to}/planted-target.ts'\nexport type Y = X`,
          ] as const,
        ],
  )
}

describe('the dependency check', () => {
  let violations: readonly Violation[]

  // One pass checks the repository and the planted files beside it: nothing in the repository imports them.
  beforeAll(() => {
    for (const folder of coreTiers.flat()) {
      writeFileSync(join(copy, 'packages/core/src', folder, 'planted-target.ts'), 'export type X = 1\n')
    }
    for (const [, path, text] of PLANTED) writeFileSync(join(copy, path), `${text}\n`)
    violations = cruise()
  })

  it('reports no violation in the repository', () => {
    const found = violations.filter(({ from }) => !isPlanted(from))

    expect(found.map(({ from, rule }) => `${rule.name} ${from}`)).toEqual([])
  })

  it('reports every planted violation', () => {
    const found = violations.map(({ from, rule }) => `${rule.name} ${from}`)

    // A cycle is reported once, at one of its files.
    const reported = (rule: string, path: string) =>
      found.includes(`${rule} ${path}`) ||
      (rule === 'no-circular' && found.some((one) => one.startsWith(`${rule} ${FOLDER_OF_CYCLE}`)))
    expect(PLANTED.filter(([rule, path]) => !reported(rule, path))).toEqual([])
  })

  it('assigns every folder of core to exactly one tier', () => {
    const src = join(root, 'packages/core/src')
    const isSource = (name: string) => /\.ts$/.test(name) && !/\.(test|test-d|fixture)\.ts$/.test(name)
    const folders = readdirSync(src, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => readdirSync(join(src, name), { recursive: true, encoding: 'utf8' }).some(isSource))

    expect(coreTiers.flat().toSorted()).toEqual(folders.toSorted())
  })

  it('has a layer rule for every package', () => {
    const generated: { forbidden: { name: string }[] } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
    const names = generated.forbidden.map(({ name }) => name)

    expect(Object.keys(packages).filter((name) => !names.includes(`layer-${name}`))).toEqual([])
  })
})
