import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isOwnPackage, type Manifest, packages, root, rootManifest } from './consumer/packages.ts'

const LIFECYCLE = [
  'preinstall',
  'install',
  'postinstall',
  'prepare',
  'prepublish',
  'prepublishOnly',
  'prepack',
  'postpack',
]

/** Returns the manifest fields in which a package differs from the other packages of the release. */
function driftOf({ folder, manifest }: (typeof packages)[number], version: string): readonly string[] {
  const { license, engines, repository, publishConfig, scripts = {} } = manifest
  const expected: Readonly<Record<string, readonly [unknown, unknown]>> = {
    version: [manifest.version, version],
    license: [license, rootManifest.license],
    engines: [engines, rootManifest.engines],
    repository: [repository, { ...rootManifest.repository, directory: folder }],
    access: [publishConfig?.access, 'public'],
    provenance: [publishConfig?.provenance, true],
    'entry points': [Object.keys(manifest.exports), ['.', ...(SUBPATHS[manifest.name] ?? [])]],
    'entry points when published': [publishConfig?.exports, withoutSource(manifest)],
    'install scripts': [LIFECYCLE.filter((name) => name in scripts), []],
    'own packages as peers': [ownNames(manifest.peerDependencies), []],
    'ranges of own packages': [rangesOf(manifest, isOwnPackage), ['workspace:^']],
    'ranges of other packages': [rangesOf(manifest, (name) => !isOwnPackage(name)), ['catalog:']],
  }
  return Object.entries(expected).flatMap(([what, [found, wanted]]) => {
    const isEmptyList = Array.isArray(found) && found.length === 0 && what.startsWith('ranges')
    return isEmptyList || JSON.stringify(found) === JSON.stringify(wanted)
      ? []
      : [`${manifest.name}: ${what}: ${JSON.stringify(found)}`]
  })
}

const ownNames = (ranges: Readonly<Record<string, string>> = {}) => Object.keys(ranges).filter(isOwnPackage)

function rangesOf(manifest: Manifest, isMeant: (name: string) => boolean): readonly string[] {
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  return [...new Set(Object.entries(all).flatMap(([name, range]) => (isMeant(name) ? [range] : [])))]
}

/** Entry points beside the main one. */
const SUBPATHS: Readonly<Record<string, readonly string[]>> = {
  '@perdure/ai-sdk': ['./testing', './recording'],
  '@perdure/cli': ['./bin'],
  '@perdure/client': ['./ag-ui'],
  '@perdure/protocol': ['./error'],
  '@perdure/server-app': ['./admin', './providers', './testing'],
  perdure: ['./client', './testing', './providers', './ai-sdk', './ai-sdk/testing', './chat-sdk', './evals'],
}

/** The entry points without the source export condition. */
const withoutSource = ({ exports }: Manifest) =>
  Object.fromEntries(
    Object.entries(exports).map(([path, conditions]) => {
      const { 'perdure-source': _, ...published } = conditions as Readonly<Record<string, string>>
      return [path, published]
    }),
  )

const readmeOf = (folder: string): string => readFileSync(join(root, folder, 'README.md'), 'utf8')

describe('a package of the workspace', () => {
  const [first] = packages
  const version = first?.manifest.version ?? ''

  it('has a manifest that is consistent with the other packages', () => {
    expect(packages.length).toBe(21)
    expect(packages.flatMap((one) => driftOf(one, version))).toEqual([])
  })

  it('is reported by driftOf when its manifest differs from the other packages', () => {
    const { folder, manifest } = packages[0]!
    const drifted = {
      ...manifest,
      version: '9.9.9',
      engines: { node: '>=18' },
      exports: { ...manifest.exports, './x': {} },
    }
    const dependencies = { ...manifest.dependencies, '@perdure/protocol': '^0.1.0', valibot: '^1.0.0' }

    const found = driftOf({ folder, manifest: { ...drifted, dependencies } }, version)

    expect(found.map((line) => line.split(': ')[1])).toEqual([
      'version',
      'engines',
      'entry points',
      'entry points when published',
      'ranges of own packages',
      'ranges of other packages',
    ])
  })

  it.each(['tooling', 'bench', 'apps/site'])('is private and has the version that changesets require: %s', (folder) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

    expect(manifest).toMatchObject({ private: true, version: '0.0.0' })
  })

  it('is released together with the other packages', () => {
    const config = JSON.parse(readFileSync(join(root, '.changeset/config.json'), 'utf8'))

    expect(config).toMatchObject({ fixed: [['perdure', 'create-perdure', '@perdure/*']], access: 'public' })
  })

  it.each(packages.map(({ folder }) => folder))('has a README of fewer than 60 lines with an example: %s', (folder) => {
    const text = readmeOf(folder)

    expect(text.split('\n').length - 1).toBeLessThan(60)
    expect(text).toMatch(/\n```(?:js|ts|sh)\n/)
  })

  it.each(packages.map((one) => [one.folder, one] as const))(
    'packs the source maps that its code names: %s',
    (_, { manifest }) => {
      const { files = [] } = manifest

      expect(files).toContain('dist')
      expect(files.filter((pattern) => pattern.includes('.map'))).toEqual([])
    },
  )

  it.each(packages.map(({ folder }) => folder))('links only existing files in its README: %s', (folder) => {
    const links = [...readmeOf(folder).matchAll(/\]\((\.[^)#]*)/g)].map(([, path = '']) => path)

    expect(links.filter((path) => !existsSync(join(root, folder, path)))).toEqual([])
  })
})
