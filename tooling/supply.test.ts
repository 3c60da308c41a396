import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isOwnPackage, packages } from './consumer/packages.ts'
import {
  installedManifests,
  installedWith,
  type Lockfile,
  type Manifest,
  missingNatives,
  readLockfile,
} from './lockfile.ts'
import { BUNDLED, LICENSES, MAX_INSTALLED, OPTIONAL_PEERS, RUNTIME_DEPENDENCIES } from './supply.ts'

const root = join(import.meta.dirname, '..')
const lockfile = readLockfile(root)
const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
const published = packages.map(({ folder }) => folder)
const foreign = (names: object = {}) => Object.keys(names).filter((name) => !isOwnPackage(name))

const everything = new Set(published.flatMap((path) => [...installedWith(lockfile, path)]))
const manifests = installedManifests(root)
const installed = [...everything].flatMap((id) => manifests.get(id) ?? [])
const bundled = Object.entries(BUNDLED).flatMap(([path, names]) =>
  names.map((name) => manifestOf(join(path, 'node_modules', name))),
)

describe('a third-party dependency', () => {
  it.each(published)('is one of the agreed dependencies of %s', (path) => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(path)

    expect(foreign(dependencies).sort()).toEqual(RUNTIME_DEPENDENCIES[path])
    expect(foreign(optionalDependencies)).toEqual([])
    expect(foreign(peerDependencies).sort()).toEqual(OPTIONAL_PEERS[path] ?? [])
    expect(installedWith(lockfile, path).size).toBeLessThanOrEqual(MAX_INSTALLED[path] ?? 0)
  })

  it('runs no install script', () => {
    const scripts = installed.flatMap(({ name, scripts = {} }) =>
      ['preinstall', 'install', 'postinstall']
        .filter((script) => scripts[script] !== undefined)
        .map((script) => `${name} ${script}`),
    )

    expect(installed).toHaveLength(everything.size)
    expect(scripts).toEqual([])
  })

  it('has a permissive licence', () => {
    expect(
      [...installed, ...bundled]
        .filter(({ license }) => !LICENSES.has(license ?? ''))
        .map(({ name, license }) => [name, license]),
    ).toEqual([])
  })

  it('is bundled only when it is a development dependency', () => {
    for (const [path, names] of Object.entries(BUNDLED)) {
      expect(Object.keys(manifestOf(path).devDependencies ?? {})).toEqual(expect.arrayContaining([...names]))
    }
    expect(bundled).toHaveLength(8)
  })

  it('is locked for every platform for which it has a native part', () => {
    expect(missingNatives(lockfile, Object.keys(lockfile.packages))).toEqual([])
  })

  it('includes a prebuilt binary for every platform if it is the database driver', () => {
    const folder = join(root, 'packages/sqlite/node_modules/better-sqlite3/prebuilds')
    const platforms = ['linux', 'darwin', 'win32'].flatMap((os) => [`${os}-x64.node`, `${os}-arm64.node`])

    expect(readdirSync(folder)).toEqual(expect.arrayContaining(platforms))
  })

  it('is reported by missingNatives when the binary of one platform is missing', () => {
    const [linux, ...others] = ['linux', 'darwin', 'win32'].map((os) => `native-${os}@1.0.0`)
    const parts = (names: readonly (string | undefined)[]) => names.map((id = '') => [id.split('@')[0], '1.0.0'])
    const planted = {
      importers: {},
      packages: Object.fromEntries(
        [linux, ...others].map((id = '') => [id, { os: [id.slice(7, -6)], cpu: ['x64', 'arm64'], resolution: {} }]),
      ),
      snapshots: { 'whole@1.0.0': { optionalDependencies: Object.fromEntries(parts([linux, ...others])) } },
    } satisfies Lockfile
    const lacking = {
      ...planted,
      snapshots: { 'part@1.0.0': { optionalDependencies: Object.fromEntries(parts(others)) } },
    }

    expect(missingNatives(planted, ['whole@1.0.0'])).toEqual([])
    expect(missingNatives(lacking, ['part@1.0.0'])).toEqual(['part@1.0.0 linux x64', 'part@1.0.0 linux arm64'])
  })

  it('is locked with a SHA-512 integrity hash', () => {
    const unproven = Object.entries(lockfile.packages).filter(
      ([, { resolution }]) => !resolution.integrity?.startsWith('sha512-'),
    )

    expect(unproven.map(([id]) => id)).toEqual([])
  })
})

describe('a package that CI installs before the lockfile of pnpm counts', () => {
  type Locked = Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>
  const { packages } = JSON.parse(readFileSync(join(root, '.ci/packages/package-lock.json'), 'utf8')) as {
    readonly packages: Locked
  }
  const installed = Object.entries(packages).filter(([path]) => path !== '')

  it('has a hash', () => {
    expect(installed.length).toBeGreaterThan(0)
    expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  })

  it('is installed from that lockfile, and nothing else is', () => {
    const script = readFileSync(join(root, '.ci/run'), 'utf8')
    const installing =
      script.match(/\b(?:npx|corepack|npm (?:ci|i|install|exec)|pnpm (?:dlx|add|install))\b[^\n]*/g) ?? []

    expect(installing.filter((one) => !/^(?:npm ci |pnpm install --frozen-lockfile )/.test(one))).toEqual([])
    expect(installing).toHaveLength(2)
  })

  it('is the pinned pnpm', () => {
    const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly packageManager: string
    }
    const versions = installed.filter(([path]) => path.includes('@pnpm/')).map(([, { version }]) => `pnpm@${version}`)

    expect(new Set(versions)).toEqual(new Set([packageManager]))
  })
})
