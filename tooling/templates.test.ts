import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { guideBlocks } from '../e2e/guide-blocks.ts'
import { readTemplate, TEMPLATE_NAMES } from '../packages/create-perdure/src/index.ts'
import { root } from './consumer/packages.ts'

const TEMPLATES = join(root, 'packages/create-perdure/templates')
const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')

/** Packages that only a template uses. */
const TEMPLATES_ONLY = ['@types/express', '@types/react', 'next']
/** Next.js needs the programming interface of the compiler, which TypeScript 7 does not have. */
const WITH_API = { 'embed-next': ['typescript'] } as Readonly<Record<string, readonly string[]>>

const textOf = (name: (typeof TEMPLATE_NAMES)[number], path: string): string =>
  readTemplate(name, { name: 'my-app' }).find((file) => file.path === path)?.text ?? ''

describe('a template', () => {
  it('is a folder with a row in the table', () => {
    expect(readdirSync(TEMPLATES).sort()).toEqual([...TEMPLATE_NAMES, 'shared'].sort())
  })

  it.each(TEMPLATE_NAMES)('uses the versions that the tests of this repository use: %s', (name) => {
    const { dependencies, devDependencies } = JSON.parse(textOf(name, 'package.json'))
    const other = ['perdure', ...TEMPLATES_ONLY, ...(WITH_API[name] ?? [])]
    const drifted = Object.entries<string>({ ...dependencies, ...devDependencies })
      .filter(([one]) => !other.includes(one))
      .filter(([one, range]) => !catalog.match(new RegExp(`^ {2}"?${one}"?: \\^?${range.slice(1)}$`, 'm')))

    expect(drifted).toEqual([])
  })

  it.each(TEMPLATE_NAMES)('has a test, and says in one line how to use a real model: %s', (name) => {
    const files = readTemplate(name, { name: 'my-app' })

    expect(files.filter(({ path }) => path.endsWith('.test.ts'))).toHaveLength(1)
    expect(textOf(name, 'model.ts')).toMatch(/^\/\/ To use a real model: .+\n/)
    expect(JSON.parse(textOf(name, 'package.json'))).toMatchObject({
      name: 'my-app',
      scripts: { dev: expect.any(String), test: 'node --test', typecheck: expect.any(String) },
    })
  })

  it('is type-checked as strictly as possible', () => {
    for (const name of TEMPLATE_NAMES) {
      expect(JSON.parse(textOf(name, 'tsconfig.json')).compilerOptions, name).toMatchObject({
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
      })
    }
  })
})

describe('a document', () => {
  const shown = globSync(['README.md', 'docs/guides/*.md', 'packages/*/README.md', 'apps/*/README.md'], {
    cwd: root,
  }).flatMap((document) =>
    guideBlocksOf(document).map(({ line, text, template }) => [`${document}:${line}`, template ?? '', text] as const),
  )

  it.each(shown)('shows the code of the template that it names: %s', (_, template, text) => {
    expect(text).toBe(readFileSync(join(TEMPLATES, template), 'utf8'))
  })

  it('shows a template', () => {
    expect(shown.map(([, template]) => template)).toContain('workflow/workflows/refund.ts')
  })
})

function guideBlocksOf(document: string) {
  const blocks = guideBlocks(readFileSync(join(root, document), 'utf8'))
  return blocks.filter(({ template }) => template !== undefined)
}
