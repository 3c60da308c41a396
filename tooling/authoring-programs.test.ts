import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import ts from 'typescript-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linkPackages } from '../e2e/guide-packages.ts'
import { root } from './consumer/packages.ts'

const PROGRAMS = join(root, 'tooling/consumer/authoring-project')

/** A folder where the packages are installed beside this version of the AI SDK. */
function createProject(sdk: 'ai' | 'ai6'): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-authoring-')))
  const modules = join(folder, 'node_modules')
  linkPackages(modules)
  // These packages import the SDK, so they must lie where the SDK of the project is found.
  const importers = [
    ['@perdure/ai-sdk', 'packages/ai-sdk'],
    ['perdure', 'packages/perdure'],
  ] as const
  for (const [name, source] of importers) {
    rmSync(join(modules, name))
    for (const part of ['package.json', 'dist'])
      cpSync(join(root, source, part), join(modules, name, part), { recursive: true })
  }
  rmSync(join(modules, 'ai'))
  symlinkSync(realpathSync(join(root, 'packages/ai-sdk/node_modules', sdk)), join(modules, 'ai'))
  addProvider(join(modules, '@ai-sdk/openai'))
  cpSync(PROGRAMS, folder, { recursive: true })
  cpSync(join(root, 'packages/ai-sdk/src/options.ts'), join(folder, 'options.ts'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

/** A provider without a key, in place of the real one. */
function addProvider(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const exports = { '.': { types: './index.d.ts', default: './index.js' } }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@ai-sdk/openai', version: '0.0.0', type: 'module', exports }),
  )
  writeFileSync(
    join(folder, 'index.d.ts'),
    "import type { LanguageModel } from 'ai'\nexport declare function openai(id: string): Exclude<LanguageModel, string>\n",
  )
  writeFileSync(
    join(folder, 'index.js'),
    `import { scriptedModel } from 'perdure/ai-sdk/testing'
export const openai = () => scriptedModel([{ toolName: 'refund', input: { orderId: 'A-2', amount: 80 } }, 'It is done.'])
`,
  )
}

/** The errors in the files of the project, and in the declarations of the packages. */
function errorsIn(folder: string, sources: readonly string[]): readonly string[] {
  const program = ts.createProgram(
    sources.map((path) => join(folder, path)),
    {
      target: ts.ScriptTarget.ES2024,
      lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      allowImportingTsExtensions: true,
      verbatimModuleSyntax: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(folder, 'node_modules/@types')],
    },
  )
  // The checker looks only into these files: the declarations of Node.js, the DOM and the SDK take most of the time.
  const own = program.getSourceFiles().filter(({ fileName }) => isOwn(folder, fileName))
  expect(own.length).toBeGreaterThan(sources.length)
  const found = own.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ])
  return found.map(({ file, start = 0, messageText }) => {
    const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
    return `${relative(folder, file?.fileName ?? '')}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

const isOwn = (folder: string, path: string): boolean =>
  (path.startsWith(folder) || path.startsWith(join(root, 'packages'))) && !path.includes('/node_modules/ai/')

const run = (folder: string, program: string): unknown =>
  JSON.parse(execFileSync(process.execPath, ['run.ts'], { cwd: join(folder, program), encoding: 'utf8' }))

describe.each([
  ['7', 'ai'],
  ['6', 'ai6'],
] as const)('with version %s of the AI SDK', (_, sdk) => {
  let folder: string
  beforeAll(() => {
    folder = createProject(sdk)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('the programs of an author compile, and the table of options has every option', () => {
    const sources = ['existing-agent/run.ts', 'chat-agent/run.ts', 'own-code/run.ts', 'types.ts', 'options-check.ts']
    expect(errorsIn(folder, sources)).toEqual([])
  })

  it('an agent that exists already runs', () => {
    expect(run(folder, 'existing-agent')).toEqual([['Refunds an order'], { text: 'It is done.' }])
  })

  it('a chat agent from its parts runs', () => {
    expect(run(folder, 'chat-agent')).toEqual([['Refunds an order'], { text: 'It is done.' }])
  })

  it('code of its own runs', () => {
    expect(run(folder, 'own-code')).toEqual([['cool off'], 'The scarf is too long'])
  })
})
