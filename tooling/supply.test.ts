import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  broughtAlong,
  installedManifests,
  type Lockfile,
  type Manifest,
  missingNatives,
  readLockfile,
} from './lockfile.ts'
import { BROUGHT_ALONG_AT_MOST, BUILT_IN, LICENSES, PEERS, RUNTIME_DEPENDENCIES } from './supply.ts'

const root = join(import.meta.dirname, '..')
const lockfile = readLockfile(root)
const published = ['packages', 'apps'].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
)
const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
const foreign = (names: object = {}) => Object.keys(names).filter((name) => !name.startsWith('@perdure/'))

const everything = new Set(published.flatMap((path) => [...broughtAlong(lockfile, path)]))
const manifests = installedManifests(root)
const installed = [...everything].flatMap((id) => manifests.get(id) ?? [])
const builtIn = Object.entries(BUILT_IN).flatMap(([path, names]) =>
  names.map((name) => manifestOf(join(path, 'node_modules', name))),
)

describe('what an installation brings along', () => {
  it.each(published)('is what was agreed on, for %s', (path) => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(path)

    expect(foreign(dependencies).sort()).toEqual(RUNTIME_DEPENDENCIES[path])
    expect(foreign(optionalDependencies)).toEqual([])
    expect(foreign(peerDependencies).sort()).toEqual(PEERS[path] ?? [])
    expect(broughtAlong(lockfile, path).size).toBeLessThanOrEqual(BROUGHT_ALONG_AT_MOST[path] ?? 0)
  })

  it('runs no script of its own', () => {
    const scripts = installed.flatMap(({ name, scripts = {} }) =>
      ['preinstall', 'install', 'postinstall']
        .filter((script) => scripts[script] !== undefined)
        .map((script) => `${name} ${script}`),
    )

    expect(installed).toHaveLength(everything.size)
    expect(scripts).toEqual([])
  })

  it('has a licence that asks for nothing but its own text', () => {
    expect(
      [...installed, ...builtIn]
        .filter(({ license }) => !LICENSES.has(license ?? ''))
        .map(({ name, license }) => [name, license]),
    ).toEqual([])
  })

  it('becomes part of the code only as a development dependency', () => {
    for (const [path, names] of Object.entries(BUILT_IN)) {
      expect(Object.keys(manifestOf(path).devDependencies ?? {})).toEqual(expect.arrayContaining([...names]))
    }
    expect(builtIn).toHaveLength(2)
  })

  it('is locked for every platform where it has native parts, and so is what works on it here', () => {
    expect(missingNatives(lockfile, Object.keys(lockfile.packages))).toEqual([])
  })

  it('brings the driver of the database built for every platform', () => {
    const folder = join(root, 'packages/sqlite/node_modules/better-sqlite3/prebuilds')
    const platforms = ['linux', 'darwin', 'win32'].flatMap((os) => [`${os}-x64.node`, `${os}-arm64.node`])

    expect(readdirSync(folder)).toEqual(expect.arrayContaining(platforms))
  })

  it('is missed where one platform is', () => {
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

  it('is fetched by what it holds', () => {
    const unproven = Object.entries(lockfile.packages).filter(
      ([, { resolution }]) => !resolution.integrity?.startsWith('sha512-'),
    )

    expect(unproven.map(([id]) => id)).toEqual([])
  })
})
