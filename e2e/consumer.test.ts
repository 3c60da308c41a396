import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Manifest, type Packed, packages, root } from '../tooling/consumer/packages.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { BUNDLED } from '../tooling/supply.ts'
import { openBrowserPage } from './browser-page.ts'
import {
  type ConsumerProject,
  closureOf,
  createConsumerProject,
  type Installer,
  packAll,
  versionOf,
} from './consumer-project.ts'
import { EXAMPLES, exampleOf } from './readme-examples.ts'
import { startProcess } from './started-process.ts'

/** `CONSUMER_INSTALLER=pnpm` runs the same tests with pnpm. */
const INSTALLER = (process.env.CONSUMER_INSTALLER ?? 'npm') as Installer
const TOOLS = ['vitest', 'rolldown', 'typescript', '@types/node', 'ai', 'chat', 'zod']

const names = packages.map(({ manifest }) => manifest.name)

let packed: readonly Packed[]
let project: ConsumerProject

const packedOf = (name: string): Packed => packed.find(({ manifest }) => manifest.name === name)!

beforeAll(async () => {
  packed = packAll()
  const others = Object.fromEntries(TOOLS.map((name) => [name, versionOf(name)]))
  project = await createConsumerProject({ installer: INSTALLER, packed, own: names, others })
}, 300_000)

/** The modules imported by a JavaScript or declaration file. */
const importsOf = (text: string): readonly string[] =>
  [...text.matchAll(IMPORT)].map(([, from, alone, called]) => from ?? alone ?? called ?? '')

const IMPORT =
  /^(?:import|export)\b[^;'"]*?\bfrom ['"]([^'"\n]+)['"]|^import ['"]([^'"\n]+)['"]|\b(?:import|require)\(['"]([^'"\n]+)['"]\)/gm

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** What a package contains besides its build. */
const OWN_FILES: Readonly<Record<string, RegExp>> = {
  '@perdure/cli': /^(?:bin|dist\/deploy)\//,
  'create-perdure': /^(?:bin|templates)\//,
  perdure: /^(?:bin|docs)\//,
  '@perdure/console': /^dist\/page\//,
}

describe.each(names)('the tarball of %s', (name) => {
  const read = (path: string): string =>
    execFileSync('tar', ['-xzOf', packedOf(name).tarball, `package/${path}`], { encoding: 'utf8', maxBuffer: 1 << 26 })

  it('contains the build output, README, licence and nothing else', () => {
    const { files } = packedOf(name)
    const own = OWN_FILES[name] ?? /^$/
    const rest = files.filter((path) => !/^dist\/.+\.(?:c?js|d\.ts)(?:\.map)?$/.test(path) && !own.test(path))
    const bundles = Object.keys(BUNDLED).includes(packedOf(name).folder)
    const notices = bundles ? ['dist/THIRD-PARTY-LICENSES'] : []

    expect(rest).toEqual(['LICENSE', 'README.md', ...notices, 'dist/sbom.cdx.json', 'package.json'])
    expect(files).toContain('dist/index.js')
    expect(files).toContain('dist/index.d.ts')
    expect(files.filter((path) => /\.(?:test|test-d|fixture)\./.test(path) && !path.startsWith('templates/'))).toEqual(
      [],
    )
  })

  it('has its entry points and version ranges that resolve outside the workspace', () => {
    const manifest: Manifest = JSON.parse(read('package.json'))

    for (const conditions of Object.values(manifest.exports)) {
      const { types, default: code } = conditions as Readonly<Record<string, string>>
      expect(packedOf(name).files).toEqual(expect.arrayContaining([types?.slice(2), code?.slice(2)]))
    }
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:|perdure-source"/)
  })

  it('imports only declared dependencies', () => {
    const { dependencies, peerDependencies } = JSON.parse(read('package.json')) as Manifest
    const declared = new Set([...Object.keys({ ...dependencies, ...peerDependencies }), ...builtinModules])
    const foreign = packedOf(name)
      .files.filter((path) => /^dist\/.+\.(?:c?js|d\.ts)$/.test(path))
      .flatMap((path) => importsOf(readFileSync(join(project.dir, 'node_modules', name, path), 'utf8')))
      .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))

    expect([...new Set(foreign.map(packageOf))].filter((one) => !declared.has(one))).toEqual([])
  })
})

