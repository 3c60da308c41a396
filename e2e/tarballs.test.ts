import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Component, DELIVERY, type Sbom } from '../tooling/build/sbom.ts'
import { isOwnPackage, type Packed, packages, packPackages } from '../tooling/consumer/packages.ts'
import { installedWith, readLockfile } from '../tooling/lockfile.ts'
import { cycloneDxValidator } from '../tooling/release/cyclone-dx.ts'
import { rebuildIn } from '../tooling/release/rebuild.ts'
import { LICENSES, MAX_TARBALL_KB } from '../tooling/supply.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'perdure-tarballs-'))
const names = packages.map(({ manifest }) => manifest.name)

let packed: readonly Packed[]
const packedOf = (name: string): Packed => packed.find(({ manifest }) => manifest.name === name)!

beforeAll(() => {
  packed = packPackages(join(folder, 'first'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (name: string, path: string): string =>
  execFileSync('tar', ['-xzOf', packedOf(name).tarball, `package/${path}`], { encoding: 'utf8' })
const sbomOf = (name: string): Sbom => JSON.parse(read(name, 'dist/sbom.cdx.json'))

const nameOf = ({ group, name }: Component) => (group === undefined ? name : `${group}/${name}`)
const delivered = ({ components }: Sbom, how: string) =>
  components.filter(({ properties }) => properties?.[0].value === how)

describe('a bill of materials', () => {
  const validate = cycloneDxValidator()

  it.each(names)('is valid CycloneDX: %s', (name) => {
    const sbom = sbomOf(name)

    validate(sbom)
    expect(validate.errors).toBeNull()
    expect(nameOf(sbom.metadata.component)).toBe(name)
    expect(sbom.metadata.component.version).toBe(packedOf(name).manifest.version)
  })

  it('is refused by the validator when a field has another name', () => {
    expect(validate({ ...sbomOf('perdure'), component: [] })).toBe(false)
  })

  it.each(names)('lists exactly what is installed with the package according to the lockfile: %s', (name) => {
    const { folder: importer } = packedOf(name)
    const sbom = sbomOf(name)
    const found = sbom.components.filter(
      (one) => !isOwnPackage(nameOf(one)) && one.properties?.[0].value === 'installed',
    )
    const locked = [...installedWith(readLockfile(root), importer)]

    expect(found.map((one) => `${nameOf(one)}@${one.version}`).toSorted()).toEqual(locked.toSorted())
  })

  it.each(names)(
    'names a permissive licence for each component, and refers to components that it lists: %s',
    (name) => {
      const { metadata, components, dependencies } = sbomOf(name)
      const refs = new Set([metadata.component, ...components].map((one) => one['bom-ref']))

      expect(components.filter((one) => !LICENSES.has(one.licenses[0].license.id))).toEqual([])
      expect(components.every(({ properties }) => properties?.[0].name === DELIVERY)).toBe(true)
      expect(dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual(
        [],
      )
    },
  )
})

describe('the licence notices of a tarball', () => {
  it.each(names)('have the text of every third-party package that is bundled: %s', (name) => {
    const foreign = delivered(sbomOf(name), 'bundled').filter((one) => !isOwnPackage(nameOf(one)))
    const path = 'dist/THIRD-PARTY-LICENSES'
    const text = packedOf(name).files.includes(path) ? read(name, path) : ''
    const notices = text.split(/^-{80}\n/m).slice(1)

    expect(notices.map((notice) => notice.split(' (')[0]).toSorted()).toEqual(
      foreign.map((one) => `${nameOf(one)} ${one.version}`).toSorted(),
    )
    for (const notice of notices) expect(notice).toMatch(/copyright|apache license/i)
  })

  it('exist for the scripts of the console', () => {
    expect(delivered(sbomOf('@perdure/console'), 'bundled').map(nameOf)).toEqual(
      expect.arrayContaining(['preact', 'eventsource-parser']),
    )
  })
})

describe('a tarball', () => {
  it.each(names)('stays within its size budget, which is not far above its size: %s', (name) => {
    const kilobytes = statSync(packedOf(name).tarball).size / 1_000
    const budget = MAX_TARBALL_KB[name] ?? 0

    expect(kilobytes).toBeLessThanOrEqual(budget)
    expect(kilobytes).toBeGreaterThan(budget / 2)
  })

  it('has a budget only if its package exists', () => {
    expect(Object.keys(MAX_TARBALL_KB).toSorted()).toEqual(names.toSorted())
  })

  it('has the same bytes when it is built and packed again in another folder', async () => {
    const copy = join(folder, 'elsewhere/perdure')
    const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

    await rebuildIn(copy)
    const again = packPackages(join(folder, 'again'), copy)

    expect(again.map(({ tarball, manifest }) => [manifest.name, digestOf(tarball)])).toEqual(
      packed.map(({ tarball, manifest }) => [manifest.name, digestOf(tarball)]),
    )
  })
})
