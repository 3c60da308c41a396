import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript-api'
import { describe, expect, it } from 'vitest'
import { guideBlocks } from '../e2e/guide-blocks.ts'
import { linkPackages } from '../e2e/guide-packages.ts'
import { exampleOf } from '../e2e/readme-examples.ts'
import { root } from './consumer/packages.ts'
import { guideFiles } from './guide-files.ts'

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  customConditions: ['perdure-source'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
}

/** Compiles files in one program, in a folder where the packages are installed, and returns the errors in them. */
function compile(files: ReadonlyMap<string, string>): readonly string[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-guide-types-')))
  try {
    linkPackages(join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    for (const [name, text] of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const sources = [...files.keys()].filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
    const typeRoots = [join(folder, 'node_modules/@types')]
    const program = ts.createProgram(sources, { ...OPTIONS, typeRoots })
    return sources.flatMap((path) => {
      const source = program.getSourceFile(path)
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      return found.map(({ start = 0, messageText }) => {
        const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
        return `${relative(folder, path)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
      })
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const SKILL = 'packages/create-perdure/templates/shared/dot-agents/skills/perdure/SKILL.md'
const DOCUMENTS = [
  ...globSync(['README.md', 'docs/guides/*.md', '{packages,apps,examples}/*/README.md'], { cwd: root }),
  SKILL,
]
const filesOf = (document: string) =>
  guideFiles(guideBlocks(readFileSync(join(root, document), 'utf8')), document.replace(/\.md$/, ''))

/** A guide adds files to a project of the template `chat`, after it has copied files of its own into the project. */
const chatProject = (): readonly [string, string][] => {
  const folder = 'docs/guides/sign-in/1'
  const files = filesOf('docs/guides/sign-in.md')
  const template = join(root, 'packages/create-perdure/templates/chat')
  return [
    ...['support-agent.ts', 'model.ts'].map((name) => [name, readFileSync(join(template, name), 'utf8')] as const),
    ...['provider.ts', 'session.ts', 'sign-in.ts', 'api.ts'].map(
      (name) => [name, files.get(`${folder}/${name}`) ?? ''] as const,
    ),
  ].map(([name, text]) => [`${folder}/my-chat/${name}`, text])
}

/** The example in the README of each package, by path. */
const packageExamples = globSync('packages/*/README.md', { cwd: root }).flatMap((readme): [string, string][] => {
  const { language, code } = exampleOf(join(root, readme))
  return language === 'ts' ? [[readme.replace(/README\.md$/, 'example.ts'), code]] : []
})

const isPage = (name: string) => /\/build-an?-.*\/(?:page|vite\.config)\.tsx?$/.test(name)

describe('the TypeScript of the documents', () => {
  it('compiles as strictly as that of a new project', () => {
    // `examples/tsconfig.json` checks the pages, which use the DOM; a test ties the guides to the examples.
    const files = new Map(
      [...DOCUMENTS.flatMap((document) => [...filesOf(document)]), ...chatProject(), ...packageExamples].filter(
        ([name]) => !isPage(name),
      ),
    )

    expect([...files.keys()].some((name) => name.endsWith('.ts'))).toBe(true)
    expect(compile(files)).toEqual([])
  })

  it('is found to be wrong where it is', () => {
    const code = `import { defineAgent } from 'perdure'\n\nexport const a = defineAgent({ id: 'a', run: ({ text }) => text })\n`

    expect(compile(new Map([['guide/1/a.ts', code]]))).toEqual([expect.stringMatching(/^guide\/1\/a\.ts:3: .*'text'/)])
  })
})

describe('guideFiles', () => {
  it('keeps each version of a file with the other files', () => {
    const blocks = guideBlocks(
      '```ts file=a.ts\n1\n```\n```ts file=b.ts\n2\n```\n```ts file=a.ts\n3\n```\n```ts more=b.ts\n4\n```\n',
    )

    expect(Object.fromEntries(guideFiles(blocks, 'x'))).toEqual({
      'x/1/a.ts': '1\n',
      'x/1/b.ts': '2\n',
      'x/2/a.ts': '3\n',
      'x/2/b.ts': '2\n4\n',
    })
  })
})