/** Size of these folders of `node_modules`, without nested packages. */
const bytesOf = (paths: readonly string[]): number =>
  paths
    .flatMap((path) => readdirSync(join(project.dir, path), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/node_modules.*node_modules/.test(entry.parentPath.slice(project.dir.length)))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

describe.runIf(INSTALLER === 'npm')('an installation', () => {
  it.each(['perdure', '@perdure/server-app'])('needs at most 42 packages and no install script: %s', (name) => {
    const installed = closureOf(project.dir, name)
    const paths = [...installed.keys()]
    const megabytes = Math.round(bytesOf(paths) / 1e6)
    console.log(`${name}: ${installed.size} packages, ${megabytes} MB`)

    expect(paths).toContain('node_modules/better-sqlite3')
    expect(installed.size).toBeLessThanOrEqual(42)
    expect([...installed].filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
  })

  it('brings the documents that its command searches', async () => {
    const { stdout } = await project.bin('perdure', 'docs', 'search', 'wait for an approval', '--json=title,path')

    expect(JSON.parse(stdout).items).toContainEqual({
      title: 'Approvals',
      path: 'node_modules/perdure/docs/guides/approvals.md',
    })
  })

  it('runs an agent with only the domain and its reference storage', async () => {
    const alone = await createConsumerProject({
      installer: 'npm',
      packed,
      own: ['@perdure/core', '@perdure/in-memory'],
    })

    const { outcome, events } = JSON.parse((await alone.node('domain.mjs')).stdout)

    expect([...closureOf(alone.dir, '@perdure/core').keys()].sort()).toEqual(
      ['@perdure/core', '@perdure/ports', '@perdure/protocol', 'valibot'].map((name) => `node_modules/${name}`),
    )
    expect(outcome).toMatchObject({ status: 'completed', result: 12 })
    expect(events).toEqual(['run.started', 'count.begun', 'run.completed'])
  })
})

describe(`a project outside the workspace, installed with ${INSTALLER}`, () => {
  it('type-checks against the package declarations with skipLibCheck off', async () => {
    await project.bin('tsc', '-p', '.')
  })

  it('type-checks without the types of Node.js, if the program has those of the DOM', async () => {
    await project.bin('tsc', '-p', 'tsconfig.without-node.json')
  })

  it('type-checks the package for the AI SDK, whose own declarations need skipLibCheck', async () => {
    await project.bin('tsc', '-p', 'tsconfig.ai-sdk.json')
  })

  it('runs a server from a program', async () => {
    const { stdout, stderr } = await project.node('server.mjs')

    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', result: { greeting: 'Hello Ann' } })
    expect(stderr).not.toMatch(/error/i)
  })

  it('replaces the storage and passes the contract suite with it', async () => {
    const { stdout } = await project.bin('vitest', 'run', 'counting-storage.test.mjs')

    const [, passed = '0'] = /Tests\s+(\d+) passed/.exec(stdout) ?? []
    expect(Number(passed)).toBeGreaterThan(200)
    expect(stdout).not.toContain('failed')
  })

  it('runs the perdure command, which listens and stops', async () => {
    const args = ['--no-install', 'perdure', 'server', '--port', '0', '--json']
    const env = { ...project.env, PERDURE_AUTH_KIND: 'none' }
    const server = await startProcess({ command: 'npx', args, cwd: project.dir, env }, /"port":(\d+)/)
    onTestFinished(async () => void (await server.stop()))

    const response = await fetch(`http://127.0.0.1:${server.match[1]}/v1/agents`)

    expect(await response.json()).toMatchObject({ items: [{ id: 'echo' }] })
  })

  needsTool('chromium').it('runs the client in a bundled page', async () => {
    const entry = join(project.dir, 'page.mjs')
    const browser = await openBrowserPage({ entry, conditionNames: ['import', 'default'] })
    onTestFinished(() => browser.close())
    const env = { ...project.env, PERDURE_SERVER_CORS_ALLOW_ORIGINS: browser.origin, PERDURE_SERVER_PORT: '0' }
    const command = join(project.dir, 'node_modules/.bin/perdure')
    const server = await startProcess({ command, args: ['dev', '--json'], cwd: project.dir, env }, /\{"event":.*\}\n/)
    onTestFinished(async () => void (await server.stop()))
    const { host, port, tokenFile } = JSON.parse(server.match[0])
    const { token } = JSON.parse(readFileSync(tokenFile, 'utf8'))

    const page = await browser.context.newPage()
    await page.goto(`${browser.origin}/#${new URLSearchParams({ api: `http://${host}:${port}/v1`, token })}`)

    await expect.poll(() => page.title()).toBe('run.started run.completed')
  })
})

describe('a README example', () => {
  for (const [name, { run, prints, needs = [] }] of Object.entries(EXAMPLES)) {
    needsTool(...needs).it(`prints the documented output: ${name}`, async () => {
      const { folder } = packages.find(({ manifest }) => manifest.name === name)!
      const example = exampleOf(join(root, folder, 'README.md'))
      const path = join(project.dir, `${name.replace('@perdure/', '')}-example.${example.language}`)
      writeFileSync(path, example.code)

      expect(await run({ project, path })).toMatch(prints)
    })
  }

  it('exists for every package', () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual([...names].sort())
  })
})
