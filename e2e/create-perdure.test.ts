import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { TEMPLATE_NAMES, type TemplateName } from '../packages/create-perdure/src/index.ts'
import { type Packed, root } from '../tooling/consumer/packages.ts'
import { type Installer, packAll, versionOf } from './consumer-project.ts'
import { createFolder, type Folder, folderAt, installProject } from './packed-project.ts'
import { startProcess } from './started-process.ts'

/** The template that needs Next.js is installed only by the rehearsal of a release: that takes longer than all others. */
const INSTALLED = process.env.INSTALL_EVERY_TEMPLATE
  ? TEMPLATE_NAMES
  : TEMPLATE_NAMES.filter((name) => name !== 'embed-next')

let packed: readonly Packed[]
let maker: Folder

beforeAll(async () => {
  packed = packAll()
  maker = createFolder()
  writeManifest(maker.dir, { 'create-perdure': '*' })
  await installProject(maker, { packed, installer: 'npm' })
}, 300_000)

const writeManifest = (dir: string, dependencies: Readonly<Record<string, string>>): void =>
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name: 'own', private: true, type: 'module', dependencies }))

/** Creates a project with the packed command, and installs it. */
async function createProject(template: TemplateName): Promise<Folder> {
  await maker.exec('npx', '--no-install', 'create-perdure', template, '--template', template)
  const project = folderAt(join(maker.dir, template), maker.env)
  await installProject(project, { packed, installer: 'npm' })
  return project
}

describe('npm create perdure', () => {
  it.each(INSTALLED)('creates a project whose types and tests pass: %s', async (template) => {
    const project = await createProject(template)

    await project.exec('npm', 'run', 'typecheck')
    const { stdout } = await project.exec('npm', 'test')

    expect(stdout).toMatch(/fail 0\n/)
    expect(stdout).not.toMatch(/pass [01]\n/)
  })

  it('creates a workflow that perdure dev serves from TypeScript, and that pays once after an approval', async () => {
    const project = folderAt(join(maker.dir, 'workflow'), maker.env)
    const env = { ...project.env, PERDURE_SERVER_PORT: '0' }
    const command = { command: 'npm', args: ['run', '-s', 'dev', '--', '--json'], cwd: project.dir, env }
    const server = await startProcess(command, /\{"event":.*\}\n/)
    onTestFinished(async () => void (await server.stop()))
    const perdure = async (...args: readonly string[]) =>
      JSON.parse((await project.exec('npm', 'run', '-s', 'perdure', '--', ...args, '--json')).stdout)

    const input = '{"orderId":"A-17","amount":40,"reason":"wrong size"}'
    const { runId } = await perdure('workflows', 'run', 'refund', '--input', input)
    await expect.poll(async () => (await perdure('approvals', 'list')).items).toHaveLength(1)
    const [{ id }] = (await perdure('approvals', 'list')).items
    await perdure('approvals', 'approve', id)

    await expect
      .poll(() => perdure('runs', 'show', runId))
      .toMatchObject({ status: 'completed', result: { paid: true, by: 'dev' } })
  })
})

const templateManifest = join(root, 'packages/create-perdure/templates/workflow/package.json')

/** The compiler of a new project, and the one of this workspace, which is of the major version before. */
const COMPILERS: Readonly<Record<Installer, string>> = {
  npm: JSON.parse(readFileSync(templateManifest, 'utf8')).devDependencies.typescript,
  pnpm: versionOf('typescript'),
}

/** A project that has `perdure`, a schema library and the compiler, and names no other package. */
async function createPerdureProject(installer: Installer): Promise<Folder> {
  const project = createFolder()
  cpSync(join(root, 'tooling/consumer/perdure-project'), project.dir, { recursive: true })
  const others = ['zod', '@types/node'].map((name) => [name, versionOf(name)])
  writeManifest(project.dir, { perdure: '*', typescript: COMPILERS[installer], ...Object.fromEntries(others) })
  await installProject(project, { packed, installer })
  return project
}

describe.each(['npm', 'pnpm'] as const)('a project that depends only on perdure, installed with %s', (installer) => {
  let project: Folder

  beforeAll(async () => {
    project = await createPerdureProject(installer)
  }, 300_000)

  it('type-checks under strict, with declarations of its own', async () => {
    await project.exec('node_modules/.bin/tsc', '-p', '.')

    expect(readFileSync(join(project.dir, 'compiled/agents.d.ts'), 'utf8')).not.toContain('@perdure/')
  })

  it('passes its tests, which execute TypeScript', async () => {
    expect((await project.exec(process.execPath, '--test', 'agents.test.ts')).stdout).toMatch(/pass 1\n/)
  })

  it('serves its configuration with the command of the same package', async () => {
    const env = { ...project.env, PERDURE_AUTH_KIND: 'none' }
    const args = ['server', '--port', '0', '--json']
    const command = join(project.dir, 'node_modules/.bin/perdure')
    const server = await startProcess({ command, args, cwd: project.dir, env }, /"port":(\d+)/)
    onTestFinished(async () => void (await server.stop()))

    const response = await fetch(`http://127.0.0.1:${server.match[1]}/v1/agents`)

    const { items } = (await response.json()) as { readonly items: readonly { readonly id: string }[] }
    expect(items.map(({ id }) => id).sort()).toEqual(['summarize', 'triage'])
  })
})

describe('create-perdure', () => {
  const create = (dir: string, ...args: readonly string[]) =>
    folderAt(dir, maker.env).exec(
      process.execPath,
      join(maker.dir, 'node_modules/create-perdure/bin/create-perdure.js'),
      ...args,
    )

  it('takes defaults without a terminal', async () => {
    const { dir } = createFolder()

    const { stdout } = await create(dir)

    expect(stdout).toContain('next: cd perdure-app && npm install && npm run dev\n')
    expect(readdirSync(join(dir, 'perdure-app'))).toContain('perdure.config.ts')
  })

  it('refuses a folder that is not empty', async () => {
    const { dir } = createFolder()
    mkdirSync(join(dir, 'mine'))
    writeFileSync(join(dir, 'mine/notes.txt'), '')

    await expect(create(dir, 'mine')).rejects.toThrow(/error\[file-exists\]: .*mine is not empty/)
    expect(readdirSync(join(dir, 'mine'))).toEqual(['notes.txt'])
  })
})
